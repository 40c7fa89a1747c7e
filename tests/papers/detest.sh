#!/bin/sh
# DETEST: Hull, Enright, Fellen & Sedgwick 1972, by Dormand & Prince's method. README.md says more.
. "$(dirname "$0")/../paper.sh"

problems "$papers/detest.txt" 1e-9 absolute duration=20 tolerance=1e-12
paper_ends
