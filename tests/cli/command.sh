#!/bin/sh
# `model: command`: a program runs only if the user says so, whatever its processes do becomes a failure of their trial,
# and neither their number nor a killed runner changes what is stored.
. "$(dirname "$0")/../scratch.sh"

hop=$HOPSCOTCH
cp "$root"/experiments/command/spring.sh "$root"/experiments/command/spring.yaml .

# ---- trust
cat >touch.sh <<'END'
#!/bin/sh
touch ran
exec ./spring.sh
END
chmod +x touch.sh
sed 's/spring.sh/touch.sh/' spring.yaml >touch.yaml
"$hop" check touch.yaml >out 2>&1 && [ ! -e ran ]
check $? "check runs no program"
"$hop" run touch.yaml >out 2>&1
[ $? = 1 ] && grep -q 'add --allow-programs' out && [ ! -e ran ] && [ ! -e results/spring ]
check $? "run refuses a program, and leaves nothing behind"
"$hop" plan touch.yaml >out 2>&1
[ $? = 1 ] && grep -q 'add --allow-programs' out && [ ! -e ran ]
check $? "plan refuses it"
few="--set search.over.damping=[-1,5,10] --set search.over.stiffness=[20,50]"
"$hop" run touch.yaml $few --allow-programs --progress none >out 2>&1 && [ -e ran ] && grep -q '6 of 6' out
check $? "with --allow-programs it runs"
rm -f ran
for words in "resume spring --set limits.trials=9 --set record.trajectories.select.best=5" "replay spring/1" \
    "verify spring" "gradient spring/best" "compare spring spring" "doctor spring --repair"; do
    "$hop" $words >out 2>&1 </dev/null
    [ ! -e ran ]
    check $? "$words: no program runs"
done
cp -r results/spring whole
"$SQL" results/spring/campaign.db "DELETE FROM trials WHERE id = 3"
for words in "resume spring --set record.trajectories.select.best=5" "replay spring/1" "verify spring" \
    "gradient spring/2" "compare spring spring" "doctor spring --repair"; do
    "$hop" $words >out 2>&1
    [ $? = 1 ] && grep -q 'this would run `./touch.sh` .*add --allow-programs' out && [ ! -e ran ]
    check $? "$words: refused in words"
done
rows() { "$hop" query spring --columns id,settled,energy --format csv; }
"$hop" doctor spring --repair --allow-programs >out 2>&1 && [ -e ran ] && run doctor spring && rows >again &&
    rm -rf results/spring && mv whole results/spring && rows | cmp -s - again
check $? "a lost trial is simulated again with the permission"
long=$(printf '%070d' 0)
"$hop" run touch.yaml --set "simulation.program=[./touch.sh,$long]" >out 2>&1
grep -q "this would run \`./touch.sh $(printf '%057d' 0)...\` in $PWD: a program can do all" out
check $? "the refusal names the folder, and marks what it cuts"
rm -f ran
"$hop" report spring -o page.html >out 2>&1 && "$hop" show spring/2 >>out 2>&1 && [ ! -e ran ]
check $? "a campaign can be looked at without its program"

# ---- the same again
"$hop" replay spring/2 --allow-programs -o motion.csv >out 2>&1 && grep -q 'the same to the bit' out &&
    head -1 motion.csv | grep -qx 'time,x' && [ "$(wc -l <motion.csv)" = 101 ]
check $? "replay gives the same metrics, and the trajectory"
"$hop" verify spring --allow-programs --progress none >out 2>&1
check $? "verify runs"
"$hop" digest spring >one 2>&1
"$hop" run spring.yaml $few --set simulation.program='[./touch.sh]' --set simulation.workers=1 --name other \
    --allow-programs --progress none >out 2>&1 && "$hop" digest other >two 2>&1 &&
    [ "$(cut -d' ' -f1 one)" = "$(cut -d' ' -f1 two)" ]
