#!/bin/sh
# Least squares: certified results, a recorded robot and a recorded system of equations, derivatives by the tangent and
# by differences; the same digest for batches, threads and pieces; what `fit` says of intervals, of what is not
# determined and of noise; refusals.
. "$(dirname "$0")/../scratch.sh"

hopscotch() { "$HOPSCOTCH" "$@" >out 2>err; }
# fitted CAMPAIGN: the table of `fit`, in `out`, what it says in `err`
fitted() { hopscotch fit "$1/best" --format csv; }
# near NAME VALUE ERROR TOLERANCE: the row of a parameter in `out`, both numbers to a relative tolerance
near()
{
    awk -F, -v name="$1" -v value="$2" -v error="$3" -v most="$4" '
        function off(a, b) { return a > b ? (a - b) / b : (b - a) / b }
        $1 == name { found = off($2, value) < most && off($6, error) < 10 * most }
        END { exit !found }' out
}
# inside NAME VALUE: the interval of a parameter in `out` holds it
inside() { awk -F, -v name="$1" -v value="$2" '$1 == name { f = $3 <= value && value <= $4 } END { exit !f }' out; }
said() { grep -q "$1" err; }

# ---- certified results ----------------------------------------------------------------------------------------------

# NIST, Statistical Reference Datasets, Misra1a: parameters and their standard deviations, from the first of its starts.
cat >misra.yaml <<'END'
version: 1
experiment: misra1a
model: equations
simulation:
  duration: 1
  system:
    parameters: {b1: {value: 100}, b2: {value: 0.001}}
    states: {x: {start: 0}}
    rates: {x: 1}
    metrics: {end: {final: x}}
search:
  method: least_squares
  over: {b1: {range: [1, 1000]}, b2: {range: [1.0e-5, 1.0e-2], scale: log}}
  least_squares: {starts: [{b1: 500, b2: 0.0001}], stop: {decrease: 1.0e-14}}
objective:
  residuals:
END
echo "77.6 10.07 114.9 14.73 141.1 17.94 190.8 23.93 239.9 29.61 289.0 35.18 332.8 40.02 378.4 44.82 434.8 50.76 477.3 \
55.05 536.8 61.01 593.1 66.40 689.1 75.47 760.0 81.78" | tr ' ' '\n' | paste - - |
    awk '{ printf "    - \"b1*(1 - exp(-b2*%s)) - %s\"\n", $1, $2 }' >>misra.yaml
for by in tangent differences; do
    hopscotch run misra.yaml --name "$by" --progress none --set "search.least_squares.gradient=$by" && fitted "$by" &&
        near b1 238.94212918 2.7070075241 1e-6 && near b2 5.5015643181e-4 7.2668688436e-6 1e-6
    check $? "Misra1a of NIST by $by: parameters, and their standard deviations"
done
hopscotch run misra.yaml --name single --progress none --set search.least_squares.line=1 && fitted single &&
    near b1 238.94212918 2.7070075241 1e-6
check $? "Misra1a with one point after the other"

