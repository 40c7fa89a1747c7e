#!/bin/sh
# The page experiments/costly_trials.md works as printed, and its searches find what it says.
. "$(dirname "$0")/../scratch.sh"
. "$root/tests/page.sh"
page costly_trials.md

mkdir experiments && cp "$root"/experiments/manual_gripper.yaml experiments
block 1 >gait.yaml
block 2 >bayesian.yaml
block 3 >auto.yaml
block 4 >race.yaml
page_commands
for name in gait surrogate bayesian; do
    "$HOPSCOTCH" query $name --columns fitness --order fitness --limit 1 --format csv | sed 1d
done >best
[ "$(awk '{ printf "%.3f ", $1 }' best)" = "0.946 0.918 0.907 " ]
check $? "120 trials, 120 with a surrogate, 60 of bayesian find what the page says: $(tr '\n' ' ' <best)"
page_experiments
exit $status
