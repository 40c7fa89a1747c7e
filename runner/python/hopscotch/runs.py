"""Runs a spec, with its progress in one line."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading

from .program import Error, start, text_of
from .results import Campaign


def _line(event):
    done, total = event["trials_done"], event.get("trials_total")
    words = f"{event['campaign']}: {done:,}" + (f" of {total:,}" if total else "") + f" trials, {event['doing']}"
    if event.get("best") is not None:
        words += f", best {event['best']:.6g}"
    left = event.get("seconds_left")
    return words + (f", {left:.0f} s left" if left else "")


class _Printed:
    """Progress as one line of standard error, which is written again and again; a notebook shows it the same way."""

    def __init__(self):
        self.width = 0

    def __call__(self, event):
        line = _line(event)
        sys.stderr.write("\r" + line.ljust(self.width) + ("\n" if event["event"] == "finish" else ""))
        sys.stderr.flush()
        self.width = len(line)


def _plain(value):
    """What JSON has no word for: numbers and arrays of numpy."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a spec has no place for {value!r}")


@contextlib.contextmanager
def _messages_of(path):
    """In errors, a spec that was a dict is called `spec`, not by the file that it was written to."""
    try:
        yield
    except Error as error:
        text = str(error).replace(os.path.abspath(path), "spec").replace(path, "spec")
        raise Error(text, error.code) from None


@contextlib.contextmanager
def spec_file(spec):
    """(the path of a spec, a context in which errors are about it). A dict becomes a file in the present folder, so
    that the files that it names are found."""
    if not isinstance(spec, dict):
        yield os.fsdecode(spec), contextlib.nullcontext()
        return
    handle, path = tempfile.mkstemp(prefix=".spec-", suffix=".yaml", dir=".")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(spec, file, default=_plain)  # JSON is YAML
        yield path, _messages_of(path)
    finally:
        os.unlink(path)


def setting_words(settings):
    """"key=value" of each setting, as --set takes it."""
    if not isinstance(settings or {}, dict):
        raise TypeError(f"settings is a dict of keys and values, not {settings!r}")
    return [f"{key}={value if isinstance(value, str) else json.dumps(value, default=_plain)}"
            for key, value in (settings or {}).items()]


def _events(child, progress):
    """Reads progress, and the summary at the end, until the program ends. Returns the campaign's name."""
    name = None
    for line in child.stdout:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if not isinstance(event, dict) or "campaign" not in event:
            continue
        name = event["campaign"]
        if progress is not None and "event" in event:
            progress(event)
    return name


def run(spec, name=None, results="results", settings=None, options=(), progress=True, allow_programs=False):
    """Runs a spec, or continues its campaign, and returns the Campaign when it has ended; at once if it was done.

    spec: a path, or a dict with the keys of a spec. name: of the campaign (default: the experiment's). results: the
    folder that campaigns stand in. settings: values that override keys of the spec, {"search.trials": 100}. options:
    more words of `hopscotch run`, ["--backend", "cpu"]. progress: True prints a line; False nothing; or a function that
    gets each event as a dict. allow_programs: run the program of a spec with `model: command`.

    Error: the spec is wrong (with file:line:column), or the machine failed. KeyboardInterrupt stops the run as Ctrl-C
    does: what is committed stays, and the same call continues."""
    shown = _Printed() if progress is True else progress or None
    with spec_file(spec) as (path, readable):
        words = ["run", path, "--results", results, "--progress", "json", "--json", *options]
        for setting in setting_words(settings):
            words += ["--set", setting]
        if allow_programs:
            words.append("--allow-programs")
        if name is not None:
            words += ["--name", name]
        child = start(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                      encoding="utf-8", errors="replace", start_new_session=True)
        said = []
        listener = threading.Thread(target=lambda: said.append(child.stderr.read()), daemon=True)
        listener.start()
        try:
            found = _events(child, shown)
            child.wait()
        except BaseException:
            child.send_signal(signal.SIGINT)
            child.wait()
            raise
        finally:
            listener.join()
            child.stdout.close()
            child.stderr.close()
    if child.returncode != 0 or found is None:
        with readable:
            raise Error(text_of("".join(said)), child.returncode)
    return Campaign(os.path.join(results, found))
