#!/bin/sh
# Kernels made for a campaign: whatever becomes of the compiler, its process, and the cache, a run ends, says what
# happened, and has the bits of the general kernel. A library in place of NVRTC does what it is told to (tests/nvrtc.c),
# a backend in place of a GPU takes what it gives.
. "$(dirname "$0")/../scratch.sh"
with_faults || exit 0
mkdir -p nvrtc none
${CC:-cc} -shared -fPIC -o nvrtc/libnvrtc.so.13 "$root"/tests/nvrtc.c 2>err ||
    { skip "all of it" "a compiler of shared libraries" "apt-get install gcc libc6-dev"; exit 0; }
export XDG_CACHE_HOME="$PWD/cache" FAKE_NVRTC_LOG="$PWD/compiled"

run() # NAME TASK OPTION...
{
    name=$1 FAKE_NVRTC=$2
    export FAKE_NVRTC
    shift 2
    ${before:-} env LD_LIBRARY_PATH="${libraries:-$work/nvrtc}" "$HOPSCOTCH_FAULTS_PROGRAM" run \
        "$root"/experiments/smoke.yaml --name "$name" --progress none --batch 16 --threads 1 --slice 100 \
        --backend faulty --kernels "${chosen:-made}" \
        --set simulation.duration=0.02 --set simulation.settle=0.01 --set 'search.over.k_xdot=[0.02]' \
        --set 'search.over.thrust=[30]' --set 'search.over.k_fp={linspace: [50, 250, 5]}' "$@" >out 2>err
}

