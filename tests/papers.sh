#!/bin/sh
# Published tables and figures beside ours: tests/papers.sh [PATTERN] runs the scripts of tests/papers whose names have
# it, two at once. HOPSCOTCH: the program (build/hopscotch). PAPERS_UPDATE=1 writes the tables of tests/papers/README.md
# anew in place of comparing them, one script after the other.
cd "$(dirname "$0")/.." || exit 3
. tests/skip.sh
: "${HOPSCOTCH:=build/hopscotch}"
! lacks_program "$HOPSCOTCH" || exit 3
log=$(mktemp -d) || exit 3
trap 'rm -rf "$log"' EXIT
export HOPSCOTCH log
jobs=2
[ -z "${PAPERS_UPDATE:-}" ] || jobs=1
# shellcheck disable=SC2016
printf '%s\n' tests/papers/*"${1:-}"*.sh | xargs -P "$jobs" -n 1 sh -c '
    name=$(basename "$0" .sh) start=$(date +%s)
    timeout 600 sh "$0" >"$log/$name.out" 2>&1 || echo "$name" >>"$log/failed"
    { echo "---- $name: $(($(date +%s) - start)) s" && cat "$log/$name.out"; } >"$log/$name.shown"
    cat "$log/$name.shown"'
echo "$(cat "$log"/*.out | grep -c "^ok ") ok, $(cat "$log"/*.out | grep -c "^FAIL ") failed," \
    "$(cat "$log"/*.out | grep -c "^skip ") skipped"
[ ! -e "$log/failed" ] && grep -q "^ok " "$log"/*.out
