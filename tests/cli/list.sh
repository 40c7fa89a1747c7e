#!/bin/sh
# list: method and objective of each campaign, campaigns by name, and the keys in which their specs differ (--differ).
# best of several campaigns. Campaigns are named by what a pattern of the shell gives: results/try*/.
. "$(dirname "$0")/../scratch.sh"

cat >try.yaml <<'END'
version: 1
experiment: try
seed: 7
model: bbob
simulation: {function: sphere, dimension: 2}
search: {method: grid, over: {x1: {linspace: [-1, 1, 5]}, x2: [0.5, 1]}}
objective: {minimize: f}
END
for name in try_a try_b; do "$HOPSCOTCH" run try.yaml --name $name --progress none >out 2>err; done
run run try.yaml --name try_c --set seed=9 --set 'search.over.x2=[0.25, 1]' --progress none
run run try.yaml --name try_d --set 'search.over={x1: {linspace: [-2, 2, 9]}}' --progress none
run run try.yaml --name up --set 'objective={maximize: f}' --progress none
check $? "five campaigns"
cat >two.yaml <<'END'
version: 1
experiment: two
model: hopper
simulation: {duration: 0.6, settle: 0.1}
search:
  method: nsga2
  over: {k_fp: {range: [50, 300]}}
  nsga2: {population: 8, stop: {generations: 1}}
objective: {minimize: [attitude_rms, velocity_error]}
END
run run two.yaml --progress none
check $? "one of two objectives"

# ---- columns ---------------------------------------------------------------------------------------------------------

