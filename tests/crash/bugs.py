"""Tests of the crash suites: four bugs against the commit rule are inserted into a copy of the program, one at a time,
and a suite must find each: no fsync of a file, no fsync of a folder, rows before their shard, the search's state before
the rows. `bugs.py fit`: only checks that they can still be inserted.
"""
import os
import shutil
import subprocess
import sys

import crash

# name: (file, [(text, replacement)], suites that must find the bug)
BUGS = {
    "no fsync": (
        "io/file.c",
        [("    if (error.kind == OK) error = file_sync(descriptor, path);\n    const Error closed = file_close(",
          "    const Error closed = file_close(")],
        ("power",)),
    "no fsync of the folder": (
        "io/file.c",
        [("        return error;\n    }\n    return folder_sync(folder);", "    }\n    return error;")],
        ("power",)),
    "rows before their shard": (
        "runner/campaign/store/commit/commit.c",
        [("Error store_write_shard(const Store *store, Shard *shard, StoreShard *written)\n{\n",
          "static bool late;\nstatic Bytes late_image;\n"
          "Error store_write_shard(const Store *store, Shard *shard, StoreShard *written)\n{\n"),
         ("    const Error error = file_write(store->shards, written->name, image.data, image.size);\n",
          "    late_image = image;\n    if (late) return error_none();\n"
          "    const Error error = file_write(store->shards, written->name, image.data, image.size);\n"),
         ("    if (work->commit->n_lanes > 0) TRY(commit_write_shard(store, work->commit, &work->shard));\n",
          "    late = true;\n"
          "    if (work->commit->n_lanes > 0) TRY(commit_write_shard(store, work->commit, &work->shard));\n"
          "    late = false;\n"),
         ("    return commit_transaction(store, work);\n",
          "    TRY(commit_transaction(store, work));\n"
          "    if (work->commit->n_lanes == 0) return error_none();\n"
          "    TRY(file_write(store->shards, work->shard.name, late_image.data, late_image.size));\n"
          "    free(late_image.data);\n    return error_none();\n")],
        ("power", "storm")),
    "state before the rows": (
        "runner/campaign/store/commit/commit.c",
        [("        with_blob(&store->update_search, commit->state, commit->state_size);\n"
          "        TRY(commit_step(&store->update_search));\n", ""),
         ("    return commit_transaction(store, work);\n",
          "    const Commit *commit = work->commit;\n"
          "    if (commit->rows.count > 0) with_blob(&store->update_search, commit->state, commit->state_size);\n"
          "    if (commit->rows.count > 0) TRY(commit_step(&store->update_search));\n"
          "    return commit_transaction(store, work);\n")],
        ("power", "storm")),
}


def copy_sources(to):
    for name in ("sim", "io", "runner"):
        shutil.copytree(os.path.join(crash.REPOSITORY, name), os.path.join(to, name))
    for name in ("Makefile", "configure.sh"):
        shutil.copy2(os.path.join(crash.REPOSITORY, name), to)
    os.makedirs(os.path.join(to, "tests"))
    build = os.path.join(to, "build")
    os.makedirs(os.path.join(build, "bug"))
    shutil.copy2(os.path.join(crash.REPOSITORY, "build", "config.mk"), build)
    open(os.path.join(build, "configured"), "w").close()
    built = os.path.dirname(os.path.abspath(crash.BUILT))
    for name in os.listdir(built):
        if name.startswith(("cpu_", "main.")):
            shutil.copy2(os.path.join(built, name), os.path.join(build, "bug"))
    for name in os.listdir(os.path.join(build, "bug")):
        os.utime(os.path.join(build, "bug", name))  # newer than the sources: not compiled again


def changed(file, changes):
    """The file's text with the bug; None if the program has changed so that it no longer fits."""
    with open(os.path.join(crash.REPOSITORY, file)) as source:
        text = source.read()
    for old, new in changes:
        if text.count(old) != 1:
            return None
        text = text.replace(old, new)
    return text


def find(program, suites):
    """The line of the first suite that finds the bug, or ""."""
    for suite in suites:
        environment = dict(os.environ, HOPSCOTCH=program, STATES="400", KILLS="120")
        script = os.path.join(crash.HERE, suite + ".py")
        output = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True).stdout
        found = [line for line in output.splitlines() if line.startswith("FAIL") and "uninterrupted" not in line]
        if found:
            return found[0][len("FAIL "):]
    return ""


def seed(name, file, changes, suites):
    folder, text = os.path.join(crash.work, "source"), changed(file, changes)
    if text is None:
        crash.report(False, f"bugs: {name}: {file} has changed, and tests/crash/bugs.py must follow")
        return
    if "fit" in sys.argv:
        crash.report(True, f"bugs: {name}: can be put in")
        return
    shutil.rmtree(folder, ignore_errors=True)
    copy_sources(folder)
    with open(os.path.join(folder, file), "w") as source:
        source.write(text)
    make = subprocess.run(["make", "-C", folder, "BUILD=build/bug", "CUDA=no", "OPT=-O1", "WERROR=",
                           "build/bug/hopscotch"], capture_output=True, text=True)
    if make.returncode != 0:
        crash.report(False, f"bugs: {name}: does not compile: {make.stderr[-400:]}")
        return
    found = find(os.path.join(folder, "build", "bug", "hopscotch"), suites)
    crash.report(found != "", f"bugs: {name}: " + (f"found ({found[:160]})" if found else "not found"))


for bug, (source_file, replacements, looked_for_by) in BUGS.items():
    seed(bug, source_file, replacements, looked_for_by)
crash.finish()
