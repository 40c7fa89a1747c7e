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
    "verify spring" "gradient spring/best" "compare spring/1 spring/2" "doctor spring --repair --recompute"; do
    "$hop" $words >out 2>&1 </dev/null
    [ ! -e ran ]
    check $? "$words: no program runs"
done
for words in "resume spring --set record.trajectories.select.best=5" "replay spring/1" "verify spring" \
    "gradient spring/2"; do
    "$hop" $words >out 2>&1
    [ $? = 1 ] && grep -q 'add --allow-programs' out
    check $? "$words: refused in words"
done
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
[ $? = 1 ] && grep -q "says version 'spring 2', .* by version 'spring 1'" out
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
hopscotch: './no' in FOLDER is not a file that can be run: make it there, and executable
hopscotch: program '../no' leads out of the spec's folder: name a file below it, or a program in PATH
hopscotch: program '/bin/cat' leads out of the spec's folder: name a file below it, or a program in PATH
hopscotch: program './link' is a link to a file elsewhere
hopscotch: there is no program 'no-such-program' in PATH; write ./no-such-program for a file in the spec's folder
hopscotch: `sh -c echo no licence >&2; exit 3` failed before its hello: exit code 3; its last words: no licence
hopscotch: `sh -c echo hello` failed before its hello: expected '{' before "hello"
END
grep -v '^1$' refused | sed "s|in $PWD is|in FOLDER is|" | diff - expected && [ "$(grep -c '^1$' refused)" = 7 ]
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
for workers in 1 3; do
    timeout 300 "$hop" run small.yaml --name "hostile$workers" --set simulation.workers=$workers --allow-programs \
        --progress none >out 2>&1
    "$hop" query "hostile$workers" --columns mode,failure --order mode --format csv 2>>out | sed 1d | diff modes - >>out
    check $? "hostile workers, $workers at once: each a failure of its trial"
    "$hop" digest "hostile$workers" | cut -d' ' -f1 >"digest$workers"
done
cmp -s digest1 digest3
check $? "the same digest for 1 and 3 workers"
size=$(cat results/hostile*/workers.log* | wc -c)
[ "$size" -gt 1000000 ] && [ "$size" -lt 4300000 ] && ! grep -q "$(printf '\033')" results/hostile1/workers.log
check $? "workers.log is bounded, and holds nothing that a terminal obeys ($size bytes)"
left() {
    for process in $(cat processes); do
        grep -q '^State:.*[RSDT]' "/proc/$process/status" 2>/dev/null && echo "$process"
    done
}
[ -z "$(left)" ]
check $? "no process is left"

cat >other.sh <<'END'
#!/bin/sh
read -r hello
echo "{\"hello\": 1, \"version\": \"$$\"}"
sleep 1
END
chmod +x other.sh
run run small.yaml --name two --set "simulation.program=[./other.sh]" --allow-programs --progress none
grep -q "the program changed while it ran: it said version '" err
check $? "processes of two versions end the run"

# ---- a runner that is killed
: >processes
cat >slow.py <<'END'
import json, os, sys, time
open("processes", "a").write(f"{os.getpid()}\n")
sys.stdin.readline()
print('{"hello": 1}', flush=True)
for line in sys.stdin:
    request = json.loads(line)
    time.sleep(0.02)
    y = request["parameters"]["mode"] ** 2 + request["seed"] % 7
    print(json.dumps({"id": request["id"], "metrics": {"y": y}}), flush=True)
time.sleep(1000)  # does not end by itself
END
sed -i "s/over: .*/over: {mode: {linspace: [0, 1, 150]}}}/; s/hostile.py/slow.py/" small.yaml
"$hop" run small.yaml --name whole --allow-programs --progress none >out 2>&1
"$hop" digest whole | cut -d' ' -f1 >whole
"$hop" run small.yaml --name killed --allow-programs --progress none >out 2>&1 &
for try in 1 2 3; do
    sleep 0.7
    kill -9 $!
    wait $! 2>/dev/null
    sleep 0.3
    [ -z "$(left)" ]
    check $? "a runner that is killed leaves no worker behind ($try)"
    "$hop" resume killed --allow-programs --progress none >out 2>&1 &
done
wait $!
"$hop" digest killed | cut -d' ' -f1 | cmp -s - whole
check $? "killed three times and resumed: the same digest"
"$hop" run small.yaml --name stopped --allow-programs --progress none >out 2>&1 &
sleep 0.7
kill -INT $!
wait $!
[ $? = 130 ] && [ -z "$(left)" ] && "$hop" resume stopped --allow-programs --progress none >out 2>&1 &&
    "$hop" digest stopped | cut -d' ' -f1 | cmp -s - whole
check $? "Ctrl-C ends the workers, and the campaign goes on"
"$hop" run small.yaml --name learns --set search.method=cmaes --set 'search.over.mode={range: [0, 100]}' \
    --set search.cmaes.stop.generations=3 --set replicates.count=2 --allow-programs --progress none >out 2>&1 &&
    "$hop" replay learns/best --allow-programs >>out 2>&1 && grep -q 'the same to the bit' out
check $? "a search that learns, with replicates"
exit "$status"
