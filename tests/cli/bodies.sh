#!/bin/sh
# Worlds of many bodies: each body can be named as an input, as a result and in record.bodies, and each is drawn; bodies
# without columns are reported; pictures and pages stay small. And a window of a replay takes no more memory than it
# shows.
. "$(dirname "$0")/../scratch.sh"

# A chain of N links that starts to fall.
spec()
{
    cat <<SPEC
version: 1
experiment: chain
model: rigid
simulation:
  duration: 0.1
  dt: 0.001
  stabilisation: rattle
  copies: $1
  world:
    bodies:
      - {name: link#, repeat: copies, inertia: [0.001, 0.0834, 0.0834], position: [0.5, 0, 0], step: {position: [1]}}
    constraints:
      - {name: hook, type: ball, a: link1, at_a: [-0.5, 0, 0]}
      - {name: joint#, repeat: [2, copies], type: ball, a: link#, b: link#-1, at_a: [-0.5, 0, 0]}
search: {method: grid, over: {link$1_vy: [0, 1]}}
objective: {minimize: link$1_end_y}
record: {trajectories: {select: {trials: [0, 1]}, sample: 0.01}}
SPEC
}
columns() { head -n 1 "$1" | tr ',' '\n' | wc -l; }
drawn() { grep -o '<line class="body"' "$1" | wc -l; }

for n in 17 20 40 300; do
    spec $n >chain.yaml
    run run chain.yaml --results . --progress none --name "chain_$n"
    check $? "run of $n links, the last of which is searched and minimised"
    run query "chain_$n" --results . --order id --columns "link${n}_end_y" --format csv
    awk 'NR == 2 { good = $1 == 0 } NR == 3 { good = good && $1 > 0.02 } END { exit !(NR == 3 && good) }' out
    check $? "the last link of $n moves with its velocity"
    run replay "chain_$n/1" --results . --svg "$n.svg" --html "$n.html"
    check $? "replay of $n links"
    # 9 figures. Each link has two arms to its joints; the last link has one. In a large world each link is one stick.
    [ $n -gt 64 ] && each=$n || each=$((2 * n - 1))
    [ "$(drawn "$n.svg")" -eq $((9 * each)) ]
    check $? "$n links are drawn: $(drawn "$n.svg") sticks in 9 figures"
    height=$(sed -n 's/.* height="\([0-9]*\)".*/\1/p' "$n.svg" | head -n 1)
    [ "$height" -le 2000 ]
    check $? "the picture of $n links is $height px high"
    [ "$(wc -c <"$n.html")" -lt 2000000 ]
    check $? "the page of $n links has $(wc -c <"$n.html") bytes"
    grep -q "Curves of 8 of $n moving bodies, from the first to the last that are recorded" "$n.svg" &&
        grep -q "link${n} position\|link64 position" "$n.svg"
    check $? "the page of $n links says which links have curves"
done

# `check` names the bodies without columns; the name of a column in the spec adds it
run check chain.yaml
grep -qF 'bodies       inputs and end positions of 65 of 300 moving bodies: of the first 64, and of those that ' out &&
    grep -qF 'the spec names, as link300_vx or link300_end_x' out
check $? "check says which bodies have no inputs"
grep -qF 'trajectories columns of 64 of 300 moving bodies; record.bodies chooses them, as [link300]; replay ' out
check $? "check says which bodies have no columns"
grep -qF 'debug rows   debug/kkt holds the first 64 of 900 rows of the constraints' out
check $? "check says which rows are not kept"
spec 20 >twenty.yaml
run check twenty.yaml && ! grep -q '^bodies\|^trajectories' out
check $? "check leaves nothing out for 20 bodies"
run check chain.yaml --resolved && "$HOPSCOTCH" check chain.yaml --json >first 2>/dev/null && mv out resolved.yaml &&
    "$HOPSCOTCH" check resolved.yaml --json >second 2>/dev/null && cmp -s first second
check $? "the resolved spec reads back to the same spec"
for use in 'objective.minimize=link200_end_z^2' 'constraints=["link200_end_x > 3"]' 'initial.link200_vz=2' \
    'parameters={link200_mass: 3}' 'search.over={link200_wy: [0, 1]}' 'search.exclude=["link200_vx > 1"]' \
    'replicates={count: 2, perturb: {link200_z: {normal: [0, 0.1]}}}'; do
    run check chain.yaml --set objective.minimize=error_max --set 'search.over={gravity: [9, 9.81]}' --set "$use" &&
        grep -q 'inputs and end positions of 65 of 300' out
    check $? "a body named by $use has columns"
done
run check chain.yaml --set objective.minimize=link301_end_x
[ $? -eq 1 ] && grep -q "^--set:1:20: error: .*link301_end_x.*did you mean 'link30_end_x'" err
check $? "an unknown body is reported, with the nearest name"
names=$(awk 'BEGIN { for (i = 65; i <= 257; i++) printf "%slink%d_end_x", (i > 65 ? " + " : ""), i }')
run check chain.yaml --set "objective.minimize=$names"
[ $? -eq 1 ] && grep -q 'names inputs or end positions of 258 bodies .*at most 256 can have them' err
check $? "too many names are refused"
printf 'link150_vx,link20_vy\n1,2\n' >points.csv
sed '/^search:/d' chain.yaml >csv.yaml && echo 'search: {method: csv, csv: points.csv}' >>csv.yaml
run check csv.yaml
grep -q 'csv over link150_vx, link20_vy' out
check $? "a body named in the header of a file of points has columns"

# record.bodies by name and by pattern does not change the campaign
shard_columns()
{
    "$HOPSCOTCH" replay "$1/1" --results . -o trace.csv >out 2>err
    head -n 1 trace.csv
}
run run chain.yaml --results . --progress none --name some --set 'record.bodies=[link300, "link10#"]'
check $? "run with record.bodies"
shard_columns some >header
[ "$(tr ',' '\n' <header | wc -l)" -eq $((1 + 13 * 11)) ] && grep -q '^time,link100_x,.*,link109_wz,link300_x,' header
check $? "eleven bodies are recorded: $(cut -c 1-60 header)"
bytes=$(cat some/shards/*.h5 | wc -c) all=$(cat chain_300/shards/*.h5 | wc -c)
[ "$bytes" -lt $((all / 2)) ]
check $? "shards of eleven bodies are smaller: $bytes bytes of $all"
"$HOPSCOTCH" check chain.yaml --json >first 2>/dev/null
"$HOPSCOTCH" check chain.yaml --json --set record.bodies=link7 >second 2>/dev/null
grep -q '"hash"' first && [ "$(grep '"hash"' first)" = "$(grep '"hash"' second)" ]
check $? "record.bodies does not change the spec's identity"
"$HOPSCOTCH" query some --results . --columns all --format csv >first 2>err
"$HOPSCOTCH" query chain_300 --results . --columns all --format csv >second 2>err
[ "$(wc -l <first)" -eq 3 ] && cmp -s first second
check $? "record.bodies changes no number of any trial"
run run chain.yaml --results . --progress none --name some --set 'record.bodies=[link7]'
check $? "a second run with other bodies"
run digest some --results . && run doctor some --results . && run export some --results . --hdf5 some.h5
check $? "arrays recorded again are whole: digest, doctor and export"
shard_columns some | grep -q '^time,link7_x,[^l]*link7_y,.*link7_wz$'
check $? "arrays recorded again hold the other bodies"
run resume some --results . --progress none
check $? "resume keeps the bodies"
[ "$("$HOPSCOTCH" digest some --results . | cut -c 1-20)" != "" ]
check $? "digest"
spec 20 | sed 's/^record: {/record: {bodies: [link1, lnk20, "tip#"], /' >wrong.yaml
run check wrong.yaml
[ $? -eq 1 ] && grep -q "^wrong.yaml:[0-9]*:26: error: 'lnk20' is not one of the 20 moving bodies; " err &&
    grep -q "did you mean 'link20'?" err && grep -q "^wrong.yaml:[0-9]*:33: error: 'tip#' is not one of" err
check $? "wrong names are reported with their places"
run check chain.yaml --set record.bodies=all --set simulation.copies=320
[ $? -eq 1 ] &&
    grep -q 'a trajectory of these moving bodies has 4161 columns, at most 4000 are allowed: name fewer' err
check $? "too many columns are refused"
run check chain.yaml --set 'record.bodies=[[link1]]'
[ $? -eq 1 ] && grep -q 'record.bodies has a list, expected names of moving bodies' err
check $? "a list within the list of bodies is refused"
awk 'BEGIN { for (i = 1; i <= 256; i++) printf "%slink%d_x,link%d_y", (i > 1 ? "," : ""), i, i; print ""
             for (i = 1; i <= 256; i++) printf "%s0,0", (i > 1 ? "," : ""); print "" }' >points.csv
run run csv.yaml --results . --progress none --name wide --set replicates.count=2 --set objective.minimize=error_max
[ $? -eq 1 ] && grep -q 'the table trials would have [0-9]* columns and SQLite allows 2000: search fewer parameters' err
check $? "a table of too many columns is refused"
run check "$root/experiments/raibert_gains.yaml" --set record.bodies=all
[ $? -eq 1 ] && grep -q 'model hopper has no bodies: leave record.bodies out' err
check $? "a model without bodies says so"

# replay --bodies
run replay chain_300/1 --results . --bodies 'link300,link1#' -o trace.csv
[ "$(columns trace.csv)" -eq $((1 + 13 * (1 + 10 + 100))) ]
check $? "replay --bodies writes the named bodies"
run replay chain_300/1 --results . --bodies all -o trace.csv
[ "$(columns trace.csv)" -eq $((1 + 13 * 300)) ]
check $? "replay --bodies all writes every body"
run replay chain_300/1 --results . --bodies link3000 -o trace.csv
[ $? -eq 1 ] &&
    grep -qF -e "--bodies: 'link3000' is not one of the 300 moving bodies of the model; did you mean" err &&
    grep -qF "'link300'?" err
check $? "replay --bodies suggests the nearest name"
run replay chain_300/1 --results . --bodies link300 --svg one.svg &&
    grep -q 'Curves of 1 of 300 moving bodies;' one.svg && [ "$(drawn one.svg)" -eq 2700 ]
check $? "the picture shows the curves of one body, and draws all bodies"

run run chain.yaml --results . --progress none --name long --set simulation.copies=320 --set simulation.duration=0.002 \
    --set record={} && run replay long/1 --results . --bodies all -o trace.h5
[ $? -eq 1 ] && grep -q '4161 columns, and HDF5 takes 4000: name fewer with --bodies, or write -o FILE.csv' err
check $? "too many columns for HDF5 are refused"

# memory is counted for the window, not for the time before it
run run "$root/experiments/smoke.yaml" --results . --progress none --name fine --set simulation.dt=1e-6 \
    --set simulation.duration=3 --set simulation.settle=0 \
    --set 'search={method: list, points: [{thrust: 35}]}' --set 'record={}'
check $? "run of three million steps"
run replay fine/0 --results . --sample 1e-6 --window 1.4999995,1.5000025 -o window.csv
check $? "replay of a window of three steps"
[ "$(cut -d , -f 1 window.csv | tr '\n' ' ')" = "time 1.5 1.500001 1.5000019999999998 " ]
check $? "the window has three samples: $(cut -d , -f 1 window.csv | tr '\n' ' ')"
run replay fine/0 --results . --sample 1e-6 -o window.csv
[ $? -eq 1 ] && grep -q 'name a coarser --sample SECONDS or a shorter --window START,END' err
check $? "replay of all three million steps is refused"
for dt in 0.001 0.0001; do
    run run "$root/experiments/smoke.yaml" --results . --progress none --name "prince_$dt" --set simulation.dt=$dt \
        --set simulation.integrator=dormand_prince --set simulation.duration=1 --set simulation.settle=0 \
        --set 'search={method: list, points: [{thrust: 35}]}' --set 'record={}'
    run replay "prince_$dt/0" --results . --sample $dt -o whole.csv &&
        run replay "prince_$dt/0" --results . --sample $dt --window 0.5,0.52 -o window.csv
    awk -F, 'NR == 1 || ($1 >= 0.5 - 1e-12 && $1 <= 0.52 + 1e-12)' whole.csv >part.csv
    cmp -s part.csv window.csv && [ "$(wc -l <window.csv)" -gt 20 ]
    check $? "a window of adaptive steps holds what the whole motion has there: $(wc -l <window.csv) lines"
done
exit $status
