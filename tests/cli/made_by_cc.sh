#!/bin/sh
# Kernels that the C compiler makes for a campaign of equations on a CPU: the bits of the general kernel for every
# integrator and system, in slices of any length; whatever becomes of the compiler, its process, its object and the
# cache, a run ends, says what happened, and has the same bits. Scripts in place of the compiler do what they are told.
. "$(dirname "$0")/../scratch.sh"
compiler=$(command -v cc || command -v gcc || command -v clang) ||
    { skip "all of it" "a C compiler" "apt-get install gcc libc6-dev"; exit 0; }
echo 'int made(void) { return 0; }' | "$compiler" -x c -shared -fPIC -o probe.so - 2>err ||
    { skip "all of it" "a compiler of shared objects" "apt-get install gcc libc6-dev"; exit 0; }
export XDG_CACHE_HOME="$work/cache" TMPDIR="$work/tmp"
mkdir tmp none
compiler_folders=$PATH

made() # NAME SPEC OPTION...
{
    name=$1 spec=$2
    shift 2
    ${before:-} env PATH="$compiler_folders" "$HOPSCOTCH" run "$spec" --name "$name" --backend cpu --progress none \
        --threads 1 --kernels "${chosen:-made}" "$@" >out 2>err </dev/null
}
event() { grep '"event":"kernel"' "results/$1/log.jsonl" | grep -q -- "$2"; } # NAME WORDS
clean() { [ -z "$(ls tmp)" ]; }                                               # the compiler's folders are gone
entries() { ls cache/hopscotch/kernels 2>/dev/null; }

# spec NAME: with the rest of simulation, and search, from standard input
spec()
{
    { printf 'version: 1\nexperiment: %s\nmodel: equations\n' "$1" && cat; } >"$1.yaml"
}
spec spring <<'END'
simulation: {duration: 1, dt: 0.01, system:
  {parameters: {k: 100, b: 1}, states: {x: 1, zebra: 0}, rates: {x: zebra, zebra: "-k*x - b*zebra"},
   events: [{name: zero, crosses: x}, {name: kick, every: 0.25, set: {zebra: "zebra + 0.1*sin(time)"}}],
   metrics: {x_rms: {rms: x}, x_end: {final: x}, x_min: {min: x}, x_max: {max: "x*zebra"}, zeros: {count: zero},
     first_zero: {at: zero, value: time, take: first}, spread: {after: kick, value: zebra, take: spread},
     up: {part: "zebra > 0"}, begins: {first: "x < 0 and zebra > 0"}, work: {integral: "b*zebra*zebra"}},
   failures: {far: "abs(x) > 1.05"}, columns: {energy: "zebra*zebra/2 + k*x*x/2"}}}
