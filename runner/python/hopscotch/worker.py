"""Makes a simulator in Python a worker of Hopscotch (`model: command`).

    python3 -m hopscotch.worker simulate.py [FUNCTION]

simulate.py has a function `simulate`, or FUNCTION, of the parameters by name. It returns the metrics as a dict:

    def simulate(mass, gain):
        return {"error": ..., "energy": ...}

It may also take `seed` (an integer: seeds all random numbers), `trajectory` (True if one is wanted), `trial` and
`replicate`. It may return metrics and a trajectory, ({"error": ...}, {"time": [...], "x": [...]}). It may raise
Failure("fell", {"error": ...}) for a failure that the spec declares. Any other exception fails the trial as `crashed`.

simulate.py may have VERSION, a text; without one it is the SHA-256 of the file. What it prints goes to the campaign's
workers.log."""

import hashlib
import inspect
import json
import os
import runpy
import sys

PROTOCOL = 1
EXTRA = ("seed", "trajectory", "trial", "replicate")


class Failure(Exception):
    """The trial failed in a way that the spec declares under `failures`. metrics: those that are known."""

    def __init__(self, name, metrics=None):
        super().__init__(name)
        self.name = name
        self.metrics = metrics or {}


def _numbers(values):
    """Floats of Python, of what may be numbers of numpy; null for NaN, which JSON has no word for."""
    return [number if number == number else None for number in map(float, values)]


def _wanted(function):
    """Which of EXTRA the function takes."""
    parameters = inspect.signature(function).parameters.values()
    every = any(p.kind is p.VAR_KEYWORD for p in parameters)
    return [name for name in EXTRA if every or any(p.name == name for p in parameters)]


def by_name(function):
    """A call of the function with the parameters of a request by name, and with those of EXTRA that it takes."""
    wanted = _wanted(function)
    return lambda request: function(**request["parameters"], **{name: request[name] for name in wanted})


def answer(call, request):
    """The answer to a request, as a dict. call: of the request, gives metrics, or metrics and a trajectory."""
    failure, trajectory = None, None
    try:
        metrics = call(request)
        if isinstance(metrics, tuple):
            metrics, trajectory = metrics
    except Failure as failed:
        failure, metrics = failed.name, failed.metrics
    out = {"id": request["id"], "metrics": dict(zip(metrics, _numbers(metrics.values()))), "failure": failure}
    if trajectory is not None and request["trajectory"]:
        out["trajectory"] = {name: _numbers(column) for name, column in trajectory.items()}
    return out


def serve(call, version=None):
    """Answers requests on standard input until it ends. call: as of `answer`."""
    out = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # what the simulator prints is no answer
    requests = iter(os.fdopen(os.dup(0), encoding="ascii").readline, "")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)  # nor does it, or a program that it starts, read requests
    hello = json.loads(next(requests))
    if hello["hello"] != PROTOCOL:
        sys.exit(f"hopscotch speaks version {hello['hello']} of the protocol, and this worker {PROTOCOL}")
    print(json.dumps({"hello": PROTOCOL, "version": version}), file=out, flush=True)
    for line in requests:
        answered = json.dumps(answer(call, json.loads(line)))
        sys.stdout.flush()  # else what was printed is lost if this process is killed
        print(answered, file=out, flush=True)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python3 -m hopscotch.worker simulate.py [FUNCTION]")
    path, name = sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else "simulate"
    with open(path, "rb") as file:
        version = "sha256:" + hashlib.sha256(file.read()).hexdigest()[:16]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    module = runpy.run_path(path)
    if name not in module:
        sys.exit(f"{path} has no function {name}")
    serve(by_name(module[name]), str(module.get("VERSION", version)))


if __name__ == "__main__":
    sys.modules.setdefault("hopscotch.worker", sys.modules["__main__"])  # one class Failure
    main()
