#!/bin/sh
# hopscotch verify: a trial under fresh seeds, with one change at a time, from a grid of starts. Its runs are campaigns
# of their own, linked to the first; a second call computes nothing.
. "$(dirname "$0")/../scratch.sh"
sql() { "$SQL" "$@"; }

cat >gains.yaml <<'END'
version: 1
experiment: gains
seed: 7
model: hopper
simulation: {duration: 0.6, settle: 0.1}
parameters: {x_dot_des: 1.0}
search:
  method: grid
  over:
    k_fp: {linspace: [50, 300, 4]}
    thrust: {arange: [25, 40, 5]}
    b_fp: {derive: "0.1 * k_fp"}
replicates: {count: 2, perturb: {phi_leg: {normal: [0.01, 0.4]}, dphi_body: {uniform: [-12, 12]}}}
objective: {minimize: "attitude_rms + 0.001*k_fp", failed: penalty(10)}
END

run run gains.yaml --progress none
check $? "a campaign"
best=$("$HOPSCOTCH" best gains --top 1 --format csv | sed -n '2s/^1,\([0-9]*\),.*/\1/p')
run verify gains --seeds 40 --grid 3 --progress none
check $? "verify of the best trial"
has "gains/$best under 40 fresh seeds"
has "(Wilson)"
has "Student's t"
has "k_fp"
has "grid      phi_leg -1.19 to 1.21, dphi_body -12 to 12"
has "of 9 starts succeed"
cp out first
run verify gains --seeds 40 --grid 3 --progress none
grep -qF "done already" err
check $? "a second verify runs nothing"
cmp -s out first
check $? "a second verify prints the same"
run status "gains/verify/trial_$best"
has "verifies gains/$best"
run replay "gains/verify/trial_$best/0" --threads 1
check $? "the trials that verify ran replay"
run doctor "gains/verify/trial_$best"
check $? "the campaign that verify made matches its digests"
run verify gains --seeds 40 --grid 3 --gains 5 --progress none
has "results/gains/verify/trial_$best-2"
run verify gains --seeds 40 --grid 3 --gains 5 --progress none
grep -qF "done already" err && has "results/gains/verify/trial_$best-2"
check $? "verify with other options is another campaign, and goes on by the same options"
run verify gains --seeds 40 --grid 2 --progress none
has "results/gains/verify/trial_$best-3"
has "of 4 starts succeed"
grep -qF "the most harmful first" out && sed -n '/most harmful/,/^$/d; /^k_fp\|^thrust/p' out >changes && [ -s changes ]
check $? "verify prints the changes"
awk '/^changed/ { table = 1; next } table && NF == 0 { exit } table { if (rows++ && $4 < last) bad = 1; last = $4 }
    END { exit bad || rows < 10 }' out
check $? "the most harmful change comes first"
has "verdict   "
grep -qE '^verdict   .* of 40 fresh seeds succeed; with .* at .* of 40, the fewest of .* changes; .* of 4 starts$' out
check $? "verify ends in one line"

# What it found out stands beside the trial.
run best gains
grep -qE "^verified  gains/verify/trial_$best: [0-9]+ of 40 fresh seeds succeed \(95 %: .* %\), fitness [0-9.]+$" out
check $? "best shows the verdict"
run show "gains/$best"
has "fresh seeds succeed"
run report gains -o - && grep -q "Trial $best was verified: <b>" out
check $? "the report shows the verdict"
grep -qE '<dt>verified</dt><dd><b>[0-9]+ of 40</b> <span>fresh seeds succeed</span>' out
check $? "also in its head"
run report gains
has "verify gains"

# A verify that was killed before it stored its spec, or later: the same command goes on.
for call in fsync:3 rename:1 write:3 fsync:6; do
    rm -rf results/gains/verify/defaults*
    HOPSCOTCH_FAULT=$call:KILL "$HOPSCOTCH_FAULTS_PROGRAM" verify gains --defaults --seeds 3 --grid 0 --progress none \
        >out 2>err
    [ $? -eq 137 ] && run verify gains --defaults --seeds 3 --grid 0 --progress none &&
        [ "$(find results/gains/verify -name 'defaults*' | wc -l)" = 1 ]
    check $? "verify goes on after kill -9 at $call"
done

