#!/bin/sh
# Specs that include others: merging, the places of errors, refusals, and fragments as a part of the campaign's
# identity.
. "$(dirname "$0")/../scratch.sh"
mkdir -p specs/parts

examine() { "$HOPSCOTCH" check "specs/$1.yaml" >out 2>&1; }
run() { "$HOPSCOTCH" run "specs/$1.yaml" --progress none >out 2>&1; }
spec() { cat >"specs/$1.yaml"; }

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
"$HOPSCOTCH" check specs/main.yaml --resolved >merged 2>out &&
    "$HOPSCOTCH" check specs/written_out.yaml --resolved | diff merged - >out
check $? "the merged spec equals the same spec written out"

run main
expect $? 0 "a run of it"
grep -q '^# included: parts/numerics.yaml$' results/main/spec.yaml &&
    grep -qF '# {m: 14, m_l: 3, g: 9.81}' results/main/spec.yaml
check $? "spec.yaml in the campaign holds the fragments too"
run written_out
has "done already"
echo 'simulation: {duration: 0.3, settle: 0.1, newton: {iterations: 20}}' >specs/parts/numerics.yaml
run main
expect $? 1 "another fragment"
has "simulation.duration: 0.2 -> 0.3"
"$HOPSCOTCH" resume main >out 2>&1
has "done already"

echo 'simulation: {duraton: 0.2, dt: 1}' >specs/parts/numerics.yaml
examine main
expect $? 1 "mistakes in a fragment"
has "specs/parts/numerics.yaml:1:14: error: unknown key 'duraton' in simulation; did you mean 'duration'?"
has "specs/parts/numerics.yaml:1:32: error: dt is 1, must be in [1e-7, 0.1] s"
echo 'include: ../robot.yaml' >specs/parts/numerics.yaml
examine main
has "parts/numerics.yaml:1:10: error: 'parts/../robot.yaml' leads out of the spec's folder"
echo 'include: ./base.yaml' >specs/parts/numerics.yaml
examine main
has "error: include makes a circle: parts/base.yaml -> parts/numerics.yaml -> parts/base.yaml"
echo '[1, 2]' >specs/parts/numerics.yaml
examine main
has "parts/numerics.yaml:1:1: error: a file that is included is a mapping of keys to values, this is a list"
echo 'secret: [' >secret.yaml
ln -s ../../secret.yaml specs/parts/link.yaml
echo 'include: link.yaml' >specs/parts/numerics.yaml
examine main
has "'parts/link.yaml' is a link out of the spec's folder"
! grep -q 'secret: ' out
check $? "the error shows nothing of the link's target"

# the points of a fragment are read from the fragment's folder
printf 'k_fp\n100\n' >specs/parts/points.csv
echo 'search: {method: csv, csv: points.csv}' >specs/parts/numerics.yaml
printf 'version: 1\nexperiment: csv\nmodel: hopper\ninclude: parts/numerics.yaml\n' | spec csv
examine csv
expect $? 0 "points of a fragment"

i=0
while [ $i -lt 12 ]; do
    echo "include: deep$((i + 1)).yaml" >"specs/deep$i.yaml"
    i=$((i + 1))
done
examine deep0
has "includes are nested deeper than 8 files"
{ printf 'include: ['; i=0; while [ $i -lt 33 ]; do printf 'robot.yaml, '; i=$((i + 1)); done; echo ']'; } | spec wide
examine wide
has "more than 32 files are included"
{ echo '# filler'; dd if=/dev/zero bs=1024 count=700 2>/dev/null | tr '\0' '#'; echo; } >specs/large.yaml
sed -i '2s/$/\nseed: 1/' specs/large.yaml
echo 'include: [large.yaml, large.yaml]' | spec twice
examine twice
has "is larger than"
"$HOPSCOTCH" check specs/written_out.yaml --set include=robot.yaml >out 2>&1
expect $? 1 "an include in --set"
has "--set:1:1: error: include stands in a spec's file only"
exit $status
