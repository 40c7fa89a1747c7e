#!/bin/sh
# Equal bits of x86-64 and aarch64 (`make arm64`): builds the program and the unit tests by Debian's cross compiler,
# runs them under qemu, and compares the digests of campaigns with those of a program of this machine.
#
#   tests/arm64.sh PROGRAM        PROGRAM: of this machine, such as build/hopscotch, with its libraries beside it
#
#   ARM64_ROOT=FOLDER             a Debian for arm64 with the libraries (build/arm64/root; made by debootstrap if it is
#                                 not there)
#   ARM64_TESTS="WORD..."         the unit tests by words in their names (default: those of bits; all: all of them)
#   ARM64_MAKE="OPT=-O2"          more variables for make
#
# shellcheck disable=SC2086
set -u
cd "$(dirname "$0")/.." || exit 3
. tests/skip.sh
native=$1 build=build/arm64 here=$PWD
root=${ARM64_ROOT:-$PWD/$build/root}
tests=${ARM64_TESTS:-same_bits golden portable random_normals philox bbob -gradient -order_two -team}
packages=libc6-dev,libhdf5-dev,libsqlite3-dev,libyaml-dev,libexpat1-dev,zlib1g-dev
export suite=arm64
status=0
unset MAKEFLAGS MAKELEVEL MFLAGS

need()
{
    command -v "$1" >/dev/null || { skip "aarch64" "$1" "apt-get install $2" && exit 0; }
}

fail()
{
    echo "FAIL arm64: $*"
    status=1
}

need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
need aarch64-linux-gnu-g++ g++-aarch64-linux-gnu
need qemu-aarch64-static qemu-user-static

