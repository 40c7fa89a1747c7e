#!/bin/sh
# The page experiments/equations.md works as printed: its specs and all commands, in order; what it shows of outputs is
# printed. A command behind which it shows an error is refused.
. "$(dirname "$0")/../scratch.sh"
page=$root/experiments/equations.md

mkdir experiments && cp "$root"/experiments/compass_gait.yaml experiments
# block N [LANGUAGE]: the Nth of the page
block()
{
    awk -v wanted="$1" -v begin="\`\`\`${2:-yaml}" \
        '$0 == begin { inside = ++n == wanted; next } /^```/ { inside = 0 } inside' "$page"
}
block 1 >pendulum.yaml
block 2 >runner.yaml
block 3 >neuron.yaml
block 4 >rocket.yaml
block 5 >chain.yaml
block 6 >balance.yaml
block 1 python >balance.py
block 1 csv >thrust.csv
block 2 csv >wind.csv
hopscotch() { "$HOPSCOTCH" "$@"; }

# Commands and their output, as lines: `$ COMMAND` and `> LINE`.
awk '/^```/ { inside = !inside } inside { next } /^    \$ / { print substr($0, 5); shown = 1; next }
    /^    / && shown { print "> " substr($0, 5); next } { shown = 0 }' "$page" >lines
[ "$(grep -c '^\$ ' lines)" -ge 12 ] || { echo "FAIL system_guide: the page has no commands" && status=1; }
: >out
: >err
while IFS= read -r line; do
    case $line in
        '$ '*)
            eval "${line#\$ }" >out 2>err </dev/null
            got=$?
            wanted=$(awk -v line="$line" 'found { if (/^> .*error: /) print 1; exit } $0 == line { found = 1 }' lines)
            expect $got "${wanted:-0}" "${line#\$ }"
            ;;
        *)
            cat out err | grep -qxF -e "${line#> }"
            check $? "it prints '${line#> }'"
            ;;
    esac
done <lines

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
for name in $(sed -n 's/^| `\([a-z_]*\.yaml\)` .*/\1/p' "$page"); do
    [ -f "$root/experiments/$name" ]
    check $? "there is $name"
done
exit $status
