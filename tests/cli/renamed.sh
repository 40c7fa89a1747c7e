#!/bin/sh
# A campaign's name is the name of its folder: a folder that the shell renames works with every command at once, what
# was made of it says where it is now, and a run whose folder is renamed ends with all that it had committed.
. "$(dirname "$0")/../scratch.sh"
make_gait
listed() { "$SQL" results/index.db "SELECT name FROM campaigns ORDER BY name" | tr '\n' ' '; }

# ---- every command --------------------------------------------------------------------------------------------------

works run gait.yaml --name old --backend cpu --progress none
works verify old --trial 1 --seeds 2 --grid 0 --threads 1 --progress none
whole=$(digest old)
mv results/old results/new
[ "$(digest new)" = "$whole" ] && [ -n "$whole" ]
check $? "the digest is the same"
works doctor new
has "index.db does not list the state of new: the next list renews it"
works doctor new/verify/trial_1
while read -r command; do
    # shellcheck disable=SC2086
    works $command
done <<'END'
status new
best new
query new --where k_fp>100 --order fitness
show new/1
replay new/1 --backend cpu
export new --csv -
plot new --kind scatter -o scatter.svg
report new
resume new --progress none
run gait.yaml --name new --backend cpu --progress none
run gait.yaml --name new --extend --set search.over.k_fp=[100,150,200,250] --backend cpu --progress none
tag new kept
note new words
compare new new --seeds 2 --threads 1 --progress none
verify new --trial 1 --seeds 2 --grid 0 --threads 1 --progress none
gc new --yes
doctor new
doctor new --repair
END
refused best old
has "there is no campaign 'old' under results" err

# ---- the catalogue --------------------------------------------------------------------------------------------------

mv results/new results/newer
works list
[ "$(listed)" = "newer " ]
check $? "list gives the catalogue the new name: $(listed)"
works doctor newer
has "index.db says the same"
cp -r results/newer results/twin && works run gait.yaml --name third --backend cpu --progress none && works list
mv results/newer results/aside && mv results/third results/newer && mv results/aside results/third
works doctor newer
has "the next list renews it"
works doctor third
works status
works doctor newer
has "index.db says the same"
mkdir other && mv results/newer other/newer
works doctor newer --results other
works list
works rm twin --yes
[ "$(listed)" = "third " ]
check $? "list and rm: $(listed)"

# ---- campaigns made from a renamed one ------------------------------------------------------------------------------

works status third/verify/trial_1
has "origin      verifies new/1 (now third)"
lacks old
works verify third --trial 1 --seeds 2 --grid 0 --threads 1 --progress none
works status third/verify/trial_1
has "origin      verifies third/1"
lacks new
works run gait.yaml --name one --set seed=8 --backend cpu --progress none
works verify one --trial 0 --seeds 2 --grid 0 --name checked --threads 1 --progress none
mv results/one results/two
works status checked
has "origin      verifies one/0 (now two)"
works status checked --json
has '"origin": "verifies one/0 (now two)"'
works verify two --trial 0 --seeds 2 --grid 0 --name checked --threads 1 --progress none
works status checked
has "origin      verifies two/0"
works run gait.yaml --name one --set seed=9 --backend cpu --progress none
mv results/two results/four
works status checked
has "origin      verifies two/0 (now four)"
works rm four --yes
works status checked
has "origin      verifies two/0 (not under results)"
works run gait.yaml --name two --set seed=10 --backend cpu --progress none
works status checked
has "origin      verifies two/0 (not under results)" # the campaign with that name has another spec
works run gait.yaml --name other --set seed=10 --backend cpu --progress none
works merge two other --into both
mv results/two results/first
works status both
has "origin      merges two (now first or other), other"
cat >learn.yaml <<'END'
version: 1
experiment: learn
model: bbob
simulation: {function: sphere, dimension: 2}
search: {method: cmaes, cmaes: {stop: {generations: 4}}, over: {x1: {range: [-1, 1]}, x2: {range: [-1, 1]}}}
END
sed 's/cmaes: {/cmaes: {from: learn, /; s/^experiment: learn/experiment: warm/' learn.yaml >warm.yaml
works run learn.yaml --progress none
works run warm.yaml --set limits.trials=6 --progress none
mv results/learn results/learnt
works resume warm --set limits.trials=none --progress none
works run warm.yaml --progress none
has "warm is done already" err
refused run warm.yaml --name again --progress none
has "learn" err

# ---- a rename during a run ------------------------------------------------------------------------------------------

sed 's/duration: 0.02/duration: 1/; s/k_fp: .*}}/k_fp: {linspace: [50, 200, 4000000]}}}/' gait.yaml >long.yaml
"$HOPSCOTCH" run long.yaml --name running --batch 40 --threads 1 --backend cpu --progress none --ignore-space \
    >paused.out 2>paused.err &
pid=$!
until_true committed running
mv results/running results/away
wait "$pid"
ended=$? pid=
[ "$ended" -eq 3 ] && grep -qF "was moved away while it was written: what was committed before is" paused.err
check $? "a run whose folder is renamed ends, with status $ended"
has "if the folder was renamed, resume the campaign under its new name" paused.err
[ ! -e results/running ]
check $? "nothing is left under the old name"
works status away
has "interrupted"
limit=limits.trials=$(($("$HOPSCOTCH" query away --columns id --format csv | tail -n +2 | wc -l) + 100))
works resume away --set "$limit" --progress none
works doctor away
works run long.yaml --set "$limit" --name straight --batch 400 --threads 1 --backend cpu --progress none
[ "$(digest away)" = "$(digest straight)" ]
check $? "the renamed campaign resumes to the same bits"
exit "$status"