# Nothing of it runs here: its packages are only unpacked.
if [ ! -e "$root/usr/include/sqlite3.h" ]; then
    need debootstrap debootstrap
    mkdir -p "$build" && rm -rf "$root"
    debootstrap --arch=arm64 --foreign --variant=minbase --include=$packages bookworm "$root" >"$build/root.log" 2>&1 ||
        { skip "aarch64" "an archive of Debian" "see $build/root.log" && exit 0; }
    for package in "$root"/var/cache/apt/archives/*.deb; do dpkg -x "$package" "$root" || exit 3; done
fi

# ---- build: quick to compile, all instruction sets -------------------------------------------------------------------
make BUILD=$build PROCESSOR=aarch64 ISA=neon CC=aarch64-linux-gnu-gcc CUDA=no WERROR=-Werror EXTRA=-g1 \
    OPT=-O1 KERNEL_OPT='-O1 -DHOPSCOTCH_CALLS' INLINE= \
    PROGRAMS="hopscotch tests libhopscotch.so libhopscotch_sqlite.so" \
    DEPENDENCY_FLAGS="--sysroot=$root -I$root/usr/include/hdf5/serial" \
    LDFLAGS="--sysroot=$root -L$root/usr/lib/aarch64-linux-gnu/hdf5/serial" \
    DEPENDENCY_LIBS="-lhdf5 -lsqlite3 -lyaml -lexpat -lz" ${ARM64_MAKE:-} programs >$build.log 2>&1 ||
    { tail -n 20 $build.log && fail "it does not compile (see $build.log)" && exit 1; }
echo "ok arm64: compiles"

# gcc fuses a*b + c on aarch64 unless it is told not to: then a sum of products is one instruction.
cat >$build/fuses.c <<'END'
double sum(double a, double b, double c) { return a * b + c; }
END
fused()
{
    aarch64-linux-gnu-gcc -O2 "$@" -S $build/fuses.c -o - | grep -c 'fmadd\|fmla'
}
if [ "$(fused)" -eq 1 ] && [ "$(fused -ffp-contract=off)" -eq 0 ] && make -n V=1 STEPS=1 -W sim/cpu_kernels.c \
    BUILD=$build PROCESSOR=aarch64 CC=aarch64-linux-gnu-gcc CUDA=no $build/cpu_plain_neon.o |
    grep -q -- '-ffp-contract=off'; then
    echo "ok arm64: no sum is fused but where the source says so"
else
    fail "sums of products are fused: -ffp-contract=off"
fi

# ---- run -------------------------------------------------------------------------------------------------------------
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
cat >"$folder/arm" <<END
#!/bin/sh
exec qemu-aarch64-static -L "$root" "$PWD/$build/hopscotch" "\$@"
END
chmod +x "$folder/arm"
[ "$tests" = all ] && tests=
QUICK=1 qemu-aarch64-static -L "$root" $build/tests $tests >"$folder/tests" 2>&1 ||
    { cat "$folder/tests" && fail "unit tests"; }
echo "unit tests under qemu: $(tail -n 1 "$folder/tests")"

digest() { "$@" digest it --results "$results" 2>&1 | grep -o -m 1 '[0-9a-f]\{64\}'; }

# same SPEC KEY=VALUE...: one digest on both processors. The campaigns are kept, in $folder/x86 and $folder/arm64.
same()
{
    spec=$1
    shift
    count=$#
    for set in "$@"; do set -- "$@" --set "$set"; done
    shift $count
    results=$folder/x86-$spec
    "$native" run "experiments/$spec.yaml" --name it --backend cpu --progress none "$@" --results "$results" \
        >"$folder/log" 2>&1 || { cat "$folder/log" && fail "$spec on this machine" && return; }
    expected=$(digest "$native")
    for isa in neon scalar; do
        results=$folder/$isa-$spec
        "$folder/arm" run "experiments/$spec.yaml" --name it --backend cpu --kernels general --isa $isa \
            --progress none "$@" --results "$results" >"$folder/log" 2>&1 ||
            { cat "$folder/log" && fail "$spec, $isa"; }
        got=$(digest "$folder/arm")
        if [ -n "$got" ] && [ "$got" = "$expected" ]; then
            echo "ok arm64: $spec, $isa: $got"
        else
            fail "$spec, $isa: digest ${got:-none}, expected ${expected:-one}"
        fi
    done
}

same smoke simulation.duration=0.3 simulation.settle=0.1 'search.over.k_fp=[50,250]' 'search.over.k_att=[100,250]' \
    'search.over.b_att=[10,25]' 'search.over.k_xdot=[0.02,0.05]' 'search.over.thrust=[30,45]' \
    record.trajectories.select.every=7
same slip_map simulation.duration=5 'search.over.attack.linspace=[60,75,4]' 'search.over.k.linspace=[10000,40000,5]'
same raibert_gains simulation.duration=0.5 simulation.settle=0.1 'search.over.k_fp=[100]' 'search.over.k_att=[100]' \
    'search.over.k_xdot=[0.04,0.06]' 'search.over.thrust=[30,45]' replicates.count=3
same raibert_cmaes simulation.duration=0.4 simulation.settle=0.1 search.cmaes.searches=2 \
    search.cmaes.stop.generations=4 replicates.count=2
same bbob_cmaes search.cmaes.searches=2 search.cmaes.stop.trials=3000
same quadruped_trot simulation.duration=0.6 search.cmaes.population=6 search.cmaes.stop.generations=3 replicates.count=2
same robot_gait simulation.duration=0.5 search.cmaes.population=6 search.cmaes.stop.generations=2
same ndt_basin 'search.over.start_x.linspace=[-2,2,3]' 'search.over.start_y.linspace=[-1,1,2]' replicates.count=2
same four_bar simulation.duration=0.1
same lorenz96 simulation.duration=5
same robertson_rates
same identify_arm search.least_squares.stop.iterations=2
same kramers_escape simulation.duration=5 replicates.count=20

# ---- made kernels ----------------------------------------------------------------------------------------------------
# A program that makes a kernel starts itself, /proc/self/exe. Under qemu that is qemu: start.so puts the script `arm`
# in its place.
mkdir "$folder/cc"
printf '#!/bin/sh\nunset LD_PRELOAD\nexec aarch64-linux-gnu-gcc "$@"\n' >"$folder/cc/cc"
chmod +x "$folder/cc/cc"
cat >"$folder/start.c" <<'END'
#include <dlfcn.h>
#include <spawn.h>
#include <stdlib.h>
int posix_spawn(pid_t *process, const char *path, const posix_spawn_file_actions_t *files,
                const posix_spawnattr_t *attributes, char *const words[], char *const environment[])
{
    int (*spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[],
                 char *const[]);
    *(void **)&spawn = dlsym(RTLD_NEXT, "posix_spawn");
    return (void)path, spawn(process, getenv("ARM64_PROGRAM"), files, attributes, words, environment);
}
END
aarch64-linux-gnu-gcc --sysroot="$root" -D_GNU_SOURCE -shared -fPIC "$folder/start.c" -o "$folder/start.so" ||
    fail "start.c does not compile"
results=$folder/x86-lorenz96
expected=$(digest "$native")
for isa in neon scalar; do
    results=$folder/made-$isa
    PATH=$folder/cc:$PATH ARM64_PROGRAM=$folder/arm QEMU_SET_ENV=LD_PRELOAD=$folder/start.so "$folder/arm" run \
        experiments/lorenz96.yaml --name it --backend cpu --kernels made --isa $isa --progress none \
        --set simulation.duration=5 --results "$results" >"$folder/log" 2>&1
    got=$(digest "$folder/arm")
    if [ -n "$got" ] && [ "$got" = "$expected" ] && "$folder/arm" query it --results "$results" --format csv \
        --sql "SELECT DISTINCT kernel FROM batches" | tr -d '\r' | tail -n +2 | grep -qx made; then
        echo "ok arm64: lorenz96, $isa, by a made kernel"
    else
        cat "$folder/log"
        fail "lorenz96, $isa, by a made kernel: digest ${got:-none}, expected $expected"
    fi
done

# ---- the libraries ---------------------------------------------------------------------------------------------------
libraries=$(cd "$(dirname "$native")" && pwd)
if ! lacks_program "$libraries/libhopscotch.so" "libraries" &&
    ! lacks_program "$libraries/libhopscotch_sqlite.so" "libraries"; then
    mkdir -p "$folder/x86" "$folder/arm64"
    cp "$libraries/libhopscotch.so" "$folder/x86/libhopscotch.so.1"
    cp $build/libhopscotch.so "$folder/arm64/libhopscotch.so.1"
    ${CC:-cc} tests/arm64.c "$folder/x86/libhopscotch.so.1" -lsqlite3 -o "$folder/x86/uses" &&
        aarch64-linux-gnu-gcc --sysroot="$root" tests/arm64.c "$folder/arm64/libhopscotch.so.1" -lsqlite3 \
            -Wl,--allow-shlib-undefined -o "$folder/arm64/uses" || fail "tests/arm64.c"
    uses_x86() { LD_LIBRARY_PATH=$folder/x86 "$folder/x86/uses" "$@"; }
    uses_arm64() { qemu-aarch64-static -L "$root" -E LD_LIBRARY_PATH="$folder/arm64" "$folder/arm64/uses" "$@"; }
    # both NAME WHAT: the outputs NAME.x86 and NAME.arm64 are equal, and there is one
    both()
    {
        if [ -s "$folder/$1.x86" ] && cmp -s "$folder/$1.x86" "$folder/$1.arm64"; then
            echo "ok arm64: $2: $(head -n 1 "$folder/$1.x86")"
        else
            fail "$2: $(head -n 1 "$folder/$1.arm64"), expected $(head -n 1 "$folder/$1.x86")"
        fi
    }
    for spec in hopper_env cartpole_env; do
        for on in x86 arm64; do uses_$on environment experiments/$spec.yaml >"$folder/$spec.$on"; done
        both $spec "environments of $spec by libhopscotch.so"
    done
    sql="SELECT count(*), printf('%.17g', sum(fitness)) FROM trials"
    "$native" run experiments/bbob_cmaes.yaml --name it --backend cpu --progress none --set store.rows=blocks \
        --set search.cmaes.stop.trials=3000 --results "$folder/blocks" >"$folder/log" 2>&1 || cat "$folder/log"
    uses_x86 database "$libraries/libhopscotch_sqlite.so" "$folder/blocks/it/campaign.db" "$sql" >"$folder/sql.x86"
    uses_arm64 database "$here/$build/libhopscotch_sqlite.so" "$folder/blocks/it/campaign.db" "$sql" \
        >"$folder/sql.arm64"
    both sql "trials in blocks by libhopscotch_sqlite.so"
fi

# ---- one results folder on both processors ---------------------------------------------------------------------------
# crossed FROM PROGRAM RESULTS: what one processor wrote is read, replayed and continued by the other
crossed()
{
    from=$1 program=$2 results=$folder/$3
    "$program" best it --results "$results" | sed '/^$/,$d' >"$folder/best-$from"
    [ -s "$folder/best-$from" ] || fail "best of a campaign from $from"
    "$program" replay it/best --results "$results" --backend cpu >"$folder/log" 2>&1 ||
        { cat "$folder/log" && fail "replay of a trial from $from"; }
    grep 'the same to the bit' "$folder/log" | sed "s/^/ok arm64: replays a trial from $from: /"
}
crossed x86-64 "$folder/arm" x86-smoke
crossed aarch64 "$native" neon-smoke
if cmp -s "$folder/best-x86-64" "$folder/best-aarch64"; then
    echo "ok arm64: best is the same"
else
    fail "best differs"
fi

# a search that began here goes on on both
for program in "$native" "$folder/arm"; do
    results=$folder/continued-$(basename "$program")
    cp -r "$folder/x86-bbob_cmaes" "$results"
    "$program" run experiments/bbob_cmaes.yaml --name it --extend --backend cpu --progress none --results "$results" \
        --set search.cmaes.searches=2 --set search.cmaes.stop.trials=4000 >"$folder/log" 2>&1 ||
        { cat "$folder/log" && fail "a search of x86-64 does not go on"; }
    digest "$native"
done >"$folder/continued.txt"
if [ "$(sort -u "$folder/continued.txt" | wc -l)" -eq 1 ]; then
    echo "ok arm64: a search from x86-64 goes on with the same bits"
else
    fail "a search from x86-64 that goes on: $(cat "$folder/continued.txt")"
fi
exit $status
