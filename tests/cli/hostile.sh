#!/bin/sh
# Hostile input: specs, arguments, databases and shards (tests/hostile). Each must be refused with a message, within
# three seconds of processor and 200 MiB. HOPSCOTCH: the program. Runs in the repository's root.
set -u
. "$(dirname "$0")/../skip.sh"
program=${HOPSCOTCH:-build/hopscotch}
if ! python3 -c 'import sqlite3' 2>/dev/null; then
    skip "all of it" "python3" "apt-get install python3"
    exit 0
fi
case $program in *asan* | *tsan*) export HOSTILE_SLOWER=20 ;; esac
export PYTHONDONTWRITEBYTECODE=1
status=0
# hostile GROUP EVERY: every N-th case; HOSTILE_EVERY=1 (`make hostile`): all of them
hostile()
{
    every=${HOSTILE_EVERY:-$2}
    [ "${QUICK:-0}" != 1 ] || every=$((every * 10))
    HOSTILE_EVERY=$every python3 tests/hostile/run.py "$program" "$1" || status=1
}
hostile specs 1
hostile arguments 2
hostile databases 8
hostile shards 8
exit $status
