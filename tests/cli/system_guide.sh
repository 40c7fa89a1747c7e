#!/bin/sh
# The page experiments/equations.md works as printed: its specs and all commands, in order; what it shows of outputs is
# printed. A command behind which it shows an error is refused.
. "$(dirname "$0")/../scratch.sh"
. "$root/tests/page.sh"
page equations.md

mkdir experiments && cp "$root"/experiments/compass_gait.yaml experiments
block 1 >pendulum.yaml
block 2 >runner.yaml
block 3 >neuron.yaml
block 4 >rocket.yaml
block 5 >chain.yaml
block 6 >balance.yaml
block 1 python >balance.py
block 1 csv >thrust.csv
block 2 csv >wind.csv
page_commands

# The numbers in its text.
"$HOPSCOTCH" query pendulum --columns period --format csv | awk 'NR > 1 { printf "%.4f ", $1 }' >out
[ "$(cat out)" = "2.0073 2.1391 2.6659 5.1581 " ]
check $? "the periods of the pendulum"
"$HOPSCOTCH" query clock --columns period --format csv |
    awk 'NR > 1 { if (NR == 2) first = $1; if (($1 - first)^2 > 1e-10) bad = 1 } END { exit bad || NR != 5 }'
check $? "the clock has one period"
"$HOPSCOTCH" query neuron --columns spikes --order drive --format csv | awk 'NR == 2 { first = $1 }
    NR > 1 { falls += $1 < last; last = $1 } END { exit falls || first > 50 || last < 700 }'
check $? "the neuron fires more often the more it is driven"
if with_python "the environment of the page" numpy gymnasium; then
    export HOPSCOTCH_LIBRARY="${HOPSCOTCH_LIBRARY:-$(dirname "$HOPSCOTCH")/libhopscotch.so}"
    export PYTHONPATH="$root/runner/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1
    echo 'assert abs(observed[:, 0]).max() < 0.01 and not terminated.any(), observed' >>balance.py
    lacks_program "$HOPSCOTCH_LIBRARY" || { python3 balance.py >out 2>err; check $? "the pendulum stays up in Python"; }
fi
page_experiments
exit $status