check $? "another number of workers gives the same digest"
# ---- in parts
part() { "$hop" run touch.yaml $few --name parted --part "$1/2" --allow-programs --progress none >out 2>&1; }
part 1 && part 2
check $? "two parts"
refused gather parted
has "add --allow-programs" err
works gather parted --allow-programs
"$hop" digest parted >two 2>&1 && [ "$(cut -d' ' -f1 one)" = "$(cut -d' ' -f1 two)" ]
check $? "joined they have the digest of one run"
works replay parted/2 --allow-programs
rm -rf results/parted results/parted.parts/02of02 && sed -i 's/spring 1/spring 2/' spring.sh && part 2
refused gather parted --allow-programs
has "02of02 was computed by version 'spring 2' of the program, and the parts that are joined by version 'spring 1'" err
works gather parted --allow-programs --accept-version
sed -i 's/spring 2/spring 1/' spring.sh
# One part of another version does not hold up those behind it; searches that learn are joined as a whole.
thirds() { "$hop" run touch.yaml $few --name thirds --part "$1/3" --allow-programs --progress none >out 2>&1; }
thirds 1 && thirds 3 && sed -i 's/spring 1/spring 2/' spring.sh && thirds 2 && sed -i 's/spring 2/spring 1/' spring.sh
refused gather thirds --allow-programs
has "02of03 was computed by version 'spring 2' of the program" err
works status thirds
has "2 of 3 are joined"
cat >learns.yaml <<'END'
version: 1
experiment: learns_in_parts
model: command
simulation: {program: [./touch.sh]}
parameters: {stiffness: {range: [20, 50]}, damping: {range: [1, 10]}}
metrics: [settled, energy]
failures: [unstable]
columns: {x: m}
objective: {minimize: settled}
search:
  method: cmaes
  over: {stiffness: {range: [20, 50]}, damping: {range: [1, 10]}}
  cmaes: {searches: 2, stop: {generations: 2}}
END
"$hop" run learns.yaml --part 1/2 --allow-programs --progress none >out 2>&1
sed -i 's/spring 1/spring 2/' spring.sh
"$hop" run learns.yaml --part 2/2 --allow-programs --progress none >out 2>&1
sed -i 's/spring 2/spring 1/' spring.sh
refused gather learns_in_parts --allow-programs
has "02of02 was computed by version 'spring 2' of the program" err
works gather learns_in_parts --allow-programs --accept-version
refused submit spring.yaml --parts 2 --print
has "add --allow-programs" err
works submit spring.yaml --parts 2 --print --allow-programs
[ "$(grep -c -- '--progress none --allow-programs' out)" = 2 ]
check $? "a batch script has the permission"

sed -i 's/%.17g, "energy/%.17g0, "energy/; s/settled, energy/settled * 1.5, energy/' touch.sh spring.sh
"$hop" replay spring/2 --allow-programs >out 2>&1
[ $? = 3 ] && grep -q 'gives other numbers now: fitness is .*; settled is' out && ! grep -q energy out
check $? "replay says which metric a changed program gives otherwise"

sed 's/^columns.*//' spring.yaml >none.yaml
run check none.yaml
grep -q 'no trajectory can be recorded: the spec declares no columns' err
check $? "trajectories need columns"
run run none.yaml $few --set record.trajectories.select.best=0 --name none --allow-programs --progress none &&
    ! run replay none/2 --allow-programs -o - &&
    grep -q 'the spec declares no columns, so there is no trajectory to write' err
check $? "a replay says that there are none"
run check "$root/experiments/mujoco/stand.yaml"
check $? "stand.yaml"

# ---- versions
cp "$root"/experiments/command/spring.sh .
"$hop" run spring.yaml $few --name versions --set limits.trials=2 --allow-programs --progress none >out 2>&1
sed -i 's/spring 1/spring 2/' spring.sh
"$hop" resume versions --set limits.trials=none --allow-programs --progress none >out 2>&1
[ $? = 1 ] && grep -q "the program has version 'spring 2', but versions was computed by 'spring 1'" out
check $? "another version of the program is refused"
"$hop" resume versions --set limits.trials=none --allow-programs --accept-version --progress none >out 2>&1 &&
    grep -q '6 of 6' out
check $? "--accept-version goes on"

# ---- programs that can't be run
cat >small.yaml <<'END'
version: 1
experiment: small
model: command
simulation: {program: [./no]}
parameters: {mode: {range: [0, 100]}}
metrics: [y]
objective: {minimize: y}
failures: [fell]
search: {method: list, points: {mode: [0]}}
END
sed -i 's/^search: .*/search: {method: grid, over: {mode: [0]}}/' small.yaml
ln -s /bin/cat link
for words in '[./no]' '[../no]' '[/bin/cat]' '[./link]' '[no-such-program]' '[sh, -c, "echo no licence >&2; exit 3"]' \
    '[sh, -c, "echo hello"]'; do
    "$hop" run small.yaml --set "simulation.program=$words" --allow-programs --progress none >>refused 2>&1
    echo "$?" >>refused
