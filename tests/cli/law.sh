#!/bin/sh
# Control laws of the user's own (control: law): the hopper's own controller as a law against the built-in one; a law
# with everything against what Python computes from the columns; equal bits whatever the instruction set, the batch, the
# threads and the samples; noise; what is refused.
. "$(dirname "$0")/../law.sh"

says() # says TITLE PATTERN [FILE]
{
    grep -q -- "$2" "${3:-err}"
    check $? "$1"
}

# ---- the hopper's controller as a law -------------------------------------------------------------------------------

cat >hop.yaml <<'.'
version: 1
experiment: hop
model: hopper
simulation:
  duration: 5
  dt: 0.001
  integrator: rk4
  control:
    mode: law
    law:
      held: {T_s: {start: 0.425, unit: s}, T_c: {start: 0, unit: s}, on: {start: 0, unit: s},
             since: {start: 0, unit: s}}
      let:
        v: l_2*dphi_body*cos(phi_body) + dx_foot + len_leg*dphi_leg*cos(phi_leg) + dlen_leg*sin(phi_leg)
        a_des: "-asin(clip((v*T_s/2 + k_xdot*(v - x_dot_des))/len_leg, -1, 1))"
        place: "if(z_foot > z_low, k_fp*(phi_leg - a_des) + b_fp*dphi_leg, 0)"
        level: "-k_att*(phi_body - phi_leg/2) - b_att*dphi_body"
      modes:
        flight:
          effort: {u1: 0, u2: place}
          events: [{falls: fsm - 1.5, to: compression, set: {since: time}}]
        compression:
          effort: {u1: 0, u2: level}
          events: [{rises: fsm - 0.5, to: thrusting, set: {T_c: time - since, on: time, since: time}}]
        thrusting:
          effort: {u1: "if(time - on <= T_max_thrust, thrust, 0)", u2: level}
          events: [{rises: fsm - 1.5, to: flight, set: {T_s: time - on + T_c, since: time}}]
parameters: {u1_min: -1e5, u1_max: 1e5, u2_min: -1e5, u2_max: 1e5}
search: {method: grid, over: {k_xdot: [0.01, 0.02, 0.03], thrust: [34, 35, 36]}}
objective: {minimize: velocity_error}
.
sed -e '/^  control:/,/^parameters/d' -e 's/^experiment: hop/experiment: own/' hop.yaml >own.yaml
for spec in hop own; do
    "$HOPSCOTCH" run $spec.yaml --progress none >out 2>err
    check $? "run $spec"
    columns=velocity_error,distance,hop_count,apex_mean,attitude_rms,energy,peak_ground_force
    "$HOPSCOTCH" query $spec --columns $columns --order id --format csv >$spec.csv
done
paste -d, hop.csv own.csv | awk -F, 'NR > 1 { rows++
    for (i = 1; i <= 7; i++) {
        far = ($i - $(i + 7)) / ($(i + 7) + 1e-12)
        if (far > 1e-10 || far < -1e-10) bad++
    } }
    END { exit !(rows == 9 && bad == 0) }'
check $? 'the hopper under its own controller as a law: nine trials with the metrics of the built-in one to 1e-10'
"$HOPSCOTCH" replay hop/4 >out 2>err && grep -q 'the same to the bit' out err
check $? 'a replay gives its bits'

# on top of the built-in controller
added='{add: {u1: 0.05*thrust*sin(9*time), u2: 0.1*k_att*phi_leg}}'
bounds='parameters={u1_min: -1e5, u1_max: 1e5, u2_min: -1e5, u2_max: 1e5}'
sed -e 's/u1: 0,/u1: 0.05*thrust*sin(9*time),/; s/thrust, 0)"/thrust, 0) + 0.05*thrust*sin(9*time)"/' \
    -e 's/u2: \([a-z]*\)}/u2: \1 + 0.1*k_att*phi_leg}/' hop.yaml >alike.yaml
"$HOPSCOTCH" run alike.yaml --name alike --progress none >out 2>err &&
    "$HOPSCOTCH" run own.yaml --name added --progress none --set "simulation.control={law: $added}" \
        --set "$bounds" >out 2>err
check $? "laws on top of the hopper's controller run: $(cat err)"
for spec in alike added; do
    "$HOPSCOTCH" query $spec --columns $columns --order id --format csv >$spec.csv
