#!/bin/sh
# Figures of motions: `plot --columns` and `plot --phase` draw what `replay` writes, within a tenth of a point, in few
# bytes, and recordings beside it.
. "$(dirname "$0")/../scratch.sh"
checks=$root/tests/figure_checks.py

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

# ---- columns against time -------------------------------------------------------------------------------------------

works plot swing/0 --columns angle,rate --width 85mm --font 8pt -o columns.svg
[ "$(grep -c '<svg class="p".*aria-label="angle, time"' columns.svg)" -eq 1 ] &&
    [ "$(grep -o '>time (s)</text>' columns.svg | wc -l)" -eq 1 ] && grep -q '>angle (rad)</text>' columns.svg &&
    grep -q '>rate (rad/s)</text>' columns.svg && grep -q 'width="85.00mm"' columns.svg
check $? "a panel each with its unit, and one axis of time"
[ "$(grep -o 'data-x="0 2 [^ ]* [^ ]*' columns.svg | sort -u | wc -l)" -eq 1 ]
check $? "the panels stand one below the other"
[ "$(grep -o '<path class="rd" d="[^"]*"' columns.svg | grep -o 'h0' | wc -l)" -eq 53 ] &&
    grep -q '>recorded</text>' columns.svg
check $? "51 dots of the recording beside angle, and two in the key"
works plot swing/0 --columns angle --window 0.5,1 -o window.svg
grep -q 'data-x="0.5 1 ' window.svg && [ "$(grep -o 'h0' window.svg | wc -l)" -eq 15 ]
check $? "only a part of the motion, with its dots"
works plot swing/0 swing/2 --columns angle -o two.svg
[ "$(grep -o '<path class="ln h[1-9]' two.svg | sort -u | wc -l)" -eq 2 ] && grep -q '>swing/2</text>' two.svg &&
    [ "$(grep -o 'h0' two.svg | wc -l)" -eq 53 ]
check $? "two motions differ, have a key, and share a recording"
works plot swing/0 --phase angle,rate -o phase.svg
grep -q 'aria-label="rate, angle"' phase.svg && grep -q '<title>swing/0: rate against angle</title>' phase.svg &&
    grep -q '<circle class="be"' phase.svg && ! grep -q 'h0' phase.svg
check $? "a phase plot with its start"
works plot swing/0 --phase angle,rate --phase time,angle --width 170mm --height 70mm -o phases.svg
grep -q 'aria-label="rate, angle"' phases.svg && grep -q 'aria-label="angle, time"' phases.svg &&
    [ "$(grep -o 'h0' phases.svg | wc -l)" -eq 53 ] && grep -q 'height="70.00mm"' phases.svg
check $? "two phase plots side by side, dots where both columns are recorded"
works plot swing/0 --columns rate
[ -e swing-0-columns.svg ]
check $? "the picture has a name of its own"
works plot swing/0 --columns rate -o -
has '<svg xmlns='

# ---- lines are simplified -------------------------------------------------------------------------------------------

works plot swing/0 --columns angle --sample 0.001 --width 85mm --font 8pt -o fine.svg
works plot swing/0 --phase angle,rate --sample 0.001 --width 85mm --font 8pt -o loop.svg
works replay swing/0 --sample 0.001 -o fine.csv
[ "$(wc -l <fine.csv)" -gt 2000 ] && [ "$(wc -c <fine.svg)" -lt 9000 ] && [ "$(wc -c <loop.svg)" -lt 9000 ]
check $? "2,001 samples in few bytes: $(wc -c <fine.svg), $(wc -c <loop.svg)"
if with_python "distance of lines from samples"; then
    python3 "$checks" line fine.svg fine.csv time angle >out 2>err
    grep -q '^same' out
    check $? "no sample is a tenth of a point from the line: $(cat out)"
    python3 "$checks" line loop.svg fine.csv angle rate >out 2>err
    grep -q '^same' out
    check $? "nor in the phase plot: $(cat out)"
fi

# ---- what is refused ------------------------------------------------------------------------------------------------

refused plot swing/0 --columns angl -o no.svg
has "swing/0 has no column 'angl'; did you mean 'angle'?" err
refused plot swing/0 --columns angle --window 0,0.0001 -o no.svg
has "the motion of swing/0 has one sample: name a longer --window or a finer --sample" err
refused plot swing/9 --columns angle -o no.svg
has "campaign swing has no trial 9" err
code=3 refused plot swing/0 --columns angle -o nowhere/no.svg
has "cannot write nowhere/no.svg: No such file or directory" err
code=2
refused plot swing/0 swing/0 swing/0 swing/0 swing/0 swing/0 swing/0 --columns angle -o no.svg
has "plot takes CAMPAIGN | CAMPAIGN/TRIAL..., 6 at most" err
refused plot swing --columns angle -o no.svg
has "'swing' is not a trial; write CAMPAIGN/TRIAL" err
refused plot swing/0 -o no.svg
has "swing/0 is a trial: add --columns NAMES or --phase X,Y" err
refused plot swing swing -o no.svg
has "a plot of all trials is of one campaign" err
refused plot swing/0 --columns angle,rate,angle,rate,angle,rate,angle,rate,angle -o no.svg
has "--columns: a figure has at most 8 panels" err
refused plot swing/0 --phase angle -o no.svg
has "--phase takes two columns, X,Y, e.g. position,velocity, not 'angle'" err
refused plot swing/0 --columns angle,,rate -o no.svg
has "--columns takes names of columns with commas between them" err
refused plot swing/0 --columns angle --phase angle,rate -o no.svg
has "--columns and --phase are two figures" err
refused plot swing/0 --columns angle --kind scatter -o no.svg
has "--kind is of a plot of a campaign, and --columns of motions: leave out one of them" err
refused plot swing --window 0,1 -o no.svg
has "--window is of the motion of trials: add --columns NAMES or --phase X,Y" err
cat >turns.yaml <<'END'
version: 1
experiment: turns
model: equations
simulation: {duration: 1, system: {states: {angle: {start: 0, unit: deg}}, rates: {angle: 1}}}
search: {method: list, points: [{angle: 0}]}
objective: {minimize: survived}
END
works run turns.yaml --progress none
code=1 refused plot swing/0 turns/0 --columns angle -o no.svg
has "angle is in rad in swing/0 and in deg in turns/0: draw them one by one" err
code=1
[ ! -e no.svg ]
check $? "what is refused leaves no file"
exit $status
