# shellcheck shell=sh
# skip WHAT NEEDS HOW: the line of a test that is left out, for tests/run.sh: what is not tested, what that needs, and
# how to have it (a package, a command). tests/skip.py and test_skip (test.h) write the same line.
skip() { echo "skip ${suite:-$(basename "$0" .sh)}: $1: needs $2 ($3); nothing is wrong without"; }

# lacks_program FILE [WHAT]: whether a program or library of the build is not there; then WHAT (all of it) is left out.
lacks_program() { [ ! -x "$1" ] && skip "${2:-all of it}" "$(basename "$1")" "make ${1#"${root:-$PWD}"/}"; }

# vector_isas PROGRAM [BEFORE]: the vector instruction sets of processors like this one, each behind the word BEFORE
# (--isa=). Every one has the first, as has every build; the others may be lacking.
vector_isas()
{
    vectors="v2 v3 v4"
    "$1" version | grep -q '(aarch64-' && vectors=neon
    for vector in $vectors; do echo "${2:-}$vector"; done
}
