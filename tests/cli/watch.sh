#!/bin/sh
# hopscotch status --watch: redrawn in place on a terminal, which it restores; elsewhere one line at a time. It ends
# with the campaign, and leaving it stops nothing.
. "$(dirname "$0")/../scratch.sh"
export LC_ALL=C.UTF-8 TERM=xterm
seen() { [ "$(grep -cF -e "$1" out)" -ge "$2" ]; }

cat >long.yaml <<'END'
version: 1
experiment: long
seed: 7
model: hopper
simulation: {duration: 2, settle: 1}
search: {method: random, trials: 10000000, over: {k_fp: {range: [50, 300]}}}
END
"$HOPSCOTCH" run long.yaml --batch 64 --threads 1 --progress none >/dev/null 2>&1 &
pid=$!
until_true committed long
: >err

"$HOPSCOTCH" status long --watch --every 0 >out 2>err &
watcher=$!
until_true seen "trials/s" 2
kill -INT $watcher
wait $watcher
check $? "Ctrl-C ends status --watch"
seen "long running: " 2
check $? "status --watch prints lines where there is no terminal"
! grep -q "$(printf '\033')" out
check $? "the lines have no control characters"
kill -0 $pid
check $? "leaving status --watch stops no run"

if script -qec true /dev/null >/dev/null 2>&1; then
    cat >screen.sh <<'END'
stty cols 60 rows 20
stty -a >before
"$HOPSCOTCH" status long --watch --every 0 &
echo $! >watcher
wait $!
echo $? >left
stty -a >after
END
    export HOPSCOTCH
    script -qefc "sh screen.sh" out >/dev/null 2>err &
    screen=$!
    until_true seen "$(printf '\033')[J" 2
    kill -TERM "$(cat watcher)"
    wait $screen
    cmp -s before after && [ "$(cat left)" = 0 ]
    check $? "SIGTERM restores the terminal"
    has "$(printf '\033')[8A"
    ! grep -qF "$(printf '\033')[?" out
    check $? "no mode of the terminal is changed"
    [ "$(tr -d '\r' <out | sed "s/$(printf '\033')\[[0-9]*[AJ]//g; s/[^ -~]/x/g" |
        awk '/^(long|trials|rate|best|so far|device|work)/ && length > 60' | wc -l)" = 0 ]
    check $? "every line fits its 60 columns"
    has "device    " # and the name of the processor, which may fill the line
fi

"$HOPSCOTCH" status long --watch --every 0 >out 2>err &
watcher=$!
until_true seen "long running" 1
"$HOPSCOTCH" stop long >/dev/null
wait $watcher
check $? "status --watch ends with the campaign"
wait $pid
pid=
has "long interrupted"
"$HOPSCOTCH" status --watch >out 2>err
[ $? -eq 2 ] && grep -qF "needs the name of a campaign" err
check $? "status --watch without a campaign says what it needs"
"$HOPSCOTCH" status long --watch --json >out 2>err
[ $? -eq 2 ] && grep -qF "programs can use run --progress json" err
check $? "status --watch --json names another way"
exit $status
