#!/bin/sh
# Method auto: which method it takes for which spec, and with which settings. What is stored is the method that was
# chosen: the stored spec gives the same campaign. What is refused.
. "$(dirname "$0")/../scratch.sh"

cat >auto.yaml <<'END'
version: 1
experiment: auto
seed: 5
model: bbob
simulation: {function: rosenbrock, dimension: 5}
search:
  method: auto
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}, x3: {range: [-5, 5]}, x4: {range: [-5, 5]}}
  auto: {trials: 100}
END
cat >pendulum.yaml <<'END'
version: 1
experiment: pendulum
model: equations
simulation:
  duration: 2
  dt: 0.01
  integrator: rk4
  system:
    parameters: {a: {value: 1, range: [-9, 9]}, b: {value: 0, range: [-9, 9]}}
    states: {angle: {start: 0}, rate: {start: 0}}
    rates: {angle: rate, rate: a + b*time - 9.81*sin(angle)}
    metrics: {off: {final: (angle - 3)^2 + rate^2}}
search:
  method: auto
  over: {a: {range: [-9, 9]}, b: {range: [-9, 9]}}
  auto: {trials: 40}
objective: {minimize: off}
END

hopscotch() { "$HOPSCOTCH" "$@" >out 2>&1; }
run() { name=$1; shift; hopscotch run auto.yaml --name "$name" --progress none "$@"; }

# ---- the choice ------------------------------------------------------------------------------------------------------

# chooses FILE 'METHOD: WHY' SET...: what check says
chooses()
{
    file=$1 expected=$2
    shift 2
    for item; do set -- "$@" --set "$item"; shift; done
    hopscotch check "$file" "$@" && grep -q "^method  *auto chose $expected" out
    check $? "it chooses $expected"
}

noisy='replicates={count: 4, common: false, perturb: {x5: {normal: [0, 1]}}}'
chooses auto.yaml "cmaes: 100 trials of 4 parameters are enough for a quadratic model of an exact fitness"
chooses auto.yaml "bayesian: 80 trials of 4 parameters are few for an exact fitness" search.auto.trials=80
chooses auto.yaml "bayesian: 300 trials of 4 parameters are few for a noisy fitness" search.auto.trials=300 "$noisy"
chooses auto.yaml "cmaes: no model of the fitness has been found to help with 301 trials of 4 parameters" \
    search.auto.trials=301 "$noisy"
chooses auto.yaml "cmaes: a trial costs less than a model of the fitness" search.auto.trial_time=2ms
chooses auto.yaml "cmaes: 100 trials" search.auto.trial_time=2s
chooses auto.yaml "cmaes: 80 trials of 4 parameters are enough" search.auto.trials=80 search.auto.workers=65
chooses auto.yaml "bayesian: 80 trials of 4 parameters" search.auto.trials=80 'constraints=["x1 < 2"]'
chooses auto.yaml "cmaes: no model of the fitness has been found to help with 2,001 trials" search.auto.trials=2001 \
    'constraints=["x1 < 2"]'
chooses pendulum.yaml "lbfgs: the fitness is exact and smooth"
chooses pendulum.yaml "bayesian: 40 trials of 2 parameters" \
    'simulation.system.events=[{rises: angle - 3, set: {rate: -rate}}]'

chooses auto.yaml "lbfgs: the fitness is exact, and smooth as the spec says" search.auto.smooth=true
chooses auto.yaml "lbfgs: the fitness is exact, and smooth" search.auto.smooth=true search.auto.trial_time=1ms
chooses auto.yaml "cmaes: 201 trials of 4 parameters" search.auto.smooth=true search.auto.trials=201
chooses auto.yaml "bayesian: 80 trials of 4 parameters are few for a noisy" search.auto.smooth=true \
    search.auto.trials=80 "$noisy"
chooses auto.yaml "bayesian: 80 trials of 4 parameters" search.auto.smooth=true search.auto.trials=80 \
    'constraints=["x1 < 2"]'

# ---- what is stored --------------------------------------------------------------------------------------------------

# stored NAME LINE...: in the campaign's resolved spec, which gives the same campaign
stored()
{
    name=$1 missing=
    shift
    spec=results/$name/resolved.yaml
    for line; do grep -q "^ *$line" "$spec" || missing="$missing; $line"; done
    [ -z "$missing" ] && ! grep -q 'method: auto\|^ *auto:' "$spec"
    check $? "$name: the stored spec names the method and its settings$missing"
    cp "$spec" "$name.yaml"
    hopscotch run "$name.yaml" --name "$name-again" --progress none &&
        [ "$(digest "$name")" = "$(digest "$name-again")" ]
    check $? "$name: the stored spec gives the same bits"
}

run plain && grep -q '^method: auto chose cmaes' out
check $? "run says what was chosen"
stored plain 'method: cmaes # 100 trials of 4' 'surrogate: quadratic' 'trials: 100' 'restarts: ipop' 'restarts_max: 3'
run wide --set search.auto.workers=20
stored wide 'population: 40' 'evaluate_least: 20' 'restarts_max: 1'
run once --set search.auto.trials=15 --set search.auto.trial_time=1ms
stored once 'surrogate: none' 'restarts: none'
run few --set search.auto.trials=16 --set search.auto.workers=4
stored few 'method: bayesian' 'batch: 4' 'trials: 16'
hopscotch run pendulum.yaml --progress none
stored pendulum 'method: lbfgs' 'gradient: adjoint' 'forward: none' 'restarts: 16' 'trials: 40' 'line: 1' 'memory: 100'
run smooth --set search.auto.smooth=true --set search.auto.workers=3
stored smooth 'method: lbfgs' 'gradient: differences' 'forward: 1e-8' 'line: 3' 'rate: 0.5' 'iterations: 100000'
run crowd --set search.auto.smooth=true --set search.auto.workers=30
stored crowd 'line: 6'

run pieces --batch 4 --set limits.trials=40 && hopscotch resume pieces --progress none --set limits.trials=none &&
    [ "$(digest plain)" = "$(digest pieces)" ]
check $? "a campaign in pieces has the same bits"
run plain && grep -q '100 of 100\|0 remain' out
check $? "the same spec again finds its campaign"

# ---- what is refused -------------------------------------------------------------------------------------------------

# bad MESSAGE SET
bad()
{
    hopscotch check auto.yaml --set "$2"
    [ $? -eq 1 ] && grep -qF "$1" out
    check $? "refused: $1"
}

grep -v '^  auto:' auto.yaml >none.yaml
hopscotch check none.yaml
[ $? -eq 1 ] &&
    grep -q 'none.yaml:7:11: error: method auto chooses by the number of trials: write auto: {trials: 300}' out
check $? "without a number of trials there is no choice"
bad "did you mean 'trials'?" search.auto.trial=100
bad "sigma belongs to method cmaes, and this is method auto" 'search.cmaes={sigma: 0.2}'
bad "outer belongs to method cmaes, and this is method auto" 'search.cmaes.outer={x5: [1, 2]}'
bad "method auto takes no values for x1, expected {range: [low, high]}" 'search.over.x1=[1, 2]'
bad "minimize holds 2 objectives, and method auto takes one; nsga2 takes several" 'objective={minimize: [f, x1]}'
bad "trials is 0, must be in [1, 1e15]" search.auto.trials=0
