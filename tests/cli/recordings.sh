#!/bin/sh
# Recordings of machines as `reference` and `control.file`: columns by other names and in other units, parts of a file,
# gaps, and remarks on what is likely wrong. tests/recordings.py draws good and bad ones.
. "$(dirname "$0")/../scratch.sh"
cp -r "$root/experiments/robots" .

# error_of NAME: reference_error of a campaign's only trial
error_of() { "$HOPSCOTCH" query "$1" --results r --columns reference_error --format csv 2>err | tail -n 1; }

# spec NAME REFERENCE: the double pendulum as it moves below, against a recording
spec()
{
    cat >"$1.yaml" <<YAML
version: 1
experiment: $1
model: articulated
simulation:
  duration: 0.5
  dt: 0.002
  control: {mode: actions, file: commands.csv}
  reference: $2
parameters: {shoulder_kp: 50, shoulder_kd: 5, elbow_kp: 20, elbow_kd: 2, lower_mass: ${3:-1.1}}
initial: {shoulder_start: 0.2, elbow_start: -0.3}
objective: {minimize: reference_error}
YAML
}
# against NAME REFERENCE [MASS]: runs it
against()
{
    spec "$@"
    works run "$1.yaml" --results r --backend cpu --progress none
}
# works_python FORMAT: recorded_files.py writes files of it
works_python()
{
    python3 "$root/tests/recorded_files.py" "$1" >out 2>err
    check $? "files of $1"
}
# refuses WORDS REFERENCE
refuses()
{
    spec refused "$2"
    ! "$HOPSCOTCH" check refused.yaml >out 2>err && grep -q "$1" err
    check $? "refuses: $1"
}
# near NAME LEAST MOST
near() { error_of "$1" | awk -v low="$2" -v high="$3" '{ good = $1 >= low && $1 <= high } END { exit !good }'; }

printf 'time,shoulder,elbow\n0,0.2,-0.3\n0.1,0.6,0.4\n0.3,-0.2,0.1\n' >commands.csv
spec moves none
sed -i 's/reference_error/energy/' moves.yaml
works run moves.yaml --results r --backend cpu --progress none
works replay moves/0 --results r -o motion.csv

# ---- the same numbers in other words ---------------------------------------------------------------------------------

against plain motion.csv
[ "$(error_of plain)" = 0 ]
check $? "a motion against itself: $(error_of plain)"
against mapped '{file: motion.csv, from: 0, every: 1}'
[ "$(error_of mapped)" = 0 ]
check $? "a mapping that changes nothing: $(error_of mapped)"

# a log as machines write it: semicolons, milliseconds from another start, degrees, the other sign, a zero, a word
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i
        print "# of a machine"; print "stamp;\"motor 1\";mode;motor 2;speed"; next }
    { printf "%.6f;%.12g;%s;%.12g;%.12g\n", 1000 * $1 + 5000, 57.29577951308232 * $at["shoulder_q"] - 90,
          NR % 2 ? "run" : "idle", -1000 * $at["elbow_q"], $at["elbow_rate"] * 30 / 3.14159265358979323846 }' \
    motion.csv >log.csv
columns='shoulder_q: {column: motor 1, unit: deg, offset: 90}, elbow_q: {column: motor 2, unit: mrad, scale: -1}'
columns="$columns, elbow_rate: {column: speed, unit: rpm}"
against logged "{file: log.csv, time: {column: stamp, unit: ms}, offset: -5, columns: {$columns}}"
near logged 0 1e-7
check $? "a log in degrees, mrad, rpm and ms: $(error_of logged)"
against started "{file: log.csv, time: {column: stamp, unit: ms}, offset: start, columns: {$columns}}"
[ "$(error_of started)" = "$(error_of logged)" ]
check $? "offset: start: $(error_of started)"
tr ';' '\t' <log.csv >tabs.csv
against tabs "{file: tabs.csv, time: {column: stamp, unit: ms}, offset: -5, columns: {$columns}}"
[ "$(error_of tabs)" = "$(error_of logged)" ]
check $? "tabs between fields: $(error_of tabs)"

