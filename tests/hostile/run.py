"""tests/hostile/run.py PROGRAM GROUP [PATTERN]: tests a program with hostile input. HOSTILE_EVERY=N: only every N-th
case."""

import os
import shutil
import sys

import arguments
import databases
import specs
from harness import Harness

EVERY = int(os.environ.get("HOSTILE_EVERY", "1"))
BASE = specs.HEAD + """seed: 3
search: {over: {k_fp: [100, 150, 1e6]}}
replicates: {count: 2, store: true, perturb: {phi_leg: {normal: [0.01, 0.02]}}}
record: {trajectories: {select: {best: 2}, sample: 0.001}, debug: {newton: {select: {best: 1}}}}
"""


def run_specs(harness, pattern):
    """Every hostile spec, by `check`."""
    for index, (name, content) in enumerate(specs.SPECS.items()):
        if pattern in name and index % EVERY == 0:
            (harness.path / "spec.yaml").write_bytes(content)
            harness.judge(name, (0,) if name in specs.LEGAL else (1,), ["check", "spec.yaml"])


def make_base(harness):
    """A small campaign `base`, and its spec."""
    (harness.path / "spec.yaml").write_text(BASE)
    code, _, _, output = harness.run("run", "spec.yaml", "--name", "base", "--backend", "cpu", "--threads", "1",
                                     "--progress", "none")
    harness.note("base", [f"exit code {code}"] if code else [], output.decode("utf-8", "replace"))


def run_arguments(harness, pattern):
    """Hostile command lines."""
    make_base(harness)
    os.symlink("loop", harness.path / "loop")
    os.truncate(os.open(harness.path / "sparse", os.O_CREAT | os.O_WRONLY), 1 << 40)
    (harness.path / "odd\x1b[31m\nname.yaml").write_text("version: 2\n")
    for index, (name, codes, line) in enumerate(arguments.arguments()):
        if pattern in name and index % EVERY == 0:
            harness.judge(name, codes, line)


COMMANDS = (["status", "evil"], ["status"], ["best", "evil"], ["query", "evil", "--columns", "all"], ["show", "evil/0"],
            ["replay", "evil/0", "--threads", "1"], ["digest", "evil"], ["doctor", "evil"],
            ["resume", "evil", "--threads", "1", "--progress", "none"])


def run_databases(harness, pattern):
    """Hostile campaigns, by every command that reads one, and by `resume`."""
    make_base(harness)
    evil = harness.path / "results" / "evil"
    (harness.path / "victim").write_text("mine")
    cases = [(n, lambda f, s=s: databases.apply(f, s)) for n, s in databases.DATABASES.items()]
    for index, (name, change) in enumerate(cases + list(databases.FILES.items())):
        if pattern not in name:
            continue
        shutil.rmtree(evil, ignore_errors=True)
        shutil.copytree(harness.path / "results" / "base", evil)
        change(evil)  # also of those that are left out: it must still fit the schema
        for command in COMMANDS if index % EVERY == 0 else ():
            harness.judge(f"{name}: {command[0]}", (0, 1, 3), command)


def run_shards(harness, pattern):
    """Damaged shards, with the right SHA-256 in the database, so that HDF5 reads them."""
    make_base(harness)
    evil = harness.path / "results" / "evil"
    for index, (name, change) in enumerate(databases.shard_damages()):
        if pattern not in name or index % EVERY != 0:
            continue
        shutil.rmtree(evil, ignore_errors=True)
        shutil.copytree(harness.path / "results" / "base", evil)
        databases.damage_shards(evil, change)
        for command in (["digest", "evil"], ["doctor", "evil"]):
            harness.judge(f"{name}: {command[0]}", (0, 1, 3), command)


GROUPS = {"specs": run_specs, "arguments": run_arguments, "databases": run_databases,
          "shards": run_shards}

if __name__ == "__main__":
    group = Harness(sys.argv[2], sys.argv[1])
    GROUPS[sys.argv[2]](group, sys.argv[3] if len(sys.argv) > 3 else "")
    sys.exit(group.finish())
