#!/bin/sh
# Intervals by the bootstrap: near those of the linearised model for a line with normal noise, the same numbers each
# time, others with another seed; correlated noise makes them longer.
. "$(dirname "$0")/../scratch.sh"

hopscotch() { "$HOPSCOTCH" "$@" >out 2>err; }
# width CAMPAIGN OPTION...: of the intervals of both parameters
width()
{
    campaign=$1
    shift
    hopscotch fit "$campaign/best" --format csv "$@" &&
        awk -F, 'NR > 1 { printf("%s%.10g", (NR > 2) ? " " : "", $4 - $3) }' out
}
# near LEAST MOST: whether both widths of $2 are within these multiples of those of $1
near() { echo "$1 $2" | awk -v low="$3" -v high="$4" '{ for (i = 1; i <= 2; i++) bad += !($(i + 2) > low * $i &&
    $(i + 2) < high * $i) } END { exit bad > 0 }'; }

# A track a + b t with noise, as a system of equations.
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
noisy() # CORRELATION
{
    awk -v rho="$1" 'BEGIN { seed = 5
        for (k = 0; k < 100; k++) uniform()
        print "time,seen"
        for (k = 0; k <= 200; k++) {
            e = rho * e + sqrt(1 - rho * rho) * sqrt(-2 * log(uniform())) * cos(6.283185307 * uniform())
            printf "%.2f,%.9f\n", 0.04 * k, 1 + 0.02 * k + e
        } }
        function uniform() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }' >track.csv
}
noisy 0
hopscotch run track.yaml --name white --progress none && linear=$(width white) && redrawn=$(width white --bootstrap 999)
near "$linear" "$redrawn" 0.85 1.15
check $? "white noise: intervals within 15 % of the linearised ones ($linear; $redrawn)"
grep -q '^intervals  *of 999 fits to residuals that were drawn again in blocks of 6 rows$' err
check $? "it says how many fits, and the blocks"
[ "$(width white --bootstrap 999)" = "$redrawn" ] && [ "$(width white --bootstrap 999 --threads 2)" = "$redrawn" ]
check $? "the same numbers each time"
hopscotch run track.yaml --name other --progress none --set seed=2 && other=$(width other --bootstrap 999) &&
    [ "$other" != "$redrawn" ] && near "$redrawn" "$other" 0.85 1.15
check $? "another seed draws others"
noisy 0.8
hopscotch run track.yaml --name coloured --progress none && linear=$(width coloured) &&
    redrawn=$(width coloured --bootstrap 999)
near "$linear" "$redrawn" 0.75 1.4
check $? "correlated noise: near those of an autoregressive process ($linear; $redrawn)"
hopscotch fit white/best --bootstrap 99 --profile
[ $? -eq 2 ] && grep -q 'by --profile or by --bootstrap, not both' err
check $? "refused: both"

exit $status
