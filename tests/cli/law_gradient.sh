#!/bin/sh
# Gradients through control laws: random laws on robots with and without contact, by the adjoint, the tangent and
# differences; with modes, held numbers, delays and noise, efforts at their ends, periods of several steps, inputs, and
# on top of a gait.
#
#   SEED=N     of the first law (1)      ROUNDS=N    laws (50)
#   QUICK=1    8 of them
. "$(dirname "$0")/../law.sh"
cp "$root/experiments/robots/quadruped.xml" .


chaotic=0
count=${ROUNDS:-50}
[ -z "${QUICK:-}" ] || count=${ROUNDS:-8}
first=${SEED:-1}
for seed in $(seq "$first" $((first + count - 1))); do
    awk -v seed="$seed" -f "$root/tests/law.awk" >g.yaml
    rm -rf results
    order=one
    [ $((seed % 3)) -ne 0 ] || order=two
    if ! "$HOPSCOTCH" run g.yaml --set simulation.order=$order --progress none >out 2>err; then
        check 1 "law $seed runs"
        continue
    fi
    grep -q 'mode: gait' g.yaml && seventh=gait_frequency || seventh=gravity
    "$HOPSCOTCH" gradient g/0 --parameters g1,g2,g3,g4,b,h1,$seventh --format csv >got.csv 2>err
    check $? "law $seed has a gradient"
    # adjoint and tangent to 1e-9, differences to 1e-6 or ten times their own error, of the greatest derivative
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { rows++; a[rows] = $at["adjoint"]; t[rows] = $at["tangent"]
          d[rows] = $at["difference"]; s[rows] = $at["error"]
          big = a[rows] < 0 ? -a[rows] : a[rows]; if (big > most) most = big }
        function far(x, y) { return x > y ? x - y : y - x }
        END {
            for (i = 1; i <= rows; i++) # a law under which no difference converges
                if (s[i] > 1e-2 * (1 + (d[i] < 0 ? -d[i] : d[i]))) { print "chaotic"; exit 0 }
            for (i = 1; i <= rows; i++) {
                said = "row " i ": adjoint " a[i] ", tangent " t[i] ", difference " d[i] " +- " s[i]
                if (far(a[i], t[i]) <= 1e-9 * (1 + most) && far(a[i], d[i]) <= 1e-6 * (1 + most) + 10 * s[i]) continue
                print said
                bad = 1
            }
            if (!(rows == 7 && most > 1e-6)) { print rows " rows, " most; bad = 1 }
            exit bad
        }' got.csv >out
    check $? "law $seed: adjoint, tangent and differences agree"
    ! grep -q chaotic out || chaotic=$((chaotic + 1))
done
[ $((20 * chaotic)) -le "$count" ]
check $? "of $count laws $chaotic have no differences to compare with"
exit $status
