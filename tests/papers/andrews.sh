#!/bin/sh
# Andrews' squeezer: the angles of its bodies after 30 ms, from their centres of mass. README.md says more.
. "$(dirname "$0")/../paper.sh"

campaign "$root/experiments/andrews_squeezer.yaml" --set simulation.order=six --set 'search.over.substeps=[1]'
# Whole turns are taken from the published angle.
awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    function x(body) { return $at[body "_end_x"] }
    function y(body) { return $at[body "_end_y"] }
    {   ax = -0.06934; ay = -0.00227
        beta = atan2(y("K1"), x("K1"))
        theta = atan2(0.007*sin(beta) - y("K2"), 0.007*cos(beta) - x("K2")) - beta
        gamma = atan2(y("K3") - 0.03273, x("K3") + 0.03635) - atan2(-0.01874, 0.01043)
        delta = atan2(y("K5") - ay, x("K5") - ax) - atan2(0.00916, 0.02308)
        phi = atan2(x("K4") - ax - 0.04*cos(delta), 0.04*sin(delta) - y("K4") + ay) - delta
        epsilon = atan2(y("K7") - ay, x("K7") - ax) - atan2(-0.01228, -0.00449)
        omega = atan2(y("K6") - ay + 0.04*cos(epsilon), x("K6") - ax - 0.04*sin(epsilon)) - epsilon
        printf "%.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", beta, theta, gamma, phi, delta, omega, epsilon
    }' rows.csv >angles
read -r beta theta gamma phi delta omega epsilon <angles
while read -r name published ours; do
    turned=$(awk -v p="$published" -v x="$ours" 'BEGIN { turn = 2*atan2(0, -1); n = (p - x)/turn
        printf "%.17g\n", x + turn*int(n + (n < 0 ? -0.5 : 0.5)) }')
    against "$name, rad" "$published" "$turned" 1e-8 %.12g
done <<END
beta 15.81077119629904 $beta
Theta -15.75637105984298 $theta
gamma 0.04082224013073101 $gamma
Phi -0.5347301163226948 $phi
delta 0.5244099658805304 $delta
Omega 0.5347301163226948 $omega
epsilon 1.048080741042263 $epsilon
END
paper_ends
