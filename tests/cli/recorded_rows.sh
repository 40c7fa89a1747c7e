#!/bin/sh
# A system that is compared with a recording whose rows are at unequal times: an event `rows: INPUT` comes at each of
# them; an event of its own period compares between rows, and `check` and `fit` say so.
. "$(dirname "$0")/../scratch.sh"

# record FIRST: a decay with the rate 2, each row early or late by up to 40 % of 10 ms, with noise that repeats
record()
{
    awk -v first="$1" 'BEGIN { print "time,seen"; s = 7
        for (k = 0; k <= 100; k++) {
            s = (s * 16807) % 2147483647; u = s / 2147483647
            s = (s * 16807) % 2147483647; v = s / 2147483647
            t = 0.01 * k + (k > 0) * 0.008 * (u - 0.5) + first
            printf "%.6f,%.9f\n", t, exp(-2 * t) + 0.02 * (v - 0.5) } }' >record.csv
}
# spec WHEN: the event that compares
spec()
{
    cat >decay.yaml <<YAML
version: 1
experiment: decay
model: equations
simulation:
  duration: 0.995
  system:
    parameters: {rate: {value: 1, unit: 1/s}}
    inputs: {seen: {file: record.csv, unit: m, beyond: hold}}
    states: {x: {start: 1, unit: m}}
    rates: {x: -rate*x}
    events: [{name: frame, $1}]
    metrics: {error: {at: frame, value: x - seen, take: rms}, frames: {count: frame}}
search: {method: least_squares, over: {rate: {range: [0.1, 9]}}}
objective: {residuals: error}
YAML
}
# fits NAME: runs the spec under that name; what fit says is in `err`
fits()
{
    "$HOPSCOTCH" run decay.yaml --name "$1" --progress none >out 2>err && "$HOPSCOTCH" fit "$1/best" >out 2>err
}
# refuses WORDS WHEN
refuses()
{
    spec "$2"
    ! "$HOPSCOTCH" check decay.yaml >out 2>err && grep -q "$1" err
    check $? "refused: $(head -n 1 err)"
}

record 0
rows=$(awk -F, 'NR > 1 && $1 < 0.995' record.csv | wc -l)
spec 'rows: seen'
"$HOPSCOTCH" check decay.yaml >out 2>err && ! grep -q warning err
check $? "an event at rows has no warning"
fits rows && grep -q " of $rows residuals" err && ! grep -q '^between' err
check $? "$rows rows give as many residuals: $(head -n 1 err)"
# The estimate beside Gauss and Newton's at the same rows, by the closed form exp(-rate t).
awk -F, 'NR > 1 && $1 < 0.995 { t[n] = $1; y[n++] = $2 } END { b = 1
    for (k = 0; k < 50; k++) { g = h = 0
        for (i = 0; i < n; i++) { e = exp(-b * t[i]); d = -t[i] * e; g += d * (e - y[i]); h += d * d }
        b -= g / h }
    printf "%.9f\n", b }' record.csv >expected
awk '$1 == "rate" { print $2 }' out | paste - expected | awk '{ d = $1 - $2; exit !(NF == 2 && d * d < 1e-12) }'
check $? "the rate is that of the closed form: $(awk '$1 == "rate" { print $2 }' out), $(cat expected)"
"$HOPSCOTCH" query rows --columns frames --format csv 2>err | tail -n 1 >number
[ "$(cat number)" = "$rows" ]
check $? "the event comes $(cat number) times"
"$HOPSCOTCH" gradient rows/0 >out 2>err &&
    awk '$1 == "rate" { d = $4 / $6 - 1; found = d * d < 1e-8 && $4 == $5 } END { exit !found }' out
check $? "its gradient by the adjoint, the tangent and differences"

# A record that begins later, at a time of no step: its first row counts.
record 0.0137
rows=$(awk -F, 'NR > 1 && $1 < 0.995' record.csv | wc -l)
fits later && grep -q " of $rows residuals" err
check $? "a record that begins after 0 s: $(head -n 1 err)"
# One that began before: rows before 0 do not.
record -0.2
rows=$(awk -F, 'NR > 1 && $1 >= 0 && $1 < 0.995' record.csv | wc -l)
fits earlier && grep -q " of $rows residuals" err
check $? "a record that began before 0 s: $(head -n 1 err)"

record 0
spec 'every: 0.002'
"$HOPSCOTCH" check decay.yaml >out 2>err && grep -q 'decay.yaml:.* instants at which error compares lie between two' err
check $? "a period that is not that of the rows is warned of: $(head -n 1 err)"
fits every && grep -q '^between .* of 498 residuals are between two rows of seen' err
check $? "fit says it: $(grep '^between' err)"

refuses "rows is 'x', expected an input with a file" 'rows: x'
refuses "rows is 'sen', expected an input" 'rows: sen'
refuses 'rows is no name' 'rows: [seen]'
refuses 'an event needs one of rises, falls, crosses, at, every and rows' 'rows: seen, every: 0.1'
spec 'rows: push'
sed -i -e 's/inputs: {/&push: {range: [-1, 1], unit: m}, /' decay.yaml
! "$HOPSCOTCH" check decay.yaml >out 2>err && grep -q "rows is 'push', expected an input with a file" err
check $? "refused: rows of an action"
spec 'rows: seen'
sed -i -e 's/rates: {x: .*/next: {x: 0.98*x}/' -e 's/duration: 0.995/duration: 90/' \
    -e 's/^search.*/search: {method: grid, over: {rate: [1]}}/' \
    -e 's/^objective.*/objective: {minimize: error}/' decay.yaml
! "$HOPSCOTCH" check decay.yaml >out 2>err && grep -q 'rows of a map: each iteration is one, so write every: 1' err
check $? "refused: rows of a map"
exit $status
