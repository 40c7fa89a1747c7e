#!/bin/sh
# Points from a file: they are frozen with the campaign, a changed file makes another spec, and only files below the
# spec's folder are read.
#
#   QUICK=1   fewer points
. "$(dirname "$0")/../scratch.sh"
many=20000
[ -z "${QUICK:-}" ] || many=2000
mkdir specs specs/data

cat >specs/table.yaml <<'END'
version: 1
experiment: table
seed: 5
model: bbob
simulation: {function: sphere, dimension: 3}
search: {method: csv, csv: data/points.csv, over: {x3: {derive: "x1 + 1"}}}
END
points=specs/data/points.csv

hopscotch() { "$HOPSCOTCH" "$@" >out 2>&1; }
# run NAME OPTIONS...
run()
{
    name=$1
    shift
    hopscotch run specs/table.yaml --name "$name" --progress none "$@"
}
rows()
{
    "$HOPSCOTCH" query "$1" --columns id,x1,x2,x3 --order id --format csv | tail -n +2
}

printf '# measured\r\n"x1", x2\r\n1,2\r\n\r\n 0.5 ,-2.5e-1\r\n3,5\r\n' >"$points"
run table
expect $? 0 "three points"
[ "$(rows table | tr '\n' ' ')" = "0,1,2,2 1,0.5,-0.25,1.5 2,3,5,4 " ]
check $? "points are run in their order"
run table && grep -q 'done already' out
check $? "a second run with the same file"

printf 'x2,x1\n2,1\n-0.25,0.5\n5,3\n' >"$points"
run table
expect $? 1 "columns in another order, which the rows have"
has "can't change"
printf 'x1,x2\n3,5\n1,2\n4,4\n' >"$points"
run table
expect $? 1 "another file"
has "search.points.0: [1, 2] -> [3, 5]"
has "3 trials done, 1 new, 1 done and no longer asked for"
run table --extend
expect $? 0 "extended"
[ "$(rows table | tr '\n' ' ')" = "0,1,2,2 1,0.5,-0.25,1.5 2,3,5,4 3,4,4,5 " ]
check $? "only new points were run"

awk -v n="$many" 'BEGIN { print "id,x1,x2"; for (i = 0; i < n; i++) print i "," i % 101 / 25 "," i / n }' >"$points"
picked='search.csv={file: data/points.csv, columns: [x1, x2]}'
run many --set "$picked" --set limits.trials=$((many / 2))
expect $? 0 "$many points, to the half"
expected=$(
    rm "$points"
    hopscotch resume many --set limits.trials=none --progress none && digest many
)
[ -n "$expected" ]
check $? "resume without the file"
run many --set "$picked"
expect $? 1 "run without the file"
has "data/points.csv' in the spec's folder: No such file"
awk -v n="$many" 'BEGIN { print "x1,id,x2"; for (i = 0; i < n; i++) print i % 101 / 25 "," i "," i / n }' >"$points"
run other --set "$picked" && [ "$(digest other)" = "$expected" ]
check $? "the digest is that of one run, and of another order of columns"
run many --set "$picked" && grep -q 'done already' out
check $? "the points are the same"
awk -v n="$many" 'BEGIN { print "x1,x2"; for (i = n; i >= -1; i--) print (i + 101) % 101 / 25 "," i / n }' >"$points"
run many
expect $? 1 "all of them in another order, and two more"
has "search.points: $many points, sha256"
has "trials done, 2 new"
hopscotch doctor many
check $? "the doctor finds nothing"

printf 'x1,x2\n1,2\n' >outside.csv
ln -s ../outside.csv specs/link.csv
for name in ../outside.csv "$work/outside.csv" link.csv data/../../outside.csv; do
    hopscotch check specs/table.yaml --set "search.csv=$name"
    [ $? -eq 1 ] && grep -q "out of the spec's folder" out
    check $? "${name##*/} is refused: $(sed -n 's/.*error: //p' out | cut -c1-60)"
done
dd if=/dev/zero bs=1048576 count=9 2>/dev/null | tr '\0' '\n' >"$points"
run large
expect $? 1 "a file of 9 MiB"
has "larger than 8388608 bytes"
exit $status
