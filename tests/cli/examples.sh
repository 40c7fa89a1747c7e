#!/bin/sh
# examples, docs, and `run NAME` of an example that comes with the program: beside an installed program and in the
# source folder. Each example, copied elsewhere with the files that it names, passes check there.
. "$(dirname "$0")/../scratch.sh"

works examples
has "smoke                    The whole path in a few seconds: 11,660 one-legged hoppers,"
has "command/spring           A simulator of your own"
! grep -q "^laws/" out
check $? "a law is no example"
sed -n 's/^\([a-z][a-z0-9_/]*\)  *[^ ].*/\1/p' out | grep -v '^next$' >names
[ "$(wc -l <names)" -ge 60 ]
check $? "$(wc -l <names) examples"

# ---- copies ---------------------------------------------------------------------------------------------------------

while read -r name; do
    "$HOPSCOTCH" examples "$name" "copies/$name" >said 2>&1 || echo "$name: $(cat said)"
    case $name in ndt_lidar | my_robot) continue ;; esac # which ask for files of the user
    "$HOPSCOTCH" check "copies/$name/$(basename "$name").yaml" >said 2>&1 || echo "$name: $(head -n 3 said)"
done <names >err
[ ! -s err ]
check $? "each passes check where it was copied to"
works examples quadruped_law trot
[ "$(sed -n '/^$/q;p' out | sort | tr '\n' ' ')" = \
    "trot/laws/trot.yaml trot/quadruped_law.yaml trot/robots/quadruped.xml trot/schema.json " ]
check $? "a copy has what the spec names"
cmp trot/laws/trot.yaml "$root/experiments/laws/trot.yaml" >err
check $? "unchanged"
works examples quadruped_law trot
has "trot/quadruped_law.yaml (was there already)"
echo "# mine" >>trot/laws/trot.yaml
rm trot/quadruped_law.yaml
refused examples quadruped_law trot
has "trot/laws/trot.yaml exists, and is another file than the example's: name another folder" err
[ ! -e trot/quadruped_law.yaml ] && grep -q '^# mine' trot/laws/trot.yaml
check $? "and writes nothing"
ln -s /nowhere linked.yaml
mkdir held && ln -s ../elsewhere held/smoke.yaml
refused examples smoke held
[ ! -e elsewhere ]
check $? "no link is followed"
works examples command/spring spring
[ -x spring/spring.sh ]
check $? "a program stays one"
for name in smok ../experiments/smoke /etc/passwd laws/trot ''; do
    refused examples "$name"
    has "there is no example '$name'" err
done
refused examples smok
has "did you mean 'smoke'?" err
refused examples something_else_altogether
has "\`hopscotch examples\` lists them" err

# ---- pages ----------------------------------------------------------------------------------------------------------

works docs
has "control_law     a control law"
sed -n 's/^\([a-z][a-z_]*\)  *[^ ].*/\1/p' out | grep -v '^next$' >names
while read -r name; do
    "$HOPSCOTCH" docs "$name" >said 2>&1 && head -n 1 said | grep -q '^# ' &&
        [ -f "$("$HOPSCOTCH" docs "$name" --path)" ] || echo "$name"
done <names >err
[ "$(wc -l <names)" = 9 ] && [ ! -s err ]
check $? "each page is printed, and has a path"
refused docs equation
has "there is no page 'equation'; did you mean 'equations'?" err
refused docs ../LICENSE
has "\`hopscotch docs\` lists the pages" err

# ---- run NAME -------------------------------------------------------------------------------------------------------

short="--set simulation.duration=0.6s --set search.over.k_fp=[50,100] --set search.over.k_xdot=[0,0.05] --progress none"
works check smoke --results none
has "there is no file smoke here; this is the example " err
# shellcheck disable=SC2086
works run smoke $short
has "/experiments/smoke.yaml" err
works best smoke
refused check smok
has "there is no file smok" err
has "did you mean the example 'smoke'?" err
# shellcheck disable=SC2086
works run smoke $short
has "this is the example" err
has "smoke is done already: 220 trials" err
# shellcheck disable=SC2086
refused run smoke $short --seed 9
has "seed" err
# shellcheck disable=SC2086
works run smoke $short --name smoke_9 --seed 9
lacks "this is the example" err
has "220 of 220"
works plan smoke
lacks "this is the example" err
cat >bouncing_ball <<'END'
version: 1
experiment: mine
model: bbob
search: {method: grid, over: {x1: [1]}}
END
works check bouncing_ball
has "ok: mine"
lacks "example" err
refused check ./slip_map
lacks "example" err
for name in smok smoke.yaml comand/spring; do
    refused run $name
    has "there is no file $name; did you mean the example '" err
done
touch smolk.yaml
refused run smok.yaml
has "did you mean 'smolk.yaml'?" err
refused run unlike_any_other_name
lacks "example" err
refused check laws/trot
lacks "example" err

# ---- an installed program -------------------------------------------------------------------------------------------

mkdir -p usr/bin usr/share/hopscotch/experiments/command usr/share/hopscotch/experiments/mujoco alone
cp "$HOPSCOTCH" usr/bin/hopscotch && cp "$HOPSCOTCH" alone/hopscotch
cp "$root"/experiments/smoke.yaml "$root"/experiments/schema.json usr/share/hopscotch/experiments
HOPSCOTCH=$work/usr/bin/hopscotch
works check smoke --results none
has "$work/usr/share/hopscotch/experiments/smoke.yaml" err
HOPSCOTCH=$work/alone/hopscotch
refused examples
has "the examples and pages are not beside this program" err
refused check smoke --results none
has "there is no file smoke" err
exit $status