done
paste -d, alike.csv added.csv own.csv | awk -F, 'NR > 1 { rows++
    for (i = 1; i <= 7; i++) {
        far = ($i - $(i + 7)) / ($(i + 7) + 1e-12)
        if (far > 1e-10 || far < -1e-10) bad++
        if ($(i + 7) != $(i + 14)) moved++
    } }
    END { exit !(rows == 9 && bad == 0 && moved > 50) }'
check $? "a law on top of the hopper's controller moves it as one that gives it all, to 1e-10"
for way in '--isa scalar --threads 1' '--batch 4'; do
    # shellcheck disable=SC2086
    "$HOPSCOTCH" run own.yaml --name way --progress none --set "simulation.control={law: $added}" --set "$bounds" \
        $way >out 2>err
    "$HOPSCOTCH" query way --columns $columns --order id --format csv | cmp -s - added.csv
    check $? "it has equal bits with $way"
    rm -rf results/way
done
"$HOPSCOTCH" run own.yaml --name nothing --progress none --set 'simulation.control={law: {add: {u1: 0}}}' >out 2>err
"$HOPSCOTCH" query nothing --columns $columns --order id --format csv | cmp -s - own.csv
check $? 'what adds nothing leaves its bits'
"$HOPSCOTCH" check own.yaml --set "simulation.control={law: $added}" \
    --set simulation.integrator=dormand_prince >out 2>err
says 'refused: adaptive steps under what a law adds' 'control.law needs fixed steps: choose another integrator'

"$HOPSCOTCH" check hop.yaml --set simulation.integrator=dormand_prince >out 2>err
[ $? -eq 1 ]
check $? 'refused: adaptive steps under a law'
says 'and it says what to take' 'control: {mode: law} needs fixed steps: choose another integrator than dormand_prince'

# ---- a law with everything ------------------------------------------------------------------------------------------

