#!/bin/sh
# The shipped systems run as they are, and give the numbers of their head comments.
. "$(dirname "$0")/../scratch.sh"

# ran NAME: all its trials
ran()
{
    "$HOPSCOTCH" run "$root/experiments/$1.yaml" --progress none >out 2>err </dev/null
    check $? "$1 runs"
    "$HOPSCOTCH" check "$root/experiments/$1.yaml" >out 2>err && [ ! -s err ]
    check $? "and nothing is warned of"
}

# gives CAMPAIGN COLUMNS ORDER TEXT: the values, to 6 digits, of all rows, in one line
gives()
{
    "$HOPSCOTCH" query "$1" --columns "$2" --order "$3" --format csv |
        awk -F , 'NR > 1 { for (i = 1; i <= NF; i++) printf "%.6g ", $i }' >out
    [ "$(cat out)" = "$4 " ]
    check $? "$1: $4"
}

ran bouncing_ball
gives bouncing_ball e,bounces e "0.5 20 0.8 20 0.9 20"
"$HOPSCOTCH" query bouncing_ball --columns error --format csv | awk 'NR > 1 && !($1 < 1e-11) { exit 1 }'
check $? "its instants are those of the formula"

ran compass_gait
gives compass_gait slope,period slope "1 0.703649 2 0.719652 3 0.734346"
"$HOPSCOTCH" query compass_gait --columns apart --order slope --format csv |
    awk 'NR > 1 { printf "%.2f ", $1 }' >out
[ "$(cat out)" = "21.43 27.07 31.06 " ]
check $? "angles between the legs"

ran duffing_map
gives duffing_map f,repeats f "0.2 1 0.28 2 0.29 4 0.37 5 0.5 0 0.65 2"

ran lorenz96
"$HOPSCOTCH" query lorenz96 --columns F,mean_x,mean_x2,wave --order F --format csv | awk -F , 'NR > 1 {
    n++; still = $4 < 1e-9; if (($3/($1*$2) - 1)^2 > 2.5e-4 || still != ($1 == 0.5)) exit 1
    if ($1 == 8 && ($2 - 2.33)^2 > 0.01) exit 1 } END { if (n != 6) exit 1 }'
check $? "lorenz96: its balance of energy, still and moving rings"

ran kramers_escape
"$HOPSCOTCH" query kramers_escape --columns D,escape,kramers --order D --format csv | awk -F , '
    function U(x) { return x^4/4 - x^2/2 }
    NR > 1 { n++; D = $1; h = 0.001; inner = 0; mean = 0 # the integral of the mean first passage from -1 to 1
        for (i = 0; i < 4000; i++) { x = -3 + (i + 0.5)*h; e = exp(-U(x)/D)*h
            if (x > -1) mean += exp(U(x)/D)*(inner + e/2)*h/D
            inner += e }
        apart = $2/mean - 1; formula = $3/(2*atan2(0, -1)/sqrt(2)*exp(0.25/D)) - 1
        if (apart^2 > 0.01 || formula^2 > 1e-20) { print $0, mean; exit 1 } }
    END { if (n != 6) exit 1 }' >out
check $? "kramers_escape: the mean first passage, within 3 standard errors"

ran robertson_rates
"$HOPSCOTCH" query robertson_rates --where "id = 13" --columns a_left --format csv |
    awk 'NR == 2 { exit !(($1/2.083340149701255e-8 - 1)^2 < 1e-14) }'
check $? "robertson_rates: the reference of the IVP test set to 1e-7"
"$HOPSCOTCH" query robertson_rates --columns k1,k2,k3,a_left,lost --format csv | awk -F , 'NR > 1 {
    if ((($4*$1^2*$2/$3^2)/(2.08334e-8*0.04^2*3e7/1e8) - 1)^2 > 1e-8 || $5 > 1e-14) exit 1 }'
check $? "and its scaling"

ran cartpole_basin
"$HOPSCOTCH" query cartpole_basin --where "failure = 'none'" --columns th,w --format csv | awk -F , 'NR > 1 {
    z = sqrt(9.8/(0.5*(4/3 - 0.1/1.1)))*$1 + $2; z = z < 0 ? -z : z; most = z > most ? z : most; n++ }
    END { printf "%d starts, at most %.2f", n, most }' >out
[ "$(cat out)" = "3378 starts, at most 2.63" ]
check $? "the basin of the pole"

ran slip_map
"$HOPSCOTCH" query slip_map --where "steps > 24.5" --columns k,attack --order k --format csv >region
[ "$(awk 'NR > 1' region | wc -l)" -eq 75 ] && grep -q '^20000,67$' region && grep -q '^20000,68$' region &&
    grep -q '^41000,73$' region
check $? "the region of the runner"
oracle=$root/../shared/data/equations/slip_region.csv
if [ -f "$oracle" ]; then
    awk -F , 'NR == 1 { for (i = 2; i <= NF; i++) angle[i] = $i; next }
        { for (i = 2; i <= NF; i++) if ($i == 25) printf "%d,%d\n", 1000*$1, angle[i] }' "$oracle" | sort >expected
    awk 'NR > 1' region | sort | cmp -s - expected
    check $? "is that of another integrator, cell by cell"
else
    skip "the region of another integrator" "its table, which is no part of the program" "../shared/data/equations"
fi
exit $status