works list --format csv
cut -d , -f 1,12- out >columns
cat >expected <<'END'
campaign,method,objective
try_a,grid,f
try_b,grid,f
try_c,grid,f
try_d,grid,f
two,nsga2,"attitude_rms, velocity_error"
up,grid,maximise f
END
cmp -s expected columns
check $? "method and objective are columns"
run list --json
has '"method":"nsga2","objective":"attitude_rms, velocity_error"'
"$SQL" results/index.db "UPDATE campaigns SET objective = 'from the catalogue'" >out
run list
[ "$(grep -c 'from the catalogue' out)" = 6 ]
check $? "the catalogue has them"
rm -f results/index.db*
long=$(printf '1 + %.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20)f
run run try.yaml --name long --set "objective.minimize=$long" --progress none
run list long
grep -q ' 1 + 1 + 1 .* + 1\.\.\.$' out
check $? "a long objective is cut for people"
run list long --format csv
has "$long"
works rm long --yes

# ---- campaigns by name -----------------------------------------------------------------------------------------------

works list results/try_[ab]/ two --format csv
[ "$(cut -d , -f 1 out | tr '\n' ' ')" = "campaign try_a try_b two " ]
check $? "list of some campaigns, by pattern and by name"
works list results/* --format csv
[ "$(wc -l <out)" = 7 ]
check $? "a pattern may match the catalogue's files"
refused list try_a nothing
has "there is no campaign 'nothing'" err
works list try_a --state killed
has "none of these campaigns matches"
mkdir elsewhere && cp -r results/try_a elsewhere/moved
works list try_b elsewhere/moved --format csv
has "elsewhere/moved,done"
works compare try_a try_c --seeds 5 --progress none
works list try_a --all --format csv
grep -q '^try_a/verify/compare_' out && [ "$(wc -l <out)" = 3 ]
check $? "--all adds what was run for it"

# ---- what differs ----------------------------------------------------------------------------------------------------

works list results/try_[abc] --differ
sed 's/  */ /g; s/ [-0-9.]* / BEST /' out >columns
cat >expected <<'END'
campaign best search.over.x2 seed
try_a BEST [0.5, 1] 7
try_b BEST [0.5, 1] 7
try_c BEST [0.25, 1] 9
END
cmp -s expected columns
check $? "a column per key that differs"
works list results/try_[abd] --differ --json
has '"search.over.x2":"[0.5, 1]"'
has '"search.over.x2":null'
works list results/try_[ab] --differ
has "the specs of these 2 campaigns are equal"
works list try_a --differ
has "nothing to compare: the list has one campaign"
works list --differ
has "  objective.maximize: f"
lacks "(none)"
works list --differ --format csv
[ "$(head -n 1 out | tr ',' '\n' | wc -l)" -gt 10 ] && [ "$(wc -l <out)" = 7 ]
check $? "as CSV, many keys are columns, too"
run run try.yaml --name turned --set 'search.over={x2: [0.5, 1], x1: {linspace: [-1, 1, 5]}}' --progress none
works list try_a turned --differ
has "the specs of these 2 campaigns differ in the order of their entries alone"
works rm turned --yes
cp -r results/try_b many
"$SQL" many/campaign.db "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1100)
    UPDATE campaign
    SET canonical = (SELECT group_concat(printf('key.%04d = %d', i, i), char(10)) FROM n) || char(10)" >out
works list try_a ./many --differ --format csv
grep -qE '^1,1[0-9][0-9] keys differ; these are the first 1,000$' err
check $? "a thousand keys at most are shown, and it says so"
cp -r results/try_b strange
"$SQL" strange/campaign.db "UPDATE campaign SET canonical = 'seed = ' || char(27) || '[31m' || char(10)" >out
works list ./strange try_a --differ
if LC_ALL=C grep -q "$(printf '\033')" out; then false; fi
check $? "a value of a strange database can't colour the terminal"
works list ./strange

# ---- the best of several ---------------------------------------------------------------------------------------------

best_of() { "$HOPSCOTCH" query "$1" --order fitness --limit 1 --columns id,fitness --format csv | sed 1d; }
works best results/try_[acd]/ --format csv
for name in try_a try_c try_d; do echo "$name,$(best_of $name)"; done | sort -t , -k 3 -g -s >expected
awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $1 != NR - 1 { exit 1 } { print $2 "," $at["id"] "," $at["fitness"] }' out >columns
cmp -s expected columns
check $? "the best of each campaign, the best first"
lacks "warning" err
works best try_a try_c
has "compare try_a try_c"
works best try_a try_c --top 3 --json
[ "$(grep -c '"rank"' out)" = 6 ]
check $? "--top: as many of each"
run run try.yaml --name fixed --set 'search.over={x1: {linspace: [-1, 1, 5]}}' --set parameters.x2=0.125 --progress none
works best fixed try_a --format csv
[ "$(awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $2 == "fixed" { print $at["x2"] }' out)" = 0.125 ]
check $? "a parameter that is not searched has its fixed value"
run run try.yaml --name turned --set simulation.function=ellipsoid --progress none
works best try_a turned
has "warning: try_a and turned have different tasks: they differ in simulation.function" err
refused best try_a up
has "the objectives of try_a and up differ, so their trials have no common order: \`f\` and \`maximise f\`" err
refused best try_a two
has "campaign two has several objectives, so it has no single best trial: \`best two\` alone shows its front" err
# shellcheck disable=SC2046
code=2 refused best $(printf 'try_a %.0s' $(seq 1001))
has "best takes at most 1000 campaigns, and these are 1001" err
code=2 refused best try_a try_c --per search
has "are of one campaign" err
code=2 refused best results/index.db
has "best needs CAMPAIGN..." err
single() # NAME [SET...]: a campaign of one trial
{
    name=$1
    shift
    run run two.yaml --name "$name" --set objective.minimize=attitude_rms \
        --set 'search={method: list, points: [{k_fp: 100}]}' "$@" --progress none
}
single failing --set 'initial={z_foot: 0.05, phi_body: 1.5}' --set simulation.duration=2
single going
works best failing going
has "failing has no trial with a fitness" err
sed -n 2p out | grep -q '^ *1 *going '
check $? "a campaign without a fitness is last"

# ---- compare ---------------------------------------------------------------------------------------------------------

works compare results/try_[ac]/ --progress none --seeds 5
has "try_a -> try_c: another spec"
code=2 refused compare results/index.db try_a
has "compare needs CAMPAIGN CAMPAIGN..." err
# shellcheck disable=SC2046
code=2 refused compare $(printf 'try_a %.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17)
has "compare takes at most 16 campaigns, and these are 17" err
for command in list best compare; do
    run help $command
    has "hopscotch $command results/try*"
done
exit $status
