#!/bin/sh
# Input that means harm: specs, arguments, databases and shards (tests/hostile). Each must be refused in words, within a
# second and 200 MiB. HOPSCOTCH: the program. Runs in the repository's root.
set -u
program=${HOPSCOTCH:-build/hopscotch}
if ! python3 -c 'import sqlite3' 2>/dev/null; then
    echo "skip hostile: no python3 with sqlite3"
    exit 0
fi
case $program in *asan* | *tsan*) export HOSTILE_SLOWER=20 ;; esac
export PYTHONDONTWRITEBYTECODE=1
status=0
for group in specs; do
    python3 tests/hostile/run.py "$program" $group || status=1
done
exit $status
