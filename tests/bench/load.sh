#!/bin/sh
# Times commands over many campaigns and over one campaign of many trials: the median of three CPU times and of three
# wall times, and the peak memory. Its data, about 3 GB, is made once (tests/bench/load_roots.sh).
#
#   tests/bench/load.sh HOPSCOTCH FOLDER [CAMPAIGNS] [TRIALS]       10,000 and 5,000,000
#
# Needs GNU time (the package `time`).
set -eu
cd "$(dirname "$0")/../.."
. tests/skip.sh
hopscotch=$1 folder=$2 campaigns=${3:-10000} trials=${4:-5000000}
case $hopscotch in /*) ;; *) hopscotch=$PWD/$hopscotch ;; esac
[ -x /usr/bin/time ] || { skip "all of it" "/usr/bin/time" "apt-get install time"; exit 0; }
sh tests/bench/load_roots.sh "$hopscotch" "$folder" "$campaigns" "$trials"
cd "$folder"
log=$(mktemp)
trap 'rm -f "$log"' EXIT

median() { sort -n | sed -n 2p; }
# measure NAME COMMAND...
measure()
{
    name=$1
    shift
    : >"$log"
    for _ in 1 2 3; do
        [ "$name" != "list, first" ] || rm -f many/index.db many/index.db-*
        [ "$name" != run ] || rm -rf again
        /usr/bin/time -a -o "$log" -f '%e %U %S %M' "$hopscotch" "$@" >said 2>&1
    done
    printf '%-12s %7s s of processors, %7s s, %6s MB\n' "$name" "$(awk '{ print $2 + $3 }' "$log" | median)" \
        "$(awk '{ print $1 }' "$log" | median)" "$(awk '{ printf "%.0f\n", $4 / 1024 }' "$log" | median)"
}

echo "$campaigns campaigns"
measure "list, first" list --results many
measure list list --results many
measure "list --json" list --results many --all --sort best --json
measure gc gc --results many
echo "$trials trials"
measure run run trials.yaml --results again --progress none --threads 1
measure digest digest trials --results large
measure doctor doctor trials --results large
measure report report trials --results large -o page.html
