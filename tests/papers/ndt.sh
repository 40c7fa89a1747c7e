#!/bin/sh
# Magnusson 2009 (NDT in three dimensions) on the public pair of outdoor scans of ndt_omp and small_gicp. README.md says
# more.
. "$(dirname "$0")/../paper.sh"

pair=$root/../shared/data/ndt
if [ ! -r "$pair/251370668.pcd" ]; then
    skip "all of it" "the pair of scans in ../shared/data/ndt" "data that are not in the repository"
    exit 0
fi
cp "$pair/251370668.pcd" target.pcd
cp "$pair/ndt_source_0.5m.csv" source.csv
cp "$pair/T_target_source.txt" .
cat >pair.yaml <<'END'
version: 1
experiment: pair
model: ndt
simulation:
  target: target.pcd
  source: source.csv
  truth: {file: T_target_source.txt}
  precision: double
  solver: newton
  line_search: none
parameters: {step_size: 0.1}
search: {method: list, points: [{outlier_ratio: 0.55}]}
objective: {minimize: translation_error}
END
campaign pair.yaml
against 'translation apart from that of small_gicp, m' 0.0082 \
    "$(value 'sqrt((final_x - 0.488882)^2 + (final_y - 0.121214)^2 + (final_z + 0.0253342)^2)')" 5e-5
against 'angle to that of small_gicp, degrees' 0.18 "$(value 'rotation_error*180/atan2(0, -1)')" 0.005
shown 'middle of the source apart from where small_gicp puts it, m' "$(value translation_error | xargs printf '%.4f')"
against 'iterations' 10 "$(value iterations)" 0
against 'correspondences at the end' 9133 "$(value correspondences)" 0
against 'score at the end' 10085.8066 "$(value score)" 1e-4 %.8g
against 'score per point (TP)' 3.80023 "$(value tp)" 1e-5
against 'score per point by PCL 1.13' 3.79948 "$(value tp)" 1e-3
against 'NVTL' 2.59012 "$(value nvtl)" 1e-5
paper_ends
