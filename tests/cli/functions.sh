#!/bin/sh
# The functions of expressions in a spec and on the command line: derive, exclude, when, objective, constraints, a
# condition over rows and over blocks. Oracle: awk, and counts by hand. A spec whose names are those of functions is
# valid, and means its names.
. "$(dirname "$0")/../scratch.sh"

cat >waves.yaml <<'END_SPEC'
version: 1
experiment: waves
model: bbob
search:
  method: grid
  over:
    x1: {linspace: [-4, 4, 9]}
    x2: {linspace: [-4, 4, 9]}
    x3: {derive: "clip(x1*x2, -5, 5)"}
  exclude: ["mod(x1, 2) = 1 and x2 < 0"]                 # 4 odd x1 of 9, 4 negative x2 of 9
simulation: {dimension: 3}
objective: {minimize: "if(x1 < 0, hypot(x1, x2), floor(x2 + 0.5)) + 0*f + sin(pi)^2"}
constraints: ["atan2(x2, x1) <= 3*pi/4", "tanh(x1) + cosh(x2) < 5 or sign(x2) > 0"]
END_SPEC
works check waves.yaml
works run waves.yaml --progress none
works query waves --columns id,x1,x2,x3,fitness,constraint_1 --limit 100 --format csv
cp out rows
[ "$(sed 1d rows | wc -l)" = 65 ]
check $? "65 trials are left of 81"
sed 1d rows | awk -F, '
    function abs(x) { return x < 0 ? -x : x }
    {
        wanted = $2 < 0 ? sqrt($2 * $2 + $3 * $3) : $3
        product = $2 * $3 > 5 ? 5 : $2 * $3 < -5 ? -5 : $2 * $3
        angle = atan2($3, $2) - 3 * atan2(1, 1)
        if (abs($5 - wanted) > 1e-12 || $4 != product || abs($6 - angle) > 1e-12) { print; wrong = 1 }
        if (($2 % 2 == 1 || $2 % 2 == -1) && $3 < 0) { print; wrong = 1 }
    }
    END { exit wrong }' >wrong
check $? "derive, exclude, objective and constraints have the values of awk"
grep -qF 'derive: "clip(x1 * x2, -5, 5)"' results/waves/resolved.yaml &&
    grep -qF 'if(x1 < 0, hypot(x1, x2), floor(x2 + 0.5)) + 0 * f + sin(pi)^2' results/waves/resolved.yaml
check $? "resolved.yaml has the functions and pi"
works check results/waves/resolved.yaml
works run waves.yaml --name blocks --set store.rows=blocks --set 'constraints=[]' --progress none
[ -n "$("$SQL" results/blocks/campaign.db "SELECT 1 FROM blocks LIMIT 1")" ]
check $? "the campaign in blocks"

# counted NAME CONDITION COUNT
counted()
{
    works query "$1" --where "$2" --columns id --limit 100 --format csv
    [ "$(sed 1d out | wc -l)" = "$3" ]
    check $? "$3 trials of $1 where $2"
}
for name in waves blocks; do
    counted $name "mod(x1, 3) = 0" 19 # x1 = -3, 0, 3: 5 + 9 + 5
    counted $name "if(x1 > 0, x2 > 0, x2 = 0)" 21
    counted $name "clip(x1, -1, 1) = -1 and step(x2) = 1" 20
    counted $name "acos(x1/4) < pi/4 and ceil(x2/4) = 1" 8
    counted $name "if(failure = 'none', sign(x1), 0/0) = 0" 9
done
code=1 refused query waves --where "fmod(x1, 2) = 1"
has "write mod instead of fmod" err
code=1 refused query waves --where "frobnicate(x1)"
has "unknown function 'frobnicate'; there are min max clip if; abs sign step; floor ceil mod" err

# ---- names of functions as names ------------------------------------------------------------------------------------

cat >named.sh <<'END'
#!/bin/sh
read -r hello
echo '{"hello": 1}'
while read -r request; do
    id=${request##*'"id": '}
    echo "{\"id\": ${id%%[!0-9]*}, \"metrics\": {\"tan\": 7, \"floor\": 11}}"
done
END
chmod +x named.sh
cat >named.yaml <<'END_SPEC'
version: 1
experiment: named
model: command
simulation: {program: [./named.sh]}
parameters: {mod: 2, pi: 3, clip: 4, if: 1}
metrics: [tan, floor]
search: {method: grid, over: {mod: [2, 5], if: [0, 1], pi: [3, 4]}}
objective: {minimize: "tan + 100*mod(floor, mod) + 1000*pi + if(if, clip, 0)"}
END_SPEC
works run named.yaml --allow-programs --progress none
works query named --columns mod,if,fitness --order mod,if --where "pi = 3 and mod(floor, 5) = if" --format csv
cat >expected <<'END'
mod,if,fitness
2,1,3111
5,1,3111
END
cut -d, -f1-3 out | cmp -s - expected
check $? "parameters and metrics have names of functions"
exit $status