# The profile of b2: for each b2 the best b1 is a quotient of sums, and the interval ends where S has risen by t^2 s^2,
# with t = 2.17881283 of 12 degrees of freedom.
hopscotch fit tangent/best --profile --format csv && awk -F, '
    function squares(b,    i, e, top, low, s) {
        for (i = 1; i <= n; i++) { e = 1 - exp(-b * x[i]); top += y[i] * e; low += e * e }
        for (i = 1; i <= n; i++) { e = y[i] - top / low * (1 - exp(-b * x[i])); s += e * e }
        return s
    }
    function end(best, to,    k, mid, from) {
        from = best
        for (k = 0; k < 60; k++) { mid = (from + to) / 2; if (squares(mid) > most) to = mid; else from = mid }
        return from
    }
    FNR == NR { if (/b1\*/) { split($0, a, /b2\*|\)\) - |"/); x[++n] = a[3]; y[n] = a[4] } next }
    $1 == "b2" {
        most = squares($2) * (1 + 2.17881283^2 / 12)
        width = $4 - $3; low = (end($2, $2 / 2) - $3) / width; high = (end($2, $2 * 2) - $4) / width
        good = low < 0.004 && low > -0.004 && high < 0.004 && high > -0.004
    }
    END { exit !good }' misra.yaml out
check $? "Misra1a: the interval of the profile"

# The best point at an end of a range: the rest is the best there. b1 <= 200: b2 = 6.9e-4 by golden section in awk.
hopscotch run misra.yaml --name held --progress none --set 'search.over.b1={range: [1, 200]}' \
    --set 'search.least_squares.starts=[{b1: 100, b2: 0.0001}]' && fitted held &&
    grep -q '^b1,200,[0-9.]*,200,1,[0-9.]*,at the upper end' out &&
    awk -F, '
        FNR == NR { if (/b1\*/) { split($0, a, /b2\*|\)\) - |"/); x[++n] = a[3]; y[n] = a[4] } next }
        function squares(b,    i, s, r) {
            for (i = 1; i <= n; i++) { r = 200 * (1 - exp(-b * x[i])) - y[i]; s += r * r }
            return s
        }
        $1 == "b2" { b = $2; bad = !(squares(b) <= squares(b * 1.0001) && squares(b) <= squares(b / 1.0001)); seen = 1 }
        END { exit !seen || bad }' misra.yaml out
check $? "a parameter at the end of its range: the other is the best there"

# ---- a recorded system ----------------------------------------------------------------------------------------------

cat >truth.yaml <<'END'
version: 1
experiment: truth
model: equations
simulation:
  duration: 4
  system:
    parameters:
      g: {value: 9.81, unit: m/s^2}
      length: {value: 0.6, unit: m}
      damping: {value: 0.12, unit: 1/s}
      scale: {value: 1, unit: 1}
      unused: {value: 1, unit: 1}
    inputs: {seen: {file: track.csv, column: angle, unit: rad}}
    states: {angle: {start: 1, unit: rad}, rate: {start: 0, unit: rad/s}}
    rates: {angle: rate, rate: "-g*scale/length*sin(angle) - damping*rate"}
    events: [{name: frame, every: 0.04}]
    metrics: {track_error: {at: frame, value: angle - seen, take: rms}, end: {final: unused}}
search: {method: grid, over: {length: [0.6]}}
objective: {minimize: track_error}
END
printf 'time,angle\n0,0\n9,0\n' >track.csv
hopscotch run truth.yaml --progress none && hopscotch replay truth/0 --sample 0.04 -o exact.csv &&
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "time,angle"; next }
        { print $at["time"] "," $at["angle"] }' exact.csv >track.csv
[ "$(wc -l <track.csv)" -eq 102 ]
check $? "a track of 101 rows"
sed '/^search:/,$d' truth.yaml >pendulum.yaml
cat >>pendulum.yaml <<'END'
search:
  method: least_squares
  least_squares: {start: center}
  over: {length: {range: [0.45, 0.8]}, damping: {range: [0.01, 1], scale: log}}
objective: {residuals: track_error}
END
hopscotch run pendulum.yaml --name exact --progress none && fitted exact &&
    awk -F, '$1 == "length" { l = $2 - 0.6 } $1 == "damping" { d = $2 - 0.12 }
        END { exit !(l < 1e-7 && l > -1e-7 && d < 1e-7 && d > -1e-7 && NR == 3) }' out
check $? "without noise: the parameters to 1e-7"
[ "$("$HOPSCOTCH" gradient exact/0 --format csv | awk -F, 'NR > 1 { d = ($4 - $5) / $4; if (d < 1e-9 && d > -1e-9) n++ }
    END { print n }')" = 2 ]
check $? "take: rms: the adjoint is the tangent"

# Normal noise of 10 mrad (Box and Muller, a fixed sequence), white or with a correlation of neighbours.
noisy() # CORRELATION
{
    awk -F, -v rho="$1" 'BEGIN { seed = 7 }
        function uniform() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
        NR == 1 { print; next }
        { e = rho * e + sqrt(1 - rho * rho) * 0.01 * sqrt(-2 * log(uniform())) * cos(6.283185307 * uniform())
          printf "%s,%.6f\n", $1, $2 + e }' clean.csv >track.csv
}
mv track.csv clean.csv
noisy 0
hopscotch run pendulum.yaml --name white --progress none && fitted white && inside length 0.6 && inside damping 0.12 &&
    said 'is white: the model is enough'
check $? "white noise: the intervals hold the truth"
noisy 0.9
hopscotch run pendulum.yaml --name coloured --progress none && fitted coloured && inside length 0.6 &&
    inside damping 0.12 && said 'not white in 1 of 1' && said 'take this correlation into account'
check $? "noise whose neighbours are correlated: said, and the intervals are longer"
noisy 0
hopscotch run pendulum.yaml --name lacking --progress none --set simulation.system.parameters.scale.value=1.01 \
    --set 'search.over={damping: {range: [0.01, 1]}}' && fitted lacking && said 'the model lacks something'
check $? "a model with a wrong number: what is left is not white"

hopscotch run pendulum.yaml --name together --progress none --set 'search.over={length: {range: [0.45, 0.8]},
    scale: {range: [0.8, 1.2]}, damping: {range: [0.01, 1]}, unused: {range: [0, 2]}}' && fitted together &&
    said 'unknown .*length and scale together: only a combination is determined, for both can rise' &&
    said 'unknown .*unused: the residuals hardly depend on it' && inside damping 0.12 &&
    [ "$(grep -c 'not determined$' out)" -eq 3 ] && grep -q '^unused,1,' out
check $? "what is not determined is named, stays where it began, and hinders nothing else"
hopscotch run pendulum.yaml --name prior --progress none --set 'search.over={length: {range: [0.45, 0.8]},
    scale: {range: [0.8, 1.2]}, damping: {range: [0.01, 1]}}' \
    --set 'simulation.system.metrics.track_error.value=(angle - seen)/0.01' \
    --set 'objective.residuals=[track_error, (scale - 1)/0.05]' && fitted prior && inside length 0.6 &&
    inside damping 0.12 && awk -F, '$1 == "scale" { e = $6 } END { exit !(e > 0.03 && e < 0.07) }' out
