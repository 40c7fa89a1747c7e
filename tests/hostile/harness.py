"""Runs the program on a hostile case and judges it: exit code, time, memory, output, and the files on the disk
afterwards."""

import os
import pathlib
import re
import resource
import subprocess
import tempfile
import threading

MEBIBYTES = 200
# Of processor, as the machine may be busy with other things; the slowest case took an eighth of it, and less where
# processors are faster.
SECONDS = 3.0
# What could turn a terminal or a reader's eye: controls, invisible characters, changes of direction.
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


class Harness:
    """One working folder; everything below `results` may change, nothing else."""

    def __init__(self, group, program):
        self.group, self.program = group, os.path.abspath(program)
        self.slower = float(os.environ.get("HOSTILE_SLOWER", "1"))  # sanitizers take their time and memory
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.good = self.bad = 0
        self.slowest = self.largest = (0.0, "")

    def run(self, *arguments):
        """exit code, seconds of processor (60 at most), MiB, the two outputs"""
        with tempfile.TemporaryFile() as out:
            child = subprocess.Popen([self.program, *arguments], cwd=self.path, stdin=subprocess.DEVNULL, stdout=out,
                                     stderr=subprocess.STDOUT, env={**os.environ, "HOPSCOTCH_RESULTS": "results"},
                                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (60, 60)))
            patience = threading.Timer(60, child.kill)
            patience.start()
            _, status, usage = os.wait4(child.pid, 0)
            patience.cancel()
            child.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            return child.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out.read()

    def listing(self):
        """What lies outside the results folder."""
        return sorted((str(p), p.lstat().st_size, p.lstat().st_mtime_ns) for p in self.path.rglob("*")
                      if not p.is_dir() and "results" not in p.relative_to(self.path).parts[:1])

    def judge(self, name, codes, arguments, seconds=SECONDS, controls=CONTROL):
        """Runs and judges; `codes`: exit codes that are right. Returns what was printed, as text."""
        before = self.listing()
        code, took, memory, output = self.run(*arguments)
        text = output.decode("utf-8", "replace")
        found = controls.search(text)
        problems = []
        if code not in codes:
            problems.append(f"exit code {code}, expected {' or '.join(map(str, codes))}")
        if took > seconds * self.slower:
            problems.append(f"{took:.1f} s, at most {seconds} allowed")
        if memory > MEBIBYTES * self.slower:
            problems.append(f"{memory:.0f} MiB, at most {MEBIBYTES} allowed")
        if found:
            problems.append(f"prints the control character U+{ord(found[0]):04X}")
        if b"\xff" in output or "\ufffd" in text.replace("U+FFFD", ""):
            problems.append("prints what is no UTF-8")
        if code != 0 and not text.strip():
            problems.append("says nothing")
        if len(output) > 100000 and code != 0:
            problems.append(f"says {len(output)} bytes")
        if self.listing() != before:
            problems.append("changed a file outside the results folder")
        self.slowest, self.largest = max(self.slowest, (took, name)), max(self.largest, (memory, name))
        self.note(name, problems, text)
        return text

    def note(self, name, problems, text=""):
        """Counts a case; one with problems is a line `FAIL ...` and what was printed."""
        self.bad += bool(problems)
        self.good += not problems
        if problems:
            print(f"FAIL hostile {self.group}: {name}: {'; '.join(problems)}")
            print("".join(f"     | {line[:200]!a}\n" for line in text.splitlines()[:8]), end="")

    def finish(self):
        """The line of the group; the exit code."""
        if self.bad == 0:
            print(f"ok   hostile {self.group}: {self.good} cases, at most {self.slowest[0]:.2f} s ({self.slowest[1]}) "
                  f"and {self.largest[0]:.0f} MiB ({self.largest[1]})")
        self.folder.cleanup()
        return int(self.bad > 0)
