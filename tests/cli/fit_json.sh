#!/bin/sh
# `fit --json` is one object with all that `fit` says: the first line, remarks and the table.
. "$(dirname "$0")/../scratch.sh"

command -v python3 >/dev/null || { skip "all of it" "python3" "apt-get install python3"; exit 0; }
hopscotch() { "$HOPSCOTCH" "$@" >out 2>err; }

cp "$root/experiments/identify_pendulum.yaml" "$root/experiments/identify_pendulum.csv" .
cp "$root/experiments/plan_pendulum.yaml" .
hopscotch run identify_pendulum.yaml --progress none --set search.least_squares.searches=1 &&
    hopscotch fit identify_pendulum/best && cp err said &&
    hopscotch fit identify_pendulum/best --json && [ ! -s err ] &&
    python3 - <<'END'
import json
got, said = json.load(open("out")), open("said").read().splitlines()
assert [f"{of['name']:<11} {of['text']}" for of in got["remarks"]] == said[1:], (got["remarks"], said)
head = f"{got['campaign']}/{got['trial']}: root mean square {got['rms']!r} of {got['residuals']} residuals, "
assert said[0].startswith(head + f"{got['searched']} parameters"), said[0]
assert [row["parameter"] for row in got["rows"]] == ["length", "viscous", "dry"] and not got["by_differences"], got
END
check $? "what it says to people, and the table of parameters"
for table in residuals lacking correlation; do
    hopscotch fit identify_pendulum/best --json --$table &&
        python3 -c 'import json; got = json.load(open("out")); assert got["rows"] and got["remarks"]'
    check $? "the same with --$table"
done
hopscotch run plan_pendulum.yaml --progress none --set search.cmaes.stop.generations=1 &&
    hopscotch fit plan_pendulum/best --json &&
    python3 -c 'import json; got = json.load(open("out")); assert 0 < got["relative_error"] < 1 and "rms" not in got'
check $? "a plan has its relative error"
exit $status
