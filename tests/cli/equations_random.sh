#!/bin/sh
# Random systems (tests/equations_random.py): equal bits by all instruction sets and batches; with scipy also DOP853's
# numbers.
#
#   SEED=N     of the first system (1)      SYSTEMS=N    how many (60; 1,000 take half an hour)
#   QUICK=1    12 of them
. "$(dirname "$0")/../scratch.sh"
with_python "random systems" || exit 0
with_python "random systems against DOP853" numpy scipy
[ -z "${QUICK:-}" ] || SYSTEMS=${SYSTEMS:-12}
python3 "$root/tests/equations_random.py" "$HOPSCOTCH" "${SEED:-1}" "${SYSTEMS:-60}" >out 2>err
check $? "$(tail -n 1 out)"
cat err
exit $status
