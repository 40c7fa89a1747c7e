#!/bin/sh
# The build as a user sees it: configure.sh, the output of `make` and the order in which it compiles, the list at the
# end of the tests.
. "$(dirname "$0")/../scratch.sh"
case $HOPSCOTCH in *asan* | *tsan*) skip "the build" "a build without sanitizers" "make test" && exit 0 ;; esac
unset SCRIPTS UNITS LEAVE_OUT JOBS # of a run of the tests that this is a part of
unset MAKEFLAGS MAKELEVEL MFLAGS OPT KERNEL_OPT GPU_OPT ISAS PLAIN INLINE PROGRAMS EXTRA WERROR BUILD V STEPS ARCH CI
export CUDA=no

cd "$root" && cp -r Makefile configure.sh sim io runner experiments "$work" && cd "$work" || exit 3
mkdir -p tests/cli
cp -r "$root"/tests/*.c "$root"/tests/*.h "$root"/tests/run.sh "$root"/tests/unit "$root"/tests/bench tests

# ---- configure.sh ---------------------------------------------------------------------------------------------------

./configure.sh --help >out 2>err
[ $? -eq 0 ] && tail -n 1 out | grep -q '\.$'
check $? "the help of configure.sh ends with a sentence"
./configure.sh >out 2>err
check $? "configure.sh"
touch -d '2001-02-03' build/config.mk
./configure.sh >out 2>err
[ -n "$(find build/config.mk -not -newermt 2001-02-04)" ]
check $? "configure.sh leaves an unchanged config.mk alone"
touch -d '2001-02-05' configure.sh && touch build/configured
sed -i 's/^JOBS.*/JOBS := 99/' build/config.mk && touch -d '2001-02-03' build/config.mk
./configure.sh >out 2>err
[ -z "$(find build/config.mk -not -newermt 2001-02-04)" ]
check $? "configure.sh writes config.mk again when something changed"

# ---- make -----------------------------------------------------------------------------------------------------------

