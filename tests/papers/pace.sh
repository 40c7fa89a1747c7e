#!/bin/sh
# Bjelonic, Tischhauser & Hutter 2025 (PACE): 49 numbers of a robot with 12 joints from a recording of its encoders.
# README.md says more.
. "$(dirname "$0")/../paper.sh"

campaign "$root/experiments/identify_chirp.yaml"
shown 'simulated robots' "$(($(wc -l <rows.csv) - 1))"
"$HOPSCOTCH" fit identify_chirp/best --format csv >fit.csv 2>err
check $? "fit"
against 'parameters' 49 "$(($(wc -l <fit.csv) - 1))" 0
awk -F , -v OFS=, 'FNR == NR { truth[$1] = $2; next }
    FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { name = $at["parameter"]; n++
      held += $at["low"] <= truth[name] && truth[name] <= $at["high"]
      apart = $at["value"] - truth[name]; if (apart < 0) apart = -apart
      kind = name; sub(/.*_/, "", kind)
      if (apart > most[kind]) most[kind] = apart }
    END { print held, most["armature"], most["damping"], most["friction"], most["encoder"], most["delay"] }' \
    "$papers/pace.csv" fit.csv >counted
IFS=, read -r held armature damping friction encoder delay <counted
against 'intervals of 95 % that hold the truth, expected of 49' 46.55 "$held" 4.6
against 'largest error of 12 rotor inertias, kg m^2' 0 "$armature" 3e-4
against 'largest error of 12 dampings, N m s/rad' 0 "$damping" 0.007
against 'largest error of 12 dry frictions, N m' 0 "$friction" 0.018
against 'largest error of 12 encoders, rad' 0 "$encoder" 0.0025
against 'error of the delay, s' 0 "$delay" 9e-5
paper_ends
