#!/bin/sh
# recommend: after a noisy search the best trials and the mean of its distribution run under fresh seeds, in a campaign
# of their own. Oracle: Python, from the stored replicates of that campaign.
. "$(dirname "$0")/../scratch.sh"
with_python "recommended trials" || exit 0

# the nested campaign of NAME
made() { for folder in results/"$1"/verify/recommend_*; do echo "$1/verify/${folder##*/}"; done; }

cat >noisy.yaml <<'END_SPEC'
version: 1
experiment: noisy
seed: 3
model: bbob
simulation: {function: sphere, dimension: 4}
search:
  method: cmaes
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}
  cmaes: {population: 8}
replicates: {count: 2, common: false, perturb: {x3: {normal: [0, 2]}, x4: {uniform: [-4, 4]}}}
objective: {minimize: f}
limits: {trials: 400}
END_SPEC
works run noisy.yaml --progress none
has "is recommended: "
cp out first
named=$(sed -n 's/^fresh  *trial \([0-9]*\) is recommended.*/\1/p' first)
top=$(sed -n '/^rank/{n;s/^ *1  *\([0-9]*\) .*/\1/p;}' first)
[ "$named" != "$top" ] && grep -q "show noisy/$named\$" first && grep -q "replay noisy/$named\$" first &&
    grep -q "verify noisy --trial $named\$" first
check $? "the commands to type next are of the recommended trial, $named, not of the best of the search, ${top:-none}"
run run noisy.yaml --progress none
cp out second
[ "$(grep -A3 '^fresh' first)" = "$(grep -A3 '^fresh' second)" ] && ! grep -q recommend_ err
check $? "a second run says the same and computes nothing"
[ "$(made noisy | wc -l)" = 1 ]
check $? "one campaign is made"
works run noisy.yaml --name without --set recommend=off --progress none
lacks "recommended"
[ ! -e results/without/verify ] && [ "$(digest noisy)" = "$(digest without)" ]
check $? "no stored result changes"
works doctor noisy
works run noisy.yaml --json --progress none
cp out run.json
works best noisy --json
cp out best.json
works show noisy/best --json
cp out show.json
python3 - "results/$(made noisy)" <<'END_PYTHON' >out 2>&1
import json, sqlite3, sys
said = json.load(open("run.json"))["recommended"]
best = json.load(open("best.json"))
shown = json.load(open("show.json"))["fresh_seeds"]
searched = sqlite3.connect("results/noisy/campaign.db")
there = sqlite3.connect(sys.argv[1] + "/campaign.db")
seeds = said["seeds"]
rows = there.execute("SELECT trial, avg(f), count(*) FROM replicates GROUP BY trial ORDER BY trial").fetchall()
ids = [row[0] for row in searched.execute("SELECT id FROM trials ORDER BY fitness, id LIMIT 10")]
# a tenth of 800 simulations for 11 candidates, 7 seeds of each in equal shares: a race from 2 to 16 seeds
assert len(rows) == 11 and sorted(row[2] for row in rows) == [2] * 5 + [4] * 3 + [8] + [16] * 2, rows
assert seeds == 16 and said["simulations"] == sum(row[2] for row in rows) <= 7 * 11, said
assert [one.get("trial") for one in said["candidates"]] == ids + [None], (said, ids)
for one, row in zip(said["candidates"], rows):
    assert abs(one["fresh"] - row[1]) < 1e-9 and one["seeds"] == row[2] and one["trial_there"] == row[0], (one, row)
    point = there.execute("SELECT x1, x2 FROM trials WHERE id = ?", (row[0],)).fetchone()
    if "trial" in one:
        assert point == searched.execute("SELECT x1, x2 FROM trials WHERE id = ?", (one["trial"],)).fetchone()
fresh = [row[1] for row in rows]
assert said["fresh"] == min(one["fresh"] for one in said["candidates"] if one["seeds"] == 16)
# seeds are common and their effects add up in this function, so there is no doubt
assert said["probability"] > 0.99, said
assert [row["fresh"] for row in best] == [one["fresh"] for one in said["candidates"][:10]], best
assert shown["fresh"] == said["candidates"][0]["fresh"] and shown["fitness"] == best[0]["fitness"]
# the winner's curse: the ten luckiest of 400 look better than they are
luck = [one["fresh"] - one["fitness"] for one in said["candidates"][:10]]
assert sum(luck) / 10 > 1, luck
# the seeds are fresh: none of them was drawn in the search
assert there.execute("SELECT count(DISTINCT x3) FROM replicates").fetchone()[0] == 16
END_PYTHON
check $? "the numbers are those of the replicates"
run show noisy/best
has "fresh seeds: "
run best noisy
has "fresh"
works report noisy -o page.html
grep -qF "the luckiest" page.html
check $? "the report says so"
works replay "$(made noisy)/3"
works doctor "$(made noisy)"
run status "$(made noisy)"
has "recommends noisy/"

# ---- as the spec says -----------------------------------------------------------------------------------------------

