#!/bin/sh
# tests/crash/flips.c on a campaign that was killed while its trials were in blocks.
#
#   HOPSCOTCH   the program (build/hopscotch); flips, hopscotch_faults and sql are beside it      FLIPS   (30)
#   SPEC        blocks or kept_blocks, of tests/crash/specs
set -u
cd "$(dirname "$0")/../.." || exit 3
. tests/skip.sh
: "${HOPSCOTCH:=$PWD/build/hopscotch}" "${FLIPS:=30}" "${SPEC:=blocks}"
build=$(dirname "$HOPSCOTCH")
for program in flips hopscotch_faults sql; do
    lacks_program "$build/$program" && exit 0
done
folder=$(mktemp -d) || exit 3
HOPSCOTCH_FAULT=fsync:60:KILL "$build/hopscotch_faults" run "tests/crash/specs/$SPEC.yaml" --name flips --batch 7 \
    --progress none --results "$folder" >/dev/null 2>&1
"$build/sql" "$folder/flips/campaign.db" "PRAGMA wal_checkpoint(TRUNCATE)" >/dev/null 2>&1
rm -f "$folder"/flips/shards/*.tmp # of the shard that was being written
"$HOPSCOTCH" list --results "$folder" >/dev/null 2>&1
"$build/flips" "$folder" "$FLIPS" || exit 1
rm -rf "$folder"
