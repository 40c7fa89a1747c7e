#!/bin/sh
# Managing campaigns: list, tag, note, rm, gc. A running campaign is not touched. gc repairs what a kill at any point of
# rm leaves.
. "$(dirname "$0")/../scratch.sh"
catalogue() { "$SQL" results/index.db "SELECT name FROM campaigns ORDER BY name" | tr '\n' ' ' | sed 's/ $//'; }

cat >grid.yaml <<'END'
version: 1
experiment: grid
seed: 7
model: bbob
simulation: {function: sphere, dimension: 2}
search: {method: grid, over: {x1: {linspace: [-1, 1, 5]}, x2: [0, 1]}}
END
for name in first second third; do "$HOPSCOTCH" run grid.yaml --name $name --progress none >out 2>err; done
check $? "three campaigns"

# ---- tags, notes, list ----------------------------------------------------------------------------------------------

works tag first paper figure-3
works tag first paper
works tag first
[ "$(tr '\n' ' ' <out)" = "figure-3 paper " ]
check $? "a tag is stored once"
works tag second paper
works tag first figure-3 --remove
works list --tag paper --format csv
[ "$(cut -d , -f 1,2,3,10 out | tr '\n' ' ')" = "campaign,state,trials,tags first,done,10,paper second,done,10,paper " ]
check $? "list finds campaigns by tag"
works list --tag figure-3
has "no campaign"
works list --sort date
works list --sort best --state done
works list --sort size --json
refused tag first 'two words'
has 'tag "two words"' err
code=2 refused tag first --remove
has "needs the tags to remove" err
works note first "it works: $(printf 'caf\303\251')"
works note first
has "it works: $(printf 'caf\303\251')"
works status first
has "tags        paper"
has "note        it works"
refused note first "$(printf 'turns \033[31mred')"
has "byte 7 of the note is not text" err
refused note first ""
has "a note has 1 to 4096 bytes" err
works doctor first

# ---- rm -------------------------------------------------------------------------------------------------------------

code=2 refused rm third
has "needs --yes where the input is not a terminal" err
works rm third --yes
[ ! -e results/third ]
check $? "rm removes the folder"
works list
lacks third
ln -s "$work/kept" results/link && mkdir kept && echo precious >kept/file && cp results/second/campaign.db kept
refused best link
has "results/link is a link, and none is followed below a results root" err
refused status results/link
has "results/link is a link, and none is followed below a results root" err
code=3 refused run grid.yaml --name link --progress none
has "results/link is a link, not a folder" err
code=2 refused rm link
has "rm of link, which is a link, needs --yes; its target is kept" err
works rm link --yes
has "removed the link link"
[ "$(ls kept | tr '\n' ' ')" = "campaign.db file " ] && [ ! -L results/link ]
check $? "rm of a link removes the link only"
ln -s results linked_root
works best second --results linked_root
ln -s kept second
works best second
works tag second through-a-link --results linked_root
if script -qec true /dev/null >/dev/null 2>&1; then
    echo n | script -qec "$HOPSCOTCH rm second" /dev/null >out 2>err
    has "remove second: 10 trials"
    [ -e results/second ]
    check $? "without an answer yes the campaign stays"
    echo y | script -qec "$HOPSCOTCH rm second" /dev/null >out 2>err
    [ ! -e results/second ]
    check $? "with an answer yes the campaign is removed"
fi

# ---- a campaign made from another is being run ----------------------------------------------------------------------

works run grid.yaml --name host --progress none
"$HOPSCOTCH" run grid.yaml --results results/host/verify --name busy --set 'simulation.dimension=40' \
    --set 'search.over.x1={linspace: [-1, 1, 40000000]}' \
    --batch 1000 --threads 1 --progress none >/dev/null 2>&1 &
pid=$!
until_true committed host/verify/busy
refused rm host --yes
has "works in host/verify/busy, which was made from it: remove host when that has ended" err
kill -9 $pid
wait $pid 2>/dev/null
pid=
works rm host --yes

