#!/bin/sh
# Two commands at once on the same campaigns, every ordered pair, some killed, some stopped during a call until the
# other has ended. A command with exit code 0 did its work; one that fails says why and changed nothing; nothing is
# lost, and gc removes all leftovers (tests/crash/pairs.c). And other files in place of a campaign's.
#
#   ROUNDS=N   of each pair (3; 1 with QUICK=1)       SEED=N    of what is chosen at random (1)
#   KINDS      "merge,gc": the pairs of these; "rm:merge,gc": rm beside these; "all"; unset: those that change most
#   KEPT       a folder that is made, on a disk of its own choice: what went wrong is left there
[ ! -w /dev/shm ] || : "${TMPDIR:=/dev/shm}" # the rounds write a lot, and the disk is not under test
export TMPDIR
. "$(dirname "$0")/../scratch.sh"
pairs=${HOPSCOTCH%/*}/pairs
with_faults || exit 0
lacks_program "$pairs" && exit 0
: "${KINDS:=merge,gc,rm,query,run,doctor}"
[ "$KINDS" != all ] || KINDS=
rounds=${ROUNDS:-$([ -n "${QUICK:-}" ] && echo 1 || echo 3)}
"$pairs" "${KEPT:-$work/pairs}" "$rounds" "${SEED:-1}" ${KINDS:+"$KINDS"} || status=1
exit $status
