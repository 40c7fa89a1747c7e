#!/bin/sh
# The pages for man(1) are valid and equal `help`; bash and zsh complete commands, options, choices and campaigns.
. "$(dirname "$0")/../scratch.sh"

# ---- pages ----------------------------------------------------------------------------------------------------------

"$HOPSCOTCH" help --names >names
[ "$(wc -l <names)" -gt 25 ]
check $? "the names of the commands"
"$HOPSCOTCH" help --man >hopscotch.1 && "$HOPSCOTCH" help spec --man >hopscotch-spec.5
check $? "pages of the program and of the spec"
bad=
while read -r command; do
    "$HOPSCOTCH" help "$command" --man >"hopscotch-$command.1" || bad="$bad $command"
    # each option in the help is in the page
    "$HOPSCOTCH" help "$command" | sed -n 's/^  --\([a-z0-9-]*\).*/\1/p' | while read -r option; do
        grep -qF "\\fB\\-\\-$(echo "$option" | sed 's/-/\\-/g')\\fR" "hopscotch-$command.1" || echo "$command --$option"
    done >>missing
done <names
[ -z "$bad" ] && [ ! -s missing ]
check $? "every command has a page, with every option${bad:+: not $bad} $(cat missing)"
"$HOPSCOTCH" help nothing --man >out 2>err
[ $? -eq 2 ] && grep -qF "there is no manual page for 'nothing'" err
check $? "no page names an unknown command"
if command -v mandoc >/dev/null; then
    for page in ./*.1 ./*.5; do mandoc -T lint -W warning "$page"; done >out 2>&1
    [ ! -s out ]
    check $? "mandoc finds the pages valid"
elif command -v groff >/dev/null; then
    # as man --warnings does; lines that can't be broken are allowed
    for page in ./*.1 ./*.5; do groff -man -Tutf8 -ww -Wbreak -z "$page"; done >out 2>&1
    [ ! -s out ]
    check $? "groff has no warning"
    groff -man -Tascii hopscotch-run.1 2>/dev/null | sed "s/$(printf '\033')\[[0-9;]*m//g; s/.$(printf '\b')//g" >page
    grep -qF -e "--name NAME" page && grep -qF "hopscotch run experiments/smoke.yaml" page
    check $? "groff formats a page as expected"
else
    skip "the pages" "mandoc or groff" "apt-get install groff"
fi

# ---- the page of the spec -------------------------------------------------------------------------------------------

"$HOPSCOTCH" help spec all >keys.txt
sed -n '/^A SPEC, complete/,/^KEYS/s/^    //p' keys.txt >complete.yaml
"$HOPSCOTCH" check complete.yaml >out 2>err && grep -qF "ok: my_gains" out
check $? "the page begins with a complete spec that check accepts"
for key in search.over replicates objective constraints record.trajectories limits device simulation; do
    grep -q "^$key\$" keys.txt || echo "$key"
done >missing
"$HOPSCOTCH" models rigid --json | tr ',{' '\n\n' | sed -n 's/^ *"name": "\(world\.[a-z]*\)".*/\1/p' | sort -u >lists
while read -r list; do grep -q "^simulation.$list\$" keys.txt || echo "$list"; done <lists >>missing
[ -s lists ] && [ ! -s missing ]
check $? "the page has the lists of a world: $(tr '\n' ' ' <lists)"
sed -n '/^simulation.world.bodies$/,/^simulation.world.constraints$/p' keys.txt >bodies
grep -q '^    - mass: ' bodies && grep -q '^    - inertia: ' bodies && grep -q '^    - repeat: ' bodies
check $? "the page has the keys of the lists' items"

[ "$(sed -n '/^A SPEC, complete/,/^KEYS/s/^    //p' keys.txt | wc -l)" -eq 10 ]
check $? "the page's first spec has ten lines"
if with_python "keys of the schema"; then
    "$HOPSCOTCH" schema >schema.json
    python3 - >missing <<'END'
import json

headings = {line.strip() for line in open("keys.txt") if not line.startswith(" ")}


