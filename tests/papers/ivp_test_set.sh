#!/bin/sh
# The Test Set for IVP Solvers, by Rodas5P and Dormand & Prince's method. README.md says more.
. "$(dirname "$0")/../paper.sh"

problems "$papers/ivp_test_set.txt" 1e-8 relative integrator=rodas5p tolerance=1e-10
problems "$papers/arenstorf.txt" 1e-7 absolute tolerance=1e-13
paper_ends
