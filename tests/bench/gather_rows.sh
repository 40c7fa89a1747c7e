#!/bin/sh
# gather of a campaign of many rows without arrays: time and peak memory of the gather that joins all parts and ends the
# campaign.
#
#   tests/bench/gather_rows.sh HOPSCOTCH FOLDER [ROWS] [PARTS]      1,000,000 rows in 100 parts; FOLDER is made anew
#
# A row takes about 80 bytes on the disk, in its part and in the campaign. Two sizes tell how the time grows.
set -eu
hopscotch=$1 folder=$2 rows=${3:-1000000} parts=${4:-100}
case $hopscotch in /*) ;; *) hopscotch=$PWD/$hopscotch ;; esac
mkdir "$folder"
cd "$folder"
cat >rows.yaml <<END
version: 1
experiment: rows
seed: 1
model: bbob
search: {method: random, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}, trials: $rows}
record: {}
END

seconds() { awk '{ print $1 }' /proc/uptime; }
# measured COMMAND...: `took` (s) and `peak` (MiB), by the kernel's count of the process
measured()
{
    begin=$(seconds) peak=0
    "$@" >said 2>&1 &
    pid=$!
    while now=$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null) && [ -n "$now" ]; do
        peak=$now
        sleep 0.1
    done
    wait "$pid" || { cat said; exit 1; }
    took=$(awk -v a="$begin" -v b="$(seconds)" 'BEGIN { printf "%.1f", b - a }') peak=$((peak / 1024))
}

begin=$(seconds)
for part in $(seq "$parts"); do
    "$hopscotch" run rows.yaml --part "$part/$parts" --progress none >said 2>&1 || { cat said; exit 1; }
done
awk -v a="$begin" -v b="$(seconds)" -v parts="$parts" 'BEGIN { printf "%d parts ran in %.1f s\n", parts, b - a }'
measured "$hopscotch" gather rows --progress none
echo "gather of $rows rows from $parts parts: $took s, $peak MiB at most;" \
    "$(du -sm results/rows | cut -f1) MB on the disk"
measured "$hopscotch" gather rows --progress none
echo "gather again: $took s, $peak MiB"
awk '/^MemTotal/ { printf "memory of this machine: %d MiB\n", $2 / 1024 }' /proc/meminfo
