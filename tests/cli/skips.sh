#!/bin/sh
# What is said of tests that are left out: one form, by which tests/run.sh sums up the reasons.
. "$(dirname "$0")/../scratch.sh"

form='^skip [a-z_0-9]*: .*needs [^()]* (.*); nothing is wrong without$'
skip "completion" "zsh" "apt-get install zsh" >out
[ "$(cat out)" = "skip skips: completion: needs zsh (apt-get install zsh); nothing is wrong without" ]
check $? "a script's line"
lacks_program "$root/build/nothing" >out
[ "$(cat out)" = "skip skips: all of it: needs nothing (make build/nothing); nothing is wrong without" ]
check $? "a program of the build that is not there"
! lacks_program "$HOPSCOTCH" >out && [ ! -s out ]
check $? "one that is there"
(HOPSCOTCH_FAULTS_PROGRAM=nothing && with_faults "kills") >out
[ $? -ne 0 ] && [ "$(cat out)" = "skip skips: kills: needs nothing (make nothing); nothing is wrong without" ]
check $? "the build with faults"
(python3() { false; } && with_python "figures" h5py nowhere ensurepip) >out
[ $? -ne 0 ] && [ "$(sed 's/.*: //' out)" = "needs python3 with h5py nowhere ensurepip (apt-get install python3\
 python3-h5py python3-venv; pip install nowhere); nothing is wrong without" ]
check $? "modules of Python"
if with_python "the line of Python"; then
    said='skip("skips", "completion", "zsh", "apt-get install zsh")'
    PYTHONPATH="$root/tests" python3 -c "from skip import skip; $said" >out
    [ "$(cat out)" = "skip skips: completion: needs zsh (apt-get install zsh); nothing is wrong without" ]
    check $? "a line of Python"
fi
"$(dirname "$HOPSCOTCH")/tests" spec_bad_specs_give >out 2>err # not in the repository's root
grep -q "$form" out && ! grep '^skip' out | grep -qv "$form"
check $? "a unit test's line"
exit $status
