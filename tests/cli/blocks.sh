#!/bin/sh
# Blocks (`store: {rows: blocks}`) that are not the ones that were written: of another campaign of the same spec
# with another seed, with a flipped byte, cut, missing, of another batch. No command takes them; `resume` and `doctor
# --repair` simulate their trials again, to the digest of the undisturbed run; a campaign without a block keeps its
# status, tags and notes. `merge` joins such campaigns.
. "$(dirname "$0")/../scratch.sh"

spec() # NAME TRIALS [LINE]
{
    printf 'version: 1\nexperiment: %s\nseed: 5\nmodel: bbob\nsimulation: {function: rosenbrock, dimension: 3}\n' "$1"
    printf 'search: {method: random, trials: %s, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]},\n' "$2"
    printf '    x3: {range: [-5, 5]}}}\nstore: {rows: blocks}\n%s\n' "${3:-}"
}
campaign=k
killed() # SPEC ROOT [option]...: a run that ends in its 60th sync, when some twenty batches are blocks
{
    spec=$1 into=$2
    shift 2
    until_true in_blocks "$@"
}
in_blocks()
{
    rm -rf "${into:?}/$campaign"
    HOPSCOTCH_FAULT=fsync:60:KILL "$HOPSCOTCH_FAULTS_PROGRAM" run "$spec" --results "$into" --batch 300 \
        --name "$campaign" --progress none "$@" >>log 2>&1
    [ "$(find "$into/$campaign/shards" -name 'rows_*.h5' | wc -l)" -gt 3 ]
}
digest() { "$HOPSCOTCH" digest k --results "$1" 2>>log | cut -d' ' -f1; }

damages="foreign flipped cut missing batch"
[ "${QUICK:-0}" != 1 ] || damages="foreign flipped missing"
for rows in all some; do
    [ "$rows${QUICK:-}" != some1 ] || damages=flipped
    rm -rf whole mine other
    spec k 20000 >k.yaml
    [ $rows = all ] || spec k 20000 'record: {rows: {best: 700, every: 50, failures: 3}}' >k.yaml
    works run k.yaml --results whole --progress none
    good=$(digest whole)
    killed k.yaml mine && killed k.yaml other --seed 6
    check $? "$rows: killed"
    for damage in $damages; do
        rm -rf root
        cp -r mine root
        block=root/k/shards/rows_000002.h5
        [ -f "$block" ] || block=$(find root/k/shards -name 'rows_*.h5' | sort | head -n 1)
        case $damage in
        foreign)
            theirs=other/k/shards/$(basename "$block")
            [ -f "$theirs" ] || theirs=$(find other/k/shards -name 'rows_*.h5' | sort | head -n 1)
            cp "$theirs" "$block"
            ;;
        flipped) # in the fitness: a command compares the columns that it reads
            printf '\377\377' |
                dd of="$block" bs=1 seek=$(($(block_offset k "$block" 6 --results root) + 60)) conv=notrunc 2>>log
            ;;
        cut) truncate -s 4000 "$block" ;;
        missing) rm "$block" ;;
        batch) cp "$(find root/k/shards -name 'rows_*.h5' | sort | tail -n 1)" "$block" ;;
        esac
        taken=
        for command in "digest k" "query k --limit 0" "export k --csv out.csv" "report k" "plot k" \
            "query k --json" "query k --sql SELECT(sum(fitness))FROM(trials)" "compare k k"; do
            # shellcheck disable=SC2086
            "$HOPSCOTCH" $command --results root >said 2>&1
            [ $? -eq 3 ] && grep -q 'block root/k/shards/.*: .*resume k.*computes its trials again' said ||
                taken="$taken ${command% k*}: $(tail -n 1 said | cut -c 1-80);"
        done
        [ -z "$taken" ]
        check $? "$rows, $damage: no command takes it${taken:+, but$taken}"
        run status k --results root && grep -q '^best *[0-9].*(trial' out && run tag k good --results root &&
            works note k hello --results root && run list --results root &&
            works tag k --results root && grep -q good out
        check $? "$rows, $damage: status, tags and notes"
        "$HOPSCOTCH" doctor k --results root >said 2>&1
        [ $? -eq 3 ] && grep -q 'FINDING *blocks' said
        check $? "$rows, $damage: doctor finds it"
        cp -r root repaired
        run doctor k --repair --results repaired && run doctor k --results repaired &&
            run resume k --results repaired --progress none && [ "$(digest repaired)" = "$good" ]
        check $? "$rows, $damage: doctor --repair"
        rm -rf repaired
        run resume k --results root --progress none && grep -q 'simulated again' err &&
            [ "$(digest root)" = "$good" ] && run doctor k --results root
        check $? "$rows, $damage: resume ends with the digest of the undisturbed run"
    done
done

# A repair that was killed between its steps leaves what the next one finds.
rm -rf root
spec k 20000 >k.yaml
killed k.yaml root
rm -rf whole
works run k.yaml --results whole --progress none
good=$(digest whole)
rm "$(find root/k/shards -name 'rows_*.h5' | sort | sed -n 2p)"
cp -r root kept
left=0
for at in 3 8 14; do
    rm -rf root
    cp -r kept root
    HOPSCOTCH_FAULT=fsync:$at:KILL "$HOPSCOTCH_FAULTS_PROGRAM" doctor k --repair --results root >>log 2>&1
    run resume k --results root --progress none && [ "$(digest root)" = "$good" ] && run doctor k --results root ||
        left=$((left + 1))
done
[ $left -eq 0 ]
check $? "a repair that is killed loses nothing"

# A search that learns.
printf 'version: 1\nexperiment: k\nmodel: bbob\nsimulation: {function: rosenbrock, dimension: 3}\n' >k.yaml
echo 'store: {rows: blocks}' >>k.yaml
printf 'search: {method: cmaes, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}}\nlimits: {trials: 2000}\n' >>k.yaml
rm -rf whole root
works run k.yaml --results whole --progress none
killed k.yaml root && rm "$(find root/k/shards -name 'rows_*.h5' | sort | sed -n 2p)"
check $? "cmaes: killed, and a block is lost"
works resume k --results root --progress none && [ "$(digest root)" = "$(digest whole)" ]
check $? "cmaes: resume simulates it again"

# So do rows that are gone.
rm -rf root
works run k.yaml --results root --progress none --set store.rows=table
"$SQL" root/k/campaign.db 'DELETE FROM trials WHERE id = 7'
run resume k --results root --progress none &&
    grep -q 'k: 1 row of trials missing; the trials are simulated again' err &&
    [ "$(digest root)" = "$(digest whole)" ]
check $? "a row that is gone"

# Campaigns that were killed are merged.
spec m 20000 >k.yaml
campaign=a && killed k.yaml results && campaign=b && killed k.yaml results && run merge a b --into c &&
    run resume c --progress none && run run k.yaml --name d --progress none &&
    [ "$("$HOPSCOTCH" digest c | cut -d' ' -f1)" = "$("$HOPSCOTCH" digest d | cut -d' ' -f1)" ]
check $? "merge of campaigns that were killed"
exit "$status"