# a .sto file of OpenSim
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "motion\nversion=1\nnRows=251\nnColumns=3\ninDegrees=yes"
        print "endheader\ntime\t/jointset/shoulder/value\telbow_angle"; next }
    { degrees = 57.29577951308232
      printf "\t%s\t %.12g\t%.12g\t\r\n", $1, degrees * $at["shoulder_q"], degrees * $at["elbow_q"] }' \
    motion.csv >motion.sto
angles='shoulder_q: {column: /jointset/shoulder/value, unit: deg}, elbow_q: {column: elbow_angle, unit: deg}'
against opensim "{file: motion.sto, columns: {$angles}}"
near opensim 0 1e-9
check $? "a .sto file: $(error_of opensim)"
refuses 'motion.sto:5:1: error: angles of the file are in degrees' '{file: motion.sto, columns: {elbow_q: elbow_angle}}'

# what is kept with the campaign is enough: the mapping is in the resolved spec
mv log.csv gone.csv
works replay logged/0 --results r
works doctor logged --results r
mv gone.csv log.csv
kept='reference: {file: "log.csv", sha256: "[0-9a-f]*", time: {column: "stamp", unit: "ms"}, offset: -5, columns: {'
grep -q "$kept" r/logged/resolved.yaml
check $? "the mapping in the resolved spec: $(grep reference r/logged/resolved.yaml)"
works run mapped.yaml --name shifted --results r --progress none \
    --set 'simulation.reference={file: motion.csv, from: 0.1}'
[ "$(error_of shifted)" = 0 ]
check $? "a window by --set: $(error_of shifted)"

# ---- parts of a file -------------------------------------------------------------------------------------------------

spec part '{file: motion.csv, from: 0.1, to: 0.4, every: 10, columns: [shoulder_q, elbow_q]}'
works check part.yaml
grep -q '^reference  *16 rows of 2 columns from 0.1 to 0.4 s, 0 between two steps' out
check $? "a window, each tenth row, two columns"
against longer '{file: motion.csv, offset: -0.25, from: 0}' # the rest of a longer recording
near longer 0.01 100
check $? "a later part of the motion differs: $(error_of longer)"

# noise: what differences are divided by. 1.2 kg against 1.1 kg: the same differences, in units of their noise
against metres '{file: motion.csv, columns: [elbow_q]}' 1.2
sed -i 's/reference: {/reference_scale: none\n  &/' metres.yaml
works run metres.yaml --name unscaled --results r --progress none
against noisy '{file: motion.csv, columns: {elbow_q: {noise: 0.002}}}' 1.2
[ "$(printf '%s\n' "$(error_of unscaled)" "$(error_of noisy)" | awk '{ x[NR] = $1 } END {
    print (x[1] > 0 && x[2] / x[1] > 499.999 && x[2] / x[1] < 500.001) }')" = 1 ]
check $? "differences by the noise: $(error_of unscaled), $(error_of noisy)"

# A swinging pendulum, whose recording has rows at unequal times, gaps and noise of 1 mrad: the deviation of the noise
# by `reference_scale: noise` is the error in rad through that in units of it.
cat >swings.yaml <<'YAML'
version: 1
experiment: swings
model: articulated
simulation:
  duration: 10
  dt: 0.002
  control: {mode: hold}
  reference: none
