"""Where the program is, and how it is called."""

import importlib.metadata
import json
import os
import shutil
import subprocess
import urllib.parse


class Error(RuntimeError):
    """The program refused or failed; the text is what it says. `code`: its exit code (see `hopscotch help`)."""

    def __init__(self, text, code=None):
        super().__init__(text)
        self.code = code


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
    """The program's path: $HOPSCOTCH, else `hopscotch` on the PATH, else build/hopscotch of the source folder that
    this package stands in or was installed from. Error: there is none."""
    given = os.environ.get("HOPSCOTCH")
    if given:
        return given
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


def text_of(messages):
    """The program's errors without its name before them."""
    text = messages.strip()
    return text[len("hopscotch: "):] if text.startswith("hopscotch: ") else text


def call(*arguments):
    """Standard output of the program, as text. Error: its exit code is not 0."""
    child = start(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, messages = child.communicate()
    if child.returncode != 0:
        raise Error(text_of(messages.decode("utf-8", "replace")), child.returncode)
    return out.decode("utf-8")
