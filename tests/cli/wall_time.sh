#!/bin/sh
# limits.wall_time cuts the batches in flight, as Ctrl-C does: a run ends within about a second of it and prints why and
# how to continue; the resumed campaign has the digest of a run without a limit. The first slices of large worlds are
# short.
. "$(dirname "$0")/../scratch.sh"

# One batch takes minutes.
cat >hopper.yaml <<'END'
version: 1
experiment: hopper
seed: 7
model: hopper
simulation: {duration: 500, settle: 0, dt: 1.0e-4}
search: {method: random, trials: 8000, over: {k_fp: {range: [100, 110]}, thrust: {range: [30, 31]}}}
record: {trajectories: {select: {best: 2}, sample: 1}}
END
cat >chain.yaml <<'END'
version: 1
experiment: chain
model: rigid
simulation:
  duration: 20
  dt: 1.0e-3
  stabilisation: baumgarte
  world:
    bodies:
      - {name: link#, repeat: 100, inertia: 0.1, position: [0.5, 0, 2], step: {position: [1, 0, 0]}}
    constraints:
      - {name: hook, type: ball, a: link1, at_a: [-0.5, 0, 0]}
      - {name: joint#, repeat: [2, 100], type: ball, a: link#, b: link#-1, at_a: [-0.5, 0, 0]}
search: {method: grid, over: {link1_mass: {linspace: [0.5, 2, 64]}, link2_mass: {linspace: [0.5, 2, 64]}}}
END

count() { "$HOPSCOTCH" query "$1" --columns id --format csv 2>/dev/null | tail -n +2 | wc -l; }

# limited SPEC NAME OPTION...: runs with a limit of half a second; `took`: the time it took
limited()
{
    spec=$1 name=$2
    shift 2
    rm -rf "results/$name"
    begin=$(milliseconds)
    timeout 60 "$HOPSCOTCH" run "$spec.yaml" --name "$name" --progress none --set limits.wall_time=0.5s "$@" >out 2>&1
    ended=$? took=$(($(milliseconds) - begin))
    [ "$ended" -eq 0 ] && [ "$took" -lt "$patience" ]
}

for batch in 64 4000; do
    soon limited hopper cut --batch $batch
    check $? "hopper, batches of $batch: status $ended after $took ms"
    has 'limits.wall_time of 500 ms is reached; '
    has ' were abandoned; resume --set limits.wall_time=1s continues'
    soon limited chain worlds --batch $((batch / 4))
    check $? "chains of 100, batches of $((batch / 4)): status $ended after $took ms"
done
works status cut
has 'stopped: limits.wall_time of 500 ms is reached'

# Ctrl-C in the first slice of a large world
early()
{
    rm -rf results/worlds
    "$HOPSCOTCH" run chain.yaml --name worlds --batch 1000 --progress none >out 2>&1 &
    pid=$!
    leaves INT results/worlds/campaign.lock
    [ "$ended" -eq 130 ] && [ "$took" -lt "$patience" ] && ! grep -q 'did not end' out
}
soon early
check $? "Ctrl-C in a batch of 1,000 chains: status $ended after $took ms"

# ---- continuation ---------------------------------------------------------------------------------------------------

seconds=1
[ -z "${QUICK:-}" ] || seconds=0.5
set -- --progress none --set simulation.duration=$seconds --set search.trials=2400 --threads 1
works run hopper.yaml --name whole "$@" --batch 50
works run hopper.yaml --name parts "$@" --batch 50 --set limits.wall_time=0.02s
has 'limits.wall_time of 20 ms is reached'
done=$(count parts)
[ "$done" -lt 2400 ]
check $? "$done of 2,400 trials are done"
for limit in 0.04 0.08 0.16 0.32; do
    run run hopper.yaml --name parts "$@" --batch 50 --set limits.wall_time=$limit
done
works run hopper.yaml --name parts "$@" --batch 50
[ "$(digest parts)" = "$(digest whole)" ]
check $? "stopped up to five times, and resumed: the digest of one run"

# The time of an abandoned batch counts too: the limit is used up, and another run adds no trial. It is a quarter of the
# time that this machine takes for all trials.
limit=$("$HOPSCOTCH" query whole --sql 'SELECT sum(wall_seconds) / 4 AS s FROM batches' --format csv | tail -n 1)
works run hopper.yaml --name used "$@" --batch 10 --set "limits.wall_time=$limit"
done=$(count used)
[ "$done" -gt 0 ]
check $? "$done trials in $limit s"
works run hopper.yaml --name used "$@" --batch 10 --set "limits.wall_time=$limit"
[ "$(count used)" -eq "$done" ]
check $? "the next run adds no trial"

# ---- recording at the end -------------------------------------------------------------------------------------------

# To record trials they are simulated again, which takes seconds; the time limit is used up by then.
[ -z "${QUICK:-}" ] || exit $status
best='record.trajectories.select={best: 300}'
set -- --progress none --set simulation.duration=20 --set search.trials=300 --threads 1 --batch 10
begin=$(milliseconds)
works run hopper.yaml --name all "$@" --set "$best"
whole=$(($(milliseconds) - begin))
works run hopper.yaml --name arrays "$@" --set 'record={}'
used=$("$HOPSCOTCH" query arrays --sql 'SELECT sum(wall_seconds) + 0.02 AS used FROM batches' --format csv | tail -n 1)
begin=$(milliseconds)
works run hopper.yaml --name arrays "$@" --set "$best" --set "limits.wall_time=$used"
took=$(($(milliseconds) - begin))
has ' is reached before all arrays were recorded; resume --set limits.wall_time='
recorded=$("$HOPSCOTCH" query arrays --sql 'SELECT count(*) AS n FROM trajectories' --format csv | tail -n 1)
[ "$recorded" -lt 300 ] && [ "$took" -lt $((whole / 2)) ]
check $? "recording is cut after $took of $whole ms with $recorded trials"
works run hopper.yaml --name arrays "$@" --set "$best"
[ "$(digest arrays)" = "$(digest all)" ]
check $? "resumed after the recording was cut: the digest of one run"
exit $status