# ---- a campaign that is being run -----------------------------------------------------------------------------------

"$HOPSCOTCH" run grid.yaml --name busy --set 'simulation.dimension=40' \
    --set 'search.over.x1={linspace: [-1, 1, 40000000]}' \
    --batch 1000 --threads 1 --progress none >/dev/null 2>&1 &
pid=$!
until_true committed busy
works status busy
has "running (pid $pid"
has "left"
has "last commit"
refused_busy() { code=3 refused "$@"; has "is being run by pid $pid" err; }
refused_busy rm busy --yes
refused_busy tag busy no
works gc
has "skipped" err
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
pid=
works rm busy --yes

# ---- interference by another process --------------------------------------------------------------------------------

said() # CODE TEXT: the paused command ended with CODE and printed TEXT
{
    [ "$ended" -eq "$1" ] && grep -qF -- "$2" paused.err
    check $? "the command ended with $ended: $2"
}

if [ -x "$HOPSCOTCH_FAULTS_PROGRAM" ]; then
    rm -rf results && works run grid.yaml --name gait --progress none
    pauses lock:1 tag gait late
    works rm gait --yes
    goes_on
    said 3 "campaign gait is gone: another process removed or renamed it"
    works run grid.yaml --name gait --progress none
    pauses lock:1 resume gait
    mv results/gait results/walk
    goes_on
    said 3 "campaign gait is gone: another process removed or renamed it"
    [ ! -e results/gait ]
    check $? "no folder is left under the name"
    pauses truncate:1 tag walk late
    mv results/walk/campaign.db kept.db
    goes_on
    said 3 "is gone: another process removed it"
    mv kept.db results/walk/campaign.db
    cp -r results/walk kept.walk
    pauses sql:1 best walk
    mv kept.walk/campaign.db results/walk/campaign.db
    goes_on
    said 3 "was replaced or moved by another process just now"

    # A run with another limit commits its spec before it writes the files beside the database.
    works run grid.yaml --name part --set limits.trials=4 --progress none
    pauses fsync:1 run grid.yaml --name part --progress none
    works doctor part
    has "resolved.yaml is not yet the text"
    goes_on
    said 0 ""
    works doctor part

    # A run that is killed when only its lock exists blocks no name.
    for command in "merge walk gait --into trot" "gc --yes"; do
        rm -rf results/trot && "$HOPSCOTCH" run grid.yaml --name walk --progress none >out 2>&1
        "$HOPSCOTCH" run grid.yaml --name gait --progress none >out 2>&1
        pauses truncate:1 run grid.yaml --name trot
        case $command in gc*) ;; *)
            # shellcheck disable=SC2086
            code=3 refused $command
            has "campaign trot is being run by" err
            ;;
        esac
        kill -9 "$pid"
        wait "$pid" 2>/dev/null
        pid=
        [ "$(ls -A results/trot)" = campaign.lock ]
        check $? "the killed run left only its lock"
        # shellcheck disable=SC2086
        works $command
    done
    [ ! -e results/trot ]
    check $? "gc removes a folder with only a lock"
    mkdir results/empty results/strange
    mkfifo results/strange/campaign.lock
    works gc --yes
    [ -p results/strange/campaign.lock ]
    check $? "gc leaves a lock of another program"
    [ -d results/empty ]
    check $? "gc leaves an empty folder, which may be the user's"
    works merge walk gait --into empty
fi

# ---- kills ----------------------------------------------------------------------------------------------------------

