#!/bin/sh
# Maps of pairs of parameters: cells whose trials all failed look unlike the worst and unlike cells without a trial. The
# plots of a page fill a narrow screen.
. "$(dirname "$0")/../scratch.sh"

cat >holes.yaml <<'EOF'
version: 1
experiment: holes
model: hopper
simulation: {duration: 5, settle: 0.1}
search: {over: {k_xdot: [-0.2, 0, 0.05, 0.2], thrust: [10, 20, 30, 40]}}
objective: {minimize: attitude_rms}
EOF
works run holes.yaml --progress none
run query holes --columns failure --format csv
grep -q fell out && grep -q none out
check $? "some trials fall"
works plot holes --kind pairs -o holes.svg
has '<path class="cf ce"' holes.svg
has "no trial with a fitness" holes.svg
lacks "data-fit" holes.svg
works report holes -o holes.html
has "Outlined cell: no trial has a fitness." holes.html
lacks "Empty cell" holes.html
grep -q '<svg class="p" role="img" data-fit width="440"' holes.html && ! grep -q 'data-fit width="[5-9]' holes.html
check $? "plots of up to 440 pixels fill a narrow screen"
works plot holes --kind pairs --where "thrust > 10 or k_xdot > 0" -o some.svg
cells() { grep -o '<path class="cf ce" d="[^"]*"' "$1" | tr -cd z | wc -c; }
failures=$("$HOPSCOTCH" query holes --where "not (failure = 'none')" --format csv | sed 1d | wc -l)
[ "$(cells holes.svg)" = "$failures" ] && [ "$(cells some.svg)" -lt "$failures" ]
check $? "$failures cells are of trials that failed; without these trials a cell is empty"
works run holes.yaml --name whole --set 'search.over={k_xdot: [0, 0.02], thrust: [20, 30]}' --progress none
works plot whole --kind pairs -o whole.svg
lacks '"cf' whole.svg
exit $status
