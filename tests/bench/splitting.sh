#!/bin/sh
# What it costs to run a campaign in parts: the wall time of one run against the sum of those of its parts, one after
# the other on the same threads, and the time of gather. Hoppers, without arrays.
#
#   tests/bench/splitting.sh HOPSCOTCH FOLDER [TRIALS] [PARTS] [THREADS] [TIMES]     20,000, 16, 1, 3
#
# FOLDER is made anew. The least of TIMES is printed: another load of the machine only adds. A part costs a process and
# a database more, so the run should take minutes to be representative: more TRIALS.
set -eu
hopscotch=$1 folder=$2 trials=${3:-20000} parts=${4:-16} threads=${5:-1} times=${6:-3}
case $hopscotch in /*) ;; *) hopscotch=$PWD/$hopscotch ;; esac
mkdir "$folder"
cd "$folder"
cat >split.yaml <<END
version: 1
experiment: split
seed: 1
model: hopper
simulation: {duration: 4.0, settle: 1.0}
search: {method: random, over: {k_fp: {range: [50, 300]}, thrust: {range: [20, 45]}}, trials: $trials}
END

milliseconds() { echo $(($(date +%s%N) / 1000000)); }
least() { sort -n "$1" | head -n 1; }
run()
{
    "$hopscotch" "$@" --threads "$threads" --backend cpu --progress none >said 2>&1 || { cat said; exit 1; }
}
for _ in $(seq "$times"); do
    rm -rf results
    begin=$(milliseconds)
    run run split.yaml --name whole
    echo $(($(milliseconds) - begin)) >>whole.ms
    begin=$(milliseconds)
    for part in $(seq "$parts"); do run run split.yaml --part "$part/$parts"; done
    echo $(($(milliseconds) - begin)) >>parts.ms
    begin=$(milliseconds)
    run gather split
    echo $(($(milliseconds) - begin)) >>gather.ms
    [ "$("$hopscotch" digest split | cut -d ' ' -f 1)" = "$("$hopscotch" digest whole | cut -d ' ' -f 1)" ] ||
        { echo "the digests differ"; exit 1; }
done
echo "$trials trials, $threads threads: one run $(least whole.ms) ms, $parts parts $(least parts.ms) ms," \
    "gather $(least gather.ms) ms"
awk -v whole="$(least whole.ms)" -v divided="$(least parts.ms)" -v parts="$parts" 'BEGIN {
    printf "splitting costs %.2f %% of the run, %.0f ms a part\n", 100 * (divided - whole) / whole,
        (divided - whole) / parts
}'