# Kills the command at every STEP-th call, until it completes: each time the campaign is whole or gone.
kills() # COMMAND OPERATION STEP
{
    n=1 bad=0 killed=0
    while [ $n -lt 2000 ]; do
        rm -rf results && "$HOPSCOTCH" run grid.yaml --name gait --progress none >out 2>err
        HOPSCOTCH_FAULT=$2:$n:KILL "$HOPSCOTCH_FAULTS_PROGRAM" $1 >out 2>err && break
        if [ -e results/gait ]; then
            "$HOPSCOTCH" run grid.yaml --name gait --progress none >out 2>&1 || bad=1
            "$HOPSCOTCH" doctor gait >out 2>&1 || bad=1
        fi
        "$HOPSCOTCH" gc --yes >out 2>&1 || bad=1
        [ -z "$(ls -A results 2>/dev/null | grep '^\.removed')" ] || bad=1
        n=$((n + $3)) killed=$((killed + 1))
    done
    [ $bad -eq 0 ] && [ $killed -gt 0 ] && [ $n -lt 2000 ]
    check $? "$1, killed at $killed calls of $2"
}
if [ -x "$HOPSCOTCH_FAULTS_PROGRAM" ]; then
    kills "rm gait --yes" rename 1
    kills "rm gait --yes" rmdir 1
    if [ -z "${QUICK:-}" ]; then
        kills "rm gait --yes" unlink 1
        kills "rm gait --yes" sql 3
    fi
fi

# ---- gc -------------------------------------------------------------------------------------------------------------

rm -rf results && "$HOPSCOTCH" run grid.yaml --progress none >out 2>err
works gc
has "nothing to free"
mkdir -p results/.removed-old/shards results/grid/quarantine results/grid/shards
head -c 100000 /dev/zero >results/.removed-old/shards/000000.h5
head -c 100000 /dev/zero >results/grid/quarantine/000000.h5
echo half >results/grid/shards/000001.h5.tmp
"$SQL" results/grid/campaign.db "CREATE TABLE filler(text TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL
    SELECT i + 1 FROM n WHERE i < 300) INSERT INTO filler SELECT hex(zeroblob(2000)) FROM n; DROP TABLE filler"
works gc
has "left by an rm that crashed"
has "damaged files that recovery set aside"
has "an unfinished file"
has "empty pages"
has "would be freed by gc --yes"
[ -e results/grid/quarantine/000000.h5 ]
check $? "gc without --yes removes nothing"
works gc --yes
has "freed"
[ ! -e results/grid/quarantine ] && [ ! -e results/.removed-old ] && [ ! -e results/grid/shards/000001.h5.tmp ]
check $? "gc --yes removes all leftovers"
works doctor grid
works gc grid
has "nothing to free"

# After an extension other trials are the best, and nothing needs the shard of the first best. A shard stays if it holds
# a wanted array, or if a process was killed that wrote it.
cat >gait.yaml <<'END'
version: 1
experiment: gait
model: hopper
simulation: {duration: 0.05, dt: 1.0e-3, settle: 0}
objective: {minimize: attitude_rms}
search: {method: grid, over: {k_fp: [100, 150, 200]}}
record: {trajectories: {select: {best: 1}, sample: 0.01}}
END
"$HOPSCOTCH" run gait.yaml --progress none >out 2>err &&
    "$HOPSCOTCH" run gait.yaml --extend --set 'search.over.k_fp=[20, 50, 100, 150, 200]' --progress none >out 2>err
works digest gait
cp out before
works gc gait
has "results/gait/shards/000000.h5: arrays that its spec no longer asks for"
lacks "000001.h5"
[ -e results/gait/shards/000000.h5 ]
check $? "gc without --yes keeps the shard"
if [ -x "$HOPSCOTCH_FAULTS_PROGRAM" ]; then
    pauses unlink:1 gc gait --yes
    code=3 refused run gait.yaml --extend --set 'search.over.k_fp=[20, 50, 100, 150, 200, 300]'
    has "is being run by" err # otherwise its new shard would get the name of the one that gc removes
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    pid=
    works resume gait # the campaign is complete; recovery handles the shard that no row names
    works doctor gait --repair --backend cpu
fi
works gc gait --yes
[ "$(ls results/gait/shards)" = 000001.h5 ]
check $? "gc --yes removes the shard"
works digest gait
cmp -s out before
check $? "gc does not change the digest"
works doctor gait
exit $status
