#!/bin/sh
# Names and places: a run that can't begin in a results root of one letter ends; a campaign is not called as the parts
# of another; rm and gc keep to the results root; an empty database is called empty; after a kill the list of
# campaigns is behind, which is no damage; without threads no program is recommended.
. "$(dirname "$0")/../scratch.sh"

cat >p.yaml <<'END'
version: 1
experiment: p
model: command
simulation: {program: [sh, -c, "echo no licence >&2; exit 3"]}
parameters: {m: {range: [0, 100]}}
metrics: [y]
objective: {minimize: y}
search: {method: grid, over: {m: [0, 1]}}
END
for root in rr r r/s ./t; do
    timeout -k 2 20 "$HOPSCOTCH" run p.yaml --results $root --allow-programs --progress none >out 2>err
    ended=$?
    [ $ended -eq 1 ] || [ $ended -eq 3 ] && [ ! -e "$root" ] && grep -q "no licence" err
    check $? "a run that can't begin in $root ends ($ended), and leaves nothing"
done

printf 'version: 1\nexperiment: a\nmodel: bbob\nsearch: {over: {x1: [1, 2, 3, 4]}}\n' >a.yaml
works run a.yaml --part 1/2 --progress none
refused run a.yaml --name a.parts --progress none
has "the parts of a campaign lie under such a name; choose another" err
refused rm a.parts --yes
works run a.yaml --part 2/2 --progress none
works gather a

mkdir x
works run a.yaml --results x/y --name k --progress none
for path in x/y/k ./x/y/k results/../x/y/k "$work/x/y/k"; do
    refused rm "$path" --yes
    has "lies outside of the results root results: name its root with --results" err
    refused gc "$path" --yes
done
(cd x && mkdir results && "$HOPSCOTCH" rm ../x/y/k --yes) >out 2>err
expect $? 1 "rm from another folder"
works best x/y/k
works rm results/a --yes
works rm x/y/k --yes --results x
works run a.yaml --progress none

cp -r results/a results/b && : >results/b/campaign.db
for command in "status b" "best b" "resume b" "digest b" "tag b c" "doctor b" "doctor b --repair" \
    "export b --csv o.csv"; do
    # shellcheck disable=SC2086
    run $command
    [ $? -ne 0 ] && cat out err | grep -q "is empty: its run was killed.* or it is a copy without campaign.db-wal"
    check $? "$command: an empty database"
done
works rm b --yes

cat >slow.yaml <<'END'
version: 1
experiment: slow
model: hopper
simulation: {duration: 2, settle: 0.5}
search: {method: random, trials: 100000, over: {k_fp: {range: [50, 250]}, thrust: {range: [25, 35]}}}
END
for look in none status; do
    "$HOPSCOTCH" run slow.yaml --batch 16 --threads 1 --progress none >out 2>err &
    pid=$! waited=0
    until [ "$("$SQL" results/slow/campaign.db "SELECT count(*) FROM batches" 2>>log)" -ge 5 ] 2>>log ||
        [ $waited -ge 300 ]; do
        sleep 0.1
        waited=$((waited + 1))
    done
    kill -9 $pid
    wait $pid 2>>log
    pid=
    [ $look = none ] || works status
    run doctor slow
    expect $? 0 "doctor after a kill"
    has "the next list renews it"
    works resume slow --set limits.trials=200 --progress none
    works doctor slow
    works rm slow --yes
done

if [ "$(id -u)" -eq 0 ] && setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null; then
    mkdir open && chmod 777 open && chmod 755 "$work" && cp "$HOPSCOTCH" open/hop && cp a.yaml open
    chmod 755 open/hop
    for words in "" "--backend cpu" "--allow-programs"; do
        (cd open && setpriv --reuid 65534 --regid 65534 --clear-groups \
            sh -c "ulimit -u 1 2>/dev/null || ulimit -p 1; exec ./hop run a.yaml --progress none $words") >out 2>err
        ended=$?
        { [ $ended -ne 0 ] && grep -q thread err && ! grep -q 'allow-programs' err; } || grep -q '^state *done' out
        check $? "without threads: $(head -n 1 err | cut -c 1-80)"
    done
else
    skip "without threads" "root and setpriv" "run it as root; apt-get install util-linux"
fi
exit "$status"
