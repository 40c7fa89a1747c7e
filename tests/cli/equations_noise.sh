#!/bin/sh
# Systems with noise (tests/equations_noise.py): their Brownian motion, both integrators and maps against numbers of a
# Philox of its own, strong orders by exact solutions, moments and first passages by closed forms.
#
#   TRIALS=N    of the moments (100,000)
#   QUICK=1     10,000 of them
. "$(dirname "$0")/../scratch.sh"
with_python "systems with noise" numpy || exit 0
[ -z "${QUICK:-}" ] || TRIALS=${TRIALS:-10000}
python3 "$root/tests/equations_noise.py" "$HOPSCOTCH" "${TRIALS:-100000}" >out 2>err
check $? "paths, orders, moments and events of systems with noise"
cat out err
exit $status
