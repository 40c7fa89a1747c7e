#!/bin/sh
# Names that stand for trials; commands that the program prints work as printed; completion in shells.
. "$(dirname "$0")/../scratch.sh"

cat >gains.yaml <<'END'
version: 1
experiment: gains
seed: 7
model: hopper
simulation: {duration: 0.6, settle: 0.1}
search: {method: list, points: [{k_fp: 300}, {k_fp: 250}, {k_fp: 60}, {k_fp: 280}]}
objective: {minimize: k_fp}
END
works run gains.yaml --progress none
run show gains/best
has "gains/2: fitness 60"
run show gains/worst
has "gains/0: fitness 300"
run replay gains/best
has "gains/2: the same to the bit"
run replay gains/worst/0 --sample 0.1 -o -
check $? "replay of one replicate"
run replay gains/best gains/worst --html both.html
check $? "replay of two trials"
refused show gains/failed
has "gains has no failed trial: no trial failed" err
sed 's/{minimize: k_fp}/{maximize: k_fp}/' gains.yaml >up.yaml
works run up.yaml --name up --progress none
run show up/best
has "up/0: fitness 300"
run show up/worst
has "up/2: fitness 60"
sed 's/{minimize: k_fp}/{minimize: [k_fp, thrust]}/' gains.yaml >front.yaml
works run front.yaml --name front --progress none
refused show front/best
has "front has several objectives and so no best trial" err
works run gains.yaml --name fell --set 'initial={z_foot: 0.4, dphi_body: 30}' --progress none
run show fell/failed
has "fell/0: fitness none, failure fell"
refused show fell/best
has "fell has no best trial: no trial has a fitness" err
code=2 refused show gains/beast
has "or best, worst or failed instead of the number" err
run best gains --limit 2 --format csv
[ "$(wc -l <out)" = 3 ]
check $? "best --limit is --top"

# Printed commands work when they are typed again in the same folder, with a path and a results root that need quotes.
mkdir "odd dir"
ln -s "$HOPSCOTCH" "odd dir/it's"
root_of="odd dir/r*'s"
"odd dir/it's" run gains.yaml --progress none --results "$root_of" >out 2>err
sed -n 's/^next *//p; s/^          //p' out | grep "^'odd dir/it" >commands.sh
[ "$(wc -l <commands.sh)" = 4 ]
check $? "four commands are printed as the program was typed"
while read -r command; do
    eval "$command" >out 2>err </dev/null
    check $? "as printed: $command"
done <commands.sh

run help --completion bash
cp out completion
cat >ask.sh <<'END'
. ./completion
COMP_WORDS=(hopscotch models "") COMP_CWORD=2
_hopscotch
echo "${COMPREPLY[*]}"
END
bash ask.sh >out 2>err
has "hopper"
has "bbob"
run help --completion zsh
has "_hopscotch_models() { compadd hopper"
# shellcheck disable=SC2016
unquoted=$(grep -rn -e '--set [a-z_.]*=[[{]' "$root/README.md" "$root/experiments" "$root/runner" \
    --include=*.md --include=*.yaml --include=*.c)
[ -z "$unquoted" ] || echo "$unquoted" >out
[ -z "$unquoted" ]
check $? "examples with brackets are quoted: zsh reads them"
exit $status
