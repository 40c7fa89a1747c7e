#!/bin/sh
# Every command on a disk that is full, and on one that becomes full meanwhile: a small tmpfs, mounted here. Commands
# that read or free space work. Commands that write work, or give one error and change nothing. A read-only folder can
# be read.
#
#   SEED=N                     other amounts of free space
#   QUICK=1                    fewer of them
. "$(dirname "$0")/../scratch.sh"
if [ "$(id -u)" -ne 0 ]; then
    skip "all of it" "the right to mount a disk" "run it as root"
    exit 0
fi
mkdir disk
if ! mount -t tmpfs -o size=8m none disk 2>err; then
    skip "all of it" "a tmpfs that can be mounted" "a container with CAP_SYS_ADMIN"
    exit 0
fi
umount disk
trap 'cd /; umount "$work/disk" 2>/dev/null; rm -rf "$work"' EXIT

make_gait
works run gait.yaml --backend cpu --progress none
works run gait.yaml --name second --backend cpu --progress none
whole=$(digest gait) second=$(digest second)
rm -f results/*/*-shm results/*/*-wal
cp -r results whole

# fill KIB STATE: mounts a disk with the campaigns of STATE and KIB KiB of free space
fill()
{
    ! mountpoint -q disk || umount disk
    mount -t tmpfs -o size=8m none disk && cp -r "$2" disk/results && cp gait.yaml points.csv disk/ || exit 3
    dd if=/dev/zero of=disk/free bs=1024 count="$1" 2>/dev/null
    dd if=/dev/zero of=disk/ballast bs=4096 2>/dev/null
    rm disk/free
}
# on_disk COMMAND: runs it there. Its output goes to `out` and `err` on another disk, its exit status to $code.
on_disk()
{
    (cd disk && eval "exec \"\$HOPSCOTCH\" $1") >out 2>err </dev/null
    code=$?
}
# Names of all files there, without SQLite's files beside a database and without leftovers of a merge that gc removes
names() { (cd disk/results && find . ! -name '*-shm' ! -name '*-wal' ! -path './.merging-*' | sort); }
on_disk_digest() { "$HOPSCOTCH" digest "$1" --results disk/results 2>/dev/null | cut -d ' ' -f 1; }
sound() { [ "$(on_disk_digest gait)$(on_disk_digest second)" = "$whole$second" ]; }

# ---- commands that read or free space -------------------------------------------------------------------------------
reading='list
list --json
status
status gait
best gait
query gait --limit 2
query gait --sql "SELECT count(*) FROM trials"
show gait/best
report gait -o -
export gait --csv -
replay gait/best --backend cpu
digest gait
doctor gait
gc
check gait.yaml
models hopper
schema
help spec
version'
bad=
while read -r command; do
    fill 0 whole
    on_disk "$command"
    { [ "$code" -eq 0 ] && ! grep -q 'hopscotch:\|warning' err; } || bad="$bad; $command: $code $(tail -n 1 err)"
    sound || bad="$bad; $command changed what is stored"
done <<END
$reading
END
[ -z "$bad" ]
check $? "commands that read work on a full disk${bad:+: $bad}"

fill 0 whole
on_disk "best gait"
cp out first
bad=0
for number in $(seq 24); do (cd disk && "$HOPSCOTCH" best gait >"../best.$number" 2>"../best.$number.err") & done
wait
for number in $(seq 24); do cmp -s "best.$number" first || bad=$((bad + 1)); done
[ $bad -eq 0 ]
check $? "several commands read at once: $bad of 24 failed"

fill 0 whole
on_disk "rm gait --yes"
[ "$code" -eq 0 ] && [ ! -s err ] && [ ! -e disk/results/gait ] && [ "$(on_disk_digest second)" = "$second" ] &&
    ! "$HOPSCOTCH" list --results disk/results | grep -q '^gait'
check $? "rm works on a full disk"
fill 0 whole
mkdir disk/results/.removed-old disk/results/gait/quarantine
mv disk/ballast disk/results/.removed-old/ballast
on_disk "gc --yes"
[ "$code" -eq 0 ] && [ ! -s err ] && [ ! -e disk/results/.removed-old ] && sound
check $? "gc works on a full disk"

# ---- commands that write --------------------------------------------------------------------------------------------
writing='run gait.yaml --name other --backend cpu --progress none
run gait.yaml --set search.over.k_fp=[1] --name third --results new/root --backend cpu --progress none
resume gait --extend --set search.over.k_fp=[100,150,200,250] --backend cpu --progress none
verify gait --seeds 2 --grid 0 --backend cpu --progress none
compare gait second --backend cpu --progress none
compare gait gait --backend cpu --progress none
run gait.yaml --name points --set "search={method: list, csv: points.csv}" --progress none
merge gait second --into both
tag gait good
note gait words
report gait
plot gait --kind scatter
export gait --csv out.csv
export gait --hdf5 out.h5
export gait --npz out.npz
export gait --parquet out.parquet
doctor gait --repair'
bad=
while read -r command; do
    fill 0 whole
    before=$(names)
    on_disk "$command"
    case $command in
    doctor*) [ "$code" -eq 0 ] ;;
    *) [ "$code" -eq 3 ] && [ "$(grep -c '^hopscotch: ' err)" -eq 1 ] && grep -q 'free some space\|bytes free' err ;;
    esac || bad="$bad; $command: $code $(tail -n 1 err)"
    [ "$(names)" = "$before" ] && [ ! -e disk/new ] || bad="$bad; $command added or removed files"
    sound || bad="$bad; $command changed what is stored"
