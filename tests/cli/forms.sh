#!/bin/sh
# Unions and conditional axes in campaigns: the number of trials, and extensions.
. "$(dirname "$0")/../scratch.sh"

cat >forms.yaml <<'END'
version: 1
experiment: forms
seed: 5
model: bbob
simulation: {function: sphere, dimension: 4}
parameters: {x3: -2}
search:
  over: {x4: {derive: "0.5 * x1"}}
  union:
    - {over: {x1: [0, 1, 2], x2: [3, 4]}}
    - {over: {x1: [2, 3], x3: [-2, -1]}}
  when: {x2: "x1 > 0"}
END

# run NAME OPTIONS...
run()
{
    name=$1
    shift
    "$HOPSCOTCH" run forms.yaml --name "$name" --progress none "$@" >out 2>&1
}
points()
{
    "$HOPSCOTCH" query "$1" --columns id,x1,x2,x3,x4 --order id --format csv --where "$2" |
        tail -n +2 | tr '\n' ' '
}

"$HOPSCOTCH" check forms.yaml >out 2>&1
has "10 trials at most"
"$HOPSCOTCH" plan forms.yaml >out 2>&1
has "9 (1 more are excluded)"
run forms
expect $? 0 "a union with a condition"
has "9 of 9"
[ "$(points forms 'id >= 0')" = "0,0,0,-2,0 2,1,3,-2,0.5 3,1,4,-2,0.5 4,2,3,-2,1 5,2,4,-2,1 6,2,0,-2,1 7,2,0,-1,1 \
8,3,0,-2,1.5 9,3,0,-1,1.5 " ]
check $? "the points of the union: $(points forms 'id >= 0')"
"$HOPSCOTCH" show forms/1 >out 2>&1
expect $? 1 "a gap is not a trial"
"$HOPSCOTCH" replay forms/7 >out 2>&1
check $? "a trial of the second block replays"
run other --batch 2
[ "$(digest other)" = "$(digest forms)" ]
check $? "the same digest in other batches"
run forms && grep -q 'done already' out
check $? "a second run of the same spec"

more='search.union=[{over: {x1: [0, 1, 2], x2: [3, 4]}}, {over: {x1: [2, 3], x3: [-2, -1]}}, {over: {x2: [3, 5]}}]'
run forms --set "$more"
expect $? 1 "another block"
has "search.union.2: (none) -> {over: {x2: [3, 5]}}"
has "9 trials done, 0 new"
run forms --set "$more" --set 'parameters={x1: 1, x3: -2}' --extend
expect $? 0 "where x1 is 1 and the condition holds"
[ "$(points forms 'id >= 10')" = "11,1,5,-2,0.5 " ]
check $? "new points have higher ids: $(points forms 'id >= 10')"
run forms --set "$more" --set 'parameters={x1: 1, x3: -2}' --set 'search.when={x2: "x1 > 1"}'
has "search.when.x2: x1 > 0 -> x1 > 1"
has "10 trials done, 1 new, 3 done and no longer asked for"
run forms --set 'search.union=[{over: {x1: [0, 1], x3: [1]}}, {over: {x2: [3, 5]}}]' --extend
expect $? 1 "axes in another order"
has "can't change"
exit $status
