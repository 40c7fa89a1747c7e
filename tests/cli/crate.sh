#!/bin/sh
# export --crate: a folder that the rocrate package opens. Its files are those of other exports, its spec runs again to
# the same digest, and no half folder is left.
. "$(dirname "$0")/../scratch.sh"
HOPSCOTCH_RESULTS=$work/r
export HOPSCOTCH_RESULTS
make_gait
mkdir -p walk/robots && cp "$root/experiments/robots/biped.xml" walk/robots
cat >walk/walk.yaml <<'YAML'
version: 1
experiment: walk
model: articulated
simulation: {robot: robots/biped.xml, duration: 0.02, dt: 0.002, control: {mode: hold}}
search: {method: grid, over: {torso_mass: [10, 20]}}
replicates: {count: 2, perturb: {base_z: {uniform: [-0.05, -0.04]}}}
objective: {minimize: energy}
YAML
sed 's/experiment: gait/experiment: fails/; s/attitude_rms/hop_count/; /^record/d' gait.yaml >fails.yaml
works run gait.yaml --backend cpu --progress none --seed 7
works run walk/walk.yaml --backend cpu --progress none --name walk
works run fails.yaml --backend cpu --progress none

code=2 refused export gait --crate c
has "--crate needs --license, because an RO-Crate says what others may do with it" err
[ ! -e c ]
check $? "nothing is made without a licence"
works export gait --crate c/ --license CC-BY-4.0 --author 'Ada Lovelace <https://orcid.org/0000-0002-1825-0097>' \
    --author 'Charles "C" Babbage' --program-url https://example.org/hopscotch
works export walk --crate w --license 'Ask us first.'
works export fails --crate f --license https://example.org/terms
"$HOPSCOTCH" export gait --csv gait.csv --hdf5 gait.h5 >out 2>err
cmp gait.csv c/trials.csv && cmp gait.h5 c/arrays.h5 && cmp "$HOPSCOTCH_RESULTS/gait/spec.yaml" c/spec.yaml
check $? "its files are those of other exports"
[ -z "$(find c w f -type l)" ] && [ -z "$(find . -name '*.tmp')" ]
check $? "files are copies"
if with_python "crates as the rocrate package reads them" rocrate; then
    for folder in c w f; do
        python3 "$root/tests/crate_read.py" $folder >out 2>err
        check $? "$(cat out)"
        cat out >>all
    done
    digest=$(digest gait)
    files="arrays.h5 resolved.yaml spec.yaml trials.csv"
    grep -q "^c: $files; seed 7 digest $digest license .*CC-BY-4.0.* authors 2 agents 2 start True end True" all &&
        grep -q '"#set_1"' c/ro-crate-metadata.json
    check $? "seed, digest, licence and authors"
    grep -q '^w: files/.* license "Ask us first." authors 0 agents 0' all
    check $? "who made it is not guessed"
fi
if command -v rocrate-validator >/dev/null 2>&1; then # reads the context of RO-Crate from the network
    rocrate-validator -y validate -p ro-crate-1.2 -l required --no-paging c >out 2>err
    check $? "rocrate-validator: RO-Crate 1.2"
else
    skip "crates against the rules of RO-Crate 1.2" rocrate-validator "pip install roc-validator"
fi

# ---- the way back ----------------------------------------------------------------------------------------------------

works run w/spec.yaml --backend cpu --progress none --name again
[ -n "$(digest walk)" ] && [ "$(digest again)" = "$(digest walk)" ]
check $? "the spec of a crate runs again, to the same digest"
mkdir arm && cp -r "$root"/experiments/robots "$root"/experiments/identify_arm* arm
works run arm/identify_arm.yaml --name arm --backend cpu --progress none
works export arm --crate several --license MIT
rm -r arm
works check several/spec.yaml # the files of all cases are there, and of those held out

# ---- what is refused -------------------------------------------------------------------------------------------------

refused export gait --crate c --license MIT
has "c exists: remove it, or name another folder" err
ln -s nowhere link
refused export gait --crate link --license MIT
code=2 refused export gait --crate d --license MIT --where 'k_fp > 100'
code=2 refused export gait --crate d --license MIT --author '<https://orcid.org/0000-0002-1825-0097>'
has "--author has no name" err
code=2 refused export gait --crate d --license MIT --author 'Ada <not a url>'
has "write NAME, or NAME <URL>" err
code=2 refused export gait --crate d --license MIT --program-url 'my computer'
has "is no URL of http or https" err
(ulimit -f 4 && trap '' XFSZ && "$HOPSCOTCH" export gait --crate d --license MIT >out 2>err)
[ $? -eq 3 ] && [ ! -e d ] && [ -z "$(find . -name 'd.*.tmp')" ]
check $? "a full disk leaves no folder"
mv "$HOPSCOTCH_RESULTS/walk/files" kept && ln -s "$work/kept" "$HOPSCOTCH_RESULTS/walk/files"
code=3 refused export walk --crate d --license MIT
[ ! -e d ] && [ -z "$(find . -name 'd.*.tmp')" ]
check $? "a link in place of the kept files is not followed"
exit $status