search: {method: random, trials: 45, over: {k: {range: [1, 500]}, b: {range: [-0.2, 10]}}}
objective: {minimize: x_rms}
record: {trajectories: {select: {best: 3}}}
END
spec functions <<'END'
simulation: {duration: 1, dt: 0.01, system:
  {parameters: {a: 1, b: 2}, states: {x: 0.3, y: -0.2},
   rates: {x: "y + 0.1*tanh(a*x) - clip(x*x*x, -1, 2) + atan2(y, 1 + x*x) + mod(time, b)*0.01",
           y: "-sin(b*x) + 0.2*cos(time) + if(x > 0, exp(-x*x), log(1 + x*x)) + asin(clip(x, -0.9, 0.9))*0.1
               - hypot(x, y)*0.05 + sign(x)*0.01 + floor(3*x)*0.001 + max(x, y)*min(a, b)*0.01 + abs(y)^1.5*0.01
               + tan(0.3*tanh(x)) - acos(clip(y, -0.9, 0.9))*0.1 + sinh(0.1*y) + cosh(0.1*x) + atan(x)
               + sqrt(1 + x*x)"},
   metrics: {x_end: {final: x}, y_rms: {rms: y}}}}
search: {method: random, trials: 37, over: {a: {range: [0.1, 3]}, b: {range: [0.5, 3]}}}
objective: {minimize: x_end}
END
spec lorenz <<'END'
simulation: {duration: 1, dt: 0.001, integrator: rk4, system:
  {parameters: {sigma: 10, rho: 28, beta: 2.6666666666666665}, states: {x: 1, y: 1, z: 1},
   rates: {x: "sigma*(y - x)", y: "x*(rho - z) - y", z: "x*y - beta*z"}, metrics: {x_end: {final: x}}}}
search: {method: random, trials: 30, over: {rho: {range: [0, 50]}, sigma: {range: [5, 15]}}}
objective: {minimize: x_end}
END

# ---- equal bits -----------------------------------------------------------------------------------------------------

# same SPEC OPTION...: in one slice, and in slices of 1 and of 7 steps, a made kernel has the digest of the general one
number=0
same()
{
    number=$((number + 1))
    chosen=general made "general$number" "$@"
    expected=$(digest "general$number")
    for slice in 1 7 1000000; do
        made "made$number-$slice" "$@" --slice $slice && event "made$number-$slice" "made for x86-64-" &&
            ! event "made$number-$slice" "not used" && [ -n "$expected" ] &&
            [ "$(digest "made$number-$slice")" = "$expected" ] &&
            [ "$("$SQL" "results/made$number-$slice/campaign.db" 'SELECT DISTINCT kernel FROM batches')" = made ]
        check $? "$(basename "$1" .yaml) ${3:-} ${5:-}, slices of $slice: made = general"
    done
}
systems=$root/experiments
for integrator in dormand_prince rk4 semi_implicit_euler implicit_midpoint rodas5p; do
    same spring.yaml --set simulation.integrator=$integrator
    [ -z "${QUICK:-}" ] || break
done
same functions.yaml --set simulation.integrator=rk4
same "$systems/duffing_map.yaml" --set simulation.duration=20
if [ -z "${QUICK:-}" ]; then
    for isa in scalar $(vector_isas "$HOPSCOTCH" | head -n 1); do same spring.yaml --isa "$isa"; done
    same "$systems/slip_map.yaml" --set simulation.duration=2 --set 'search.over.k=[20000, 30000, 41000]'
    same "$systems/bouncing_ball.yaml" --set simulation.duration=2
    same "$systems/compass_gait.yaml" --set simulation.duration=2
    same "$systems/robertson_rates.yaml" --set simulation.duration=100
    same "$systems/raibert_as_equations.yaml" --set simulation.duration=0.5 # one with calls
fi
clean
check $? "the compiler's folders are gone"

# ---- what is said, and what reaches the compiler --------------------------------------------------------------------

fake() # NAME: a compiler, from standard input, first in PATH. $real: the real one
{
    mkdir -p "$1" && { printf '#!/bin/sh\nreal=%s work=%s\n' "$compiler" "$work" && cat; } >"$1/cc" && chmod +x "$1/cc"
    compiler_folders=$work/$1:$PATH
}
fake recorder <<'END'
echo "$@" >>"$work/options"
pwd >>"$work/places"
stat -c '%a %u' . >>"$work/modes"
ulimit -t >"$work/limits"
ulimit -v >>"$work/limits"
cat >"$work/source.c"
exec "$real" "$@" <"$work/source.c"
END
compiled() { if [ -e options ]; then wc -l <options; else echo 0; fi; }
rm -rf cache
chosen=general made whole lorenz.yaml && [ "$(compiled)" -eq 0 ] && ! event whole made
check $? "general: nothing is compiled"
expected=$(digest whole)
same() { [ -n "$expected" ] && [ "$(digest "$1")" = "$expected" ] && clean; }
made first lorenz.yaml && same first && event first "made for x86-64-v[234], compiled in" && [ "$(compiled)" -eq 1 ]
check $? "a kernel is made, and the event says so"
grep -q -- "-ffp-contract=off" options && grep -q -- "-march=x86-64-v" options
check $? "the compiler is told the instruction set, and to contract nothing"
[ "$(cat modes)" = "700 $(id -u)" ] && ! [ -e "$(cat places)" ]
check $? "it works in a folder of this user's, which is gone"
case $HOPSCOTCH in
*/asan/* | */tsan/*) [ "$(head -n 1 limits)" = 30 ] ;;
*) [ "$(tr '\n' ' ' <limits)" = "30 8388608 " ] ;;
esac
check $? "its time and memory are bounded"
made spring spring.yaml && ! grep -q zebra source.c && grep -q made_inputs source.c
check $? "none of the spec's words reach it"
made second lorenz.yaml --timings && same second && event second "from the cache" && [ "$(compiled)" -eq 2 ]
check $? "the next run takes the kernel from the cache"
grep -q "kernel made for the campaign in" out
check $? "the timings count the batches of a made kernel"
made other lorenz.yaml --set simulation.system.parameters.beta=2.5 && event other "compiled in" &&
    [ "$(compiled)" -eq 3 ]
check $? "another number: another kernel"
planned() # SPEC WORDS: of the kernel
{
    env PATH="$compiler_folders" "$HOPSCOTCH" plan "$1" --backend cpu >out 2>err && grep -q "^kernel  *$2\$" out
}
planned lorenz.yaml "made for this campaign, from the cache" &&
    planned functions.yaml "general; makes one for this campaign if that saves time" &&
    ! planned "$systems/smoke.yaml" '.*'
check $? "the plan says which kernel a run begins with, and nothing of other models"
rm -rf cache
made one lorenz.yaml &
made two lorenz.yaml &
wait
same one && same two && [ "$(entries | wc -l)" -eq 1 ]
check $? "two runs at once share the cache: one entry, the same bits"

# ---- the cache ------------------------------------------------------------------------------------------------------

folder=cache/hopscotch/kernels count=$(compiled)
[ "$(stat -c %a $folder)" = 700 ]
check $? "the cache is private"
printf 'x' | dd of="$folder/$(entries)" bs=1 seek=5000 conv=notrunc 2>err
made damaged lorenz.yaml && same damaged && event damaged "compiled in" && [ "$(compiled)" -eq $((count + 1)) ]
check $? "an object that was changed is compiled again"
: >"$folder/$(entries)"
made emptied lorenz.yaml && same emptied && event emptied "compiled in"
check $? "an empty object, too"
chmod 755 $folder
made open lorenz.yaml && same open && event open "compiled in"
check $? "a cache that others may enter is not used"
chmod 700 $folder
chmod 777 cache/hopscotch
made above lorenz.yaml && same above && event above "compiled in"
check $? "nor one in a folder that others may write to"
chmod 755 cache/hopscotch
if [ "$(id -u)" -eq 0 ] && chown 65534 $folder 2>err; then
    made alien lorenz.yaml && same alien && event alien "compiled in"
    check $? "nor one of another user"
    chown 0 $folder
else
    skip "a cache of another user" "the right to give files away" "run it as root"
fi
rm -rf cache && mkdir cache && : >cache/hopscotch
made nowhere lorenz.yaml && same nowhere && event nowhere "compiled in"
check $? "without a cache the kernel is used all the same"
rm -rf cache
mkdir unsafe && chmod 777 unsafe
TMPDIR="$work/unsafe" made unsafe lorenz.yaml && same unsafe && event unsafe "other users may exchange its files" &&
    [ -z "$(ls unsafe)" ]
check $? "a folder in which others may exchange files is not used"

TMPDIR="$work/missing" made missing lorenz.yaml && same missing && event missing "missing is missing, or other users"
check $? "nor one that is not there"

# ---- objects that can't be used, compilers that fail ----------------------------------------------------------------

ended_all() # FILE: with the numbers of processes
{
    for process in $(cat "$1"); do
        case $(cut -d ' ' -f 3 "/proc/$process/stat" 2>/dev/null) in Z | '') ;; *) return 1 ;; esac
    done
}
failed() # NAME WORDS
{
    rm -rf cache
    made "$1" lorenz.yaml && same "$1" && event "$1" "using the general kernel" && event "$1" "$2" &&
        grep -q "compiling one for this campaign failed" err && [ -z "$(entries)" ]
}
fake wrong <<'END'
sed 's/^\(real t[0-9]* = [^ ;]*\) + /\1 - /; s/^\(real t[0-9]* = [^ ;]*\) \* /\1 + /' | exec "$real" "$@"
END
made wrong lorenz.yaml && same wrong && event wrong "not used: its bits differ" && grep -q "warning.*bits differ" err &&
    [ -z "$(entries)" ]
check $? "a kernel with wrong bits is found by its trial, and leaves the cache"
fake garbage <<'END'
echo garbage >made.so
END
made garbage lorenz.yaml && same garbage && event garbage "not used: it could not be loaded" && [ -z "$(entries)" ]
check $? "what is no object is not loaded, and leaves the cache"
fake nothing <<'END'
echo 'int other;' | exec "$real" "$@"
END
made nothing lorenz.yaml && same nothing && event nothing "not used: it could not be loaded" && [ -z "$(entries)" ]
check $? "an object without the kernel"
fake linked <<'END'
echo 'int made;' | "$real" -x c -shared -fPIC -o "$work/elsewhere.so" -
ln -s "$work/elsewhere.so" made.so
END
failed linked "the C compiler gave no object"
check $? "a link in place of the object"
fake refuses <<'END'
printf 'x.c:1: error: \033[31mno such type\nmore\n' >&2
exit 3
END
failed refuses "refused the kernel (exit status 3): error: .*no such type\"" &&
    ! grep -q "$(printf '\033')" results/refuses/log.jsonl err
check $? "a compiler that refuses: its message, visible and one line of it"
fake silent <<'END'
exit 0
END
failed silent "the C compiler gave no object"
check $? "a compiler that gives nothing"
fake crashes <<'END'
kill -SEGV $$
END
failed crashes "the C compiler died by signal 11"
check $? "a compiler that crashes"
fake large <<'END'
exec dd if=/dev/zero of=made.so bs=1M count=100
END
failed large "the C compiler" && clean
check $? "an object that is too large"
fake leaves <<'END'
touch ccleft.s
sleep 1000 &
echo $! >"$work/left"
exec "$real" "$@"
END
made leaves lorenz.yaml && same leaves && until_true ended_all left
check $? "what a compiler leaves running, and its files, go"
compiler_folders=$work/none
rm -rf cache
made absent lorenz.yaml && same absent && event absent "general: no C compiler was found by PATH"
check $? "without a compiler the event says so"
planned lorenz.yaml "general: no C compiler was found by PATH (cc, gcc or clang)"
check $? "and so does the plan"
cp recorder/cc . && count=$(compiled) compiler_folders=.::$work/none
made here lorenz.yaml && same here && event here "no C compiler" && [ "$(compiled)" -eq "$count" ]
check $? "a compiler of the working folder is not run"
rm cc

# ---- compilers that hang --------------------------------------------------------------------------------------------

fake hangs <<'END'
sleep 1000 &
echo "$! $$" >"$work/hanging"
wait
END
hangs() { [ -s hanging ]; }
gone() { ended_all hanging && clean; }
for signal in INT KILL; do
    rm -rf cache hanging
    (before=exec made hung$signal lorenz.yaml) &
    pid=$!
    until_true hangs
    leaves $signal results/hung$signal/campaign.lock
    until_true gone
    check $? "$signal while the compiler hangs: its processes and its folder go"
    [ $signal = KILL ] || { [ "$ended" -eq 130 ] && [ "$took" -lt "$patience" ]; }
    check $? "$signal: the run ends at once"
    chosen=general made hung$signal lorenz.yaml && same hung$signal
    check $? "$signal: the run resumes to the same bits"
done
if [ -z "${QUICK:-}" ]; then
    failed slow "the compiler took longer than 30 s" && gone
    check $? "a compiler that hangs is ended after its time limit"
    compiler_folders=$PATH
    rm -rf cache
    chosen=auto made auto lorenz.yaml --set search.trials=200000 --set simulation.duration=5 --batch 2000
    chosen=general made plain lorenz.yaml --set search.trials=200000 --set simulation.duration=5 --batch 2000
    kernels=$("$SQL" results/auto/campaign.db \
        "SELECT group_concat(kernel, ' ') FROM (SELECT DISTINCT kernel FROM batches ORDER BY id)")
    [ "$kernels" = "general made" ] && [ "$(digest auto)" = "$(digest plain)" ]
    check $? "auto: the general kernel begins, and a made one goes on, with the same bits"
fi
exit $status
