#!/bin/sh
# Recorded torques drive a robot (`control: {mode: external, command: effort, file: ...}`), and its recorded angles are
# fitted: one log has both. Gradients of such a run by adjoint, tangent and differences, also where a motor is at its
# end.
. "$(dirname "$0")/../scratch.sh"

hopscotch() { "$HOPSCOTCH" "$@" >out 2>err; }
said() { grep -q "$1" err; }
inside() { awk -F, -v name="$1" -v value="$2" '$1 == name { f = $3 <= value && value <= $4 } END { exit !f }' out; }

cp -r "$root/experiments/robots" .
awk 'BEGIN { print "time,turn,shoulder,elbow"
    for (k = 0; k < 300; k++) { t = 0.01 * k; w = 6.283185 * t * (1 + 0.3 * t)
        printf "%.2f,%.5f,%.5f,%.5f\n", t, 3 * sin(0.9 * w), 4 * sin(0.7 * w + 1), 1.5 * sin(1.1 * w + 2) } }' \
    >torques.csv
cat >arm.yaml <<'END2'
version: 1
experiment: arm
model: articulated
simulation:
  robot: robots/arm.xml
  terrain: none
  duration: 3
  dt: 0.002
  control: {mode: external, command: effort, file: torques.csv}
initial: {turn_start: 0, shoulder_start: 2.5, elbow_start: 0.5}
parameters: {turn_armature: 0.031, shoulder_armature: 0.042, turn_damping: 0.6, shoulder_damping: 0.8,
             elbow_damping: 0.4, shoulder_friction: 0.4, upper_mass: 2.71}
END2
cp arm.yaml truth.yaml
printf 'search: {}\nobjective: {minimize: energy}\n' >>truth.yaml
hopscotch run truth.yaml --name truth --progress none && hopscotch replay truth/0 --sample 0.02 -o truth.csv &&
    awk -F, '
    BEGIN { seed = 5; print "stamp,m1.pos,m2.pos,m3.pos,m1.torque,m2.torque,m3.torque" }
    function uniform() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
    function read(x) { return sprintf("%.6f", x + 0.001 * sqrt(-2 * log(uniform())) * cos(6.283185307 * uniform())) }
    FNR == NR { if (FNR == 1) for (i = 1; i <= NF; i++) at[$i] = i; else
        row[sprintf("%.2f", $at["time"])] = $at["turn_q"] "," $at["shoulder_q"] "," $at["elbow_q"]; next }
    FNR > 1 && ($1 in row) { split(row[$1], q, ",")
        print $1 "," read(q[1]) "," read(q[2]) "," read(q[3]) "," $2 "," $3 "," $4; next }
    FNR > 1 { print $1 ",,,," $2 "," $3 "," $4 }' truth.csv torques.csv >log.csv
check $? "a log of torques 100 times and of angles 50 times a second"

torques='{turn: m1.torque, shoulder: m2.torque, elbow: m3.torque}'
angles='{turn_q: m1.pos, shoulder_q: m2.pos, elbow_q: m3.pos}'
sed -e "s/file: torques.csv/file: {file: log.csv, time: stamp, columns: $torques}/" \
    -e "s/^initial/  reference: {file: log.csv, time: stamp, gaps: skip, columns: $angles}\\n  @initial/" \
    -e 's/@initial/reference_scale: none\ninitial/' \
    -e '/^parameters/,$d' arm.yaml >fit.yaml
cat >>fit.yaml <<'END2'
search:
  method: least_squares
  over:
    turn_armature:     {range: [0.001, 0.2], scale: log}
    shoulder_armature: {range: [0.001, 0.2], scale: log}
    turn_damping:      {range: [0, 2]}
    shoulder_damping:  {range: [0, 2]}
    elbow_damping:     {range: [0, 2]}
    shoulder_friction: {range: [0, 2]}
    upper_mass:        {range: [1, 5]}
objective: {residuals: reference}
END2
hopscotch run fit.yaml --name fit --progress none && hopscotch fit fit/best --format csv && said 'is white' &&
    inside turn_armature 0.031 && inside shoulder_armature 0.042 && inside turn_damping 0.6 &&
    inside shoulder_damping 0.8 && inside elbow_damping 0.4 && inside shoulder_friction 0.4 && inside upper_mass 2.71
check $? "angles fitted under the torques of the same log: all intervals hold the truth"

# alike CAMPAIGN: three derivatives of each parameter
alike()
{
    hopscotch gradient "$1/0" --format csv && awk -F, '
        function off(a, b) { return a > b ? a - b : b - a }
        NR > 1 { n++; size = off($5, 0); good += off($4, $5) < 1e-9 * size && off($5, $6) < 3 * $8 + 1e-6 * size }
        END { exit !(n == 5 && good == n) }' out
}
grid='search={method: grid, over: {turn_armature: [0.02], turn_effort: [2], shoulder_effort: [3], elbow_damping: [0.5],
    upper_mass: [3]}}'
error='objective={minimize: reference_error}'
for order in one two; do
    hopscotch run fit.yaml --name "g$order" --progress none --set "$grid" --set "$error" \
        --set "simulation.order=$order" && alike "g$order"
    check $? "order $order: adjoint, tangent and differences agree, with motors at their ends"
    hopscotch run fit.yaml --name "p$order" --progress none --set "$grid" --set "$error" \
        --set "simulation.order=$order" --set simulation.control.command=position --set parameters.all_kp=20 &&
        alike "p$order"
    check $? "order $order: the same of actions that are positions"
done

exit $status