done
cat >expected <<'END'
hopscotch: './no' in FOLDER is not a file that can be run: make it there, and executable, or add --program-folder DIR
hopscotch: program '../no' leads out of the spec's folder: name a file below it, or a program in PATH
hopscotch: program '/bin/cat' leads out of the spec's folder: name a file below it, or a program in PATH
hopscotch: program './link' is a link to a file elsewhere
hopscotch: there is no program 'no-such-program' in PATH; write ./no-such-program for a file in the spec's folder
hopscotch: `sh -c echo no licence >&2; exit 3` failed before its hello: exit code 3; its last words: no licenceHINT
hopscotch: `sh -c echo hello` failed before its hello: expected '{' before "hello"HINT
END
hint='; a Python function needs `program: [python3, -m, hopscotch.worker, simulate.py]`, another program the protocol '
hint="${hint}that \`hopscotch models command\` prints"
hint=$(echo "$hint" | sed 's/[[]/\\[/g')
grep -v '^1$' refused | sed "s|in $PWD is|in FOLDER is|; s|$hint|HINT|" >seen
diff seen expected && [ "$(grep -c '^1$' refused)" = 7 ]
check $? "a program that can't be run is one clear message"
[ ! -e results/small ]
check $? "and no campaign"

# ---- hostile workers
with_python "hostile workers" || exit "$status"
cp "$root/tests/command/hostile.py" .
python3 hostile.py expected >modes
last=$(($(wc -l <modes) - 1))
sed -i "s/over: .*/over: {mode: {linspace: [0, $last, $((last + 1))]}}}/" small.yaml
sed -i 's/\[.\/no\]/[python3, -I, -S, hostile.py], timeout: 2s/' small.yaml
# Workers that never answer have 2 s, and all others as long as a busy machine takes. One that answers and then stays
# keeps the next request until its time is up; a new process answers it.
hostile() # NAME TIMEOUT PATTERN: the modes with these lines
{
    name=$1 time=$2
    shift 2
    timeout 300 "$hop" run small.yaml --name "$name" --set simulation.workers=$workers --allow-programs \
        --progress none --set simulation.timeout="$time" \
        --set "search.over.mode=[$(grep "$@" modes | cut -d , -f 1 | paste -s -d ,)]" >out 2>&1
    "$hop" query "$name" --columns mode,failure --format csv 2>>out | sed 1d >>answers
    "$hop" digest "$name" | cut -d' ' -f1 >>"digest$workers"
}
for workers in 1 3; do
    : >answers
    hostile "hostile$workers" 60s -v -e timeout -e stay
    hostile "hostile_late$workers" 2s timeout
    hostile "hostile_stays$workers" 10s -A 3 stay
    cut -d , -f 1,2 modes >expected
    sort -n answers | uniq | diff expected - >>out
    check $? "hostile workers, $workers at once: each a failure of its trial"
done
cmp -s digest1 digest3
check $? "the same digest for 1 and 3 workers"
size=$(cat results/hostile*/workers.log* | wc -c)
[ "$size" -gt 1000000 ] && [ "$size" -lt 4300000 ] && ! LC_ALL=C grep -q '[^ -~]' results/hostile1/workers.log &&
    grep -qF '\x9B31m \x9B31m ? \u202E' results/hostile1/workers.log* &&
    grep -qF 'metric '"'y'"' is not a finite number: "\x1B[31m' results/hostile1/workers.log
check $? "workers.log is bounded, and holds nothing that a terminal obeys ($size bytes)"
left() {
    for process in $(cat processes); do
        grep -q '^State:.*[RSDT]' "/proc/$process/status" 2>/dev/null && echo "$process"
    done
}
gone() { [ -z "$(left)" ]; }
until_true gone
check $? "no process is left"

# The runner's memory while workers write lines without end is within what `plan` says. A line may be as long as a
# trajectory that is asked for.
cat >flood.py <<'END'
import os, sys
sys.stdin.readline()
os.write(1, b'{"hello": 1}\n')
for line in sys.stdin:
    while True:
        os.write(1, b"9" * 65536)
