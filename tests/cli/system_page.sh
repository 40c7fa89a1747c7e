#!/bin/sh
# The examples of `help spec equations` and `help spec law` are specs that run; the first page fits two screens.
. "$(dirname "$0")/../scratch.sh"

"$HOPSCOTCH" help spec equations >page
[ "$(wc -l <page)" -le 100 ]
check $? "the page has at most 100 lines"
awk '/^THE SYSTEM/ { inside = 1; next } /^[a-z]/ { inside = 0 } inside' page | sed 's/^    //' >example.yaml
"$HOPSCOTCH" run example.yaml --progress none >out 2>err
check $? "its example runs"
"$HOPSCOTCH" query jumper --columns fitness --format csv | awk 'NR > 1 && !($1 > 0)' >still
[ ! -s still ]
check $? "and hops"
for word in parameters states held let rates next modes events metrics failures columns drawing; do
    grep -q "^$word  " page
    check $? "the page has $word"
done
"$HOPSCOTCH" help spec system >out 2>err && grep -q '^THE SYSTEM' out
check $? "the key's own help has it too"
# the same of laws
"$HOPSCOTCH" help spec law >page
awk '/^A LAW/ { inside = 1; next } /^[a-z]/ { inside = 0 } inside' page | sed 's/^    //' >example.yaml
"$HOPSCOTCH" run example.yaml --progress none >out 2>err
check $? "the example of laws runs"
"$HOPSCOTCH" query swing --columns fitness --format csv | awk 'NR > 1 && $1 > 0' >moved
[ "$(wc -l <moved)" -eq 20 ]
check $? "and moves"
for word in names parameters held let command effort every_period modes events sensors; do
    grep -q "^$word " page
    check $? "the page of laws has $word"
done
exit $status
