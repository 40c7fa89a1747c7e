"""A worker that breaks the protocol in every way that its parameter `mode` names (tests/cli/command.sh)."""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time

out = os.fdopen(1, "wb", 0, closefd=False)


def say(text):
    data = text.encode("latin-1")
    while data:
        data = data[out.write(data):]


def good(request, y=None):
    return json.dumps({"id": request["id"], "metrics": {"y": y if y is not None else request["parameters"]["mode"]}})


def flood(request):
    piece = "9" * (1 << 20)
    for _ in range(1024):
        say(piece)


def fork(request):
    child = subprocess.Popen(["sleep", "1000"])  # holds the pipes
    note(child.pid)
    os._exit(3)


def close(request):
    os.close(1)
    time.sleep(1000)


def late(request):
    say(good(request) + "\n")
    time.sleep(0.05)
    say(good(request) + "\n")


def shout(request):
    for _ in range(30000):
        sys.stderr.write("words " * 16 + "\x1b[31m\n")
    sys.stderr.flush()
    os.write(2, b"\xc2\x9b31m \x9b31m \0 \xe2\x80\xae\n")  # controls of C1, a change of the writing direction
    say(good(request) + "\n")


def stay(request):
    say(good(request) + "\n")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(1000)


def regroup(request):
    """Moves to the runner's group, and does not die with its parent."""
    os.setpgid(0, os.getpgid(os.getppid()))
    ctypes.CDLL(None).prctl(1, 0)  # PR_SET_PDEATHSIG
    time.sleep(1000)


MODES = [
    ("none", lambda r: say(good(r) + "\n")),
    ("protocol", lambda r: say("junk\n")),
    ("protocol", lambda r: say('{"id": %d, "metrics": {"y": NaN}}\n' % r["id"])),
    ("protocol", lambda r: say('{"id": %d, "metrics": {}}\n' % r["id"])),
    ("protocol", lambda r: say(good(r) + "\n" + good(r) + "\n")),
    ("protocol", lambda r: say(good(dict(r, id=r["id"] + 1)) + "\n")),
    ("crashed", lambda r: os._exit(0)),
    ("timeout", lambda r: time.sleep(1000)),
    ("protocol", flood),
    ("crashed", close),
    ("crashed", fork),
    ("protocol", lambda r: say('{"id": %d, "metrics": {"y": 1}, "failure": "flew"}\n' % r["id"])),
    ("protocol", lambda r: say('{"id": %d, "metrics": {"y": 1e999}}\n' % r["id"])),
    ("none", shout),
    ("fell", lambda r: say('{"id": %d, "metrics": {"y": null}, "failure": "fell"}\n' % r["id"])),
    ("none", late),
    ("protocol", lambda r: say('{"id": %d, "metrics": {"y": 1\0}}\n' % r["id"])),
    ("none", stay),
    ("protocol", lambda r: say("[" * 60000 + "\n")),
    ("crashed", lambda r: os.kill(os.getpid(), signal.SIGSEGV)),
    ("protocol", lambda r: say('{"id": %d, "metrics": {"y": 1, "y": 1}}\n' % r["id"])),
    ("crashed", lambda r: say('{"id": %d, "met' % r["id"]) or os._exit(1)),
    ("protocol", lambda r: say('{"id": %d, "metrics": {"y": 1}, "trial": 1}\n' % r["id"])),
    ("protocol", lambda r: say('{"metrics": {"y": 1}}\n')),
    ("timeout", regroup),
    ("protocol", lambda r: say('{"id": %d, "metrics": {"y": \x1b[31m}}\n' % r["id"])),
]


def note(process):
    with open("processes", "a") as file:
        file.write(f"{process}\n")


def main():
    note(os.getpid())
    sys.stdin.readline()
    say('{"hello": 1, "version": "hostile"}\n')
    for line in sys.stdin:
        request = json.loads(line)
        MODES[int(request["parameters"]["mode"])][1](request)


if __name__ == "__main__":
    if sys.argv[1:] == ["expected"]:
        print("\n".join(f"{mode},{failure},{act.__name__}" for mode, (failure, act) in enumerate(MODES)))
    else:
        main()
