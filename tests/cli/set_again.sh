#!/bin/sh
# What --set changed is seen afterwards, and what a campaign ran can be run again: by its name, its folder, its files.
. "$(dirname "$0")/../scratch.sh"

cat >g.yaml <<'END'
# my gains
version: 1
experiment: g
model: hopper
simulation: {duration: 0.1, settle: 0}
search: {method: grid, over: {thrust: [20, 30]}}
objective: {minimize: attitude_rms}
END
works run g.yaml --set 'search.over.thrust=[25]' --set seed=9 --set limits.trials=5 --progress none
cat g.yaml - >expected <<'END'
# In place of the values above, by --set:
set:
  search.over.thrust: [25]
  seed: 9
  limits.trials: 5
END
cmp -s expected results/g/spec.yaml
check $? "spec.yaml says what was set"
works doctor g
run status g
has "set         search.over.thrust=[25], seed=9"
lacks "resumed"
run status g --json
has '"set": "search.over.thrust=[25], seed=9"'
started=$(grep '"started"' out)
run report g -o page.html
grep -q '^  search.over.thrust: \[25\]' page.html
check $? "the report says what was set"
if with_python "Campaign.spec()" numpy; then
    PYTHONPATH=$root/runner/python python3 -c 'import hopscotch; print(hopscotch.open("results/g").spec())' >out 2>err
    has "  search.over.thrust: [25]"
fi
sleep 1
works resume g --set record.trajectories.select.best=1 --progress none
tail -n 1 results/g/spec.yaml >out
has "  record.trajectories.select.best: 1"
run status g --json
[ "$(grep '"started"' out)" = "$started" ] && ! grep -q '"resumed": null' out
check $? "resume keeps the first start, and its own time stands beside it"
run status g
has ", resumed 20"
works doctor g

# A campaign as a spec: the same trials under another name, and others.
code=2 refused run g
has "g is a campaign: add --name NEW to run its spec as a new campaign" err
has "resume g" err
works run g --name same --progress none
[ "$(digest g)" = "$(digest same)" ]
check $? "a campaign by its name gives the same digest"
works run results/g --name folder --progress none
works run results/g/spec.yaml --name file --progress none
works run results/g/resolved.yaml --name resolved --progress none
cp results/g/spec.yaml copy.yaml
works run copy.yaml --name copied --progress none
for name in folder file resolved copied; do
    [ "$(digest g)" = "$(digest $name)" ]
    check $? "the same digest: $name"
done
works run g --name again --set 'search.over.thrust=[40, 41]' --progress none
run status again
has "set         seed=9, search.over.thrust=[40, 41]"
run query again --columns thrust --format csv
[ "$(tail -n 2 out)" = "40
41" ]
check $? "what is set again counts"
sed 's/\[25\]/[26]/' results/g/spec.yaml >edited && cat edited >results/g/spec.yaml
works run results/g/spec.yaml --name edited --progress none
run query edited --columns thrust --format csv
[ "$(tail -n 1 out)" = 26 ]
check $? "a spec.yaml that was changed counts as it stands"
works check g
works plan g

# The text is one flow mapping, to which no key can be added.
echo '{version: 1, experiment: flow, model: hopper, simulation: {duration: 0.1, settle: 0},
    search: {over: {thrust: [20]}}}' >flow.yaml
works run flow.yaml --set seed=4 --progress none
tail -n 1 results/flow/spec.yaml >out
has "# --set seed=4"
works run flow --name flows --progress none
[ "$(digest flow)" = "$(digest flows)" ]
check $? "it runs again"

# Files that the campaign keeps.
mkdir parts
echo '{duration: 0.1, settle: 0}' >parts/short.yaml
sed 's,^simulation:.*,simulation: {include: parts/short.yaml},; s/experiment: g/experiment: inc/' g.yaml >inc.yaml
works run inc.yaml --progress none
rm -r parts
works run results/inc/spec.yaml --name inc2 --progress none
[ "$(digest inc)" = "$(digest inc2)" ]
check $? "a spec with an include runs again without it"
awk 'BEGIN { for (i = 0; i < 20; i++) for (k = 0; k < 20; k++) { print i * 0.5, k * 0.5, 0; print i * 0.5, 0, k * 0.5
    print 0, i * 0.5, k * 0.5 } }' >wall.xyz
cat >scan.yaml <<'END'
version: 1
experiment: scan
model: ndt
simulation: {target: wall.xyz, source: wall.xyz, maps: [2]}
search: {over: {start_x: [0, 0.1]}}
END
works run scan.yaml --progress none
mv wall.xyz away.xyz
works run scan --name scan2 --progress none
works run results/scan/spec.yaml --name scan3 --progress none
echo '# changed' >>results/scan/spec.yaml
works run results/scan/spec.yaml --name scan4 --progress none
for name in scan2 scan3 scan4; do
    [ "$(digest scan)" = "$(digest $name)" ]
    check $? "the clouds that the campaign keeps: $name"
done
sed -i 's/wall.xyz/walls.xyz/' results/scan/spec.yaml
refused run results/scan/spec.yaml --name scan5 --progress none
has "cannot read 'walls.xyz' in the spec's folder" err

# `set` in a spec.
printf 'set: [1]\n' | cat g.yaml - >bad.yaml
refused check bad.yaml
has "bad.yaml:8:6: error: set is a list, expected a mapping of keys to values" err
printf 'set: {a..b: 1, search.over.k_pf: [2]}\n' | cat g.yaml - >bad.yaml
refused check bad.yaml
has "bad.yaml:8:9: error: a word of the key is empty" err
has "bad.yaml:8:28: error: unknown parameter 'k_pf' in search.over; did you mean 'k_fp'?" err
refused check g.yaml --set set.seed=3
has "'set' holds what --set gave before: give the key itself" err
exit "$status"
