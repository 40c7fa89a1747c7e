#!/bin/sh
# The page experiments/identification.md works as printed.
. "$(dirname "$0")/../scratch.sh"
. "$root/tests/page.sh"
page identification.md

cp -r "$root/experiments" .
page_commands
for key in inputs: events: metrics: objective:; do
    block 1 | grep "^ *$key" | while IFS= read -r line; do grep -qxF -e "$line" experiments/identify_pendulum.yaml; done
    check $? "the lines that it shows of $key are those of the experiment"
done
exit $status
