#!/bin/sh
# The limits of `ulimit`: the size of files (-f), the stack (-s), the address space (-v). Every command works under
# them, or ends with exit code 3 and one message that names the limit. No signal ends a command, and a campaign
# continues when the limit is removed.
#
#   SEED=N                     other limits
#   QUICK=1                    fewer of them
. "$(dirname "$0")/../scratch.sh"
if ldd "$HOPSCOTCH" | grep -q 'lib[atu]b*san'; then
    skip "little stack and address space" "a build without sanitizers" "make test"
    exit 0
fi
ulimit -c 0

make_gait
cat >world.yaml <<'END_OF_SPEC'
version: 1
experiment: world
model: rigid
simulation:
  duration: 0.02
  world:
    bodies:
      - {name: a, position: [0, 0, 0]}
      - {name: b, position: [0, 1, 0]}
search: {method: grid, over: {alpha: [5]}}
END_OF_SPEC
commands='list
status gait
best gait
query gait --limit 2
query gait --sql "SELECT count(*) FROM trials"
show gait/best
report gait -o report.html
plot gait --kind scatter -o scatter.svg
replay gait/best --backend cpu
replay gait/best --backend cpu --html motion.html
digest gait
doctor gait
verify gait --seeds 2 --grid 0 --backend cpu --progress none
compare gait gait --backend cpu --progress none
run gait.yaml --name other --backend cpu --progress none
run world.yaml --backend cpu --progress none
resume gait --progress none
run gait.yaml --name points --set "search={method: list, csv: points.csv}" --progress none
export gait --csv out.csv
export gait --hdf5 out.h5
tag gait good
note gait words
rm gait --yes
gc --yes
plan gait.yaml --backend cpu
check gait.yaml
models hopper
schema
help spec
help spec all
help spec cmaes
version'

works run gait.yaml --backend cpu --progress none
whole=$(digest gait)
cp -r results whole
fresh() { rm -rf results && cp -r whole results; }

# each FUNCTION: calls it with every command, each time with the original campaigns
each()
{
    while read -r command; do
        "$1" "$command"
        case $command in run* | resume* | rm* | verify* | compare*) fresh ;; esac
    done <<END
$commands
END
}

# limited FLAG VALUE COMMAND: runs it under the limit; output in `out` and `err`, exit status in $code
limited()
{
    (
        ulimit "$1" "$2" || exit 99
        eval "exec \"\$HOPSCOTCH\" $3"
    ) >out 2>err </dev/null
    code=$?
}

# ---- the stack ------------------------------------------------------------------------------------------------------
# stack sizes in KiB, from the least with which a program starts to more than the default
bad=
stacks="128 512 8192"
[ -n "${QUICK:-}" ] || { random 64 600 && stacks="64 128 $value 512 2048 8192"; }
with_stack()
{
    limited -s "$stack" "$1"
    [ "$code" -eq 0 ] || bad="$bad; $1 with $stack KiB: $code"
}
for stack in $stacks; do each with_stack; done
[ -z "$bad" ]
check $? "every command with a stack of $stacks KiB${bad:+: $bad}"
(
    ulimit -s 512
    exec "$HOPSCOTCH" run "$root/experiments/smoke.yaml" --backend cpu --set simulation.duration=300 --progress none
) >out 2>err </dev/null &
pid=$!
leaves INT results/smoke/campaign.lock
expect "$ended" 130 "a run with a small stack leaves when it is interrupted"
rm -rf results/smoke
cat >many.yaml <<'END_OF_SPEC'
version: 1
experiment: many
model: hopper
simulation: {duration: 0.002, dt: 1.0e-3, settle: 0}
replicates: {count: 65536, perturb: {z_foot: {uniform: [0.35, 0.45]}}}
search: {method: grid, over: {k_fp: [100]}}
objective: {minimize: attitude_rms, over: median}
record: {trajectories: {select: {best: 1}, sample: 0.01}}
END_OF_SPEC
limited -s 512 "run many.yaml --backend cpu --progress none"
expect "$code" 0 "as many replicates as a trial can have, with a stack of 512 KiB"

# ---- the address space ----------------------------------------------------------------------------------------------
bad= refused=
spaces="200000 1000000"
[ -n "${QUICK:-}" ] || spaces="$(random 32000 60000 && echo "$value") $(random 60000 90000 && echo "$value") $spaces"
with_space()
{
    limited -v "$space" "$1"
    case $code in
    0) ;;
    127) ;; # the program's libraries could not be loaded
    3)
        refused="$refused $space"
        grep -q 'memory\|thread\|process' err out || bad="$bad; $1 with $space KiB: $(tail -n 1 err)"
        ;;
    *) bad="$bad; $1 with $space KiB: $code" ;;
    esac
}
for space in $spaces; do each with_space; done
[ -z "$bad" ]
check $? "every command with an address space of $spaces KiB works or says what it lacks${bad:+: $bad}"
case $refused in *" 200000"* | *" 1000000"*) false ;; esac
check $? "200 MB are enough for each command:$refused"

# ---- the size of files ----------------------------------------------------------------------------------------------
# sizes in blocks of 512 bytes; output goes through pipes, to which the limit does not apply
mkfifo out_pipe err_pipe
small()
{
    cat out_pipe >out &
    cat err_pipe >err &
    (
        ulimit -f "$1" || exit 99
        eval "exec \"\$HOPSCOTCH\" $2"
    ) >out_pipe 2>err_pipe </dev/null
    code=$?
    wait
}

bad=
blocks="0 150"
[ -n "${QUICK:-}" ] || {
    random 1 50 && blocks="0 $value"
    random 51 150 && blocks="$blocks $value"
    random 151 400 && blocks="$blocks $value"
}
with_files()
{
    small "$block" "$1"
    case $code in
    0) ;;
    3)
        grep -q "files are limited to $((block * 512)) bytes (ulimit -f): raise that limit, then resume" err ||
            bad="$bad; $1 with $block: $(tail -n 1 err)"
        ;;
    *) bad="$bad; $1 with $block: $code" ;;
    esac
    case $1 in
    "run gait.yaml"*)
        run run gait.yaml --name other --backend cpu --progress none
        [ "$(digest other)" = "$whole" ] || bad="$bad; another digest after $block"
        run doctor other || bad="$bad; the doctor after $block: $(grep FINDING out)"
        ;;
    rm*) ;;
    *) [ "$(digest gait)$(digest other)" = "$whole" ] || bad="$bad; $1 with $block changed it" ;;
    esac
}
for block in $blocks; do each with_files; done
[ -z "$bad" ]
check $? "every command with files of at most $blocks blocks works or says so, and a run then continues${bad:+: $bad}"
exit "$status"
