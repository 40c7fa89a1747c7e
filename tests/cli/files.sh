#!/bin/sh
# Files that a model reads: their contents are frozen with the campaign, which keeps copies; a changed file makes
# another spec, a damaged copy is refused, and a name can't lead out of the spec's folder. And the messages about bad
# files.
. "$(dirname "$0")/../scratch.sh"
fail()
{
    echo "FAIL files: $*"
    status=1
}

# Three walls that meet in a corner, and the same points seen from 0.3 m to the side.
mkdir -p scans
walls='BEGIN { for (i = 0.3; i < 12; i += 0.4) for (j = 0.3; j < 12; j += 0.4) {
    w = 0.05 * sin(7 * i + 11 * j)
    printf "%.4f,%.4f,%.4f\n%.4f,%.4f,%.4f\n%.4f,%.4f,%.4f\n", i - s, j, w, i - s, w, j, w - s, i, j } }'
awk -v s=0 "$walls" >scans/target.csv
awk -v s=0.3 "$walls" >scans/source.csv
printf '1 0 0 0.3\n0 1 0 0\n0 0 1 0\n0 0 0 1\n' >scans/truth.txt
cat >corner.yaml <<'YAML'
version: 1
experiment: corner
model: ndt
simulation:
  target: scans/target.csv
  source: {file: scans/source.csv}
  source_voxel: 0.5
  truth: {file: scans/truth.txt}
  maps: [1, 2]
search: {method: grid, over: {resolution: [1, 2]}}
record: {debug: {ndt: {select: {best: 1}}}}
YAML

"$HOPSCOTCH" run corner.yaml --results r --backend cpu --progress none >log 2>&1 || fail "run: $(cat log)"
error=$("$HOPSCOTCH" query corner --results r --order fitness --limit 1 --columns translation_error --format csv |
    tail -n 1)
awk -v error="$error" 'BEGIN { exit !(error < 0.05) }' || fail "the corner is found to $error m"
[ "$(find r/corner/files -type f | wc -l)" -eq 3 ] || fail "copies: $(ls r/corner/files)"
edges=$("$HOPSCOTCH" query corner --results r --columns cell_edge --format csv | tr '\n' ' ')
[ "$edges" = "cell_edge 1 2 " ] || fail "maps that were taken: $edges"

printf 'nan,0,0\n' >>scans/target.csv
"$HOPSCOTCH" check corner.yaml >log 2>&1 || fail "a point that is not finite: $(cat log)"
grep -qF 'warning: 1 point of the files has no finite coordinates and is left out' log || fail "not finite: $(cat log)"
awk -v s=0 "$walls" >scans/target.csv

# a campaign's folder needs nothing else: it works elsewhere, without the named files
mkdir elsewhere && cp -r r/corner elsewhere/corner && mv scans away
"$HOPSCOTCH" replay corner/1 --results elsewhere >log 2>&1 || fail "replay elsewhere: $(cat log)"
"$HOPSCOTCH" resume corner --results elsewhere --progress none >log 2>&1 || fail "resume elsewhere: $(cat log)"
"$HOPSCOTCH" run elsewhere/corner/resolved.yaml --name again --results r --backend cpu --progress none >log 2>&1 ||
    fail "run of resolved.yaml: $(cat log)"
[ "$("$HOPSCOTCH" query again --results r --columns all --format csv)" = \
    "$("$HOPSCOTCH" query corner --results r --columns all --format csv)" ] || fail "resolved.yaml gives other numbers"
"$HOPSCOTCH" merge corner again --into both --results r >log 2>&1 || fail "merge: $(cat log)"
[ "$(find r/both/files -type f | wc -l)" -eq 3 ] || fail "merge keeps $(ls r/both/files)"
"$HOPSCOTCH" doctor corner --results elsewhere >log 2>&1 || fail "doctor: $(cat log)"
mv away scans

