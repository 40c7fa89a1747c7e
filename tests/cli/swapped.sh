#!/bin/sh
# A file that a spec names is exchanged by another program while the spec is read: the file that is checked is the file
# that is read. The program is stopped before each of its opens in turn; the file becomes a link out of the folder, a
# pipe or another file; then it continues. It never reads a file outside, and never waits.
. "$(dirname "$0")/../scratch.sh"
program=$HOPSCOTCH_FAULTS_PROGRAM
mkdir spec outside
echo 'secret: [7531' >outside/secret
printf 'k_7531,b\n7531,7532\n' >outside/secret.csv
printf '7531 7532 x7531\n' >outside/secret.xyz
cat >spec/whole.yaml <<'END_OF_SPEC'
version: 1
experiment: gait
model: hopper
include: part.yaml
search: {method: list, csv: points.csv}
objective: {minimize: attitude_rms}
END_OF_SPEC
printf 'simulation: {duration: 0.02, dt: 1.0e-3, settle: 0}\n' >spec/part.yaml
printf 'k_fp\n100\n150\n' >spec/points.csv
cat >spec/ndt.yaml <<'END_OF_SPEC'
version: 1
experiment: align
model: ndt
simulation:
  target: cloud.csv
  source: other.csv
search: {method: grid, over: {start_x: [0, 0.1]}}
END_OF_SPEC
awk 'BEGIN { print "x,y,z"; for (i = 0; i < 300; i++) print i % 10, int(i / 10) % 6, int(i / 60) / 3 }' >spec/cloud.csv
cp spec/cloud.csv spec/other.csv
works check spec/whole.yaml
works check spec/ndt.yaml
is_stopped() { case $(cut -d ' ' -f 3 "/proc/$pid/stat" 2>/dev/null) in T) ;; *) false ;; esac; }

# swapped SPEC FILE HOW: exchanges the file before each open call of the reading process
bad= stops=0
swapped()
{
    call=1 stopped=true
    while "$stopped" && [ "$call" -lt 12 ]; do
        cp "spec/$2" kept
        HOPSCOTCH_FAULT=open:$call:STOP "$program" check "spec/$1" >out 2>err </dev/null &
        pid=$! stopped=false waited=0
        while kill -0 "$pid" 2>/dev/null && [ "$waited" -lt 3000 ]; do
            if is_stopped; then
                stopped=true
                break
            fi
            sleep 0.01
            waited=$((waited + 1))
        done
        rm "spec/$2"
        case $3 in
        link) ln -s "$work/outside/secret.${2##*.}" "spec/$2" ;;
        pipe) mkfifo "spec/$2" ;;
        folder) mkdir "spec/$2" ;;
        esac
        kill -CONT "$pid" 2>/dev/null
        waited=0
        while kill -0 "$pid" 2>/dev/null && [ "$waited" -lt 3000 ]; do
            sleep 0.01
            waited=$((waited + 1))
        done
        [ "$waited" -lt 3000 ] || bad="$bad; $1 waits for $2 as a $3"
        kill -9 "$pid" 2>/dev/null
        wait "$pid"
        ended=$?
        pid=
        [ "$ended" -le 3 ] || bad="$bad; $1 with $2 as a $3: $ended"
        ! grep -q 753 out err || bad="$bad; $1 read the $3 in place of $2: $(grep -m 1 753 out err)"
        rm -rf "spec/$2"
        mv kept "spec/$2"
        "$stopped" && stops=$((stops + 1))
        call=$((call + 1))
    done
}
cp outside/secret outside/secret.yaml
for how in link pipe folder; do
    swapped whole.yaml part.yaml "$how"
    swapped whole.yaml points.csv "$how"
    swapped ndt.yaml cloud.csv "$how"
done
[ -z "$bad" ] && [ "$stops" -gt 15 ]
check $? "a file that is exchanged at one of $stops moments is not read${bad:+: $bad}"
exit "$status"
