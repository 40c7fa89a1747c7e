#!/bin/sh
# What scripts of tests/cli begin with, sourced in the repository's root: a folder of their own to work in, which goes
# when they end, and checks, a line for tests/run.sh each. `suite` is their name.
#
# shellcheck disable=SC2034,SC2154
: "${HOPSCOTCH:=$PWD/build/hopscotch}" "${HOPSCOTCH_FAULTS_PROGRAM:=$PWD/build/hopscotch_faults}"
case $HOPSCOTCH in /*) ;; *) HOPSCOTCH=$PWD/$HOPSCOTCH ;; esac
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
unset HOPSCOTCH_RESULTS HOPSCOTCH_FAULT NO_COLOR
cd "$work" || exit 3
status=0

# check STATUS NAME: after a failure also the end of what the last command said, in `out` and `err`
check()
{
    if [ "$1" -eq 0 ]; then
        echo "ok   $suite: $2"
    else
        echo "FAIL $suite: $2"
        tail -n 9 out err 2>/dev/null | cut -c 1-300
        status=1
    fi
}
