"""Runs a spec, with its progress in one line."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import warnings

from .function import perhaps
from .program import Error, call, start, stop_with_caller, text_of
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


def plain(value):
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
            json.dump(spec, file, default=plain)  # JSON is YAML
        yield path, _messages_of(path)
    finally:
        os.unlink(path)


def setting_words(settings):
    """"key=value" of each setting, as --set takes it."""
    if not isinstance(settings or {}, dict):
        raise TypeError(f"settings is a dict of keys and values, not {settings!r}")
    return [f"{key}={value if isinstance(value, str) else json.dumps(value, default=plain)}"
            for key, value in (settings or {}).items()]


def by_hand(spec, name=None, results="results", settings=None):
    """The Campaign of a spec with `model: manual`, whose trials you run: campaign.ask() gives them, campaign.tell()
    takes what was measured. It is made if it is new; else the spec must be the one that it was made with. The arguments
    are those of run."""
    with spec_file(spec) as (path, readable), readable:
        words = [word for setting in setting_words(settings) for word in ("--set", setting)]
        name = name or json.loads(call("check", path, "--json", *words))["experiment"]
        call("ask", path, "--name", name, "--results", results, "--trials", 0, *words)
    return Campaign(os.path.join(results, name))


def _events(child, progress):
    """Reads progress, and the summary at the end of each campaign, until the program ends. Returns their names."""
    name, ended = None, []
    for line in child.stdout:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if not isinstance(event, dict) or "campaign" not in event:
            continue
        name = event["campaign"]
        if "folder" in event:
            ended.append(name)
        if progress is not None and "event" in event:
            progress(event)
    return ended or [name] * (name is not None)


def program_words(words):
    """The value of simulation.program, as --set takes it."""
    return "simulation.program=" + json.dumps(words)


def _warn_of_raised(raised, folder):
    if not raised:
        return
    first = raised[0]
    warnings.warn(f"the function raised exceptions in {len(raised)} trial{'s'[:len(raised) != 1]}, which failed as "
                  f"`crashed`; the first, in trial {first['trial']}: {first['text']}\n"
                  f"(tracebacks: {os.path.join(folder, 'workers.log')})", RuntimeWarning, stacklevel=3)


def run(spec, name=None, results="results", settings=None, options=(), progress=True, allow_programs=False,
        function=None):
    """Runs a spec, or continues its campaign, and returns the Campaign when it has ended; at once if it was done. A spec
    with `sweep` gives a list of its campaigns.

    spec: a path, or a dict with the keys of a spec. name: of the campaign (default: the experiment's). results: the
    folder that campaigns stand in. settings: values that override keys of the spec, {"search.trials": 100}. options:
    more words of `hopscotch run`, ["--backend", "cpu"]. progress: True prints a line; False nothing; or a function that
    gets each event as a dict. allow_programs: run the program of a spec with `model: command`.

    function: the simulator of such a spec, which then needs no simulation.program. It is called with the parameters as
    a dict, in workers that are copies of this process (by fork), and returns the metrics as a dict:

        def f(p, seed): return {"error": abs(p["gain"] - 2), "energy": p["gain"] ** 2}

    It may take seed, trajectory, trial and replicate by name, return metrics and a trajectory, and raise
    hopscotch.Failure, as hopscotch.worker says. Any other exception fails the trial as `crashed`; a warning has the
    text of the first, and Campaign.raised those of all. What it changes in this process's variables is lost.

    Error: the spec is wrong (with file:line:column), or the machine failed. KeyboardInterrupt stops the run as Ctrl-C
    does: what is committed stays, and the same call continues."""
    shown = _Printed() if progress is True else progress or None
    with perhaps(function) as served, spec_file(spec) as (path, readable):
        words = ["run", path, "--results", results, "--progress", "json", "--json", *options]
        for setting in setting_words(settings):
            words += ["--set", setting]
        if served is not None:
            words += ["--set", program_words(served.words)]
        if allow_programs or served is not None:
            words.append("--allow-programs")
        if name is not None:
            words += ["--name", name]
        child = start(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                      encoding="utf-8", errors="replace", start_new_session=True,
                      env=served.environment if served is not None else None,
                      preexec_fn=stop_with_caller() if served is not None else None)
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
        raised = served.raised() if served is not None else []
    if child.returncode != 0 or not found:
        with readable:
            raise Error(text_of("".join(said)), child.returncode)
    campaigns = [Campaign(os.path.join(results, one)) for one in found]
    for campaign in campaigns:
        campaign.function, campaign.raised = function, raised
    _warn_of_raised(raised, campaigns[-1].path)
    return campaigns if len(campaigns) > 1 else campaigns[0]