initial: {shoulder_start: 0.4, elbow_start: 0.2}
objective: {minimize: energy}
YAML
works run swings.yaml --results r --backend cpu --progress none
works replay swings/0 --results r -o swings.csv
sed -i -e 's/energy/reference_error/' -e 's/reference: none/reference: noisy.csv\n  reference_scale: none/' swings.yaml
# noise_of WORDS: every fifth row; rows are early or late, and parts are not there, where WORDS say so
noise_of()
{
    awk -F, -v what="$1" 'function uniform() { s = (s * 16807) % 2147483647; return s / 2147483647 }
        BEGIN { s = 11 }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "time,shoulder_q"; next }
        { time[NR] = $1; q[NR] = $at["shoulder_q"]; rows = NR }
        END { for (r = 4; r + 3 <= rows; r += 5) {
            k = r + (what ~ /jitter/) * (int(5 * uniform()) - 2)
            noise = sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform())
            gap = what ~ /gaps/ && (int(r / 300) % 3 == 1 || uniform() < 0.1)
            if (!gap) printf "%s,%.9f\n", time[k], q[k] + 0.001 * noise } }' swings.csv >noisy.csv
    works run swings.yaml --name "none_$2" --results r --backend cpu --progress none
    works run swings.yaml --name "noise_$2" --results r --backend cpu --progress none \
        --set simulation.reference_scale=noise
    printf '%s\n' "$(error_of "none_$2")" "$(error_of "noise_$2")" | awk '{ x[NR] = $1 }
        END { found = x[1] / x[2]; print found; exit !(found > 0.9e-3 && found < 1.1e-3) }' >out
    check $? "noise of 0.001 rad, rows with $1: $(cat out)"
}
noise_of 'equal times' equal
noise_of jitter jitter
noise_of gaps gaps
noise_of 'jitter and gaps' both

tr '\n' '\r' <motion.csv >returns.csv
against returns returns.csv
[ "$(error_of returns)" = 0 ]
check $? "lines that end with a carriage return alone: $(error_of returns)"
refuses "motion.csv has no column 'stamp'; its columns are time, .*, \.\.\." '{file: motion.csv, time: stamp}'
sed 1d motion.csv >nameless.csv
refuses 'nameless.csv:1:1: error: the first line must name the columns' nameless.csv
[ "$(grep -c 'must name the columns' err)" -eq 1 ]
check $? "a file without names is one error"

# ---- gaps ------------------------------------------------------------------------------------------------------------

# each column has every second row; a row has neither
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "time,shoulder_q,elbow_q"; next }
    { print $1 "," (NR % 2 || NR == 20 ? "" : $at["shoulder_q"]) "," (NR % 2 ? $at["elbow_q"] : "nan") }' \
    motion.csv >gaps.csv
spec refused gaps.csv
! "$HOPSCOTCH" check refused.yaml >out 2>err && grep -q 'gaps.csv:2:[0-9]*: error: elbow_q has no value here' err &&
    grep -q 'gaps: skip' err
check $? "gaps are refused: $(head -n 2 err)"
against gapped '{file: gaps.csv, gaps: skip}'
[ "$(error_of gapped)" = 0 ]
check $? "gaps against the same motion: $(error_of gapped)"

# with another mass: the mean over what is there, as each column alone says it
for column in shoulder elbow; do
    against "only_$column" "{file: gaps.csv, gaps: skip, columns: [${column}_q]}" 1.2
done
awk -F, 'NR == 1 { print "time,elbow_q"; next } $3 != "nan" { print $1 "," $3 }' gaps.csv >dense.csv
against dense dense.csv 1.2
[ "$(error_of dense)" = "$(error_of only_elbow)" ]
check $? "gaps are rows that are not there: $(error_of dense), $(error_of only_elbow)"
against both '{file: gaps.csv, gaps: skip}' 1.2
printf '%s\n' "$(error_of only_shoulder)" "$(error_of only_elbow)" "$(error_of both)" |
    awk '{ x[NR] = $1 } END { m = sqrt((125 * x[1] ^ 2 + 125 * x[2] ^ 2) / 250)
        exit !(x[1] > 0 && x[2] > 0 && x[3] / m > 0.999 && x[3] / m < 1.001) }'
check $? "the mean over what is there: $(error_of both)"