# a copy is damaged or missing
for copy in elsewhere/corner/files/*; do printf '9 9 9\n' >>"$copy"; done
"$HOPSCOTCH" replay corner/1 --results elsewhere >log 2>&1 && fail "replay of damaged copies"
grep -q "scans/target.csv has changed: its SHA-256 is " log || fail "damaged copies: $(cat log)"
"$HOPSCOTCH" doctor corner --results elsewhere >log 2>&1 && fail "doctor finds no damaged copy"
grep -q "FINDING .*target.csv: its content changed: its SHA-256 is .*; it can't be computed again" log ||
    fail "doctor of damaged copies: $(cat log)"
"$HOPSCOTCH" doctor corner --results r >log 2>&1 || fail "doctor of good copies: $(cat log)"
grep -q "^ok  *kept files 3, each with the content that the campaign names" log || fail "doctor of copies: $(cat log)"
rm -r elsewhere/corner/files
"$HOPSCOTCH" doctor corner --results elsewhere --repair >log 2>&1 && fail "doctor mends a copy that is gone"
grep -q "target.csv: it is missing; it can't be computed again: put that file there" log || fail "doctor: $(cat log)"
"$HOPSCOTCH" replay corner/1 --results elsewhere >log 2>&1 && fail "replay without copies"
grep -q "scans/target.csv is not in elsewhere/corner, nor is a copy of it, files/" log || fail "no copies: $(cat log)"
"$HOPSCOTCH" show corner/1 --results elsewhere >log 2>&1 || fail "show without copies: $(cat log)"

# a spec with a changed file is another spec
echo "1,2,3" >>scans/source.csv
"$HOPSCOTCH" run corner.yaml --results r --progress none >log 2>&1 && fail "a changed file is accepted"
grep -q "simulation.source: sha256:" log || fail "a changed file: $(cat log)"

# says TEXT KEY=VALUE: `check` refuses the value with one error with that text
says()
{
    "$HOPSCOTCH" check corner.yaml --set "simulation.$2" >log 2>&1 && fail "$2 is accepted"
    grep -qF "$1" log || fail "$2 says: $(cat log)"
    [ "$(grep -c ' error: ' log)" -eq 1 ] || fail "$2 is not one error: $(cat log)"
}
says "'../target.csv' leads out of the spec's folder" target=../target.csv
says "cannot read 'none.csv' in the spec's folder: No such file" target=none.csv
says "target is a list, expected the name of a file, {file: name, sha256: digest} or none" 'target=[a]'
says "simulation.source is given without simulation.target: name both" target=none
says "sha256 is '12', expected 64 digits of 0-9 a-f" 'target={file: scans/target.csv, sha256: 12}'
says "unknown key 'sha' in target, expected file or sha256" 'target={file: scans/target.csv, sha: 12}'
says "scans/source.csv has changed: its SHA-256 is" \
    "target={file: scans/source.csv, sha256: '$(printf '%064d' 0)'}"
says "corner.yaml:1: not a point cloud: use PCD, PLY or lines of x, y, z" source=corner.yaml
says "corner.yaml: expected up to 4096 numbers; number 1 is wrong" 'truth={file: corner.yaml}'
echo "1 2 3" >scans/short.txt
echo "1 0 0 0 0 2 0 0 0 0 1 0" >scans/bent.txt
says "truth.file holds 3 numbers; a pose is a matrix of 12 or 16" 'truth={file: scans/short.txt}'
says "truth.file: rows 2 and 2 are not of a rotation matrix: their product is 4" 'truth={file: scans/bent.txt}'
says "maps is '3', expected a list of numbers in [0.1, 100] m" maps=3
printf '1e9 0 0\n' >scans/far.xyz
says "point 0 of the source (1e+09, 0, 0) is more than 1e8 m away" source=scans/far.xyz
seq 40 | tr '\n' ',' | sed 's/,$//' >list
says "maps has 40 numbers, at most 32 are allowed" "maps=[$(cat list)]"

# Copies of 1 TiB, as sparse files, are refused by their size, before memory is allocated.
cp -r r large
mv scans scans.away
sparse=yes
for copy in large/corner/files/*; do : >"$copy" && truncate -s 1T "$copy" 2>/dev/null || sparse=no; done
if [ $sparse = yes ]; then
    case $HOPSCOTCH in *asan* | *tsan*) room=unlimited ;; *) room=4000000 ;; esac
    (ulimit -v $room && "$HOPSCOTCH" replay corner/0 --results large --threads 1) >log 2>&1
    grep -q " has 1.0 TiB, at most 4.0 GiB are allowed" log || fail "a copy of 1 TiB: $(cat log)"
fi
# Clouds that could be read in two ways: decimal commas, text under `DATA binary`, more points than were announced.
awk 'BEGIN { srand(3); for (i = 0; i < 2000; i++) printf "%.1f %.1f %.1f\n", 6 * rand(), 6 * rand(), rand() }' >points
tr ' ' ';' <points | tr . , >comma.csv
tr ' ' ',' <points >point.csv
pcd_head()
{
    printf 'VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH %s\nHEIGHT 1\n' "$1"
    printf 'POINTS %s\nDATA %s\n' "$1" "$2"
}
{ pcd_head 2000 binary && cat points points; } >text.pcd
{ pcd_head 1000 ascii && cat points; } >half.pcd
cat >odd.yaml <<'YAML'
version: 1
experiment: odd
model: ndt
simulation: {target: point.csv, source: point.csv, source_voxel: 1, maps: [2, 3], max_iterations: 5}
search: {over: {resolution: [2]}}
YAML
"$HOPSCOTCH" check odd.yaml >log 2>&1 || fail "point.csv: $(cat log)"
while read -r name message; do
    "$HOPSCOTCH" check odd.yaml --set "simulation.target=$name" >log 2>&1 && fail "$name is accepted"
    grep -qF "$name:$message" log || fail "$name says: $(cat log)"
done <<'END'
comma.csv 1:4: numbers are separated by another character than before: is ',' the decimal point?
text.pcd 10: the header says binary, and the points are text
half.pcd 1010: the header announces 1000 points, and more follow
END
printf '1 0 0 0,5\n0 1 0 0,5\n0 0 1 0,5\n' >comma.txt
"$HOPSCOTCH" check odd.yaml --set 'simulation.truth={file: comma.txt}' >log 2>&1 && fail "comma.txt is accepted"
grep -qF "comma.txt:1:8: numbers are separated by another character than before" log ||
    fail "comma.txt says: $(cat log)"
{ cat points && echo "1e30 0 0"; } >stray.xyz
"$HOPSCOTCH" check odd.yaml --set simulation.target=stray.xyz >log 2>&1 && fail "stray.xyz is accepted"
grep -qF "point 2000 of the target (1e+30, 0, 0) is more than 1e8 m away" log || fail "stray.xyz says: $(cat log)"
{ cat points && echo "1e8 0 0"; } >stray.xyz
"$HOPSCOTCH" check odd.yaml --set simulation.target=stray.xyz >log 2>&1 && fail "stray.xyz is accepted"
grep -qF "point 2000 of the cloud (1e+08, 0, 0) lies 1e+08 m from the middle of the others" log ||
    fail "stray.xyz says: $(cat log)"

[ $status -eq 0 ] && echo "ok   files"
exit $status