check $? "what is known beforehand determines it"

# ---- bits -----------------------------------------------------------------------------------------------------------

if [ -z "${QUICK:-}" ]; then
    several() { hopscotch run pendulum.yaml --progress none --set search.least_squares.searches=3 "$@"; }
    several --name whole --threads 1
    expected=$(digest whole)
    for batch in 1 7; do
        several --name "by$batch" --batch $batch --threads 2
        [ -n "$expected" ] && [ "$(digest "by$batch")" = "$expected" ]
        check $? "batches of $batch, two threads: the same digest"
    done
    several --name pieces --set limits.trials=23 && hopscotch resume pieces --progress none --set limits.trials=none &&
        [ "$(digest pieces)" = "$expected" ]
    check $? "stopped and resumed: the same digest"
    "$SQL" "results/by7/campaign.db" "DELETE FROM rounds; UPDATE searches SET state = x'00'"
    hopscotch doctor by7 --repair && [ "$(digest by7)" = "$expected" ]
    check $? "the doctor computes state and rounds again"
    hopscotch status whole && grep -q 'decrease' out && hopscotch show whole/best
    check $? "status says why it ended"

fi

# ---- a recorded robot -----------------------------------------------------------------------------------------------

cp -r "$root/experiments/robots" "$root/experiments/identify_biped.csv" "$root/experiments/identify_biped.yaml" .
hopscotch run identify_biped.yaml --progress none && fitted identify_biped && inside torso_mass 18.4 &&
    inside thigh 1.15 && inside shank 0.9 && inside hip_friction 2 && inside knee_friction 1.2 &&
    inside ankle_friction 0.6 && inside knee_armature 0.035 && inside ankle_armature 0.015 &&
    said 'correlated .*thigh and shank: -0.9' && said 'is white: the model is enough'
check $? "the biped: eight of nine intervals hold the truth, as the experiment says"
hopscotch fit identify_biped/best --residuals --format csv && [ "$(grep -c ',101,' out)" -eq 28 ] &&
    hopscotch fit identify_biped/best --correlation --format csv && [ "$(wc -l <out)" -eq 37 ]
check $? "series and correlations"
hopscotch report identify_biped -o report.html && grep -q 'id="fit"' report.html &&
    grep -q 'what is left of all series is white' report.html && grep -q '<td>knee_armature</td>' report.html
check $? "the report has a section of the fit"

# Outliers: one row of twenty is off by far.
awk -F, -v OFS=, 'NR > 1 && NR % 20 == 0 { for (i = 2; i <= NF; i++) $i += 2 } { print }' identify_biped.csv >off.csv
[ -n "${QUICK:-}" ] && losses= || losses="squares cauchy"
for loss in $losses; do
    hopscotch run identify_biped.yaml --name $loss --progress none --set simulation.reference=off.csv \
        --set simulation.reference_scale=deviation --set simulation.reference_loss=$loss \
        --set simulation.reference_width=0.2 && fitted $loss
    awk -F, '$1 == "torso_mass" { m = $2 - 18.4 } $1 == "knee_friction" { f = $2 - 1.2 }
        END { exit !(m < 0.3 && m > -0.3 && f < 0.3 && f > -0.3) }' out
    [ $? -eq $([ $loss = cauchy ]; echo $?) ]
    check $? "outliers: the loss $loss $([ $loss = cauchy ] && echo bears || echo follows) them"
