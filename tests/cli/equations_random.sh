#!/bin/sh
# Random systems (tests/equations_random.py): equal bits by all instruction sets and batches; with scipy also DOP853's
# numbers.
#
#   SEED=N     of the first system (1)      SYSTEMS=N    how many (60; 1,000 take half an hour)
#   MADE=N     every Nth also by a kernel that the C compiler makes (6 where there is one; 0: none)
#   QUICK=1    12 of them
. "$(dirname "$0")/../scratch.sh"
with_python "random systems" || exit 0
with_python "random systems against DOP853" numpy scipy
[ -z "${QUICK:-}" ] || SYSTEMS=${SYSTEMS:-12}
export XDG_CACHE_HOME="$work/cache"
command -v cc >compiler || MADE=0
python3 "$root/tests/equations_random.py" "$HOPSCOTCH" "${SEED:-1}" "${SYSTEMS:-60}" "${MADE:-6}" >out 2>err
check $? "$(tail -n 1 out)"
cat err
exit $status
