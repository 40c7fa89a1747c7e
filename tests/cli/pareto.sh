#!/bin/sh
# Several objectives: a front by NSGA-II and one of a grid; the same digest for any batches and threads, the same trials
# when extended in parts; the output of best, status, show, query and replay; damage that the doctor repairs.
#
#   QUICK=1  fewer generations
. "$(dirname "$0")/../scratch.sh"
generations=20
[ -z "${QUICK:-}" ] || generations=8

# Each objective is a parabola, with its least value at 100 and at 200 N m/rad: the front lies between them.
cat >front.yaml <<END
version: 1
experiment: front
seed: 5
model: hopper
simulation: {duration: 0.05, settle: 0.02}
search:
  method: nsga2
  over: {k_fp: {range: [50, 300], scale: log}, thrust: {range: [20, 50], integer: true}, b_fp: {derive: "0.1 * k_fp"}}
  exclude: ["thrust > 49"]
  nsga2: {searches: 3, population: 12, stop: {generations: $generations}}
objective:
  minimize: ["(k_fp - 100)^2 + 10*(thrust - 30)^2", "(k_fp - 200)^2 + 10*(thrust - 30)^2"]
  reference: [3e4, 3e4]
constraints: ["k_fp < 180"]
replicates: {count: 2, common: false, perturb: {phi_leg: {normal: [0.01, 0.02]}}, store: true}
record: {trajectories: {select: {best: 4, every: 50}, sample: 0.01}}
END
sed -e '/nsga2: {/d' -e 's/method: nsga2/method: grid/' \
    -e 's/{range: \[50, 300\], scale: log}/{linspace: [60, 300, 25]}/' \
    -e 's/{range: \[20, 50\], integer: true}/[28, 30, 33]/' front.yaml >grid.yaml

# run SPEC NAME OPTIONS...
run()
{
    spec=$1 name=$2
    shift 2
    "$HOPSCOTCH" run "$spec.yaml" --name "$name" --progress none "$@" >out 2>&1
}
ask()
{
    "$HOPSCOTCH" "$@" >out 2>&1
}
# says TEXT WHAT
says()
{
    grep -qF -- "$1" out
    check $? "$2"
}
same()
{
    [ -n "$expected" ] && [ "$(digest "$1")" = "$expected" ]
    check $? "$2"
}

run front whole --threads 1
check $? "nsga2 runs"
says "2 objectives: " "a run shows the Pareto front"
expected=$(digest whole)
run front small --threads 2 --batch 14
same small "batches of 14 lanes and two threads: the same digest"
run front limited --set limits.trials=100 && run front limited --set limits.trials=101 && run front limited
same limited "stopped in the middle of generations: the same digest"

run front parts --set search.nsga2.stop.generations=3
run front parts --set search.nsga2.stop.generations=5
[ $? -eq 1 ] && grep -q 'extend runs what is new' out
check $? "more generations are refused without --extend"
run front parts --set search.nsga2.stop.generations=5 --extend &&
    run front parts --set "search.nsga2.stop.generations=$generations" --extend
check $? "more generations, in two parts"
columns=id,search,round,k_fp,thrust,b_fp,objective_1,objective_2,violation,failure,attitude_rms
for name in whole parts; do
    "$HOPSCOTCH" query $name --columns $columns --limit 0 --format csv >"$name.csv"
done
cmp whole.csv parts.csv >out && [ "$(wc -l <whole.csv)" -gt 200 ]
check $? "extended in parts, the trials equal those of one run"
run front parts --extend --set search.nsga2.population=14
[ $? -eq 1 ] && grep -q "population can't change" out
check $? "another population is refused"

ask best whole --pareto --format csv
# no line of the front may dominate another or violate the constraint
cut -d, -f4,8,9 <out | awk -F, 'NR > 1 { n++; k[n] = $1; a[n] = $2; b[n] = $3 }
    END { for (i = 1; i <= n; i++) { if (k[i] > 180) bad++
              for (j = 1; j <= n; j++) if (a[i] <= a[j] && b[i] <= b[j] && (a[i] < a[j] || b[i] < b[j])) bad++ }
          exit !(n > 10 && bad == 0) }'
check $? "best --pareto gives a front, of trials that meet the constraints"
ask best whole --top 3
says 'hypervolume' "best tells the hypervolume"
ask best whole --json && grep -q '"fitness":null,"objective_1":' out
check $? "best --json has every column"
ask best whole --objectives objective_1,attitude_rms
says 'on the Pareto front of these columns' "a front of other columns"
ask best whole --objectives objective_1,attitude_rsm
says "did you mean 'attitude_rms'?" "a column that is misspelt"
ask best whole --objectives objective_1
says 'two columns or more' "one column gives no front"
ask status whole && grep -q 'hypervolume' out
check $? "status shows the hypervolumes"
ask show whole/7
says 'objective_2 ' "show tells the objectives"
ask query whole --where "objective_1 < 900 and violation = 0" --order objective_2 --limit 1 &&
    grep -q 'objective_1' out
check $? "query filters and orders by objectives"
for trial in 0 31 107; do
    ask replay whole/$trial --isa scalar
    says 'every objective' "trial $trial replays"
done

run grid grid
check $? "a grid with several objectives"
ask best grid --pareto --format csv
# of 60, 70, ... 180 the nine from 100 on, with thrust 30, and the line of names
[ "$(wc -l <out)" -eq 10 ] && ! grep -v '^id' out | cut -d, -f5 | grep -qv '^30$'
check $? "the front of the grid is the known one"
run grid single --set 'objective={minimize: apex_mean}' && ask best single --pareto
says 'has one objective, so its front is its best trial' "one objective has no front"
run grid none --set 'constraints=["k_fp < 1"]'
says 'no trial meets the constraints' "no trial meets the constraints"

# the doctor finds changed values, and computes a search's state again from its trials
change() { "$SQL" results/whole/campaign.db "$1"; }
expected=$(digest whole)
for damage in "UPDATE searches SET state = zeroblob(length(state))" \
    "UPDATE fronts SET hypervolume = 1 WHERE round = 2" \
    "UPDATE rounds SET debug = zeroblob(length(debug)), stop = NULL WHERE search = 1"; do
    change "$damage"
    ask doctor whole
    [ $? -eq 3 ] && ask doctor whole --repair && ask doctor whole
    check $? "the doctor finds and repairs: $damage"
    same whole "and it is as it was"
done
change "UPDATE trials SET objective_2 = objective_2 + 1 WHERE id = 40"
ask doctor whole
[ $? -eq 3 ]
check $? "the doctor finds a changed objective"
ask replay whole/40
says 'objective_2 is' "and replay says which"
rm results/index.db
ask list && ask doctor grid
check $? "list has campaigns with several objectives"
exit $status