works run noisy.yaml --name asked --set 'recommend={trials: 3, replicates: 40}' --progress none
has "40 fresh seeds"
has "4 candidates"
works run noisy.yaml --name failing --progress none --set 'objective.minimize="sqrt(9 - x3^2)"' --set replicates.count=3
has "fresh seeds"
works run noisy.yaml --name grid --progress none \
    --set 'search={method: random, trials: 50, over: {x1: {range: [-5, 5]}}}'
lacks "recommended"
works run noisy.yaml --name grid2 --progress none --set 'recommend={trials: 5}' \
    --set 'search={method: random, trials: 50, over: {x1: {range: [-5, 5]}}}'
has "5 candidates"
works run noisy.yaml --name quiet --progress none --set 'replicates={count: 1}'
lacks "recommended"
[ ! -e results/quiet/verify ]
check $? "nothing is made where nothing is drawn"
works run noisy.yaml --name bound --progress none --set 'constraints=["x1 > 1"]'
has "recommended"
reasons='several objectives have no best trial\|nothing is searched'
reasons="$reasons\|nothing is drawn (replicates.perturb), so that every seed gives the same"
reasons="$reasons\|each point of an outer grid has a best trial of its own"
for wrong in 'objective.minimize=[f, x3]' 'replicates={count: 1}' 'search={method: random, trials: 9}' \
    'search.cmaes.outer={x4: [1, 2]}'; do
    refused check noisy.yaml --set 'recommend={trials: 5}' --set "$wrong"
    grep -q "recommend runs the best trials under fresh seeds, and \($reasons\)" err ||
        grep -q "can't be perturbed\|searched" err
    check $? "and says why"
done
refused check noisy.yaml --set 'recommend={trails: 5}'
has "recommend has no key 'trails', expected trials and replicates; did you mean 'trials'?" err
refused check noisy.yaml --set 'recommend=[5]'
has "recommend is a list, expected auto, off, or a mapping of trials and replicates" err

# ---- extended, in parts, killed -------------------------------------------------------------------------------------

works run noisy.yaml --extend --set limits.trials=800 --progress none
[ "$(made noisy | wc -l)" = 2 ]
check $? "a longer search recommends anew"
has "fresh seeds"
two="--set search.cmaes.searches=2 --set limits.trials=none --set search.cmaes.stop.generations=20"
for part in 1 2; do
    works run noisy.yaml --name parted --part "$part/2" $two --progress none
    lacks recommended
done
works gather parted --progress none
works run noisy.yaml --name whole $two --progress none
cp out whole
run best parted
[ "$(grep '^fresh' out)" = "$(grep '^fresh' whole)" ]
check $? "gathered parts recommend what one run does"

many='recommend={trials: 10, replicates: 20000}'
works run noisy.yaml --name killed --set recommend=off --progress none
works run noisy.yaml --name calm --set recommend=off --progress none
works resume calm --set "$many" --progress none
kills=0
for after in 0.05 0.1 0.15 0.2 0.3; do
    "$HOPSCOTCH" resume killed --set "$many" --batch 64 --progress none >out 2>err </dev/null &
    pid=$!
    sleep $after
    kill -9 $pid 2>/dev/null && kills=$((kills + 1))
    wait $pid 2>/dev/null
    pid=
done
works resume killed --set "$many" --progress none
[ "$kills" -gt 0 ] && [ "$(digest "$(made killed)")" = "$(digest "$(made calm)")" ] && [ "$(made killed | wc -l)" = 1 ]
check $? "killed $kills times: the same bits"
[ "$(grep '^fresh' out)" != "" ] && [ "$(digest killed)" = "$(digest calm)" ]
check $? "and the search is as it was"

works run noisy.yaml --name ended --set recommend=off --progress none
"$HOPSCOTCH" resume ended --set 'recommend={trials: 1000, replicates: 65536}' --batch 65536 --progress none >out 2>err \
    </dev/null &
pid=$!
until grep -q "pid $pid on" results/ended/verify/recommend_*/campaign.lock 2>/dev/null || ! kill -0 $pid; do
    sleep 0.1
done
kill -INT $pid
wait $pid
expect $? 130 "Ctrl-C ends it"
pid=
has "interrupted while the best trials ran under fresh seeds; continue with" err
works status ended
has "left        the best trials have not all run under fresh seeds (recommend)"
has " resume ended"
works best ended
has "the best trials have not all run under fresh seeds: "
works resume ended --set 'recommend={trials: 4, replicates: 8}' --progress none
has "ended: the best trials run under fresh seeds (recommend)" err
works status ended
lacks "fresh seeds"
works best ended
lacks "have not all run"
works status without
lacks "fresh seeds"
works verify noisy --trial "$named" --seeds 20 --grid 0
works best noisy
has "verified  noisy/verify/trial_$named: "
works verify noisy --seeds 20 --grid 0
has "noisy/$named, which is recommended; the best of the search is trial $top, under 20 fresh seeds"
[ ! -e "results/noisy/verify/trial_$top" ] && [ ! -e "results/noisy/verify/trial_$named-2" ]
check $? "without --trial the recommended trial is verified"
exit $status
