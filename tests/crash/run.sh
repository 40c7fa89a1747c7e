#!/bin/sh
# All crash suites: SIGKILL at random instants, fifty times in an adaptive search; one failure of every system call and
# allocation; a power cut at every point; full disks; readers beside a run; bugs that are inserted to test the suites;
# every two commands at once. Long; with QUICK=1 a part of each in a few seconds.
#
#   tests/crash/run.sh [BUILD]     BUILD: the folder of `make` (build)
set -u
cd "$(dirname "$0")/../.." || exit 3
. tests/skip.sh
export HOPSCOTCH="${HOPSCOTCH:-$PWD/${1:-build}/hopscotch}"
status=0
python3 -c '' 2>/dev/null || { skip "all of it" "python3" "apt-get install python3"; exit 0; }
for suite in storm parts learning faults power full_disk; do
    python3 tests/crash/$suite.py || status=1
done
blocks="--set record={} --set replicates.store=false --set store.rows=blocks"
[ -n "${QUICK:-}" ] || OPTIONS=$blocks python3 tests/crash/learning.py || status=1
sh tests/crash/readers.sh || status=1
OPTIONS="--backend cpu --set record={} --set store.rows=blocks" sh tests/crash/readers.sh || status=1
[ -n "${QUICK:-}" ] || ROUNDS=200 sh tests/cli/pairs.sh || status=1 # one of tests/cli, too
python3 tests/crash/bugs.py ${QUICK:+fit} || status=1
exit "$status"
