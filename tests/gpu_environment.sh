#!/bin/sh
# Environments on a GPU: their unit tests with HOPSCOTCH_TEST_DEVICE=cuda. They have the bits of the CPU and of
# `run --backend cuda`, for any number of lanes, in each mode of autoreset. 4,096 of them that begin again at random
# take no more memory with time.
#
#   tests/gpu_environment.sh [BUILD]      BUILD: the folder of `make` (build), or of `make portable`
#
# ENVIRONMENT_STEPS: steps of the last one (100,000)
set -u
build=${1:-build}
ENVIRONMENT_STEPS=${ENVIRONMENT_STEPS:-100000} HOPSCOTCH_TEST_DEVICE=cuda "$build/tests" environment_