cat >all.yaml <<'.'
version: 1
experiment: all
model: articulated
seed: 3
simulation:
  robot: arm.xml
  duration: 2
  dt: 0.002
  control:
    mode: law
    period: 0.006
    law:
      parameters:
        amp: {value: 0.3, unit: rad, range: [0, 1]}
        freq: {value: 1.5, unit: Hz}
        kd: {value: 0.2, unit: N m s/rad}
        ks: {value: 0.1, unit: N m/rad}
        drift: {value: 0.01, unit: rad}
      held: {phase: 0, count: 0, seen: {start: 0.1, unit: rad}}
      let: {error: link_1_q - seen, wave: sin(2*pi*phase)}
      sensors:
        link_1_q: {delay: 3, bias: drift}
        "*_rate": {delay: 1, quantum: 0.05}
        rail_q: {quantum: 1e-3}
      every_period: {phase: "mod(phase + freq*0.006, 1)"}
      command: {link_#: "(0.1*# + amp)*wave", rail: 0.05*count}
      modes:
        swing:
          effort: {link_2: "-kd*link_2_rate + ks*error"}
          every_period: {seen: "seen + 0.1*(link_1_q - seen)"}
          events: [{name: turn, rises: link_1_rate, to: hold, set: {count: count + 1}}]
        hold:
          let: {push: 0.2*wave}
          effort: {link_2: push}
          events: [{name: back, falls: link_1_rate, to: swing, set: {seen: link_1_q}}]
      events:
        - {every: 0.25, set: {count: count + 10}}
        - {at: 0.8, set: {phase: 0, count: 0}}
        - {crosses: phase - 0.5, set: {count: count + 0.5}}
metrics: {reach: {max: link_1_q}, effort: {rms: link_2_torque}}
search: {method: grid, over: {amp: {linspace: [0.1, 0.5, 5]}, phase: [0, 0.2], link_1_start: [0, 0.2]}}
objective: {minimize: effort}
record: {trajectories: {select: {every: 4}, sample: 0.002}}
.
"$HOPSCOTCH" check all.yaml >out 2>err
check $? 'check: a law with everything'
"$HOPSCOTCH" run all.yaml --progress none >out 2>err
check $? 'it runs'
"$HOPSCOTCH" query all --format csv --order id --columns all >all.csv 2>err
[ "$(wc -l <all.csv)" -eq 21 ] && ! grep -q diverged all.csv
check $? 'a row for each trial'
right=$("$HOPSCOTCH" digest all)
for way in '--isa scalar --batch 1' '--batch 3 --threads 1' '--batch 7 --threads 2' '--batch 20'; do
    rm -rf results/way
    # shellcheck disable=SC2086
    "$HOPSCOTCH" run all.yaml --progress none --set experiment=way $way >out 2>err
    "$HOPSCOTCH" query way --format csv --order id --columns all | cmp -s - all.csv
    check $? "equal metrics with $way"
done
sed '/^record/d' all.yaml >bare.yaml
"$HOPSCOTCH" run bare.yaml --progress none --set experiment=bare >out 2>err
"$HOPSCOTCH" query bare --format csv --order id --columns all | cmp -s - all.csv
check $? 'equal metrics without trajectories'
"$HOPSCOTCH" run results/all/resolved.yaml --progress none --set experiment=again >out 2>err
"$HOPSCOTCH" query again --format csv --order id --columns all | cmp -s - all.csv
check $? 'equal metrics by the resolved spec'
"$HOPSCOTCH" replay all/7 -o all.trace.csv --sample 0.002 >out 2>err && grep -q 'the same to the bit' out err
check $? 'a replay gives its bits'
"$HOPSCOTCH" verify all >out 2>err
check $? 'verify'
[ -n "$right" ]
check $? 'it has a digest'

# what the law gives, from the columns of the steps, in Python's arithmetic
cat >oracle.py <<'.'
import csv, math, sys
rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(open(sys.argv[1]))]
amp, phase = float(sys.argv[2]), float(sys.argv[3])
count, seen, mode, period, worst, compared = 0.0, 0.1, "swing", 0, 0.0, 0
past, before, quarter = [], {}, 0
def quantised(x, q): return math.floor(x/q + 0.5)*q
def rate(k, name): return quantised(rows[3*max(k - 1, 0)][name], 0.05)
while 3*period + 1 < len(rows):
    row = rows[3*period]
    q1 = rows[3*max(period - 3, 0)]["link_1_q"] + 0.01
    r1, r2 = rate(period, "link_1_rate"), rate(period, "link_2_rate")
    now = {"turn": r1 if mode == "swing" else None, "back": r1 if mode == "hold" else None, "half": phase - 0.5}
    was = mode
    def both(name): return before.get(name) is not None and now[name] is not None
    def rises(name): return both(name) and before[name] < 0 <= now[name]
    def falls(name): return both(name) and before[name] > 0 >= now[name]
    t = 0.006*period
    if was == "swing" and rises("turn"): count += 1; mode = "hold"
    elif was == "hold" and falls("back"): seen = q1; mode = "swing"
    fourth = math.floor((t + 6e-12)/0.25)
    if period > 0 and fourth > quarter: count += 10
    quarter = fourth
    half = rises("half") or falls("half")
    if period > 0 and t + 6e-12 >= 0.8 > t - 0.006 + 6e-12: phase = 0.0; count = 0.0
    if half: count += 0.5
    before = {"turn": r1 if mode == "swing" else None, "back": r1 if mode == "hold" else None, "half": phase - 0.5}
    wave = math.sin(2*math.pi*phase)
    want = {"link_1_command": (0.1 + amp)*wave, "link_2_command": (0.2 + amp)*wave, "rail_command": 0.05*count}
    for name, value in want.items():
        for step in (1, 2, 3):  # what a step applied is in the sample behind it
            if 3*period + step < len(rows):
                worst = max(worst, abs(rows[3*period + step][name] - value)); compared += 1
    if mode == "swing": seen += 0.1*(q1 - seen)
    phase = math.fmod(phase + 1.5*0.006, 1.0)
    period += 1
print(compared, worst, count, mode)
sys.exit(not (compared > 2900 and worst < 1e-9))
.
if command -v python3 >/dev/null; then
    amp=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $at["id"] == 7 { print $at["amp"] }' all.csv)
    start=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $at["id"] == 7 { print $at["phase"] }' all.csv)
    python3 oracle.py all.trace.csv "$amp" "$start" >out 2>err
    check $? "commands of 333 periods are those of Python: $(cat out)"
else
    skip 'commands against Python' python3 'apt-get install python3'
fi

# ---- noise ----------------------------------------------------------------------------------------------------------

# the rail rests at 0 and its motor has no gains, so that its command is the noise of the sensor
cat >noise.yaml <<'.'
version: 1
experiment: noise
model: articulated
seed: 5
simulation:
  robot: arm.xml
  duration: 4
  dt: 0.002
  control:
    mode: law
    period: 0.002
    law:
      parameters: {sigma: {value: 0.02, unit: m}}
      sensors: {rail_q: {noise: sigma}}
      command: {rail: rail_q}
