#!/bin/sh
# Kernels made for a campaign on a GPU: the bits of the general kernels for every kind of kernel that is made; wrong
# code is found out; a campaign may change kernels between its runs. How fast they are: tests/gpu_musts.sh, gpu_gain.sh.
#
#   tests/gpu_made.sh [BUILD]      BUILD: the folder of `make` (build), or of `make portable`
set -u
. "$(dirname "$0")/skip.sh"
build=${1:-build}
. "$(dirname "$0")/on_gpu.sh"

# same SPEC OPTIONS...: made and general give one digest
same()
{
    number=$((number + 1))
    spec=$1
    shift
    run "$spec" --name "g$number" --backend cuda --kernels general "$@"
    run "$spec" --name "m$number" --backend cuda --kernels made "$@"
    event "m$number" "made for sm_" && ! event "m$number" "not used" && [ -n "$(digest "g$number")" ] &&
        [ "$(digest "g$number")" = "$(digest "m$number")" ]
    check $? "$(basename "$spec") $*: $(grep -h '"event":"kernel"' "$folder/results/m$number/log.jsonl" |
        grep -o 'made for[^"]*')"
}

for integrator in implicit_midpoint semi_implicit_euler implicit_euler rk4 dormand_prince; do
    same experiments/smoke.yaml --set simulation.integrator=$integrator
done
for jacobian in analytic finite_difference; do
    same experiments/smoke.yaml --set simulation.newton.jacobian=$jacobian --set simulation.duration=0.2 \
        --set simulation.settle=0.1
done
same experiments/smoke.yaml --set simulation.terrain=sine --set simulation.wind=gusting --set simulation.push=random \
    --set simulation.machine=four_state --set simulation.accounting=parts
same experiments/raibert_gains.yaml --set 'search.over.thrust=[30]' --set 'search.over.k_xdot=[0.05]'
cat >"$folder/pendulum.yaml" <<'END'
version: 1
experiment: pendulum
model: rigid
simulation: {duration: 1.0, dt: 1ms, stabilisation: baumgarte}
search:
  method: grid
  over: {alpha: {linspace: [1, 20, 100]}, beta: {linspace: [1, 20, 100]}}
objective: {minimize: error_rms}
END
for form in baumgarte original original_with_bias velocity soft rattle; do
    same "$folder/pendulum.yaml" --set simulation.stabilisation=$form
done
for redundant in drop error regularise; do
    same "$folder/pendulum.yaml" --set simulation.redundant=$redundant --set simulation.rotation=cayley
done
cat >"$folder/bbob.yaml" <<'END'
version: 1
experiment: bbob
model: bbob
simulation: {function: sphere, dimension: 5}
search:
  method: random
  trials: 20000
  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}, x3: {range: [-5, 5]}, x4: {range: [-5, 5]}, x5: {range: [-5, 5]}}
objective: {minimize: f}
END
for function in sphere rastrigin_separable rosenbrock step_ellipsoid schaffers schwefel gallagher_101; do
    same "$folder/bbob.yaml" --set simulation.function=$function
done

# 87 % of these fall and make room
cat >"$folder/decades.yaml" <<'END'
version: 1
experiment: decades
seed: 5
model: hopper
search:
  method: random
  trials: 600000
  over:
    k_fp:   {range: [15, 1500], scale: log}
    b_fp:   {range: [1.5, 150], scale: log}
    k_att:  {range: [15, 1500], scale: log}
    b_att:  {range: [1.5, 150], scale: log}
    thrust: {range: [3.5, 350], scale: log}
END
for integrator in implicit_midpoint rk4 dormand_prince; do
    same "$folder/decades.yaml" --set simulation.integrator=$integrator --set simulation.duration=1.5 \
        --set simulation.settle=0.5 --set simulation.dt=0.0002
done

# a campaign begun with one kind of kernel and resumed with another, on the GPU and on the CPU
run "$folder/pendulum.yaml" --name whole --backend cuda --kernels general
for pair in "cuda general cuda made" "cuda made cuda general" "cpu auto cuda made" "cuda made cpu auto"; do
    # shellcheck disable=SC2086
    set -- $pair
    name=$(echo "$pair" | tr -d ' ')
    run "$folder/pendulum.yaml" --name "$name" --backend "$1" --kernels "$2" --batch 1000 --set limits.trials=5000
    run "$folder/pendulum.yaml" --name "$name" --backend "$3" --kernels "$4" --batch 1000 --set limits.trials=none
    [ "$(digest "$name")" = "$(digest whole)" ]
    check $? "begun with $1 $2, resumed with $3 $4"
done

# wrong code: a library before NVRTC changes a number in the source
cat >"$folder/wrong.c" <<'END'
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
static void *real(const char *name)
{
    static void *library;
    if (library == NULL) library = dlopen(getenv("REAL_NVRTC"), RTLD_NOW);
    return dlsym(library, name);
}
int nvrtcCreateProgram(void **program, const char *source, const char *name, int n, const char *const *a,
                       const char *const *b)
{
    char *text = strdup(source), *at = strstr(text, "return 0.5 * m * dot3");
    if (at != NULL) at[9] = '6';
    int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
    *(void **)&create = real("nvrtcCreateProgram");
    return create(program, text, name, n, a, b);
}
#define PASS2(name, A, B) int name(A a, B b) { int (*f)(A, B); *(void **)&f = real(#name); return f(a, b); }
const char *nvrtcGetErrorString(int code)
{
    const char *(*f)(int);
    *(void **)&f = real("nvrtcGetErrorString");
    return f(code);
}
int nvrtcCompileProgram(void *program, int n, const char *const *options)
{
    int (*f)(void *, int, const char *const *);
    *(void **)&f = real("nvrtcCompileProgram");
    return f(program, n, options);
}
PASS2(nvrtcGetProgramLogSize, void *, size_t *)
PASS2(nvrtcGetProgramLog, void *, char *)
PASS2(nvrtcGetCUBINSize, void *, size_t *)
PASS2(nvrtcGetCUBIN, void *, char *)
END
nvrtc=$(ls "$(sed -n 's/^NVRTC_FOLDER := //p' build/config.mk)"/libnvrtc.so.1[0-9] 2>/dev/null | head -n 1)
if [ -n "$nvrtc" ] && mkdir "$folder/wrong" &&
    ${CC:-cc} -w -shared -fPIC -o "$folder/wrong/libnvrtc.so.13" "$folder/wrong.c" -ldl; then
    rm -rf "$folder/cache"
    REAL_NVRTC=$nvrtc LD_LIBRARY_PATH=$folder/wrong:${nvrtc%/*} "$program" run "$folder/pendulum.yaml" \
        --name wrong --backend cuda --kernels made --batch 1000 \
        --results "$folder/results" --progress none >>"$folder/log" 2>&1
    event wrong "its bits differ" && [ "$(digest wrong)" = "$(digest whole)" ]
    check $? "wrong code is found out, and nothing of it is stored"
else
    skip "wrong code" "NVRTC and a compiler" "the CUDA toolkit; apt-get install gcc"
fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
