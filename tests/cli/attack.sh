#!/bin/sh
# Hostile folders: every file of a campaign, of its shards and of the root is replaced by a link, a pipe, a socket, a
# device, a folder, another program's database, a journal, a huge file; and files are exchanged for links, again and
# again, while a command works. Every command runs on each of them, as root and as an ordinary user. Nothing outside the
# root may be opened, read, written, created or deleted (checked by inotify); nothing may hang or crash; every refusal
# has a message.
#
# ATTACK_EVERY=1 (`make hostile`): all of them, and 20 rounds of each race; else every N-th pair of a file and a
# command. ATTACK_PART=K/N: the K-th of N parts.
. "$(dirname "$0")/../scratch.sh"
every=${ATTACK_EVERY:-23} rounds=20 part=${ATTACK_PART:-1/1}
[ "$every" -eq 1 ] || rounds=1
[ "${QUICK:-0}" != 1 ] || every=$((every * 10))
limit=30
case $HOPSCOTCH in *asan* | *tsan*) limit=120 ;; esac
export ASAN_OPTIONS="${ASAN_OPTIONS:-abort_on_error=0}"

# Root can run a command as another user.
user=
if [ "$(id -u)" -eq 0 ] && setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null; then
    user="setpriv --reuid 65534 --regid 65534 --clear-groups"
    chmod 755 "$work"
    $user test -x "$HOPSCOTCH" || { cp "$HOPSCOTCH" hopscotch && HOPSCOTCH=$work/hopscotch; }
fi

# ---- the attacked files ---------------------------------------------------------------------------------------------

cat >spec.yaml <<'END'
version: 1
experiment: a
model: bbob
search: {method: grid, over: {x1: {linspace: [-5, 5, 4]}, x2: {linspace: [-5, 5, 4]}}}
record: {trajectories: {select: {best: 2}}}
END
sed 's/model: bbob/model: hopper/; s/over: .*/over: {k_fp: [100, 150], thrust: [30, 35]}}/' spec.yaml >hopper.yaml
sed -i 's/^search/simulation: {duration: 0.1, settle: 0.05}\nobjective: {minimize: velocity_error}\nsearch/' hopper.yaml
awk 'BEGIN { for (i = 0.3; i < 6; i += 0.5) for (j = 0.3; j < 6; j += 0.5) {
    w = 0.05 * sin(7 * i + 11 * j)
    printf "%.4f,%.4f,%.4f\n%.4f,%.4f,%.4f\n%.4f,%.4f,%.4f\n", i, j, w, i, w, j, w, i, j } }' >walls.csv
cat >scan.yaml <<'END'
version: 1
experiment: n
model: ndt
simulation: {target: walls.csv, source: {file: walls.csv}, source_voxel: 1, maps: [2, 3], max_iterations: 5}
search: {method: grid, over: {resolution: [2, 3]}}
END
works run hopper.yaml --progress none --threads 1
works run hopper.yaml --name c --progress none --threads 1
works verify c --seeds 2 --threads 1 --progress none
works run scan.yaml --progress none --threads 1
made=$(basename results/c/verify/trial_*)
kept=$(basename "$(find results/n/files -type f | head -n 1)")
cp -a results pristine
rm -rf results

# What no command may touch: files, a folder of shards, another program's database, another copy of the results.
mkdir -p outside/folder
echo "a secret" >outside/file
echo "a secret" >outside/folder/000000.h5
echo "a secret" >outside/folder/left.tmp
echo "a secret" >"outside/folder/$kept"
cp pristine/c/campaign.db outside/database
cp -a pristine outside/twin
echo "a secret" >outside/twin/a/shards/left.tmp
[ -z "$user" ] || { chmod 777 "$work" && chown -R 65534:65534 outside; }
cp -a outside sealed_copy
seal() { find outside | sort | cksum && find outside -type f -exec cksum {} + | sort; }
seal >sealed