done <<END
$writing
END
[ -z "$bad" ]
check $? "commands that write give one error on a full disk and change nothing${bad:+: $bad}"

# True if the command, which exited with 0, did its work.
did()
{
    case $1 in
    tag*) "$HOPSCOTCH" tag gait --results disk/results | grep -q '^good$' ;;
    note*) "$HOPSCOTCH" note gait --results disk/results | grep -q 'words$' ;;
    merge*) [ "$(on_disk_digest both)" = "$whole" ] ;;
    run*other*) [ "$(on_disk_digest other)" = "$whole" ] ;;
    resume*) [ "$("$HOPSCOTCH" query gait --results disk/results --columns id --format csv | wc -l)" -eq 5 ] ;;
    *csv\ out.csv) [ "$(wc -l <disk/out.csv)" -eq 4 ] ;;
    esac
}

# on_the_way COMMAND: runs it with $free KiB free
on_the_way()
{
    fill "$free" whole
    before=$(names)
    on_disk "$1"
    [ "$code" -eq 0 ] || [ "$code" -eq 3 ] || [ "$code" -eq 1 ] || bad="$bad; $1 with $free KiB: $code"
    rm disk/ballast
    case "$1 $code" in
    *' 0') did "$1" || bad="$bad; $1 with $free KiB ended with 0 and did not do its work" ;;
    run*other*) # it may have begun
        (cd disk && "$HOPSCOTCH" run gait.yaml --name other --backend cpu --progress none) >out 2>err
        [ "$(on_disk_digest other)" = "$whole" ] || bad="$bad; $1 with $free KiB can't be completed: $(tail -n 1 err)"
        sound || bad="$bad; $1 with $free KiB changed what is stored"
        ;;
    resume*)
        (cd disk && eval "\"\$HOPSCOTCH\" $1") >out 2>err || bad="$bad; $1 with $free KiB can't be completed"
        ;;
    *)
        sound || bad="$bad; $1 with $free KiB changed what is stored: $(tail -n 1 err)"
        case $1 in
        verify* | compare* | run*) ;; # a campaign that has begun stays
        *) [ "$(names)" = "$before" ] || bad="$bad; $1 with $free KiB added or removed files" ;;
        esac
        ;;
    esac
    on_disk list
    [ "$code" -eq 0 ] && ! grep -q 'hopscotch:' err || bad="$bad; list after $1 with $free KiB: $(tail -n 1 err)"
}

# First with room for a small change beside the database but not for its commit; then with 4 to 300 KiB.
bad= turn=0
while read -r command; do
    [ -z "${QUICK:-}" ] || { turn=$((turn + 1)) && [ $((turn % 4)) -eq 1 ] || continue; }
    random 9 12 && free=$((4 * value)) && on_the_way "$command"
    random 1 75 && free=$((4 * value)) && on_the_way "$command"
done <<END
$writing
END
[ -z "$bad" ]
check $? "a disk that fills up while a command runs${bad:+: $bad}"
umount disk

# ---- a read-only folder ---------------------------------------------------------------------------------------------
# One campaign was left by a killed run: it has a write-ahead log and no shared memory file.
call=150
until [ -s results/killed/campaign.db-wal ] || [ "$call" -lt 50 ]; do
    rm -rf results/killed
    call=$((call - 5))
    HOPSCOTCH_FAULT=sqlwrite:$call:KILL "$HOPSCOTCH_FAULTS_PROGRAM" run gait.yaml --name killed --backend cpu \
        --progress none >out 2>err
done
[ -s results/killed/campaign.db-wal ]
check $? "a run was killed at its write $call"
rm -f results/*/*-shm results/*-shm
if command -v setpriv >/dev/null && cp "$HOPSCOTCH" program && chmod 755 program "$work" &&
    chmod -R a-w,a+rX results && setpriv --reuid=65534 --clear-groups ./program version >out 2>err; then
    bad=
    for command in list 'status killed' 'best killed' 'best gait' 'query killed' 'show killed/best' 'digest killed' \
        'report killed -o -' 'replay killed/best' 'doctor gait' gc; do
        # shellcheck disable=SC2086
        setpriv --reuid=65534 --clear-groups ./program $command >out 2>err </dev/null ||
            bad="$bad; $command: $(tail -n 1 err)"
    done
    [ -z "$bad" ]
    check $? "commands that read work in a read-only folder${bad:+: $bad}"
    [ "$(setpriv --reuid=65534 --clear-groups ./program digest killed | cut -d ' ' -f 1)" = "$(digest killed)" ]
    check $? "a read-only digest includes the write-ahead log"
else
    skip "a reader without rights" "setpriv, and a folder that other users can enter" "apt-get install util-linux"
fi
exit "$status"
