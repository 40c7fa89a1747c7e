#!/bin/sh
# The JSON schema that the program prints is a valid one (draft 2020-12), accepts every shipped spec, and
# refuses it with any key misspelt. The last two need python3 with jsonschema and yaml.
. "$(dirname "$0")/../scratch.sh"
"$HOPSCOTCH" schema >schema.json || { echo "FAIL schema: hopscotch schema ended with $?"; exit 1; }
# The schema file for editors equals the program's output.
stale=0
if cmp -s schema.json "$root"/experiments/schema.json; then
    echo "ok experiments/schema.json is fresh"
else
    echo "FAIL experiments/schema.json is stale: build/hopscotch schema >experiments/schema.json"
    stale=1
fi
for spec in "$root"/experiments/*.yaml; do
    if [ "$(head -n 1 "$spec")" = '# yaml-language-server: $schema=schema.json' ]; then continue; fi
    echo "FAIL $spec does not begin with the line that names its schema to editors"
    stale=1
done
case $HOPSCOTCH in *asan* | *tsan*) exit $stale ;; esac # the rest tests Python alone
with_python "the schema" jsonschema yaml || exit $stale
python3 - schema.json "$root"/experiments/*.yaml <<'PYTHON'
import copy, json, re, sys
import jsonschema, yaml

# PyYAML reads YAML 1.1, where 1e6 is a text; a spec is YAML 1.2.
yaml.SafeLoader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"),
                                      list("-+0123456789"))
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
print("ok the schema is a schema")
failed = False


def check(name, spec, good):
    global failed
    errors = [error.message[:200] for error in validator.iter_errors(spec)]
    failed |= (not errors) != good
    print("ok" if (not errors) == good else "FAIL", name, *errors[:3] if good else [])


def misspell(spec, path=()):
    for key, value in spec.items() if isinstance(spec, dict) else ():
        yield path + (key,)
        yield from misspell(value, path + (key,))


# Names that the spec itself makes: of groups and designs, and so of a robot's parameters; of a system, of which the
# schema says nothing; of what an environment defines.
def made(spec, path):
    if path[:2] == ("environment", "define") and len(path) == 3:
        return True
    if path[:1] == ("validate",):  # whole names, also of a robot's parameters
        return len(path) == 2
    if spec["model"] == "equations":  # all but the keys of a system
        system = path[:2] == ("simulation", "system")
        return (path[:1] in (("parameters",), ("initial",)) or
                len(path) > 2 and path[:2] in (("search", "over"), ("replicates", "perturb")) or
                system and len(path) > 3 and (path[2] in ("let", "rates", "next", "failures") or len(path) == 4) or
                system and path[2:3] == ("modes",) and len(path) > 5 and path[4] in ("let", "rates", "next") or
                "set" in path[:-1])
    if spec["model"] == "manual":  # it declares its parameters and metrics
        return (path[:1] == ("parameters",) and len(path) == 2 or path[:1] == ("metrics",) or
                path[:2] in (("search", "over"), ("replicates", "perturb")) and len(path) == 3)
    law = (spec["simulation"].get("control") or {}).get("mode") == "law"
    if path[:1] == ("metrics",) or law and path[:3] == ("simulation", "control", "law") and len(path) > 3:
        return True
    robot = spec["model"] == "articulated" or law
    return robot and (path[:1] in (("parameters",), ("initial",)) or
                      path[:2] in (("search", "over"), ("replicates", "perturb")) and len(path) > 2 or
                      path[:1] == ("search",) and path[2:3] == ("outer",) and len(path) > 3 or
                      path[:2] in (("simulation", "groups"), ("simulation", "design")) and len(path) == 3)


for name in sys.argv[2:]:
    loaded = yaml.safe_load(open(name).read())
    check(name, loaded, True)
    unseen = []
    for path in misspell(loaded):
        spec = copy.deepcopy(loaded)
        if made(spec, path) and len(path) > 1:
            continue
        section = spec
        for key in path[:-1]:
            section = section[key]
        section[path[-1] + "_"] = section.pop(path[-1])
        if validator.is_valid(spec):
            unseen.append(".".join(path))
    failed |= bool(unseen)
    print("FAIL" if unseen else "ok", name, "with any key misspelt is refused", *unseen)
sys.exit(failed)
PYTHON
[ $? -eq 0 ] && [ $stale -eq 0 ]