parameters: {all_kp: 0, all_kd: 0}
metrics: {spread: {rms: rail_command}, bias: {mean: rail_command}}
search: {method: grid, over: {sigma: [0.02, 0.05]}}
replicates: {count: 4}
objective: {minimize: spread}
record: {trajectories: {select: {trials: [0]}, sample: 0.002, replicates: all}}
.
"$HOPSCOTCH" run noise.yaml --progress none >out 2>err
check $? 'a law with noisy sensors runs'
"$HOPSCOTCH" query noise --format csv --order id --columns sigma,spread,bias >noise.csv
awk -F, 'NR > 1 { rows++; far = $2 / $1 - 1; if (far < 0) far = -far; if (far > 0.02) bad++
    far = $3 / $1; if (far < 0) far = -far; if (far > 0.05) bad++ } END { exit !(rows == 2 && bad == 0) }' noise.csv
check $? 'the noise has its deviation, over four replicates of 2,000 periods, and no mean'
for k in 0 1; do "$HOPSCOTCH" replay noise/0/$k -o noise$k.csv --sample 0.002 >out 2>err; done
paste -d, noise0.csv noise1.csv | awk -F, 'NR == 1 { for (i = 1; i <= NF / 2; i++) at[$i] = i; half = NF / 2; next }
    { x = $at["rail_command"]; y = $(at["rail_command"] + half)
      sxx += x * x; syy += y * y; sxy += x * y; sxl += x * last; last = x }
    END { c = sxy / sqrt(sxx * syy); l = sxl / sxx
          exit !(NR > 1900 && c < 0.08 && c > -0.08 && l < 0.08 && l > -0.08) }'
check $? 'replicates and periods have numbers of their own'
rm -rf results/way
"$HOPSCOTCH" run noise.yaml --progress none --set experiment=way --isa scalar --batch 3 >out 2>err
"$HOPSCOTCH" query way --format csv --order id --columns sigma,spread,bias | cmp -s - noise.csv
check $? 'equal metrics with --isa scalar --batch 3'

# ---- what is refused ------------------------------------------------------------------------------------------------

cat >bad.yaml <<'.'
version: 1
experiment: bad
model: articulated
simulation:
  robot: arm.xml
  control: {mode: law, period: 0.002, law: {held: {h: 0}, command: {rail: 0.1}}}
objective: {minimize: energy}
.
# refused PATTERN LAW: the message for a law
refused()
{
    sed "s/law: {held.*/law: $2}/" bad.yaml >worse.yaml
    "$HOPSCOTCH" check worse.yaml >out 2>err
    [ $? -eq 1 ] && grep -q -- "$1" err
    check $? "refused: $2"
}
"$HOPSCOTCH" check bad.yaml >out 2>err
check $? 'a small law is fine'
refused 'the law gives no motor a command or an effort: command: {rail: 0}' '{held: {h: 0}}'
refused "the model has no motor 'rali'; did you mean 'rail'?" '{command: {rali: 0}}'
refused "the command of link_1 is given by 'link_\*' already" '{command: {"link_*": 0, "link_#": 0}}'
refused 'mode two has no command of rail, and mode one has: write one here, or one for all modes' \
    '{modes: {one: {command: {rail: 0}, events: [{rises: rail_q, to: two}]}, two: {command: {link_1: 0}}}}'
refused "'g' is not a held number; did you mean 'h'?" '{held: {h: 0}, every_period: {g: 1}, command: {rail: h}}'
refused "'g' is not a held number: declare it, held: {x: 0}" '{every_period: {g: 1}, command: {rail: 0}}'
refused "the model has a column 'rail_q': take another name" '{held: {rail_q: 0}, command: {rail: 0}}'
refused "the model has a parameter 'gravity': take another name" '{parameters: {gravity: 1}, command: {rail: 0}}'
refused "the model has a metric 'energy': take another name" '{held: {energy: 1}, command: {rail: 0}}'
refused 'rail_q is a column of the model: a law can set what it holds' \
    '{command: {rail: 0}, events: [{rises: rail_rate, set: {rail_q: 0}}]}'
refused "unknown key 'comand' in a law; did you mean 'command'?" '{comand: {rail: 0}}'
refused "unknown key 'stop' in an event" '{command: {rail: 0}, events: [{rises: rail_rate, stop: true}]}'
refused "the model has no column 'rail_p'; did you mean 'rail_q'?" \
    '{command: {rail: rail_q}, sensors: {rail_p: {delay: 1}}}'
