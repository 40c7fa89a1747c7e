#!/bin/sh
# limits.failures: a run ends where too many trials fail; of few trials as soon as that is certain for all of them.
. "$(dirname "$0")/../scratch.sh"

cat >few.yaml <<'END'
version: 1
experiment: few
seed: 3
model: equations
simulation:
  duration: 1
  dt: 0.1
  integrator: rk4
  system:
    parameters: {a: {value: 0, range: [0, 1]}}
    states: {x: {start: 0}}
    rates: {x: a}
    metrics: {end: {final: x}}
    failures: {far: x > 0.1}
search: {method: random, trials: 30, over: {a: {range: [0, 1]}}}
objective: {minimize: end}
END
printf 'random trials: 30\nbayesian bayesian: {stop: {trials: 30}}\n' >options
for method in random bayesian; do
    "$HOPSCOTCH" run few.yaml --name "$method" --progress none --batch 1 --set limits.failures=50% \
        --set 'simulation.system.failures={far: x > -1}' \
        --set "search={method: $method, $(sed -n "s/^$method //p" options), over: {a: {range: [0, 1]}}}" >out 2>&1
    grep -q 'limits.failures: 16 of [0-9]* trials failed, more than 50 %' out
    check $? "$method: 16 failures of 30 trials are more than half of them"
done
"$HOPSCOTCH" run few.yaml --name any --progress none --batch 1 --set limits.failures=0 >out 2>&1
grep -q 'limits.failures: 1 of [0-9]* trials failed, more than 0 %' out
check $? "without an allowed failure the first one ends the run"
"$HOPSCOTCH" run few.yaml --name most --progress none --set limits.failures=95% >out 2>&1 && grep -q 'state *done' out
check $? "where fewer fail, all trials run"
