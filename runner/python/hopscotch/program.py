"""Where the program is, and how it is called."""

import os
import shutil
import subprocess


class Error(RuntimeError):
    """The program refused or failed; the text is what it says. `code`: its exit code (see `hopscotch help`)."""

    def __init__(self, text, code=None):
        super().__init__(text)
        self.code = code


def find():
    """The program's path: $HOPSCOTCH, else `hopscotch` on the PATH, else build/hopscotch of the source folder that
    this package stands in. Error: there is none."""
    given = os.environ.get("HOPSCOTCH")
    if given:
        return given
    found = shutil.which("hopscotch")
    if found:
        return found
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    built = os.path.join(source, "build", "hopscotch")
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
