#!/bin/sh
# Makes the data of `make bench-load`: a root of many campaigns, as copies of a few, and one campaign of many trials.
#
#   tests/bench/load_roots.sh HOPSCOTCH FOLDER CAMPAIGNS TRIALS
#
# FOLDER/many: of each hundred campaigns 60 are done (half of them with shards), 10 are of a larger model, 19 were
# interrupted, one was killed, and 10 are tagged and have what verify made of them. FOLDER/large/trials: TRIALS random
# trials of `bbob`.
# What is there already stays.
set -eu
hopscotch=$1 folder=$2 campaigns=$3 trials=$4
case $hopscotch in /*) ;; *) hopscotch=$PWD/$hopscotch ;; esac
mkdir -p "$folder"
cd "$folder"

spec() # NAME METHOD MORE
{
    printf 'version: 1\nexperiment: %s\nmodel: bbob\nsearch: %s\n%s\n' "$1" "$2" "$3" >"$1.yaml"
}
run() { "$hopscotch" run "$@" --progress none --threads 1 >said 2>&1 || [ "${may_fail:-no}" = yes ]; }

grid='{method: grid, over: {x1: {linspace: [-5, 5, 10]}, x2: {linspace: [-5, 5, 10]}}}'
if [ ! -d kinds ]; then
    spec plain "$grid" ''
    spec arrays "$grid" 'record: {trajectories: {select: {best: 3}}}'
    spec larger '{method: grid, over: {k_fp: {linspace: [50, 300, 5]}, thrust: [10, 35]}}' \
        'simulation: {duration: 0.5, settle: 0.1}'
    sed -i 's/model: bbob/model: hopper/' larger.yaml
    spec long '{method: random, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}, trials: 2000000}' ''
    for name in plain arrays larger; do run $name.yaml --results kinds; done
    run plain.yaml --name tagged --results kinds
    "$hopscotch" tag tagged paper --results kinds >said
    "$hopscotch" verify tagged --results kinds --progress none --threads 1 --seeds 2 >said 2>&1 || true
    for name in interrupted killed; do
        "$hopscotch" run long.yaml --name $name --results kinds --batch 16 --progress none --threads 1 >said 2>&1 &
        until "$hopscotch" query $name --results kinds --limit 1 --format csv 2>/dev/null | grep -q '^[0-9]'; do
            kill -0 $! # else it has ended: nothing will come
            sleep 0.05
        done
        if [ $name = killed ]; then kill -9 $!; else kill -INT $!; fi
        wait $! || true
    done
fi

if [ ! -d many ]; then
    mkdir many
    i=0
    while [ $i -lt "$campaigns" ]; do
        case $((i % 10)) in
        [0-2]) kind=plain ;;
        [3-5]) kind=arrays ;;
        6) kind=larger ;;
        7) kind=interrupted ;;
        8) if [ $((i % 100)) -eq 8 ]; then kind=killed; else kind=interrupted; fi ;;
        *) kind=tagged ;;
        esac
        cp -a kinds/$kind many/c$i
        i=$((i + 1))
    done
    "$hopscotch" list --results many >said 2>&1
fi

[ -d large ] || {
    spec trials "{method: random, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}, trials: $trials}" ''
    run trials.yaml --results large
}
