#!/bin/sh
# Folders that mean harm: every file of a campaign, of its shards and of the root replaced by a link, a pipe, a socket,
# a device, a folder, another program's database, a journal, a huge file; every command over each of them. Nothing
# outside the root is read into an answer, written, created or deleted; nothing hangs or crashes; what is refused is
# refused in words.
#
# ATTACK_EVERY=1 (`make hostile`): all of them; else each so many-th pair of a folder and a command.
. "$(dirname "$0")/../scratch.sh"
every=${ATTACK_EVERY:-23}
[ "${QUICK:-0}" != 1 ] || every=$((every * 10))
limit=30
case $HOPSCOTCH in *asan* | *tsan*) limit=120 ;; esac

cat >spec.yaml <<'END'
version: 1
experiment: a
model: bbob
search: {method: grid, over: {x1: {linspace: [-5, 5, 4]}, x2: {linspace: [-5, 5, 4]}}}
record: {trajectories: {select: {best: 2}}}
END
sed 's/model: bbob/model: hopper/; s/over: .*/over: {k_fp: [100, 150], thrust: [30, 35]}}/' spec.yaml >hopper.yaml
sed -i 's/^search/simulation: {duration: 0.1, settle: 0.05}\nsearch/' hopper.yaml
works run hopper.yaml --progress none --threads 1
works run hopper.yaml --name c --progress none --threads 1
cp -a results pristine

# What is not to be touched: files, a folder of shards, a database of somebody else's, one that is not there yet.
mkdir -p outside/folder
echo "a secret" >outside/file
echo "a secret" >outside/folder/000000.h5
echo "a secret" >outside/folder/left.tmp
cp pristine/c/campaign.db outside/database
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
    for number in ${#victim} "$sum"; do
        printf "\\$(printf '%03o' $((number >> 24 & 255)))\\$(printf '%03o' $((number >> 16 & 255)))" >>"$1"
        printf "\\$(printf '%03o' $((number >> 8 & 255)))\\$(printf '%03o' $((number & 255)))" >>"$1"
    done
    printf '\331\325\005\371\040\241\143\327' >>"$1"
}

# replace HOW PATH: false where it can't be done here
replace()
{
    rm -rf "$2"
    case $1 in
    link) ln -s "$work/outside/file" "$2" ;;
    link_to_database) ln -s "$work/outside/database" "$2" ;;
    link_to_folder) ln -s "$work/outside/folder" "$2" ;;
    link_to_nothing) ln -s "$work/outside/new" "$2" ;;
    link_to_itself) ln -s "${2##*/}" "$2" ;;
    pipe) mkfifo "$2" ;;
    device) mknod "$2" c 1 5 2>/dev/null ;; # /dev/zero
    folder) mkdir -p "$2/folder" ;;
    database) cp outside/database "$2" ;;
    journal) journal "$2" ;;
    huge) : >"$2" && truncate -s 1T "$2" 2>/dev/null ;;
    empty) : >"$2" ;;
    esac
}

files="a a/campaign.db a/campaign.db-wal a/campaign.db-shm a/campaign.db-journal a/campaign.lock a/shards
    a/shards/000000.h5 a/shards/left.tmp a/files a/quarantine a/spec.yaml a/spec.yaml.tmp a/resolved.yaml a/log.jsonl
    a/stop index.db index.db-wal index.db-shm index.db-journal index.lock .merging-m .removed-a"
ways="link link_to_database link_to_folder link_to_nothing link_to_itself pipe device folder database journal huge
    empty"
commands="list|status a|best a|query a --limit 1|show a/0|digest a|doctor a|doctor a --repair|replay a/0 --threads 1
report a -o page.html|plot a --kind scatter -o plot.svg|export a --csv -|export a --hdf5 out.h5|tag a kept|note a words
index a k_fp|mv a b|gc|gc --yes|run hopper.yaml --name a --progress none --threads 1|resume a --progress none
verify a --seeds 2 --threads 1 --progress none|compare a c --seeds 2 --threads 1 --progress none|merge a c --into m
rm a --yes|reindex|stop a|sensitivity a"

# attack HOW FILE COMMAND
attack()
{
    rm -rf results page.html plot.svg out.h5
    cp -a pristine results
    [ ! -L "results/$2" ] && replace "$1" "results/$2" || return 0
    # shellcheck disable=SC2086
    timeout -k 2 "$limit" "$HOPSCOTCH" $3 >out 2>err </dev/null
    ended=$?
    told=$ended
    [ "$ended" -eq 0 ] || [ "$ended" -ge 124 ] || [ -s err ] || told=silent
    seal >now
    attacks=$((attacks + 1))
    case $told in
    124 | 13[4-9] | silent) bad="ended with $told" ;;
    *) bad= ;;
    esac
    cmp -s sealed now || bad="$bad; it touched what lies outside: $(diff sealed now | head -n 3 | tr '\n' ' ')"
    ! grep -qE 'Sanitizer|runtime error' err || bad="$bad; sanitizer"
    if [ -n "$bad" ]; then
        failures=$((failures + 1))
        [ "$failures" -gt 20 ] || { echo "FAIL $suite: $2 as $1: $3: $bad" && tail -n 3 err | cut -c 1-300; }
        rm -rf outside && cp -a kept outside
    fi
}

cp -a outside kept
seal >sealed
attacks=0 failures=0 number=0
for file in $files; do
    for way in $ways; do
        old_ifs=$IFS
        IFS='|
'
        for command in $commands; do
            IFS=$old_ifs
            number=$((number + 1))
            [ $((number % every)) -ne 0 ] || attack "$way" "$file" "$command"
        done
        IFS=$old_ifs
    done
done
[ "$failures" -eq 0 ]
check $? "$attacks attacks"
exit "$status"