refused 'the law knows the time: it is no sensor' '{command: {rail: rail_q}, sensors: {time: {delay: 1}}}'
refused 'a sensor must be a mapping' '{command: {rail: rail_q}, sensors: {rail_q: 3}}'
refused "what the law sees of link_1_q is said by 'link_\*' already" \
    '{command: {link_1: link_1_q}, sensors: {"link_*": {delay: 1}, "*_q": {delay: 2}}}'
refused 'the noise of a sensor must not be negative' '{command: {rail: rail_q}, sensors: {rail_q: {noise: -1}}}'
refused 'the delay of a sensor is a whole number of control periods, at most 64' \
    '{command: {rail: rail_q}, sensors: {rail_q: {delay: 1.5}}}'
refused 'm + rad/s: both sides must have the same unit' \
    '{held: {h: {start: 0, unit: m}}, command: {rail: rail_q + link_1_rate + h}}'
refused 'expected a mapping such as {command: {elbow: 0.5}}, or the name of a file with one' '[1]'
refused 'cannot read .three.yaml.' three.yaml
refused "unknown name 'rail_p'" '{command: {rail: rail_p}}'
sed 's/mode: law, //' bad.yaml >worse.yaml
"$HOPSCOTCH" check worse.yaml >out 2>err
says 'refused: a law without mode: law' 'control.law needs control: {mode: law}'
sed 's/, law: {held.*/}/' bad.yaml >worse.yaml
"$HOPSCOTCH" check worse.yaml >out 2>err
says 'refused: mode: law without a law' 'control: {mode: law} needs control.law, such as {command: {all: 0}}'
sed 's/period: 0.002/period: 0.003/' bad.yaml >worse.yaml
"$HOPSCOTCH" check worse.yaml >out 2>err
says 'refused: a period that is not whole' 'control.period (0.003 s) must be a whole number of steps dt (0.002 s)'
sed -e '/^    law:/,/^parameters/d' -e 's/^objective/parameters: {u1_min: 0}\n&/' hop.yaml >worse.yaml
"$HOPSCOTCH" check worse.yaml >out 2>err
says 'refused: a hopper without its law' 'control: {mode: law} needs control.law, such as {effort: {u1: 0, u2: 0}}'
sed 's/^    mode: law/    mode: external/' hop.yaml >worse.yaml
"$HOPSCOTCH" check worse.yaml >out 2>err
says 'refused: the law of a hopper under external control' 'control.law needs control: {mode: law}'
sed 's/^          effort: {u1: 0, u2: place}/          command: {u1: 0, u2: place}/' hop.yaml >worse.yaml
"$HOPSCOTCH" check worse.yaml >out 2>err
says 'refused: commands of a hopper' "this model's motors take no command: write effort"
sed 's/^    mode: law/&\n    actions: [1, 2]/' hop.yaml >worse.yaml
"$HOPSCOTCH" check worse.yaml >out 2>err
says 'refused: a table beside a law without inputs' 'control.actions gives actions, and no input has a range'
sed "s/law: {held.*/law: {command: {rail: 0.1}, let: {x: rail_q}}}/" bad.yaml >worse.yaml
"$HOPSCOTCH" check worse.yaml >out 2>err
says 'a shorthand that nothing uses is named' 'nothing uses x'
{
    sed '/law: {held/d; /^objective/d' bad.yaml
    printf '  control:\n    mode: law\n    period: 0.002\n    law:\n      let:\n'
    awk 'BEGIN { for (i = 1; i <= 100; i++) { printf "        a%d: \"0", i
        for (k = 1; k <= 200; k++) printf " + 1.%05d*time", 200 * i + k
        print "\"" }
        printf "      command: {link_1: \"tanh(a1"; for (i = 2; i <= 100; i++) printf " + a%d", i; print ")\"}" }'
    echo 'objective: {minimize: energy}'
} >worse.yaml
"$HOPSCOTCH" check worse.yaml >out 2>err
says 'refused: 20,000 numbers' 'the law is too long: '
# a number that is none fails the trial
sed 's|law: {held.*|law: {parameters: {u: {value: 1, unit: m}}, command: {rail: u*sqrt(rail_q/u - 1)}}}|' \
    bad.yaml >worse.yaml
"$HOPSCOTCH" run worse.yaml --progress none >out 2>err
"$HOPSCOTCH" query bad --columns failure --format csv | grep -q non_finite
check $? 'a command that is no number fails as non_finite'
exit $status
