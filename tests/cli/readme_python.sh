#!/bin/sh
# What the README shows must work: its example spec passes `check`, and its Python reads a campaign.
. "$(dirname "$0")/../scratch.sh"

# block LANGUAGE N: the N-th block of that language
block()
{
    awk -v fence="\`\`\`$1" -v wanted="$2" \
        '$0 == fence { inside = ++n == wanted; next } /^```/ { inside = 0 } inside' "$root"/README.md
}

block yaml 1 >spec.yaml
if "$HOPSCOTCH" check spec.yaml >out 2>&1; then
    echo "ok   readme: the example spec passes check"
else
    echo "FAIL readme: the example spec does not pass check"
    cat out
    status=1
fi

with_python "the Python" h5py || exit $status
block python 1 >read.py
"$HOPSCOTCH" run "$root"/experiments/smoke.yaml --backend cpu --progress none \
    --set 'search.over.k_xdot=[0, 0.05]' --set 'search.over.k_fp=[50, 150]' >out 2>&1
if ! with_python "trials" pandas; then
    :
elif (python3 read.py >out 2>&1) && grep -q '^trial [0-9]*: 1.5 s in 301 samples' out; then
    echo "ok   readme: the Python reads trials and a trajectory"
else
    echo "FAIL readme: the Python does not read the campaign"
    cat out
    status=1
fi

# What it prints of debug rows is what the README shows; the digits shown are far from the last bits.
block python 2 >debug.py
"$HOPSCOTCH" run "$root"/experiments/newton_debug.yaml --backend cpu --progress none >out 2>&1
if (python3 debug.py >out 2>&1) && [ "$(grep -c '^[012] .e-0' out)" = 3 ] &&
    sed 's/^/    /' out | while IFS= read -r line; do grep -qxF "$line" "$root"/README.md || exit 1; done; then
    echo "ok   readme: the Python reads debug rows"
else
    echo "FAIL readme: the Python does not read the debug rows that it shows"
    cat out
    status=1
fi
exit $status