same() { [ "$(digest "$1")" = "$expected" ]; }
event() { grep '"event":"kernel"' "results/$1/log.jsonl" | grep -q -- "$2"; } # NAME WORDS
compiling() # true while a compiler started by this script runs
{
    for process in $(grep -l -e '--compile-kernel' /proc/[0-9]*/cmdline 2>/dev/null); do
        grep -qsF "$work" "${process%cmdline}environ" && return 0
    done
    return 1
}
compiled() { if [ -e compiled ]; then wc -l <compiled; else echo 0; fi; }
entry() { ls cache/hopscotch/kernels/*; }

chosen=general run whole made && [ "$(compiled)" -eq 0 ] && ! event whole made
check $? "general: nothing is compiled"
expected=$(digest whole)

planned() # EXPERIMENT WORDS: of the kernel
{
    "$HOPSCOTCH_FAULTS_PROGRAM" plan "$root/experiments/$1.yaml" --backend faulty >out 2>err &&
        grep -q "^kernel  *$2\$" out
}
planned smoke "general; makes one for this campaign if that saves time" &&
    planned ndt_basin "general: several threads share a lane" &&
    planned dzhanibekov "general: another would take too long to compile"
check $? "the plan says which kernel a run begins with, and why none is made"
"$HOPSCOTCH_FAULTS_PROGRAM" run "$root/experiments/dzhanibekov.yaml" --name long --backend faulty --kernels made \
    --progress none --set simulation.duration=0.1 >out 2>err && event long "general: another would take too long"
check $? "where a made kernel was asked for and none is made, the event says why"

run first made && same first && event first "made for sm_00, compiled in" && [ "$(compiled)" -eq 1 ]
check $? "a kernel is made, and the event says so"
grep -q -- "--gpu-architecture=sm_00 -std=c++17 -fmad=false" compiled
check $? "the compiler is told the architecture, and to contract nothing"
run second made --timings && same second && event second "from the cache" && [ "$(compiled)" -eq 1 ]
check $? "the next run takes it from the cache"
grep -q "kernel made for the campaign in 4 of 4" out
check $? "the timings count the batches of a made kernel"
"$HOPSCOTCH_FAULTS_PROGRAM" show second/0 >out 2>err && grep -q "by a kernel made for the campaign" out
check $? "show names the kernel that computed a trial"
run other made --set parameters.x_dot_des=2.5 && event other "compiled in" && [ "$(compiled)" -eq 2 ]
check $? "another fixed value: another kernel"
[ "$(stat -c %a cache/hopscotch/kernels)" = 700 ] && [ "$(entry | wc -l)" -eq 2 ]
check $? "the cache is private, and holds both kernels"

for file in $(entry); do printf 'x' | dd of="$file" bs=1 seek=66 conv=notrunc 2>err; done
run damaged made && same damaged && event damaged "compiled in" && [ "$(compiled)" -eq 3 ]
check $? "a damaged entry is compiled again"
chmod 755 cache/hopscotch/kernels
run open made && same open && event open "compiled in" && [ "$(compiled)" -eq 4 ]
check $? "a cache that others may enter is not used"
rm -rf cache && mkdir cache && : >cache/hopscotch
run nowhere made && same nowhere && event nowhere "compiled in"
check $? "without a cache folder the made kernel is used all the same"
rm -rf cache
FAKE_NVRTC_MAJOR=12 run older made && same older && event older "compiled in" && run newer made && same newer &&
    event newer "compiled in" && FAKE_NVRTC_MAJOR=12 run back made && event back "from the cache"
check $? "a kernel of another version of NVRTC is another entry"

# ---- what the cache can't hold --------------------------------------------------------------------------------------

folder=cache/hopscotch/kernels
mounted() # OPTIONS: a small disk in place of the cache's folder
{
    rm -rf cache && mkdir -p $folder
    if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o "$1,mode=700" none $folder 2>err; then
        trap 'umount "$work/$folder" 2>/dev/null; rm -rf "$work"' EXIT
        return
    fi
    skip "a cache on a disk with $1" "the right to mount" "run it as root"
    return 1
}
if [ "$(id -u)" -ne 0 ]; then
    rm -rf cache && mkdir -p $folder && chmod 700 cache/hopscotch && chmod 500 $folder
    run readonly made && same readonly && event readonly "compiled in" && [ -z "$(ls $folder)" ]
    check $? "a cache that can't be written"
    chmod 700 $folder
elif mounted ro; then
    run readonly made && same readonly && event readonly "compiled in" && [ -z "$(ls $folder)" ]
    check $? "a cache that can't be written"
    umount $folder
fi
if mounted size=64k; then
    dd if=/dev/zero of=$folder/ballast bs=4096 2>/dev/null
    run full made && same full && event full "compiled in" && [ "$(ls $folder)" = ballast ]
    check $? "a cache on a full disk: the kernel is used, and nothing is left of it there"
    umount $folder
fi

rm -rf cache && mkdir -p $folder && chmod 700 $folder
for i in $(seq 100 399); do touch -d "@$((1700000000 + i))" $folder/e"$i"; done
run many_entries made && event many_entries "compiled in" && [ "$(entry | wc -l)" -eq 256 ] &&
    [ ! -e $folder/e144 ] && [ -e $folder/e145 ] && [ "$(ls $folder | grep -cv '^e[0-9]*$')" -eq 1 ]
check $? "the cache keeps 256 entries, those used last"
rm -f $folder/*
for i in 1 2 3 4 5 6 7 8 9; do truncate -s 60M $folder/b$i && touch -d "2026-01-01 00:0$i:00" $folder/b$i; done
run many_bytes made && [ ! -e $folder/b1 ] && [ -e $folder/b2 ] && [ "$(entry | wc -l)" -eq 9 ]
check $? "the cache keeps 512 MiB, those used last"
rm -rf cache

# ---- kernels that can't be used, compilers that fail ----------------------------------------------------------------

run wrong wrong && same wrong && event wrong "not used: its bits differ" && grep -q "warning.*bits differ" err
check $? "a kernel that gives wrong bits is detected and not used"
[ -z "$(ls cache/hopscotch/kernels)" ]
check $? "a kernel that gives wrong bits does not stay in the cache"
run alien alien && same alien && event alien "not used: it could not be loaded" && [ -z "$(ls $folder)" ]
check $? "a kernel that the device does not take is not used, and leaves the cache"
run crash crash && same crash && event crash "not used since the device failed: .*launch failure" &&
    grep -q "warning: the kernel made for sm_00" err && [ -z "$(ls cache/hopscotch/kernels)" ]
check $? "a kernel that crashes: the general one goes on, and it leaves the cache"
for task in refuse empty begin die memory; do
    case $task$HOPSCOTCH_FAULTS_PROGRAM in memory*/asan/* | memory*/tsan/*) continue ;; esac # too little address space
    run $task $task && same $task && event $task "using the general kernel" &&
        grep -q "compiling one for this campaign failed" err
    check $? "a compiler with the fault '$task': the general kernel is used"
done
grep -q "$(printf '\033')" results/refuse/log.jsonl err
[ $? -ne 0 ]
check $? "control characters of the compiler's messages are made visible"
event refuse "NVRTC refused the kernel: error: " && event empty "NVRTC gave an empty kernel" &&
    event begin "NVRTC could not begin a kernel: fake error"
check $? "the compiler's messages are printed"
mkdir -p old && echo 'int nothing;' >old.c && ${CC:-cc} -shared -fPIC -o old/libnvrtc.so.13 old.c
libraries=$work/old run old made && same old && event old "NVRTC lacks a function: CUDA 11.2 or later has them all"
check $? "an NVRTC without the needed functions"
# with a CUDA toolkit the program finds the real NVRTC, which does not know this architecture
absent="NVRTC, CUDA's compiler at run time, was not found (libnvrtc.so of CUDA 11.2 or later): install it (pip"
absent="$absent install nvidia-cuda-nvrtc beside the wheel), or add its folder to LD_LIBRARY_PATH"
libraries=$work/none run absent made && same absent && { event absent "$absent" || event absent "refused the kernel"; }
check $? "without NVRTC the general kernel is used, with a message"
mkdir -p site-packages/hopscotch/bin site-packages/nvidia/cu13/lib
cp "$HOPSCOTCH_FAULTS_PROGRAM" site-packages/hopscotch/bin/hopscotch
cp nvrtc/libnvrtc.so.13 site-packages/nvidia/cu13/lib
(
    HOPSCOTCH_FAULTS_PROGRAM=$work/site-packages/hopscotch/bin/hopscotch libraries=$work/none
    rm -rf cache
    run packaged made && same packaged && event packaged "made for sm_00, compiled in"
)
check $? "a wheel finds NVRTC among the packages of Python"

(before=exec run stopped hang) &
pid=$!
until_true compiling
leaves INT results/stopped/campaign.lock
[ "$ended" -eq 130 ] && [ "$took" -lt "$patience" ] && ! compiling
check $? "Ctrl-C while the compiler hangs: the run ends at once, and the compiler with it"
run stopped made && same stopped
check $? "the interrupted run resumes to the same bits"
if [ -z "${QUICK:-}" ]; then
    rm -rf cache
    run hung hang && same hung && event hung "the compiler took longer than 30 s"
    check $? "a compiler that hangs is ended after its time limit"
fi
rm -rf cache
run spin spin && same spin && event spin "the compiler took longer than 30 s of processor time"
check $? "a compiler that takes too much processor time is ended"
if env --ignore-signal=CHLD true 2>err; then
    before="env --ignore-signal=CHLD" run ignored made && same ignored && event ignored "compiled in"
    check $? "a program that was told to ignore the ends of its children"
else
    skip "ignored signals" "env --ignore-signal" "apt-get install coreutils, 8.31 or later"
fi

# ---- kernels that change, compilers beside batches ------------------------------------------------------------------

rm -rf cache
chosen=general run change made --set limits.trials=20 && run change made --set limits.trials=40 &&
    chosen=general run change made --set limits.trials=none && same change
check $? "begun by the general kernel, resumed by a made one, and ended by the general one"
kernels=$("$SQL" results/change/campaign.db \
    "SELECT group_concat(kernel, ' ') FROM (SELECT kernel FROM batches ORDER BY id)")
[ "$kernels" = "general general made made general" ]
check $? "its batches say which kernel computed them"

# 111,353 trials of 10 s, which take minutes: after the first batches, compiling seems worth it
auto() # NAME TASK OPTION...
{
    name=$1 FAKE_NVRTC=$2
    shift 2
    export FAKE_NVRTC
    exec env LD_LIBRARY_PATH="$work/nvrtc" "$HOPSCOTCH_FAULTS_PROGRAM" run "$root"/experiments/smoke.yaml \
        --name "$name" --progress none --batch 64 --threads 1 --backend faulty \
        --set simulation.duration=10 --set 'search.over.k_xdot={arange: [0, 0.095, 0.0005]}' "$@" >out 2>err
}
(auto beside hang --kernels auto) &
pid=$!
until_true compiling
leaves INT results/beside/campaign.lock
[ "$ended" -eq 130 ] && [ "$took" -lt "$patience" ] && ! compiling
check $? "Ctrl-C while batches run beside the compiler: both end"
done=$("$SQL" results/beside/campaign.db "SELECT sum(trials) FROM batches")
(auto general made --kernels general --set limits.trials="$done")
sums()
{
    "$HOPSCOTCH" query "$1" --format csv \
        --sql "SELECT count(*), total(fitness), total(attitude_rms), total(survived) FROM trials"
}
[ "$done" -gt 0 ] && [ "$(sums beside)" = "$(sums general)" ]
check $? "the $done trials until then are those of a run without"

rm -rf cache
for i in 1 2 3 4 5 6 7 8; do
    (mkdir -p "many$i" && cd "many$i" && run many made) &
done
wait
good=0
for i in 1 2 3 4 5 6 7 8; do
    (cd "many$i" && same many) && good=$((good + 1))
done
[ $good -eq 8 ] && [ "$(entry | wc -l)" -eq 1 ]
check $? "eight processes share the cache: one entry, the same bits"
run devices made --device all && same devices && event devices "made for sm_00"
check $? "several devices"
exit $status