END
cat >flood.yaml <<'END'
version: 1
experiment: flood
model: command
simulation: {program: [python3, -I, -S, flood.py], samples: 300000}
parameters: {mode: 0}
metrics: [y]
objective: {minimize: y}
columns: {x: m}
search: {method: grid, over: {mode: [1, 2, 3, 4, 5, 6]}}
record: {trajectories: {select: {every: 1}}}
END
planned()
{
    "$hop" plan flood.yaml --set simulation.workers="$1" --allow-programs --json |
        sed -n 's/.*"host_bytes": \([0-9]*\).*/\1/p'
}
"$hop" run flood.yaml --set simulation.workers=3 --allow-programs --progress none >out 2>&1 &
pid=$! most=0
while now=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$pid/status" 2>/dev/null) && [ -n "$now" ]; do
    most=$now
    sleep 0.05
done
wait $pid
pid=
case $hop in
*/asan/* | */tsan/*) ;; # sanitizers take memory of their own
*)
    "$hop" query flood --columns failure --format csv 2>/dev/null | sed 1d | sort -u | grep -qx protocol &&
        [ $((most * 1024)) -gt 72000000 ] && [ $((most * 1024)) -lt "$(planned 3)" ] &&
        [ $(($(planned 3) - $(planned 2))) -gt 24000000 ]
    check $? "three workers that flood it: the runner takes $((most / 1024)) MiB; plan says $(planned 3) bytes"
    ;;
esac

cat >other.sh <<'END'
#!/bin/sh
read -r hello
echo "{\"hello\": 1, \"version\": \"$$\"}"
sleep 1
END
chmod +x other.sh
run run small.yaml --name two --set "simulation.program=[./other.sh]" --allow-programs --progress none
grep -q "the program's version changed from '" err
check $? "processes of two versions end the run"

# ---- a program that can't start for a while
# Once it has answered, `down` holds the time until which it can't start.
cat >licence.py <<'END'
import json, os, sys, time
if os.path.exists("down") and time.time() < float(open("down").read()):
    sys.exit("no licence")
sys.stdin.readline()
print('{"hello": 1}', flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if not os.path.exists("down"):
        open("down", "w").write(str(time.time() + float(sys.argv[1])))
        os._exit(1)
    print(json.dumps({"id": request["id"], "metrics": {"y": 1}}), flush=True)
END
for workers in 1 2; do
    rm -f down
    run run small.yaml --name "short$workers" --set simulation.workers=$workers --set search.over.mode=[1,2,3] \
        --set "simulation.program=[python3, -I, -S, licence.py, '2']" --allow-programs --progress none &&
        grep -q 'failed before its hello: exit code 1' "results/short$workers/workers.log"
    check $? "a program that can't start for two seconds costs the run nothing ($workers workers)"
done
rm -f down
HOPSCOTCH_FAULT=backend:start:1+:TIME "$HOPSCOTCH_FAULTS_PROGRAM" run small.yaml --name gives_up \
    --set search.over.mode=[1,2,3] --set "simulation.program=[python3, -I, -S, licence.py, '1000']" --allow-programs \
    --progress none >out 2>err
[ $? = 3 ] && grep -q 'failed before its hello: exit code 1; its last words: no licence' err
check $? "one that can't start any more ends it"

# ---- a worker that answers what it was not asked yet
cat >ahead.py <<'END'
import json, sys
sys.stdin.readline()
print('{"hello": 1}', flush=True)
for line in sys.stdin:
    request = json.loads(line)
    assert 0 < request["id"] < 2 ** 31
    with open("ids", "a") as ids:
        print(request["id"], file=ids)
    for number in range(2):  # and, at once, the next one
        print(json.dumps({"id": request["id"] + number, "metrics": {"y": 900 * number}}), flush=True)
END
rm -f ids
run run small.yaml --name ahead --set simulation.workers=1 --set "simulation.program=[python3, -I, -S, ahead.py]" \
    --set 'search.over.mode=[1,2,3]' --allow-programs --progress none
run query ahead --sql "SELECT count(*) FROM trials WHERE y > 0"
grep -qx '[^0-9]*0' out || [ "$(tail -n 1 out | tr -d ' ')" = 0 ]
check $? "an answer to a request that was not given yet counts for none"
run run small.yaml --name ahead2 --set simulation.workers=1 --set "simulation.program=[python3, -I, -S, ahead.py]" \
    --set 'search.over.mode=[1,2,3]' --allow-programs --progress none
[ "$(wc -l <ids)" -ge 2 ] && [ -z "$(sort ids | uniq -d)" ]
check $? "ids differ from request to request and from run to run"
HOPSCOTCH_FAULT=backend:random:1:TIME "$HOPSCOTCH_FAULTS_PROGRAM" run small.yaml --name no_random --allow-programs \
    --progress none >out 2>err
[ $? = 3 ] && grep -q 'there are no random bytes for ids' err
check $? "without random bytes no program is run"

# ---- a runner that is killed
: >processes
cat >slow.py <<'END'
import json, os, sys, time
open("processes", "a").write(f"{os.getpid()}\n")
sys.stdin.readline()
print('{"hello": 1}', flush=True)
for line in sys.stdin:
    request = json.loads(line)
    open("asked", "a").write("x")
    time.sleep(0.02)
    y = request["parameters"]["mode"] ** 2 + request["seed"] % 7
    print(json.dumps({"id": request["id"], "metrics": {"y": y}}), flush=True)
time.sleep(1000)  # does not end by itself
END
asked() { [ "$(wc -c <asked)" -ge "$1" ]; } # REQUESTS that workers got
sed -i "s/over: .*/over: {mode: {linspace: [0, 1, 150]}}}/; s/hostile.py/slow.py/" small.yaml
"$hop" run small.yaml --name whole --allow-programs --progress none >out 2>&1
"$hop" digest whole | cut -d' ' -f1 >whole
"$hop" run small.yaml --name killed --allow-programs --progress none >out 2>&1 &
: >asked
for try in 1 2 3; do
    until_true asked $((20 * try))
    kill -9 $!
    wait $! 2>/dev/null
    until_true gone
    check $? "a runner that is killed leaves no worker behind ($try)"
    "$hop" resume killed --allow-programs --progress none >out 2>&1 &