# Ctrl-C: the same command goes on.
cut() {
    rm -rf results/gains/verify/defaults*
    "$HOPSCOTCH" verify gains --defaults --seeds 4000 --grid 0 --threads 1 --progress none >out 2>err &
    pid=$!
    leaves INT results/gains/verify/defaults/campaign.lock
    [ "$ended" -eq 130 ] && grep -qF "continue with \`$HOPSCOTCH verify gains --defaults --seeds 4000 --grid 0" err
}
soon cut
check $? "Ctrl-C names the verify that goes on"
rm -rf results/gains/verify/defaults*
run verify gains --seeds 40 --grid 0 --gains 0 --physics 0 --name alone --progress none
check $? "verify with seeds only"
grep -qF "one change at a time" out
[ $? -eq 1 ]
check $? "verify with seeds only prints no table of changes"
run query alone --columns id --format csv
[ "$(wc -l <out)" = 2 ]
check $? "verify with seeds only runs one trial"
run verify gains --defaults --seeds 20 --grid 0 --physics 0 --progress none
check $? "verify of the default parameters"
has "the defaults of the parameters that gains searches under 20 fresh seeds"
run verify gains --trial 3 --seeds 10 --physics 0 --grid 2 --grid-over m --name also --progress none
check $? "verify with a parameter in the grid"
has "m 9 to 11"
has "of 8 starts succeed"

# The success rate and the mean equal those of the stored replicates.
if with_python "its figures"; then
    run verify gains --seeds 40 --grid 3 --progress none --json
    python3 - "results/gains/verify/trial_$best/campaign.db" out <<'PYTHON' 2>err
import json, math, sqlite3, statistics, sys
rows = sqlite3.connect(sys.argv[1]).execute("SELECT failure, attitude_rms FROM replicates WHERE trial = 0").fetchall()
k_fp = sqlite3.connect(sys.argv[1]).execute("SELECT k_fp FROM trials WHERE id = 0").fetchone()[0]
good = [value + 0.001 * k_fp for failure, value in rows if failure == "none"]
said = json.load(open(sys.argv[2]))
assert said["runs"] == 40 and said["succeeded"] == len(good) and 0 < len(good) < 40
assert math.isclose(said["fitness"]["value"], statistics.mean(good), rel_tol=1e-12)
t = (said["fitness"]["high"] - said["fitness"]["value"]) / (statistics.stdev(good) / math.sqrt(len(good)))
assert 1.96 < t < 2.8, t  # Student's t from the tables, from infinite to 5 degrees of freedom
assert rows[said["worst"]["replicate"]][0] != "none"
assert said["success"]["low"] < len(good) / 40 < said["success"]["high"]
assert len(said["changes"]) > 20 and said["grid"]["points"] == 9
PYTHON
    check $? "the figures of verify equal those of the stored runs"
fi
sql "results/gains/verify/trial_$best/campaign.db" "SELECT purpose, campaign, trial FROM origin" >out
[ "$(cat out)" = "verifies gains $best" ]
check $? "the new campaign names its origin"

refused verify gains --trial 999
has "has no trial 999" err
code=2 refused verify gains --trial 3 --defaults
has "give one of them" err
refused verify gains --grid-over k_fpp
has "did you mean 'k_fp'?" err
refused verify gains --grid-over m,m_l,J,J_l,g
has "at most 6 axes" err
"$HOPSCOTCH" run gains.yaml --name fallen --set objective.failed=any --set search.over.k_fp=[50] \
    --set 'initial.dphi_body=20' --progress none >out 2>err
refused verify fallen
has "no trial of fallen has a fitness" err
sed -e '/^replicates/d' -e 's/experiment: gains/experiment: still/' gains.yaml >still.yaml
run run still.yaml --progress none
run verify still --gains 0 --physics 0 --progress none
check $? "verify of a campaign without perturbations"
has "do not depend on the seed" err

# A part of zero changes nothing: gains whose value is 0 are changed by a part of what was searched, or of 1.
cat >zero.yaml <<'END'
version: 1
experiment: zero
model: bbob
simulation: {dimension: 3}
search: {over: {x1: [0], x2: {linspace: [-2, 2, 5]}, x3: {linspace: [0, 4, 5]}}}
objective: {minimize: "x2 * x2 + x3"}
END
run run zero.yaml --progress none
run verify zero --seeds 2 --grid 0 --progress none --json
grep -A 1 '"parameter"' out | tr -d ' \n' | sed 's/--/\n/g' | sort | tr '\n' ' ' >changes
p='"parameter":' v='"value":'
grep -qF -e "$p\"x1\",$v-0.1, $p\"x1\",${v}0.1, $p\"x2\",$v-0.4, $p\"x2\",${v}0.4, " changes
check $? "gains whose value is 0 are changed"
exit $status