# The journal of a transaction that spans two databases names a super-journal: SQLite deletes the file of that name.
journal()
{
    victim=$work/outside/file
    printf '\331\325\005\371\040\241\143\327' >"$1"                            # the magic number
    printf '\000\000\000\000\000\000\000\000\000\000\000\000' >>"$1"           # no records, no nonce, no pages
    printf '\000\000\002\000\000\000\020\000' >>"$1"                           # sector 512, page 4096
    dd if=/dev/zero bs=1 count=484 2>/dev/null >>"$1"
    printf '\000\000\000\000' >>"$1"                                           # page number of the lock byte's page
    printf '%s' "$victim" >>"$1"
    sum=0
    for byte in $(printf '%s' "$victim" | od -An -v -tu1); do sum=$((sum + byte)); done
    for word in ${#victim} "$sum"; do
        printf "\\$(printf '%03o' $((word >> 24 & 255)))\\$(printf '%03o' $((word >> 16 & 255)))" >>"$1"
        printf "\\$(printf '%03o' $((word >> 8 & 255)))\\$(printf '%03o' $((word & 255)))" >>"$1"
    done
    printf '\331\325\005\371\040\241\143\327' >>"$1"
}

# replace HOW FILE: replaces the file in the results; false if that can't be done here
replace()
{
    rm -rf "results/$2"
    case $1 in
    link) ln -s "$work/outside/file" "results/$2" ;;
    link_to_database) ln -s "$work/outside/database" "results/$2" ;;
    link_to_folder) ln -s "$work/outside/folder" "results/$2" ;;
    link_to_twin) ln -s "$work/outside/twin/$2" "results/$2" ;;
    link_to_nothing) ln -s "$work/outside/new" "results/$2" ;;
    link_to_itself) ln -s "${2##*/}" "results/$2" ;;
    pipe) mkfifo "results/$2" ;;
    socket) "$ATTACKER" socket "results/$2" ;;
    device) mknod "results/$2" c 1 5 2>/dev/null ;; # /dev/zero
    folder) mkdir -p "results/$2/folder" ;;
    database) cp sealed_copy/database "results/$2" ;;
    journal) journal "results/$2" ;;
    huge) : >"results/$2" && truncate -s 1T "results/$2" 2>/dev/null ;;
    empty) : >"results/$2" ;;
    esac
}

ways="link link_to_database link_to_folder link_to_twin link_to_nothing link_to_itself pipe socket device folder
    database journal huge empty"

# Three groups of files and commands: an ordinary campaign and the root; a campaign made from another; kept files.
files_1="a a/campaign.db a/campaign.db-wal a/campaign.db-shm a/campaign.db-journal a/campaign.lock a/shards
    a/shards/000000.h5 a/shards/left.tmp a/files a/quarantine a/spec.yaml a/spec.yaml.tmp a/resolved.yaml a/log.jsonl
    a/report.html a/stop index.db index.db-wal index.db-shm index.db-journal index.lock .merging-m .removed-a"
commands_1="list|status a|best a|query a --limit 1|show a/0|digest a|doctor a|doctor a --repair
replay a/0 --threads 1|report a|plot a --kind scatter -o plot.svg|export a --csv -|export a --hdf5 out.h5|tag a kept
note a words|gc|gc --yes|run hopper.yaml --name a --progress none --threads 1
resume a --progress none|verify a --seeds 2 --threads 1 --progress none
compare a c --seeds 2 --threads 1 --progress none|merge a c --into m|rm a --yes|list|stop a|sensitivity a
gather a --progress none"
files_2="c/verify c/verify/$made c/verify/$made/campaign.db c/verify/$made/shards c/verify/index.db"
commands_2="list --all|gc --yes|doctor c/verify/$made --repair|show c/verify/$made/0|resume c/verify/$made
rm c/verify/$made --yes|rm c --yes|verify c --seeds 3 --threads 1 --progress none"
files_3="n/files n/files/$kept"
commands_3="doctor n|doctor n --repair|replay n/0 --threads 1|report n|resume n --progress none|rm n --yes
run scan.yaml --name n --progress none --threads 1|verify n --seeds 2 --threads 1 --progress none|gc --yes
run scan.yaml --name n --extend --set search.over.resolution=[3,2] --progress none --threads 1"
races_1="a a/shards a/campaign.db index.db" races_2="c c/verify c/verify/$made" races_3="n n/files"

