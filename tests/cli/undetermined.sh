#!/bin/sh
# What the residuals do not determine: `fit` names all parameters of each combination, and a plan that leaves one open
# fails as undetermined. Random cases beside singular values by numpy.
. "$(dirname "$0")/../scratch.sh"

hopscotch() { "$HOPSCOTCH" "$@" >out 2>err; }

# Twelve parameters of which the sum alone counts: each is less than a third of the direction.
{
    printf 'version: 1\nexperiment: sum\nmodel: equations\nsimulation:\n  duration: 1\n  system:\n    parameters: {'
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do printf 'a%d: {value: 1}, ' $i; done
    printf 'other: {value: 1}}\n    states: {x: {start: 0}}\n    rates: {x: a1'
    for i in 2 3 4 5 6 7 8 9 10 11 12; do printf ' + a%d' $i; done
    printf ' + 0*other}\n    events: [{name: frame, every: 0.05}]\n'
    printf '    metrics: {seen: {at: frame, value: x - 3*time, take: rms}}\n'
} >sum.yaml
cp sum.yaml plan.yaml
cat >>sum.yaml <<'END2'
search:
  method: least_squares
  over: {a1: {range: [0, 1]}, a2: {range: [0, 1]}, a3: {range: [0, 1]}, a4: {range: [0, 1]}, a5: {range: [0, 1]},
         a6: {range: [0, 1]}, a7: {range: [0, 1]}, a8: {range: [0, 1]}, a9: {range: [0, 1]}, a10: {range: [0, 1]},
         a11: {range: [0, 1]}, a12: {range: [0, 1]}}
objective: {residuals: seen}
END2
hopscotch run sum.yaml --progress none && hopscotch fit sum/best && [ "$(grep -c '^unknown' err)" = 11 ] &&
    [ "$(grep '^unknown' err | grep -ow 'a[0-9][0-9]*' | sort -u | wc -l)" = 12 ]
check $? "twelve parameters of which the sum counts: eleven lines name them all"

cat >>plan.yaml <<'END2'
search: {method: grid, over: {other: [0, 1]}}
objective: {residuals: seen, information: {of: [a1, a2], noise: 1}}
END2
hopscotch run plan.yaml --name plan --progress none && hopscotch query plan --columns failure --format csv &&
    [ "$(grep -c '^undetermined' out)" = 2 ] && hopscotch fit plan/1 &&
    grep -q '^unknown  *a1 and a2 together' err && grep -q 'relative error infinite' err
check $? "a plan that leaves a sum open fails as undetermined, and fit names it"
hopscotch replay plan/1 && grep -q 'the same to the bit' out
check $? "replay computes the failure again"
if hopscotch gradient plan/1; then false; else grep -q 'trial 1 is undetermined, so it has no fitness to derive' err; fi
check $? "refused: its gradient"

if ! python3 -c 'import numpy' 2>/dev/null; then
    skip "random singular cases beside numpy's" numpy "pip install numpy"
    exit $status
fi
python3 "$root/tests/undetermined.py" "$HOPSCOTCH" "$([ -n "${QUICK:-}" ] && echo 12 || echo 40)" >out 2>err
check $? "random singular cases: $(tail -n 1 out)"
exit $status
