#!/bin/sh
# tests/valgrind.sh PROGRAM: runs the commands on a tiny campaign under memcheck; there must be no error and no leak.
# Uses the kernels of x86-64-v3, because valgrind does not know AVX-512.
set -u
program=$(realpath "${1:-build/hopscotch}")
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 3
status=0

# memcheck NAME CODE ARGUMENTS...
memcheck()
{
    name=$1 code=$2
    shift 2
    valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite --trace-children=no \
        "$program" "$@" >out 2>&1
    got=$?
    if [ "$got" -eq "$code" ]; then
        echo "ok   valgrind: $name"
    else
        echo "FAIL valgrind: $name: exit code $got, expected $code (99: an error of memory)"
        sed 's/^/     | /' out | head -40
        status=1
    fi
}

cat >tiny.yaml <<'END'
version: 1
experiment: tiny
seed: 3
model: hopper
simulation: {duration: 0.02, settle: 0}
search: {over: {k_fp: [100, 150, 1e6], b_fp: {derive: "0.1 * k_fp"}}, exclude: ["k_fp > 1e7"]}
replicates: {count: 2, store: true, perturb: {phi_leg: {normal: [0.01, 0.02]}}}
record: {trajectories: {select: {best: 2}, sample: 0.001}, debug: {newton: {select: {best: 1}}}}
END
backend="--backend cpu --isa v3 --threads 1"
# shellcheck disable=SC2086
{
    memcheck check 0 check tiny.yaml
    memcheck "check of a spec with mistakes" 1 check tiny.yaml --set modle=hoper --set search.over.thurst=[1]
    memcheck plan 0 plan tiny.yaml $backend
    memcheck run 0 run tiny.yaml $backend --progress none
    memcheck resume 0 resume tiny $backend --progress none
    memcheck status 0 status tiny
    memcheck best 0 best tiny
    memcheck query 0 query tiny --where "k_fp > 100 and failure = 'none'" --order fitness:desc --columns all
    memcheck show 0 show tiny/0
    memcheck replay 0 replay tiny/0 $backend
    memcheck digest 0 digest tiny
    memcheck doctor 0 doctor tiny
}
exit $status
