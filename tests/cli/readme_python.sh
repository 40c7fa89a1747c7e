#!/bin/sh
# What the README shows must work: its example spec passes `check`, and its Python reads a campaign.
# HOPSCOTCH: the program. Runs in the repository's root.
set -u
program=${HOPSCOTCH:-build/hopscotch}
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
status=0

# block LANGUAGE: the first block of that language
block() { awk -v fence="\`\`\`$1" '$0 == fence && !n { inside = n = 1; next } /^```/ { inside = 0 } inside' README.md; }

block yaml >"$work/spec.yaml"
if "$program" check "$work/spec.yaml" >"$work/out" 2>&1; then
    echo "ok   readme: the example spec passes check"
else
    echo "FAIL readme: the example spec does not pass check"
    cat "$work/out"
    status=1
fi

if ! python3 -c 'import h5py' 2>/dev/null; then
    echo "skip readme: no python3 with h5py"
    exit $status
fi
block python >"$work/read.py"
"$program" run experiments/smoke.yaml --results "$work/results" --backend cpu --progress none \
    --set 'search.over.k_xdot=[0, 0.05]' --set 'search.over.k_fp=[50, 150]' >"$work/out" 2>&1
if (cd "$work" && python3 read.py >out 2>&1) && grep -q '^trial [0-9]*: 1.5 s in 301 samples' "$work/out"; then
    echo "ok   readme: the Python reads trials and a trajectory"
else
    echo "FAIL readme: the Python does not read the campaign"
    cat "$work/out"
    status=1
fi
exit $status