done
for loss in huber cauchy; do
    "$HOPSCOTCH" run identify_biped.yaml --name "bent$loss" --progress none --set simulation.reference_loss=$loss \
        --set limits.trials=1 >out 2>err &&
        "$HOPSCOTCH" gradient "bent$loss/0" --format csv 2>err |
        awk -F, 'NR > 1 { d = ($4 - $5) / $4; e = ($4 - $6) / $4
            if (d < 1e-9 && d > -1e-9 && e < 1e-3 && e > -1e-3) n++ }
            END { exit n != 9 }'
    check $? "the loss $loss: adjoint, tangent and differences agree"
done

# ---- refusals -------------------------------------------------------------------------------------------------------

refused() # NAME PATTERN SPEC ARGUMENTS...
{
    what=$1 pattern=$2
    shift 2
    if hopscotch check "$@"; then false; else grep -q "$pattern" err; fi
    check $? "refused: $what"
}
refused "no residuals" 'needs residuals' pendulum.yaml --set 'objective={minimize: track_error}'
refused "residuals and minimize" 'leave out minimize' pendulum.yaml --set objective.minimize=track_error
refused "fewer residuals than parameters" "1 residual can't determine 2" pendulum.yaml --set 'objective.residuals=[end]'
refused "replicates" 'has 3 replicates' pendulum.yaml --set replicates.count=3
refused "constraints" 'takes no constraints' pendulum.yaml --set 'constraints=[end < 3]'
refused "the adjoint" 'once for each residual' pendulum.yaml --set search.least_squares.gradient=adjoint
refused "values by differences" 'only a run with dual numbers' pendulum.yaml \
    --set search.least_squares.gradient=differences
refused "an unknown name" 'track' pendulum.yaml --set 'objective.residuals=[trak_error]'
refused "no recording" 'reference' identify_biped.yaml --set simulation.reference=none
refused "an integer" 'derivatives' pendulum.yaml --set 'search.over.length={range: [1, 3], integer: true}'
hopscotch run pendulum.yaml --name grid --progress none \
    --set 'search={method: grid, over: {length: [0.5]}}' --set 'objective={minimize: track_error}'
hopscotch fit grid/0
[ $? -ne 0 ] && grep -q 'has no residuals: its spec needs' err
check $? "refused: fit of a campaign without residuals"
cat >fails.yaml <<'END'
version: 1
experiment: fails
model: equations
simulation:
  duration: 1
  system:
    parameters: {a: {value: 1}}
    states: {x: {start: 1}}
    rates: {x: a}
    failures: {beyond: x > 1.5}
    metrics: {end: {final: x}}
search: {method: least_squares, over: {a: {range: [1, 2]}}}
objective: {residuals: [end - 1]}
END
hopscotch run fails.yaml --progress none
hopscotch status fails && grep -q all_failed out
check $? "a start that fails ends the search, and status says so"

# an event that comes at 0, one period, two, ... before the end
cp "$root/experiments/identify_pendulum.yaml" "$root/experiments/identify_pendulum.csv" .
for duration in 3.99 4 3.96; do
    hopscotch run identify_pendulum.yaml --name "lasts$duration" --progress none --set simulation.duration=$duration \
        --set search.least_squares.searches=1 && fitted "lasts$duration" &&
        grep -o '[0-9][0-9]* residuals,' err >>counts
done
printf '%s residuals,\n' 100 100 99 | cmp -s - counts
check $? "values at an event whose period does not divide the duration: $(tr '\n' ' ' <counts)"
hopscotch run identify_pendulum.yaml --name unsearched --progress none --set 'search={}'
hopscotch fit unsearched/0 && said 'of 250 residuals, no parameter is searched' && said 'not white' && ! grep -q nan err
check $? "a fit without parameters tests the model"

hopscotch run fails.yaml --name penalty --progress none --set 'search={method: grid, over: {a: [2]}}' \
    --set 'objective.failed=penalty(10)'
hopscotch fit penalty/0
[ $? -ne 0 ] && grep -q 'the trial has 0 of 1 residuals: its run ended early' err
check $? "refused: fit of a trial that failed"
hopscotch run fails.yaml --name whole_numbers --progress none --set 'search={method: random, trials: 1,
    over: {a: {range: [-2, -1], integer: true}}}'
hopscotch fit whole_numbers/0
[ $? -ne 0 ] && grep -q 'is searched, and takes only integers' err
check $? "refused: fit of integers"
refused "a parameter without derivative" 'depends smoothly on push_time' identify_biped.yaml \
    --set 'search.over.push_time={range: [0, 0.5]}'

exit $status