# the gradient by the adjoint beside differences
for mass in 1.1999 1.2001; do against "at_$mass" '{file: gaps.csv, gaps: skip}' $mass; done
search='{method: adam, adam: {start: center, gradient: adjoint, stop: {iterations: 1}}'
search="$search, over: {lower_mass: {range: [1, 1.4]}}}"
sed -e "s/^objective/search: $search\n&/" -e 's/, lower_mass: 1.2}/}/' both.yaml >slope.yaml
works run slope.yaml --name slope --results r --progress none
works gradient slope/0 --results r
slope=$(awk '$1 == "lower_mass" { print $4 }' out)
printf '%s %s %s\n' "$(error_of at_1.1999)" "$(error_of at_1.2001)" "$slope" |
    awk '{ d = ($2 - $1) / 2e-4; exit !($3 / d > 0.999 && $3 / d < 1.001) }'
check $? "the gradient with gaps: $slope beside $(error_of at_1.1999), $(error_of at_1.2001)"
# A fit finds the mass from what is there: numbers of the two columns, each its own series.
spec fitted '{file: gaps.csv, gaps: skip}'
sed -i -e 's/, lower_mass: 1.1//' -e 's/^objective:.*/objective: {residuals: reference}/' fitted.yaml
echo 'search: {method: least_squares, over: {lower_mass: {range: [0.9, 1.4]}}}' >>fitted.yaml
works run fitted.yaml --results r --backend cpu --progress none
there=$(awk -F, 'NR > 1 { for (i = 2; i <= NF; i++) n += $i != "nan" && $i != "" } END { print n }' gaps.csv)
"$HOPSCOTCH" fit fitted/best --results r >out 2>err
cat out err >said
has " of $there residuals" said
awk '$1 == "lower_mass" { found = $2 > 1.0999 && $2 < 1.1001 } END { exit !found }' said
check $? "a fit to a recording with gaps: $(grep lower_mass said)"

# ---- commands from the same log --------------------------------------------------------------------------------------

printf 'ms;c1;c2\n0;0.2;-0.3\n100;0.6;0.4\n300;-0.2;0.1\n' >sent.csv
spec sent motion.csv
sent='{file: sent.csv, time: {column: ms, unit: ms}, columns: {shoulder: c1, elbow: {column: c2, unit: rad}}}'
sed -i "s/file: commands.csv/file: $sent/" sent.yaml
works run sent.yaml --results r --progress none
[ "$(error_of sent)" = 0 ]
check $? "commands by a mapping: $(error_of sent)"

# Decimal commas are one error, whatever separates fields.
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "time;shoulder_q"; next }
    { line = $1 ";" $at["shoulder_q"]; gsub(/[.]/, ",", line); print line }' motion.csv >commas.csv
refuses "commas.csv:2:3: error: '0,19.*' has a decimal comma, with ';' between fields.* .tr , \." commas.csv
[ "$(grep -c error: err)" -eq 1 ]
check $? "decimal commas are one error: $(grep -c error: err)"
tr , . <commas.csv >points.csv
against points points.csv
[ "$(error_of points)" = 0 ]
check $? "what that error advises: $(error_of points)"
sed -e 's/;/\t/' commas.csv >tabbed.csv
refuses "tabbed.csv:2:3: error: '0,19.*' has a decimal comma, with tabs between fields" tabbed.csv
sed -e 's/;/","/; s/^/"/; s/$/"/' commas.csv >quoted.csv
refuses "quoted.csv:2:6: error: '0,19.*' has a decimal comma, with quotes around fields" quoted.csv
[ "$(grep -c error: err)" -eq 1 ]
check $? "the same between quotes: $(grep -c error: err)"

# ---- what is likely wrong --------------------------------------------------------------------------------------------

awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 1 { $at["elbow_rate"] *= -1 } 1' \
    motion.csv >sign.csv
spec sign sign.csv
works check sign.yaml
remark='elbow_rate: the rate has the other sign than the change of its coordinate: elbow_q changes -[01].[0-9]* times'
tr -s ' \n' ' ' <out | grep -q "warning: $remark"
check $? "check: a rate of the other sign"
works run sign.yaml --results r --progress none
grep -q '^warning: elbow_rate: the rate has the other sign' err
check $? "run: a rate of the other sign"