# ---- attacks --------------------------------------------------------------------------------------------------------

watched=yes
"$ATTACKER" watch events outside true 2>err
if [ $? -eq 125 ]; then
    skip "files that are only read outside" "inotify" "a kernel that has it"
    watched=
fi
raceable=$watched
mkdir -p results/folder && ln -s folder results/link
"$ATTACKER" race results/folder results/link events outside true 2>err
if [ $? -eq 125 ] && [ -n "$watched" ]; then
    skip "races" "a file system that exchanges two names" "TMPDIR on ext4, xfs or tmpfs"
    raceable=
fi

fresh()
{
    rm -rf results aside page.html plot.svg out.h5 events
    cp -a pristine results
}

# judged WHAT STATUS: judges a command by its status, out, err and events
judged()
{
    bad=
    attacks=$((attacks + 1))
    [ "$2" -le 3 ] || bad="ended with $2"
    [ "$2" -eq 0 ] || [ -s err ] || bad="ended with $2 without a message"
    [ ! -s events ] || bad="$bad; it touched files outside: $(sort -u events | head -n 3 | tr '\n' ' ')"
    if [ -z "$watched" ] && seal >now && ! cmp -s sealed now; then
        bad="$bad; it changed files outside: $(diff sealed now | head -n 3 | tr '\n' ' ')"
    fi
    ! grep -qE 'Sanitizer|runtime error' err || bad="$bad; sanitizer"
    [ -n "$bad" ] || return 0
    failures=$((failures + 1))
    [ "$failures" -gt 20 ] || { echo "FAIL $suite: $1: $bad" && tail -n 3 err | cut -c 1-300; }
    rm -rf outside && cp -a sealed_copy outside
}

# with MODE...: runs $command, watched; alternately as root and as another user
with()
{
    as=
    [ -z "$user" ] || [ $((attacks % 2)) -eq 0 ] || as=$user
    [ -z "$as" ] || chown -hR 65534:65534 results
    [ -z "$as" ] && [ "$(id -u)" -eq 0 ] || others=$((others + 1))
    [ -z "$watched" ] || set -- "$ATTACKER" "$@" events outside
    # shellcheck disable=SC2086
    "$@" timeout -k 2 "$limit" $as "$HOPSCOTCH" $command >out 2>err </dev/null
}

# attack HOW FILE: runs $command after the file was replaced
attack()
{
    fresh
    [ ! -L "results/$2" ] && replace "$1" "$2" || return 0
    with ${watched:+watch}
    judged "$2 as $1: $command" $?
}

# race FILE: the file and a link to its twin outside exchange their names while $command runs
race()
{
    round=0
    while [ "$round" -lt "$rounds" ]; do
        fresh
        ln -s "$work/outside/twin/$1" aside
        with race "results/$1" aside
        judged "$1 in a race: $command" $?
        round=$((round + 1)) races=$((races + 1)) exchanges=$((exchanges + $(cat events.swaps 2>/dev/null || echo 0)))
    done
}

# mine: true if the next pair of a file and a command belongs to this run
mine()
{
    number=$((number + 1))
    [ $((number % every)) -eq 0 ] && [ $((number / every % ${part#*/} + 1)) -eq "${part%/*}" ]
}

attacks=0 failures=0 number=0 others=0 races=0 exchanges=0
for group in 1 2 3; do
    eval "files=\$files_$group raced=\$races_$group; printf '%s\n' \"\$commands_$group\" | tr '|' '\n' >commands"
    # shellcheck disable=SC2154
    for file in $files; do
        for way in $ways; do
            while IFS= read -r command <&3; do ! mine || attack "$way" "$file"; done 3<commands
        done
    done
    for file in $raced; do
        while IFS= read -r command <&3; do [ -z "$raceable" ] || ! mine || race "$file"; done 3<commands
    done
done
seal >now
cmp -s sealed now || failures=$((failures + 1))
[ "$failures" -eq 0 ]
check $? "$attacks attacks (1 in $every of $number pairs, part $part), $others of them by an ordinary user; $races in \
races with $exchanges exchanges of names"
exit "$status"
