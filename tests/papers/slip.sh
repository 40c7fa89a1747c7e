#!/bin/sh
# Seyfarth, Geyer, Guenther & Blickhan 2002: which angles of attack run on a spring. README.md says more.
. "$(dirname "$0")/../paper.sh"

campaign "$root/experiments/slip_map.yaml"
against 'steps of 25 at 20 kN/m and 68 degrees' 25 "$(value steps 'k == 20000 && attack == 68')" 0
# the least and the greatest stable angle of each stiffness: does the least never fall as stiffness grows?
against 'stiffnesses at which the least stable angle is less than at the one before' 0 "$(awk -F , '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["steps"] == 25 && (!(($at["k"] + 0) in least) || $at["attack"] < least[$at["k"] + 0]) {
        least[$at["k"] + 0] = $at["attack"] }
    END { for (k = 5000; k <= 50000; k += 1500) if (k in least) { if (least[k] < last) falls++; last = least[k] }
          print falls + 0 }' rows.csv)" 0
map=$root/../shared/data/equations/slip_region.csv
if [ -r "$map" ]; then
    differ=$(awk -F , 'FNR == NR && FNR == 1 { for (i = 2; i <= NF; i++) angle[i] = $i; next }
        FNR == NR { for (i = 2; i <= NF; i++) known[sprintf("%g %g", $1*1000, angle[i])] = $i; next }
        FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { cell = sprintf("%g %g", $at["k"], $at["attack"]); cells++
          if (!(cell in known) || known[cell] != $at["steps"]) differ++ }
        END { print cells == 806 ? differ + 0 : "none" }' "$map" rows.csv)
    [ "$differ" = 0 ]
    check $? "steps of all 806 points are those of an independent DOP853 ($differ differ)"
else
    skip "the region against an independent map" "../shared/data/equations" "data that are not in the repository"
fi
last=0 falls=0
for speed in 2 3 4 5 6 8; do
    campaign "$root/experiments/slip_map.yaml" --set "initial={vx: $speed}"
    points=$(awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["steps"] == 25 { n++ } END { print n + 0 }' rows.csv)
    shown "points of 806 that run 25 steps at $speed m/s" "$points"
    [ "$points" -ge "$last" ] || falls=$((falls + 1))
    [ $speed != 2 ] || against 'points that run below the minimum speed (2 m/s)' 0 "$points" 0
    last=$points
done
against 'speeds at which fewer points run than at the one before' 0 "$falls" 0
paper_ends