# plans GOAL...: what make would do, in `out`
plans() { make -n "$@" >out 2>err; }
plans all
[ "$(grep -c 'echo "\[[0-9]* of 29\] build' out)" = 29 ]
check $? "make counts its steps"
has "It takes minutes"
has '[29 of 29] build/libhopscotch_sqlite.so"'
plans demo
[ "$(grep -c 'cpu_observed_.*\.o: kernels' out)" -le 2 ] && ! grep -q 'cpu_plain' out
check $? "make demo compiles the kernels of this machine alone"
has "It takes about a minute"

# After a full build, of which these empty files are the objects: `make demo` uses the program as it is; after an edit
# above the kernels, all kernels; after an edit of a kernel, it compiles those of this machine.
make -n all | sed -n 's/^echo "\[[0-9]* of [0-9]*\] \([^ :"]*\).*/\1/p' >objects
mkdir -p build && xargs touch build/headers <objects && touch build/hopscotch build/libhopscotch.so \
    build/libhopscotch_sqlite.so
echo 'build/io.o: io/yaml.c' >build/io.d
for object in build/cpu_*.o; do echo "$object: sim/hopper/dynamics.h" >"${object%.o}.d"; done
plans demo
! grep -q 'echo "\[' out
check $? "make demo after make builds nothing"
touch io/yaml.c
plans demo
grep -q 'build/io.o"' out && grep -q 'build/libhopscotch.so"' out && ! grep -q 'kernels for\|only' out
check $? "make demo after an edit of another floor links all kernels"
touch sim/hopper/dynamics.h
plans demo
[ "$(grep -c 'cpu_observed_.*\.o: kernels' out)" -le 2 ] && ! grep -q 'cpu_plain\|cpu_environment' out
check $? "make demo after an edit of a kernel compiles those of this machine alone"
has "Kernels for this machine's processor only: "
plans all
[ "$(grep -c 'cpu_.*\.o: kernels' out)" = 12 ]
check $? "make after it compiles all"
plans dev
[ "$(grep -c 'cpu_.*\.o: kernels' out)" = 2 ] && ! grep -q 'nvcc\|cpu_plain' out
check $? "make dev compiles the kernels of one instruction set"
has "Kernels of one instruction set, "
rm -rf build/cpu_*.d build/io.d build/dev && xargs rm -f <objects

# The program of the demo, linked from objects that are there, computes the same bits as the whole one.
objects=$(dirname "$HOPSCOTCH")
cat >experiments/first.yaml <<'END'
version: 1
experiment: first
seed: 7
model: hopper
simulation: {duration: 0.3, settle: 0.1}
search: {method: grid, over: {k_fp: {linspace: [50, 300, 7]}, thrust: [25, 35, 45]}}
record: {trajectories: {select: {every: 5}, sample: 0.01}}
END
if cp "$objects"/main.o "$objects"/version.o "$objects"/sim.o "$objects"/io.o "$objects"/experiment.o \
    "$objects"/campaign.o "$objects"/view.o "$objects"/command.o "$objects"/dual_kernels_*.o \
    "$objects"/trail_kernels_*.o \
    "$objects"/cpu_observed_*.o build &&
    cp -r "$objects"/units "$objects"/headers build; then
    echo here >build/commit
    touch build/*.o
    make demo demo_spec=first COMMIT=here >out 2>err
    [ $? -eq 0 ] && has '[1 of 1] build/hopscotch'
    "$HOPSCOTCH" run experiments/first.yaml --name whole --progress none >out 2>err
    [ -n "$(digest whole)" ] && [ "$(digest whole)" = "$(digest first)" ]
    check $? "the program of make demo computes the same bits"
    build/hopscotch version >out
    has 'without its faster kernels, which `make` builds'
    build/hopscotch run experiments/first.yaml --name none --isa scalar >out 2>err
    [ $? -eq 1 ] && grep -qF "without kernels for 'scalar': run \`make\`" err
    check $? "the program of make demo says which kernels it lacks"
fi
plans install
has "experiments/README.md"
has "results/README.md"
make build/sql >out 2>err
[ $? -eq 0 ] && grep -q '^\[1 of 1\] build/sql' out && ! grep -q std=c17 out
check $? "make shows numbered steps"
rm build/sql && make V=1 build/sql >out 2>err
[ $? -eq 0 ] && grep -q std=c17 out
check $? "make V=1 shows commands"
if ! nvidia-smi -L >/dev/null 2>&1; then
    make test-gpu >out 2>err
    [ $? -ne 0 ] && ! grep -q 'of [0-9]*\] build' out && grep -q "no GPU here" err
    check $? "make test-gpu asks for a GPU before it compiles"
fi

# ---- tests/run.sh ---------------------------------------------------------------------------------------------------

rm -rf tests/cli && mkdir tests/cli
echo 'echo "ok   a: good"; echo "skip a: one: needs this"; echo "FAIL a: bad"; echo "  why"; exit 1' >tests/cli/a.sh
echo 'echo "skip b: two: needs this"; echo "skip b: needs that"' >tests/cli/b.sh
echo 'exit 7' >tests/cli/c.sh
printf '#!/bin/sh\necho "ok unit (0.00 s)"\necho "skip other: needs this"\n' >build/tests && chmod +x build/tests
JOBS=1 sh tests/run.sh build >out 2>err
[ $? -ne 0 ]
check $? "a run with failures fails"
tail -n 6 out | sed 's/^  *//' >end
printf '%s\n' "4 skipped:" "3 needs this" "1 needs that" "2 passed, 2 failed" "FAIL a: bad" \
    "FAIL tests/cli/c.sh: ended with status 7 (124: it took too long)" >expected
cmp -s end expected
check $? "a run ends with the reasons for skipped tests, the counts and the failures"
rm tests/cli/a.sh tests/cli/c.sh
JOBS=1 sh tests/run.sh build >out 2>err
[ $? -eq 0 ] && [ "$(tail -n 1 out)" = "1 passed, 0 failed" ]
check $? "without failures the counts are last"
exit $status
