#!/bin/sh
# Examples in the pages work: the spec by example of experiments/README.md passes `check`, the Python of README.md and
# of results/README.md reads a campaign, and the tour of experiments/learning runs.
. "$(dirname "$0")/../scratch.sh"

# block FOLDER LANGUAGE WORDS: the first block with these words in that language in the folder's README
block()
{
    awk -v fence="\`\`\`$2" -v words="$3" '
        $0 == fence { inside = 1; text = ""; next }
        /^```/ { if (inside && index(text, words)) { printf "%s", text; exit } inside = 0 }
        inside { text = text $0 "\n" }' "$root/$1/README.md"
}

block experiments yaml 'experiment: my_gains' >spec.yaml
if "$HOPSCOTCH" check spec.yaml >out 2>&1 && grep -qF "ok: my_gains" out; then
    echo "ok   readme: the example spec passes check"
else
    echo "FAIL readme: the example spec does not pass check"
    cat out
    status=1
fi

with_python "the Python" h5py || exit $status
block results python 'the best trial whose trajectory' >read.py
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

block . python 'import hopscotch' >short.py
[ "$(wc -l <short.py)" -le 10 ] &&
    PYTHONPATH="$root/runner/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1 python3 short.py >out 2>err &&
    grep -q '^0\.[0-9]* 0\.[0-9]*$' out
check $? "the Python of README.md"

block results python 'import hopscotch' >package.py
if (PYTHONPATH="$root/runner/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1 \
    python3 package.py >out 2>&1) &&
    grep -q '^1.5 s, the foot rises to 0.[0-9]* m$' out; then
    echo "ok   readme: the package reads trials and a trajectory"
else
    echo "FAIL readme: the package does not read the campaign"
    cat out
    status=1
fi

block results python summary_columns >sums.py
"$HOPSCOTCH" run "$root"/experiments/smoke.yaml --name many --backend cpu --progress none \
    --set record.rows='{best: 5}' \
    --set 'search.over.k_xdot=[0, 0.05]' --set 'search.over.k_fp=[50, 150]' >out 2>&1
if ! with_python "sums" pandas; then
    :
elif (python3 sums.py >out 2>&1) && [ "$(grep -cE '^[01] +(50|150).0 +(50|150).0 +110 ' out)" = 2 ]; then
    echo "ok   readme: the Python reads sums over all trials"
else
    echo "FAIL readme: the Python does not read the sums"
    cat out
    status=1
fi

# The printed debug rows are those in the page, which shows only digits that rounding does not change.
block results python newton_debug >debug.py
"$HOPSCOTCH" run "$root"/experiments/newton_debug.yaml --backend cpu --progress none >out 2>&1
if (python3 debug.py >out 2>&1) && [ "$(grep -c '^[012] .e-0' out)" = 3 ] &&
    sed 's/^/    /' out | while IFS= read -r line; do grep -qxF "$line" "$root"/results/README.md || exit 1; done; then
    echo "ok   readme: the Python reads debug rows"
else
    echo "FAIL readme: the Python does not read the debug rows that it shows"
    cat out
    status=1
fi

# The tour needs the library for its environments, as python_environment.sh does.
library=${HOPSCOTCH_LIBRARY:-$(dirname "$HOPSCOTCH")/libhopscotch.so}
cp -r "$root/experiments" .
PYTHONPATH="$root/runner/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1 HOPSCOTCH_LIBRARY="$library" \
    python3 experiments/learning/tour.py >out 2>err
ended=$?
grep -q '^best: trial 1558, k_fp 200 N m/rad, 1.90 m/s' out && grep -q '^1.5 s of motion' out
check $? "the tour runs a spec, and shows a motion"
if [ ! -e "$library" ] || ! python3 -c 'import gymnasium' 2>>err; then
    skip "the tour's environments" "python3 with gymnasium, and $(basename "$library")" "pip install gymnasium; make"
else
    [ $ended -eq 0 ] && grep -q '^lane [0-9]*: [0-9]* steps .* to the bit$' out
    check $? "the tour steps environments, with the bits of a run"
fi
exit $status
