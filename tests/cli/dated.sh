#!/bin/sh
# Recordings whose times a clock gives that counts from 1970, in s, ms, us or ns: one error names the cause and the keys
# to set, and with these keys they are read. The same of an input of a system, to the same bits.
. "$(dirname "$0")/../scratch.sh"

awk 'BEGIN { print "time,seen"
    for (i = 0; i <= 50; i++) printf "%.2f,%.4f\n", i * 0.04, cos(0.16 * i) }' >seen.csv
cat >swing.yaml <<'END'
version: 1
experiment: swing
model: equations
simulation:
  duration: 2
  system:
    parameters: {length: {value: 0.6, unit: m}, g: {value: 9.81, unit: m/s^2}}
    inputs: {seen: {file: seen.csv, unit: rad}}
    states: {angle: {start: 1, unit: rad}, rate: {start: 0, unit: rad/s}}
    rates: {angle: rate, rate: -g/length*sin(angle)}
    events: [{name: frame, every: 0.04}]
    metrics: {track_error: {at: frame, value: angle - seen, take: rms}}
search: {method: random, trials: 3, over: {length: {range: [0.4, 0.8]}}}
objective: {minimize: track_error}
END
works run swing.yaml --threads 1 --progress none

cp -r "$root/experiments/robots" .
cp "$root"/experiments/identify_arm*.csv .
for unit in s:1 ms:1000 us:1000000 ns:1000000000; do
    awk -F , -v OFS=, -v n="${unit#*:}" -v unit="${unit%:*}" 'NR > 1 {
        $1 = unit == "s" ? sprintf("%.6f", 1.7e9 + $1) : sprintf("%d%0*d", 1700000000 + int($1), length(n) - 1,
            ($1 - int($1)) * n + 0.5) } 1' identify_arm_light.csv >"light_${unit%:*}.csv"
done
arm() # REFERENCE: the arm with one recording
{
    sed '/^cases:/,/^simulation:/{/^simulation:/!d}' "$root/experiments/identify_arm.yaml" |
        sed "s/reference: identify_arm_light.csv/reference: $1/" >arm.yaml
}
arm identify_arm_light.csv
works check arm.yaml
for unit in s ms us ns; do
    arm "light_$unit.csv"
    refused check arm.yaml
    grep -q "counts from 1970 (in $unit?), and a run begins at 0 s" err && grep -q ': 1 error$' err
    check $? "one error says that times in $unit have another origin"
    said=$(sed -n 's/.*say which instant that is: \({.*}\) puts.*/\1/p' err)
    arm "$said"
    works check arm.yaml
done
arm '{file: light_ms.csv, time: {unit: ms}, offset: -1700000000}'
works check arm.yaml
arm '{file: light_ms.csv, time: {unit: ms}, offset: 1700000000}'
refused check arm.yaml
has "is it another clock?" err
arm '{file: light_ms.csv, time: {unit: ms}}'
refused check arm.yaml
has "offset: start" err
awk -F , -v OFS=, 'NR > 1 { $1 = sprintf("%.0f", (1.7e9 + $1) * 1000) } 1' seen.csv >dated.csv
sed 's/seen.csv/dated.csv/' swing.yaml >dated.yaml
refused check dated.yaml
has "dated.csv: its times begin at 1700000000000, which a clock gives that counts from 1970 (in ms?)" err
sed 's/file: seen.csv/file: dated.csv, time: {unit: ms}, offset: start/; s/: swing/: dated/' swing.yaml >dated.yaml
works run dated.yaml --threads 1 --progress none
works query swing --columns fitness --format csv
cp out here.csv
works query dated --columns fitness --format csv
[ "$(wc -l <here.csv)" -eq 4 ] && cmp -s out here.csv
check $? "an input with other times gives the same results"
sed 's/file: seen.csv/at: [0, 2], values: [1, 1], offset: 1/' swing.yaml >dated.yaml
refused check dated.yaml
has "offset belongs to a file" err
exit $status
