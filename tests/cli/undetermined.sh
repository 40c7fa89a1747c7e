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

# Directions that are no sums, each known beforehand: a fit and a plan name all parameters of them.
# names LABEL RATE PARAMETERS LINES: so many lines `unknown`, which name all of them
names()
{
    cat >"$1.yaml" <<YAML
version: 1
experiment: $1
model: equations
simulation:
  duration: 2
  system:
    parameters: {k: {value: 3}, m: {value: 2}, c: {value: 1}, d: {value: 0.5}, other: {value: 1}}
    states: {x: {start: 1}, v: {start: 0}}
    rates: {x: v, v: "$2 + 0*(k + m + c + d + other)"}
    events: [{name: frame, every: 0.02}]
    metrics: {seen: {at: frame, value: "x - cos(1.2*time)", take: rms}}
search: {method: least_squares, over: {$(for p in $3; do printf '%s: {range: [0.1, 10]}, ' "$p"; done)}}
objective: {residuals: seen}
YAML
    plan="residuals: seen, information: {of: [$(echo "$3" | tr ' ' ,)], noise: 0.01}"
    sed -e 's/^search:.*/search: {method: grid, over: {other: [1]}}/' \
        -e "s/residuals: seen/$plan/" "$1.yaml" >planned.yaml
    hopscotch run "$1.yaml" --progress none && hopscotch fit "$1/best" && grep '^unknown' err >fitted
    hopscotch run planned.yaml --name "planned_$1" --progress none && hopscotch fit "planned_$1/0" &&
        grep '^unknown' err >planned && grep -q 'relative error infinite' err
    right=$?
    for said in fitted planned; do
        [ "$(wc -l <$said)" -eq "$4" ] || right=1
        for p in $3; do grep -qw "$p" $said || right=1; done
    done
    check $right "$1: $4 lines name $3: $(tr '\n' ' ' <fitted)"
}
names ratio '-k/m*x' 'k m' 1
names product '-k*m*c*x' 'k m c' 2
names two '-k/m*x - 0.1*(c + d - 4)*v' 'k m c d' 2

if ! python3 -c 'import numpy' 2>/dev/null; then
    skip "random singular cases beside numpy's" numpy "pip install numpy"
    exit $status
fi
python3 "$root/tests/undetermined.py" "$HOPSCOTCH" "$([ -n "${QUICK:-}" ] && echo 12 || echo 40)" >out 2>err
check $? "random singular cases: $(tail -n 1 out)"
exit $status