# doubted WORDS AWK [REFERENCE]: what check says of a recording that AWK changed, whose columns are at[NAME]
doubted()
{
    awk -F, -v OFS=, "NR == 1 { for (i = 1; i <= NF; i++) at[\$i] = i } NR > 1 { $2 } 1" motion.csv >doubted.csv
    spec doubted "${3:-doubted.csv}"
    works check doubted.yaml
    tr -s ' \n' ' ' <out | grep -q "warning: $1"
    check $? "check: $1"
}
doubted 'elbow_q: jumps by a whole turn: by [-0-9.]* rad to line [0-9]* ([0-9.]* s)' \
    '$at["elbow_q"] += $at["elbow_q"] < 0 ? 6.2831853 : 0'
doubted 'shoulder_q: a single row is off by far: [-0-9.]* at line 90 (' '$at["shoulder_q"] += NR == 90 ? 3 : 0'
doubted 'elbow_q: the columns of a coordinate and its rate look exchanged' '' \
    '{file: doubted.csv, columns: {elbow_q: elbow_rate, elbow_rate: elbow_q}}'
doubted 'elbow_q: looks like degrees, not rad: .* (or elbow_rate has .unit: deg/s. and is in rad/s)' '' \
    '{file: doubted.csv, columns: {elbow_q: elbow_q, elbow_rate: {column: elbow_rate, unit: deg/s}}}'

# ---- files of other programs -----------------------------------------------------------------------------------------

if with_python "files of NumPy" numpy; then
    works_python npz
    columns='columns: {shoulder_q: "q[0]", elbow_q: "q[1]", elbow_rate: {column: v, unit: deg/s}}'
    for file in log stored; do
        against "npz_$file" "{file: $file.npz, time: {column: t, unit: us}, $columns}"
        near "npz_$file" 0 1e-12
        check $? "$file.npz of NumPy: $(error_of "npz_$file")"
    done
    against holes '{file: holes.npz, gaps: skip}'
    near holes 0 0
    check $? "holes.npz of NumPy: $(error_of holes)"
    refuses "holes.npz: column 'shoulder_q' has no value in row 0" holes.npz
    refuses "'short' has 250 values, and 't' has 251" '{file: log.npz, time: t, columns: {shoulder_q: short}}'
    refuses "'mode' is no column of numbers: its type is '<U3'" '{file: log.npz, time: t, columns: {shoulder_q: mode}}'
fi
if with_python "files of MCAP" mcap; then
    works_python mcap
    joints='shoulder_q: /joint_states.shoulder.position'
    for file in log flat; do
        elbow='elbow_q: /joint_states.elbow.position'
        against "mcap_$file" "{file: $file.mcap, time: stamp, columns: {$joints, $elbow}}"
        near "mcap_$file" 0 1e-6
        check $? "$file.mcap: $(error_of "mcap_$file")"
    done
    against merged "{file: log.mcap, time: stamp, gaps: skip, columns: {$joints, elbow_rate: /slow.elbow.velocity}}"
    near merged 0 1e-6
    check $? "two topics of an MCAP file: $(error_of merged)"
    works check merged.yaml
    grep -q '^reference  *251 rows of 2 columns' out
    check $? "rows of two topics: $(grep '^reference' out)"
    refuses 'its chunks are compressed by zstd, which is not read' "{file: zstd.mcap, time: stamp, columns: {$joints}}"
    refuses 'an MCAP file needs .columns., such as {knee_q: /joint_states.shoulder.position}' log.mcap
    refuses "is its time, not a column" '{file: log.mcap, time: stamp, columns: {shoulder_q: log_time}}'
fi

if with_python "random recordings, good and bad"; then
    mkdir drawn && cp -r robots drawn && cd drawn || exit 3
    if [ -n "${QUICK:-}" ]; then numbers="4 20 1"; else numbers="20 200 10"; fi
    # shellcheck disable=SC2086
    python3 "$root/tests/recordings.py" $numbers >../out 2>../err
    drawn=$?
    cd ..
    check $drawn "random recordings: $(grep -c '^bad' out) kinds of bad ones; $(grep '^good' out)"
fi
exit $status
