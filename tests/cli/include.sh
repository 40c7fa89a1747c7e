#!/bin/sh
# Specs that include others: what is merged, where errors point, what is refused, and that the fragments are part of
# what a campaign is.
#
#   HOPSCOTCH  the program
set -u
cd "$(dirname "$0")/../.." || exit 3
: "${HOPSCOTCH:=$PWD/build/hopscotch}"
failed=0
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/specs/parts"

report()
{
    if [ "$1" -eq 0 ]; then echo "ok include: $2"; else echo "FAIL include: $2"; cat "$folder/output"; failed=1; fi
}
expect() { [ "$1" -eq "$2" ]; report $? "$3 (status $1)"; }
has() { grep -qF -e "$1" "$folder/output"; report $? "it says '$1'"; }
check() { "$HOPSCOTCH" check "$folder/specs/$1.yaml" >"$folder/output" 2>&1; }
run() { "$HOPSCOTCH" run "$folder/specs/$1.yaml" --results "$folder/results" --progress none >"$folder/output" 2>&1; }
spec() { cat >"$folder/specs/$1.yaml"; }

spec main <<'END'
include: [parts/base.yaml, robot.yaml]
experiment: main
search:
  over: {k_fp: [100, 150, 200], J: [10, 11]}
parameters: {include: parts/parameters.yaml, m: 12}
replicates: {count: 2, perturb: {phi_leg: {uniform: [0, 0.01]}}}
END
spec parts/base <<'END'
include: numerics.yaml
version: 1
experiment: base
model: hopper
seed: 4
search: {over: {thrust: [30, 35], k_fp: {linspace: [50, 300, 26]}}}
replicates: {count: 9, perturb: {phi_leg: {normal: [0.01, 0.02]}, z_foot: {uniform: [0.35, 0.45]}}}
END
spec parts/numerics <<'END'
simulation: {duration: 0.2, settle: 0.1, newton: {iterations: 20, tolerance: 1.0e-12}}
END
spec robot <<'END'
parameters: {m: 13, m_l: 2}
simulation: {newton: {tolerance: 1.0e-10}}
END
spec parts/parameters <<'END'
{m: 14, m_l: 3, g: 9.81}
END
spec written_out <<'END'
version: 1
experiment: main
model: hopper
seed: 4
simulation: {duration: 0.2, settle: 0.1, newton: {iterations: 20, tolerance: 1.0e-10}}
parameters: {m: 12, m_l: 3, g: 9.81}
search: {over: {thrust: [30, 35], k_fp: [100, 150, 200], J: [10, 11]}}
replicates: {count: 2, perturb: {phi_leg: {uniform: [0, 0.01]}, z_foot: {uniform: [0.35, 0.45]}}}
END
"$HOPSCOTCH" check "$folder/specs/main.yaml" --resolved >"$folder/merged" 2>"$folder/output" &&
    "$HOPSCOTCH" check "$folder/specs/written_out.yaml" --resolved | diff "$folder/merged" - >"$folder/output"
report $? "what is merged is what is written out"

run main
expect $? 0 "a run of it"
grep -q '^# included: parts/numerics.yaml$' "$folder/results/main/spec.yaml" &&
    grep -qF '# {m: 14, m_l: 3, g: 9.81}' "$folder/results/main/spec.yaml"
report $? "its spec.yaml holds the fragments too"
run written_out
has "done already"
echo 'simulation: {duration: 0.3, settle: 0.1, newton: {iterations: 20}}' >"$folder/specs/parts/numerics.yaml"
run main
expect $? 1 "another fragment"
has "simulation.duration: 0.2 -> 0.3"
"$HOPSCOTCH" resume main --results "$folder/results" >"$folder/output" 2>&1
has "done already"

echo 'simulation: {duraton: 0.2, dt: 1}' >"$folder/specs/parts/numerics.yaml"
check main
expect $? 1 "mistakes in a fragment"
has "specs/parts/numerics.yaml:1:14: error: unknown key 'duraton' in simulation; did you mean 'duration'?"
has "specs/parts/numerics.yaml:1:32: error: dt is 1, must be in [1e-7, 0.1] s"
echo 'include: ../robot.yaml' >"$folder/specs/parts/numerics.yaml"
check main
has "parts/numerics.yaml:1:10: error: 'parts/../robot.yaml' leads out of the spec's folder"
echo 'include: ./base.yaml' >"$folder/specs/parts/numerics.yaml"
check main
has "error: include makes a circle: parts/base.yaml -> parts/numerics.yaml -> parts/base.yaml"
echo '[1, 2]' >"$folder/specs/parts/numerics.yaml"
check main
has "parts/numerics.yaml:1:1: error: a file that is included is a mapping of keys to values, this is a list"
echo 'secret: [' >"$folder/secret.yaml"
ln -s ../../secret.yaml "$folder/specs/parts/link.yaml"
echo 'include: link.yaml' >"$folder/specs/parts/numerics.yaml"
check main
has "'parts/link.yaml' is a link out of the spec's folder"
! grep -q 'secret: ' "$folder/output"
report $? "and nothing of what it leads to"

# points of a fragment are looked for beside it
printf 'k_fp\n100\n' >"$folder/specs/parts/points.csv"
echo 'search: {method: csv, csv: points.csv}' >"$folder/specs/parts/numerics.yaml"
printf 'version: 1\nexperiment: csv\nmodel: hopper\ninclude: parts/numerics.yaml\n' | spec csv
check csv
expect $? 0 "points of a fragment"

i=0
while [ $i -lt 12 ]; do
    echo "include: deep$((i + 1)).yaml" >"$folder/specs/deep$i.yaml"
    i=$((i + 1))
done
check deep0
has "includes are nested deeper than 8 files"
{ printf 'include: ['; i=0; while [ $i -lt 33 ]; do printf 'robot.yaml, '; i=$((i + 1)); done; echo ']'; } | spec wide
check wide
has "more than 32 files are included"
{ echo '# filler'; dd if=/dev/zero bs=1024 count=700 2>/dev/null | tr '\0' '#'; echo; } >"$folder/specs/large.yaml"
sed -i '2s/$/\nseed: 1/' "$folder/specs/large.yaml"
echo 'include: [large.yaml, large.yaml]' | spec twice
check twice
has "is larger than"
exit $failed
