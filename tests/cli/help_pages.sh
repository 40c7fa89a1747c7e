#!/bin/sh
# help spec KEY and models SPEC: what they find by part of a name, what they say of a spec's own robot, and that a
# terminal breaks their texts between words.
. "$(dirname "$0")/../scratch.sh"

# prints NAME TEXT ARGUMENTS...: exit code 0, and TEXT stands in the output
prints()
{
    name=$1 text=$2
    shift 2
    "$HOPSCOTCH" "$@" >out 2>err && grep -qF -e "$text" out
    check $? "$name"
}

# refuses STATUS TEXT ARGUMENTS...
refuses()
{
    expected=$1 text=$2
    shift 2
    "$HOPSCOTCH" "$@" >out 2>err
    [ $? -eq "$expected" ] && grep -qF -e "$text" err
    check $? "$* says: $text"
}

# ---- help spec ------------------------------------------------------------------------------------------------------

prints "help spec lists the sections" "  limits        when to stop early" help spec
[ "$(wc -l <out)" -le 26 ]
check $? "on one screen"
"$HOPSCOTCH" help spec all >all
sed -n 's/^\([a-z][a-z_.0-9]*\)$/\1/p' all | sort -u >keys
[ "$(wc -l <keys)" -gt 150 ]
check $? "help spec all has every key"
while read -r key; do
    "$HOPSCOTCH" help spec "$key" 2>err | grep -qx -e "$key" || echo "$key"
    "$HOPSCOTCH" help spec "${key##*.}" 2>err | grep -qx -e "$key" || echo "${key##*.}"
done <keys >missing
[ ! -s missing ]
check $? "each is found by its path and by its last word: $(tr '\n' ' ' <missing)"
prints "a section has the keys below it" "record.trajectories.select.best" help spec trajectories
! grep -q '^record.debug' out
check $? "and no others"
prints "a form of values" "{linspace: [first, last, points]}" help spec linspace
prints "a method" "METHOD sobol_indices" help spec sobol_indices
prints "a model" "simulation.newton.iterations" help spec hopper
prints "sizes of a spec" "replicates of a trial" help spec sizes
prints "a parameter names its model" "'k_fp' is a parameter: \`hopscotch models hopper\`" help spec k_fp
refuses 2 "did you mean 'compression'?" help spec compresion
refuses 2 "only help spec takes a second word, and here is 'fast' behind 'run'" help run fast

# ---- models SPEC ----------------------------------------------------------------------------------------------------

cat >arm.xml <<'END'
<mujoco model="arm"><worldbody>
  <body name="upper"><joint name="shoulder" axis="0 1 0" damping="0.3"/>
    <geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.03"/></body>
</worldbody></mujoco>
END
cat >arm.yaml <<'END'
version: 1
experiment: arm
model: articulated
simulation: {robot: arm.xml, duration: 2.5}
parameters: {gravity: 3.7}
search: {method: grid, over: {shoulder_damping: [0.1, 0.2]}}
objective: {maximize: "energy"}
END
"$HOPSCOTCH" models arm.yaml >out 2>err
check $? "models of a spec"
row() { awk -v name="$1" '$1 == name { print $2, $3; exit }' out; }
[ "$(row shoulder_damping)" = "searched 0.3" ] && [ "$(row gravity)" = "3.7 9.81" ] && [ "$(row duration)" = "2.5 1" ]
check $? "it has the robot's own parameters, with the spec's values and the defaults: $(row shoulder_damping)"
grep -q '^shoulder_q ' out && grep -qF 'objective: maximise energy' out && grep -qF 'as arm.yaml has it' out
check $? "its columns and its objective"
"$HOPSCOTCH" models arm.yaml --set parameters.gravity=1.6 --json >out 2>err &&
    tr -d ' \n' <out | grep -qF '"name":"gravity","section":"parameters","unit":"m/s^2","in_spec":"1.6"'
check $? "--set and --json"
refuses 1 "did you mean 'articulated'?" models articulatd
refuses 1 "no.yaml" models no.yaml
refuses 1 "shoulder_damp" models arm.yaml --set search.over.shoulder_damp=[1]
sed '/^objective/d' arm.yaml >unfinished.yaml
refuses 1 "objective.minimize (or maximize) is missing" models unfinished.yaml
[ "$(row shoulder_damping)" = "searched 0.3" ] && grep -q '^energy ' out
check $? "models of a spec without an objective says what one can name"
sed '$a sweep: {simulation.dt: [1.0e-3, 2.0e-3]}' arm.yaml >swept.yaml
prints "models of a spec with a sweep" "shoulder_kp, " models swept.yaml
prints "a gain of a joint without a motor is remarked on" \
    "warning: shoulder has no motor in the file, and gets one: the spec names its gains" \
    check arm.yaml --set parameters.shoulder_kp=5
"$HOPSCOTCH" help spec example >my_gains.yaml
prints "the example of help is a spec" "ok: my_gains: 18 trials x 4 replicates" check my_gains.yaml
prints "models command has the protocol" '    {"id": 7, "metrics": {"error": 0.5}}' models command

# The worker answers with the page's own lines.
"$HOPSCOTCH" models command | sed -n 's/^    \({.*\)/\1/p' >lines
cat >worker.sh <<END
#!/bin/sh
read -r hello
echo '$(sed -n 2p lines)'
while read -r request; do
    id=\${request#*\"id\": } id=\${id%%,*}
    echo '$(sed -n 4p lines)' | sed "s/\"id\": 7/\"id\": \$id/"
done
END
chmod +x worker.sh
cat >page.yaml <<'END'
version: 1
experiment: page
model: command
simulation: {program: [./worker.sh], workers: 1}
parameters: {mass: 1}
metrics: {error: m}
objective: {minimize: error}
END
"$HOPSCOTCH" run page.yaml --allow-programs >out 2>err && grep -q '0[.]5' out
check $? "a worker that answers with these lines works"
refuses 1 "is not a file that can be run" check page.yaml --set 'simulation.program=[./missing.sh]'
prints "a program that is not in PATH may be on the machine that runs it" "ok: page" \
    check page.yaml --set 'simulation.program=[no-such-program]'
grep -qF "warning: there is no program 'no-such-program' in PATH" err
check $? "and is warned of"
refuses 1 "leads out of the spec's folder" check page.yaml --set 'simulation.program=[/bin/cat]'
printf '#!/bin/sh\nread -r hello\necho "{\\"hello\\": 1}"\nread -r request\nexit 3\n' >breaks.sh && chmod +x breaks.sh
"$HOPSCOTCH" run page.yaml --allow-programs --name breaks --set 'simulation.program=[./breaks.sh]' >out 2>err
grep -qF "results/breaks/workers.log holds what the program said" out
check $? "after failures of a program, run names its log"

# ---- terminals ------------------------------------------------------------------------------------------------------

if command -v script >/dev/null && TERM=xterm script -qec "stty cols 90" /dev/null >/dev/null 2>&1; then
    for page in "help spec" "help spec record" "models hopper" "models $work/arm.yaml"; do
        TERM=xterm script -qec "stty cols 90; '$HOPSCOTCH' $page" /dev/null </dev/null 2>/dev/null |
            sed "s/$(printf '\033')\[[0-9]*m//g" | tr -d '\r' |
            awk -v page="$page" 'length($0) > 90 { print page ": " $0 }'
    done | grep -v '^models [^ ]*: [a-z]*: ' >wide
    [ ! -s wide ]
    check $? "lines on a terminal of 90 columns: $(head -n 2 wide)"
else
    skip "lines on a terminal" "script(1)" "apt-get install bsdutils"
fi
exit "$status"
