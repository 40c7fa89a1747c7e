"""Where the program is, and how it is called."""

import ctypes
import importlib.metadata
import json
import os
import shutil
import signal
import subprocess
import urllib.parse


# Names of exit codes, as `hopscotch help` lists them.
CODES = {1: "request", 2: "usage", 3: "machine", 75: "unfinished", 129: "stopped", 130: "stopped", 143: "stopped"}


class Error(RuntimeError):
    """The program refused or failed; the text is what it says. `code`: its exit code (see `hopscotch help`).

    `name` says which kind of error it is: "request" (the spec, or what was asked, is wrong), "usage", "machine" (disk,
    memory, device), "unfinished", "stopped" (Ctrl-C, `hopscotch stop`, SIGTERM); of an environment also "busy" and
    "closed"; and "package" if the package itself found it, for example that there is no program."""

    def __init__(self, text, code=None, name=None):
        super().__init__(text)
        self.code = code
        self.name = name or ("package" if code is None else CODES.get(code, "machine"))


def _built():
    """Where `make` puts the program in the source folder that this package stands in, or was installed from (PEP 610):
    SOURCE/runner/python, or a wheel in SOURCE/build/python."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    yield os.path.join(os.path.dirname(os.path.dirname(here)), "build", "hopscotch")
    try:
        origin = json.loads(importlib.metadata.distribution("hopscotch").read_text("direct_url.json") or "{}")
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return
    url = urllib.parse.urlsplit(origin.get("url", ""))
    folder = os.path.dirname(os.path.dirname(urllib.parse.unquote(url.path)))
    if url.scheme == "file":
        yield os.path.join(folder, "build", "hopscotch") if "dir_info" in origin else os.path.join(folder, "hopscotch")


def find():
    """The program's path: $HOPSCOTCH, else that of a wheel that has one, else `hopscotch` on the PATH, else
    build/hopscotch of the source folder that this package stands in or was installed from. Error: there is none."""
    given = os.environ.get("HOPSCOTCH")
    if given:
        return given
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "hopscotch")
    if os.access(own, os.X_OK):
        return own
    found = shutil.which("hopscotch")
    if found:
        return found
    for built in _built():
        if os.access(built, os.X_OK):
            return built
    raise Error("there is no program `hopscotch` on the PATH: install it, or set HOPSCOTCH to its path")


def start(arguments, **pipes):
    """Starts the program. Words of `arguments` are never read by a shell."""
    try:
        return subprocess.Popen([find(), *map(str, arguments), "--no-color"], **pipes)
    except OSError as error:
        raise Error(f"{find()} can't be started: {error.strerror}") from error


def stop_with_caller():
    """What a program that runs functions of this process does before it starts: it is stopped, as by Ctrl-C, when this
    process is killed. What it has not committed then is simulated again when its run goes on."""
    prctl, set_death_signal = ctypes.CDLL(None).prctl, 1
    return lambda: prctl(set_death_signal, signal.SIGINT)


def text_of(messages):
    """The program's errors without its name before them."""
    text = messages.strip()
    return text[len("hopscotch: "):] if text.startswith("hopscotch: ") else text


def call(*arguments, environment=None):
    """Standard output of the program, as text. environment: its variables (default: those of this process). Error: its
    exit code is not 0."""
    child = start(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
                  preexec_fn=None if environment is None else stop_with_caller())
    try:
        out, messages = child.communicate()
    except BaseException:  # Ctrl-C in a notebook does not reach the program
        child.send_signal(signal.SIGINT)
        child.wait()
        raise
    if child.returncode != 0:
        raise Error(text_of(messages.decode("utf-8", "replace")), child.returncode)
    return out.decode("utf-8")
