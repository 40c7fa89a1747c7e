#!/bin/sh
# Kramers 1940: how long a particle takes to leave a well by noise. README.md says more.
. "$(dirname "$0")/../paper.sh"

campaign "$root/experiments/kramers_escape.yaml" --set 'search.over.D=[0.06, 0.08, 0.11]' --set replicates.count=400
for noise in 0.06 0.08 0.11; do
    ours=$(value escape "D == $noise")
    # the mean first passage from -1 to 1: 1/D times the integral of exp(U(y)/D) over that of exp(-U(z)/D) up to y
    exact=$(awk -v D="$noise" 'function U(x) { return x^4/4 - x^2/2 }
        BEGIN { h = 0.0005
            for (k = -6000; k < 2000; k++) { x = (k + 0.5)*h; half = h*exp(-U(x)/D)/2
                below += half; if (x > -1) total += h*exp(U(x)/D)*below; below += half }
            printf "%.4g\n", total/D }')
    formula=$(awk -v D="$noise" 'BEGIN { printf "%.4g\n", 2*atan2(0, -1)/sqrt(2)*exp(1/(4*D)) }')
    against "mean time of escape, D = $noise: the formula" "$formula" "$ours" 0.35r
    against "mean time of escape, D = $noise: the integral" "$exact" "$ours" 0.15r
done
paper_ends
