#!/bin/sh
# Raibert 1984: the planar hopper in both forms of its equations, at four speeds for 5 s. README.md says more.
. "$(dirname "$0")/../paper.sh"

cat >hopper.yaml <<'END'
version: 1
experiment: hopper
model: hopper
simulation: {duration: 5, integrator: dormand_prince, tolerance: 1.0e-9, settle: 0, equations: reference}
search: {method: grid, over: {x_dot_des: [0, 1, 2, 3]}}
objective: {minimize: velocity_error}
END
for form in reference corrected; do
    campaign hopper.yaml --set "simulation.equations=$form"
    while read -r equations speed distance hops; do
        [ "$equations" = "$form" ] || continue
        ours=$(value distance "x_dot_des == $speed")
        against "$form equations, $speed m/s: distance in 5 s, m" "$distance" "$ours" 2e-6 %.10g
        against "$form equations, $speed m/s: lift-offs" "$hops" "$(value hop_count "x_dot_des == $speed")" 0
    done <<END
reference 0 -0.010396549 5
reference 1 2.456898563 5
reference 2 4.618873652 5
reference 3 6.349435305 5
corrected 0 -0.010398038 5
corrected 1 2.452118226 5
corrected 2 4.593869471 5
corrected 3 6.301807407 5
END
done
paper_ends
