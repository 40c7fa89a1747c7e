#!/bin/sh
# What `fit` says of a wrong model: a parameter that is not searched and should be, by name; a smooth part in residuals;
# nothing of a model that is right. The test of a parameter is that of the fit with it.
. "$(dirname "$0")/../scratch.sh"

hopscotch() { "$HOPSCOTCH" "$@" >out 2>err; }
said() { grep -q "$1" err; }

# ---- a regression ---------------------------------------------------------------------------------------------------

# y = a + b x + c x^2: what c is wanted to be without c in the search is its value with it, and of squares s
# with N residuals and m parameters t^2 = (N - m) s/(1 - s).
cat >line.yaml <<'END'
version: 1
experiment: line
model: equations
simulation:
  duration: 1
  system:
    parameters: {a: {value: 1}, b: {value: 1}, c: {value: 0}, unused: {value: 1}}
    states: {x: {start: 0}}
    rates: {x: 1}
    metrics: {end: {final: x + unused}}
search: {method: least_squares, least_squares: {start: center}, over: {a: {range: [-9, 9]}, b: {range: [-9, 9]}}}
objective:
  residuals:
END
echo "1 1.1 2 2.3 3 3.0 4 4.4 5 5.9 6 6.8 7 9.1 8 9.9 9 12.4 10 13.6 11 16.2 12 18.1" | tr ' ' '\n' | paste - - |
    awk '{ printf "    - \"a + b*%s + c*%s^2 - %s\"\n", $1, $1, $2 }' >>line.yaml
sed 's/b: {range: \[-9, 9\]}}/b: {range: [-9, 9]}, c: {range: [-9, 9]}}/' line.yaml >bent.yaml
hopscotch run line.yaml --progress none && hopscotch run bent.yaml --name bent --progress none &&
    hopscotch fit bent/best --format csv && mv out full && hopscotch fit line/best --lacking --format csv && awk -F, '
    FNR == NR { if ($1 == "c") { value = $2; error = $6 } next }
    $1 == "c" { wanted = $3; s = $6; p = $7; lacking = $8 }
    END {
        t2 = (value / error)^2; found = (12 - 3) * s / (1 - s)
        off = wanted / value - 1; of = found / t2 - 1
        exit !(off < 1e-5 && off > -1e-5 && of < 1e-4 && of > -1e-4 && p < 1e-3 && lacking == "lacking")
    }' full out && said '^lacking  *c: it is not searched, and the residuals want 0.0[0-9]* +- '
check $? "a line through a parabola: the square that is wanted is that of the fit with it"
hopscotch fit line/best && ! said '^minimum' && hopscotch fit line/0 &&
    said '^minimum  *this trial is none: [ab] alone is off by [0-9.]* of its errors'
check $? "a start is no minimum, the best trial is one"
! grep -q unused out && hopscotch fit bent/best && ! said '^lacking'
check $? "the parabola lacks nothing, and a parameter without effect is not tested"

# ---- a pendulum -----------------------------------------------------------------------------------------------------

cp "$root/experiments/identify_pendulum.yaml" .
printf 'time,seen\n0,0\n99,0\n' >identify_pendulum.csv
recorded() # STICTION: a record of 251 rows without noise
{
    hopscotch run identify_pendulum.yaml --name "made$1" --progress none --set 'search={method: grid, over: {length:
        [0.6]}}' --set 'objective={minimize: track_error}' --set simulation.system.parameters.viscous.value=0.12 \
        --set simulation.system.parameters.dry.value=0.15 --set "simulation.system.parameters.stiction.value=$1" &&
        hopscotch replay "made$1/0" --sample 0.04 -o exact.csv && awk -F, '
            NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "time,seen"; next }
            { print $at["time"] "," $at["angle"] }' exact.csv >"clean$1.csv"
}
fitted() # NAME STICTION SET START: a fit to that record with normal noise of 1 mrad
{
    awk -F, 'BEGIN { seed = 11 }
        function uniform() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
        NR == 1 { print; next }
        { printf "%s,%.9f\n", $1, $2 + 0.001 * sqrt(-2 * log(uniform())) * cos(6.283185307 * uniform()) }' \
        "clean$2.csv" >identify_pendulum.csv
    hopscotch run identify_pendulum.yaml --name "$1" --progress none --set search.least_squares.searches=1 \
        --set "search.least_squares.starts=[{length: 0.62, viscous: 0.1, dry: 0.2$4}]" --set "$3" &&
        hopscotch fit "$1/best"
}
recorded 0 && recorded 0.45 && recorded 0.9
check $? "records with Coulomb's friction, and with Stribeck's"
fitted right 0 seed=1 '' && said 'the model is enough' && ! said '^lacking'
check $? "the right law of friction is accepted"
fitted wrong 0.45 seed=1 '' && ! said 'the model is enough' && said '^lacking  *stiction: .* want 0.[345]'
check $? "Stribeck's friction fitted by Coulomb's is rejected, and named"
fitted far 0.9 seed=1 '' && said '^noise  *not white in 1 of 1' && said '^lacking  *stiction:'
check $? "a misfit that is large makes residuals correlated, and is named as well"
fitted both 0.45 'search.over.stiction={range: [0, 5]}' ', stiction: 0.1' && said 'the model is enough' &&
    ! said '^lacking'
check $? "with that law in the search nothing is lacking"

# ---- a slow misfit --------------------------------------------------------------------------------------------------

# A line fitted to half a wave of 0.56 standard deviations and white noise: neighbours are correlated by 0.1 only, and
# Ljung and Box's test alone has p = 0.03.
cat >track.yaml <<'END'
version: 1
experiment: track
model: equations
simulation:
  duration: 8
  system:
    parameters: {a: {value: 1}, b: {value: 0.5}}
    inputs: {seen: {file: track.csv}}
    states: {x: {start: 0}}
    rates: {x: b}
    events: [{name: frame, every: 0.04}]
    metrics: {off: {at: frame, value: a + x - seen, take: rms}}
search: {method: least_squares, least_squares: {start: center}, over: {a: {range: [-9, 9]}, b: {range: [-9, 9]}}}
objective: {residuals: off}
END
waved() # SIZE
{
    awk -v size="$1" 'BEGIN { seed = 6
        for (k = 0; k < 100; k++) uniform()
        print "time,seen"
        for (k = 0; k <= 200; k++) {
            e = sqrt(-2 * log(uniform())) * cos(6.283185307 * uniform())
            printf "%.2f,%.9f\n", 0.04 * k, 1 + 0.02 * k + e + size * sin(0.0393 * k)
        } }
        function uniform() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }' >track.csv
    hopscotch run track.yaml --name "wave$1" --progress none && hopscotch fit "wave$1/best"
}
waved 0 && said 'the model is enough'
check $? "white noise is white"
waved 0.56 && said '^noise  *not white in 1 of 1'
check $? "a smooth part far below the noise is found"

exit $status
