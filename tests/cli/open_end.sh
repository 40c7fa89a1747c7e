#!/bin/sh
# A search that may end early has no total: plan, progress and status say "at most", status lists no 0; recording after
# the search has its own count.
. "$(dirname "$0")/../scratch.sh"

cat >learn.yaml <<'END'
version: 1
experiment: learn
seed: 5
model: hopper
simulation: {duration: 0.4, settle: 0.1}
search:
  method: cmaes
  over: {k_fp: {range: [50, 300]}, thrust: {range: [20, 40]}}
  cmaes: {searches: 4, population: 10, stop: {generations: 80}}
record: {trajectories: {select: {best: 12}, sample: 0.001}}
END

works plan learn.yaml
has 'at most 3,200, 40 per generation; tolerances may end a search early'
has 'at most about'
works plan learn.yaml --set 'search.cmaes.restarts=bipop' --set 'search.cmaes.stop={}'
has 'no fixed number: tolerances end it'
works plan learn.yaml --json
has '"trials": 3200,'
has '"trials_least": 40,'

"$HOPSCOTCH" run learn.yaml --progress json --set limits.wall_time=0.05s >stream 2>out
check $? "a run that a limit stops"
grep -q '"trials_total":0,"trials_most":3200' stream
check $? "the progress stream has the bound"
works status learn
has 'of at most 3,200'
lacks ' of 0'
works status
has '<= 3200'
works status learn --json
has '"trials_total": null,'
has '"trials_most": 3200,'
works status learn --watch
has 'of at most 3,200 trials'

"$HOPSCOTCH" run learn.yaml --progress json --set search.cmaes.stop.tolfun=0.01 --name early >stream 2>out
check $? "a run to its end"
grep '"doing":"recording"' stream >phase
grep -q '"phase_total":12' phase
check $? "the recording after the search has its own count"
works status early
lacks 'at most'
done=$("$HOPSCOTCH" status early --json | sed -n 's/^ *"trials": \([0-9]*\),$/\1/p')
works status early --json
has "\"trials_total\": $done,"

# ---- grids that a sample cannot estimate ----------------------------------------------------------------------------

cat >large.yaml <<'END'
version: 1
experiment: large
model: bbob
simulation: {function: sphere, dimension: 3}
search:
  method: grid
  over: {x1: {linspace: [-5, 5, 100000]}, x2: {linspace: [-5, 5, 100000]}}
END
works plan large.yaml --set 'search.when={x2: x1 > 100}'
has 'trials         100,000 (9,999,900,000 more are excluded)'
works plan large.yaml --set 'search.exclude=["x1 < 5 and x2 < 6"]'
has 'unknown: exclude removes all of a sample of'
has 'of 10,000,000,000; the estimates below are for'
has 'time           unknown; at most about'
works plan large.yaml --set 'search.exclude=["x1 < 5 and x2 < 6"]' --json
has '"trials_known": false,'
code=3 refused plan large.yaml --set 'search.exclude=["x1 < 6"]'
has 'there is no trial to run: all 10,000,000,000 are excluded' err
for command in check run; do
    refused $command large.yaml --set 'search.exclude=["x1 < 6"]'
    has 'there is no trial to run: all 10,000,000,000 are excluded' err
    refused $command large.yaml --set 'search={method: random, trials: 9, over: {x1: {range: [0, 1]}}}' \
        --set 'search.exclude=["x1 >= 0"]'
    has 'there is no trial to run: all 9 are excluded' err
done
[ ! -e results/large ]
check $? "an empty search leaves no campaign"
works check large.yaml --set 'search.exclude=["x1 < 5 and x2 < 6"]' # a sample has none, which proves nothing
works check large.yaml --set 'search.over={x1: [2]}'
has 'ok: large: 1 trial of bbob'
exit $status
