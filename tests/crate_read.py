"""A folder of `export --crate` by the rocrate package: its graph, and each file by size and SHA-256.

    crate_read.py FOLDER
"""

import hashlib
import json
import os
import sys

from rocrate.rocrate import ROCrate

folder = sys.argv[1]
crate = ROCrate(folder)
root = crate.root_dataset
with open(os.path.join(folder, "ro-crate-metadata.json")) as file:
    document = json.load(file)
graph = {entity["@id"]: entity for entity in document["@graph"]}
assert len(graph) == len(document["@graph"]), "an @id twice"
assert document["@context"] == "https://w3id.org/ro/crate/1.2/context"
assert graph["ro-crate-metadata.json"]["conformsTo"]["@id"] == "https://w3id.org/ro/crate/1.2"
assert root["conformsTo"].id == "https://w3id.org/ro/wfrun/process/0.5"
for key in ("name", "description", "license", "datePublished"): # what RO-Crate 1.2 requires
    assert root.get(key), key


def references(value):
    """The identifiers that a value of the graph refers to."""
    if isinstance(value, dict):
        yield value["@id"]
    if isinstance(value, list):
        for item in value:
            yield from references(item)


outside = {"https://w3id.org/ro/crate/1.2"}
for entity in graph.values():
    for key, value in entity.items():
        if key not in ("@id", "@type"):
            assert all(to in graph or to in outside for to in references(value)), (entity["@id"], key, value)

there = {os.path.relpath(os.path.join(path, name), folder) for path, _, names in os.walk(folder) for name in names}
said = {part.id for part in crate.get_entities() if part.type == "File"}
assert said == there - {"ro-crate-metadata.json"}, said ^ there
assert set(references(graph["./"]["hasPart"])) == said
for name in said:
    with open(os.path.join(folder, name), "rb") as file:
        content = file.read()
    assert str(len(content)) == graph[name]["contentSize"], name
    assert hashlib.sha256(content).hexdigest() == graph[name]["sha256"], name

action = crate.get("#run")
assert action.type == "CreateAction" and root["mentions"].id == "#run"
assert action["instrument"].type == "SoftwareApplication" and action["instrument"]["version"]
results = set(references(graph["#run"]["result"]))
inputs = set(references(graph["#run"]["object"]))
assert results | {name for name in inputs if not name.startswith("#")} == said and not results & inputs
print(f"{folder}: {' '.join(sorted(name if len(name) < 40 else name[:14] for name in said))};",
      f"seed {graph['#seed']['value']} digest {graph['#digest']['value']} license {json.dumps(graph['./']['license'])}",
      f"authors {len(list(references(graph['./'].get('author'))))} agents {len(list(references(action.get('agent') and graph['#run']['agent'])))}",
      f"start {'startTime' in graph['#run']} end {'endTime' in graph['#run']}")