def keys(node, path):
    if not isinstance(node, dict):
        return
    for name, child in node.get("properties", {}).items():
        if name == "include":
            continue
        yield path + [name]
        yield from keys(child, path + [name])
    for word in ("allOf", "anyOf", "oneOf"):
        for child in node.get(word, []):
            yield from keys(child, path)
    yield from keys(node.get("then"), path)


def listed(path):
    name = ".".join(path)
    if path[0] in ("initial", "parameters") or path[:3] == ["search", "csv", path[-1]]:
        return path[0] in headings
    for form in (["record", "rows"], ["recommend"], ["replicates", "race"], ["objective", "information"],
                 ["simulation", "reference"], ["simulation", "control", "file"]):
        if path[: len(form)] == form:
            return ".".join(form) in headings
    if path[:2] == ["record", "debug"] and len(path) > 3:
        name = ".".join(["record.debug.newton"] + path[3:])
    return name in headings or any(heading.startswith(name + ".") for heading in headings)


found = list(keys(json.load(open("schema.json")), []))
assert len(found) > 150
print("\n".join(sorted({".".join(path) for path in found if not listed(path)})), end="")
END
    [ $? -eq 0 ] && [ ! -s missing ] && grep -qx simulation.world keys.txt
    check $? "every key of the schema is on the page; missing: $(tr '\n' ' ' <missing)"
fi

# ---- completion -----------------------------------------------------------------------------------------------------

mkdir -p results/gains_coarse results/gains_fine
touch spec.yaml results/gains_coarse/campaign.db results/gains_fine/campaign.db
"$HOPSCOTCH" help --completion zsh >_hopscotch
check $? "zsh's completion"
if command -v zsh >/dev/null; then
    zsh -n _hopscotch 2>err
    check $? "zsh's completion is valid"
    PATH=$(dirname "$HOPSCOTCH"):$PATH zsh -f "$root/tests/cli/complete.zsh" "hopscotch ru" "hopscotch pl" \
        "hopscotch best gains_f" "hopscotch run spec" \
        "hopscotch best --form" "hopscotch best gains_fine --format=js" "hopscotch best gains_fine --backen" \
        "hopscotch run quadruped_la" "hopscotch examples smo" "hopscotch docs equ" >out 2>err
    printf '%s\n' "hopscotch run " "hopscotch pl" "hopscotch best gains_fine " "hopscotch run spec.yaml " \
        "hopscotch best --format=" "hopscotch best gains_fine --format=json" "hopscotch best gains_fine --backen" \
        "hopscotch run quadruped_law " "hopscotch examples smoke " "hopscotch docs equations " >expected
    cmp -s out expected
    check $? "zsh completes commands, campaigns, files, examples, pages, options and their values"
else
    skip "completion" "zsh" "apt-get install zsh"
fi
if command -v bash >/dev/null; then
    "$HOPSCOTCH" help --completion bash >hopscotch.bash && bash -n hopscotch.bash 2>err
    check $? "bash's completion is valid"
    # completes EXPECTED WORDS...: checks the completion of the last word
    completes()
    {
        expected=$1
        shift
        got=$(bash -c '. ./hopscotch.bash
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hopscotch; echo "${COMPREPLY[@]}"' \
            bash "$@" 2>err)
        [ "$got" = "$expected" ]
        check $? "$* -> $expected (got $got)"
    }
    completes "sensitivity" hopscotch sen
    completes "--threads" hopscotch run spec.yaml --thr
    completes "cuda" hopscotch run spec.yaml --backend cu
    completes "gains_coarse gains_fine" hopscotch best gai
    completes "gains_fine" hopscotch compare gains_coarse gains_f
    completes "spec.yaml" hopscotch check sp
    completes "verify version" hopscotch help ver
    completes "" hopscotch nothing x
    completes "spec.yaml speed_sweep speed_tracking_cmaes" "$HOPSCOTCH" run spe
    completes "smoke" "$HOPSCOTCH" run smo
    completes "smoke" "$HOPSCOTCH" examples smo
    completes "equations" "$HOPSCOTCH" docs equ
fi
exit $status