done
wait $!
"$hop" digest killed | cut -d' ' -f1 | cmp -s - whole
check $? "killed three times and resumed: the same digest"
cat >regroup.py <<'END'
import ctypes, os, time
open("processes", "a").write(f"{os.getpid()}\n")
os.setpgid(0, os.getpgid(os.getppid()))
ctypes.CDLL(None).prctl(1, 0)  # PR_SET_PDEATHSIG: it does not die with its parent
open("regrouped", "w").write("1")
time.sleep(1000)
END
: >processes
"$hop" run small.yaml --name regroup --set "simulation.program=[python3, -I, -S, regroup.py]" --allow-programs \
    --progress none >out 2>&1 &
pid=$!
until_true test -s regrouped
kill -9 $pid
wait $pid 2>/dev/null
pid=
until_true gone
check $? "nor one that went to another process group"
: >processes && : >asked
"$hop" run small.yaml --name stopped --allow-programs --progress none >out 2>&1 &
until_true asked 20
kill -INT $!
wait $!
[ $? = 130 ] && until_true gone && "$hop" resume stopped --allow-programs --progress none >out 2>&1 &&
    "$hop" digest stopped | cut -d' ' -f1 | cmp -s - whole
check $? "Ctrl-C ends the workers, and the campaign goes on"
sed 's/0.02/0.001/; s/"y": y}/"y": y, "z": (y - 50) ** 2}/' slow.py >two.py
sed 's/^search: .*/search: {over: {mode: {range: [0, 100]}}}/; s/^metrics: .*/metrics: [y, z]/
    s/^simulation: .*/simulation: {program: [python3, -I, -S, two.py]}/' small.yaml >methods.yaml
while IFS='|' read -r method options objective; do
    run run methods.yaml --name "by_$method" --set search.method="$method" --set "search.$options" \
        --set "objective.minimize=$objective" --allow-programs --progress none &&
        run replay "by_$method/2" --allow-programs && grep -q 'the same to the bit' out
    check $? "search method $method"
done <<'END'
random|trials=20|y
sobol|trials=16|y
morris|trajectories=6|y
sobol_indices|samples=8|y
nsga2|nsga2={population: 8, stop: {generations: 3}}|[y, z]
END
"$hop" run small.yaml --name learns --set search.method=cmaes --set 'search.over.mode={range: [0, 100]}' \
    --set search.cmaes.stop.generations=3 --set replicates.count=2 --allow-programs --progress none >out 2>&1 &&
    "$hop" replay learns/best --allow-programs >>out 2>&1 && grep -q 'the same to the bit' out
check $? "a search that learns, with replicates"
exit "$status"
