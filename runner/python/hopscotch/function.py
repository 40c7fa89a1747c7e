"""Runs a function of this process as the program of a spec with `model: command`: hopscotch.run(spec, function=f).

The spec's program is then this module, `python3 -m hopscotch.function NAME`. Each of its processes connects to a
server, a copy of the calling process by fork, and hands it its standard input, output and error. The server forks a
worker for each, which has the function with all that it refers to, and speaks the protocol of hopscotch.worker. When a
process of the program ends, as when Hopscotch kills one that is too slow, the server kills its worker; when a worker
ends, the process ends with its exit code, or by the same signal. So Hopscotch sees workers like those of any other
program."""

import contextlib
import hashlib
import inspect
import json
import marshal
import os
import selectors
import shutil
import signal
import socket
import sys
import tempfile
import time
import traceback
import warnings

from . import worker
from .program import Error

ADDRESS = "HOPSCOTCH_FUNCTION"  # the variable of the environment that has the server's address
LOST = 1  # exit code of a process whose server is gone
PATIENCE = 10  # s in which the program ends after its caller was killed
RAISED = "raised.jsonl"
RAISED_BYTES = 1 << 20  # of texts of exceptions that are kept
RAISED_TEXT = 2000  # characters of one


# ---- the function ----------------------------------------------------------------------------------------------------


def by_mapping(function):
    """A call of function(parameters) with the parameters of a request as a dict; it may also take seed, trajectory,
    trial and replicate by name. A function that needs several arguments takes the parameters by name, as those of
    hopscotch.worker do. TypeError: it can't be called."""
    if not callable(function):
        raise TypeError(f"function is a function of a dict of parameters, not {function!r}")
    try:
        signature = inspect.signature(function)
    except ValueError:  # of some functions in C it is not known
        return lambda request: function(request["parameters"])
    first = next(iter(signature.parameters), None)
    wanted = [name for name, row in signature.parameters.items()
              if name != first and name in worker.EXTRA and row.kind not in (row.VAR_POSITIONAL, row.VAR_KEYWORD)]
    needed = [row for row in signature.parameters.values()
              if row.default is row.empty and row.kind in (row.POSITIONAL_OR_KEYWORD, row.KEYWORD_ONLY)]
    if sum(row.name not in worker.EXTRA for row in needed) > 1:
        return worker.by_name(function)
    try:
        signature.bind({}, **dict.fromkeys(wanted))
    except TypeError as error:
        raise TypeError(f"function takes a dict of parameters, and by name seed, trajectory, trial, replicate if it "
                        f"wants them: {error}") from None
    return lambda request: function(request["parameters"], **{name: request[name] for name in wanted})


def name_of(function):
    """What the spec calls it: its name with that of its class or function around it."""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return "".join(c if c.isalnum() or c in "._-" else "-" for c in name.replace("<locals>.", ""))


def version_of(function):
    """A text that changes with the function's own source: VERSION of its module is not asked for, because a notebook
    has none. What the function calls is not looked at."""
    try:
        source = inspect.getsource(function).encode("utf-8", "replace")
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        source = marshal.dumps(code) if code is not None else repr(type(function)).encode()
    return "sha256:" + hashlib.sha256(source).hexdigest()[:16]


# ---- a worker --------------------------------------------------------------------------------------------------------


def _keep_raised(path, request, error):
    """A line for the caller; what is more than RAISED_BYTES is left out."""
    line = json.dumps({"trial": request["trial"], "replicate": request["replicate"],
                       "text": f"{type(error).__name__}: {error}"[:RAISED_TEXT]})
    with contextlib.suppress(OSError), open(path, "a", encoding="ascii") as file:
        if file.tell() < RAISED_BYTES:
            file.write(line + "\n")


def _work(call, version, descriptors, path):
    """Serves one process of the program; returns the exit code."""
    def call_and_keep(request):
        try:
            return call(request)
        except worker.Failure:
            raise
        except Exception as error:
            _keep_raised(path, request, error)
            raise

    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    for descriptor in descriptors:
        if descriptor > 2:
            os.close(descriptor)
    sys.stdout = open(1, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False, buffering=1)
    sys.stdin = open(0, encoding="utf-8", errors="replace", closefd=False)
    try:
        worker.serve(call_and_keep, version)
        return 0
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1 if end.code else 0
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()


# ---- the server ------------------------------------------------------------------------------------------------------


class _Server:
    """In the forked copy: has a worker for each connection, until the caller is gone."""

    def __init__(self, listener, caller, call, version, path):
        self.listener, self.caller, self.call, self.version, self.path = listener, caller, call, version, path
        self.workers = {}  # process: connection
        self.selector = selectors.DefaultSelector()
        wake, self.woken = os.pipe()
        for descriptor in (wake, self.woken):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self.woken, warn_on_full_buffer=False)
        self.wake = wake
        for file in (listener, caller, wake):
            self.selector.register(file, selectors.EVENT_READ)

    def serve(self):
        """Until the caller says that the program has ended. If the caller is killed, the program is being stopped: it
        has some time to end its workers, because those that it finds dead would count as crashed."""
        until = None
        while until is None or (self.workers and time.monotonic() < until):
            for key, _ in self.selector.select(None if until is None else 0.1):
                if key.fileobj == self.caller:
                    if os.read(self.caller, 1):
                        return
                    self.selector.unregister(self.caller)
                    until = time.monotonic() + PATIENCE
                    continue
                if key.fileobj is self.listener:
                    self.accept()
                elif key.fileobj == self.wake:
                    with contextlib.suppress(BlockingIOError):
                        os.read(self.wake, 4096)
                else:
                    self.leave(key.fileobj)
            self.reap()

    def accept(self):
        connection, _ = self.listener.accept()
        _, descriptors, _, _ = socket.recv_fds(connection, 1, 3)
        if len(descriptors) != 3:
            connection.close()
            return
        process = os.fork()
        if process == 0:
            self.become(descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        self.workers[process] = connection
        self.selector.register(connection, selectors.EVENT_READ)

    def become(self, descriptors):
        code = 1
        try:
            os.setpgid(0, 0)
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            self.selector.close()
            for connection in (self.listener, *self.workers.values()):
                connection.close()
            for descriptor in (self.caller, self.wake, self.woken):
                os.close(descriptor)
            code = _work(self.call, self.version, descriptors, self.path)
        finally:
            os._exit(code & 255)

    def leave(self, connection):
        """The process of the program is gone: so is its worker, with all that it started in its group."""
        self.selector.unregister(connection)
        for process, own in self.workers.items():
            if own is connection:
                self.kill(process)

    @staticmethod
    def kill(process):
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(process, signal.SIGKILL)

    def reap(self):
        while self.workers:
            process, status = os.waitpid(-1, os.WNOHANG)
            if process == 0:
                return
            connection = self.workers.pop(process, None)
            if connection is None:
                continue
            with contextlib.suppress(OSError):
                code = os.waitstatus_to_exitcode(status)
                connection.send(bytes([abs(code), code < 0]))  # exit code or signal, and which of them
            with contextlib.suppress(KeyError):
                self.selector.unregister(connection)
            connection.close()

    def end(self):
        for process in self.workers:
            self.kill(process)


def _become_server(listener, caller, call, version, path):
    try:
        os.setsid()  # no signal of the terminal
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        server = _Server(listener, caller, call, version, path)
        try:
            server.serve()
        finally:
            server.end()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


class Served:
    """A function that is being served. words: of the program; environment: of processes that start it."""

    def __init__(self, function, folder):
        self.words = ["python3", "-m", "hopscotch.function", name_of(function)]
        self.path = os.path.join(folder, RAISED)
        home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        python = os.environ.get("PYTHONPATH")
        self.environment = {**os.environ, ADDRESS: os.path.join(folder, "socket"),
                            "PYTHONPATH": home + (os.pathsep + python if python else "")}

    def raised(self):
        """The exceptions so far, as dicts with trial, replicate and text, one for each replicate of a trial."""
        if not os.path.exists(self.path):
            return []
        with open(self.path, encoding="ascii") as file:
            rows = [json.loads(line) for line in file if line.endswith("\n")]
        return [*{(row["trial"], row["replicate"]): row for row in rows}.values()]


@contextlib.contextmanager
def served(function):
    """Serves the function while the context lasts; gives a Served."""
    call, version = by_mapping(function), version_of(function)
    folder = tempfile.mkdtemp(prefix="hopscotch-")
    if len(os.fsencode(folder)) > 90:  # a socket's address is short
        os.rmdir(folder)
        folder = tempfile.mkdtemp(prefix="hopscotch-", dir="/tmp")
    caller, gone = os.pipe()
    server, listener = None, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        it = Served(function, folder)
        listener.bind(it.environment[ADDRESS])
        listener.listen(256)
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # a caller may have threads; the copy uses none
            server = os.fork()
        if server == 0:
            os.close(gone)
            _become_server(listener, caller, call, version, it.path)
        yield it
    finally:
        os.write(gone, b"e")  # the server ends; and so it does when the last copy of `gone` is closed
        for descriptor in (caller, gone):
            os.close(descriptor)
        listener.close()
        if server:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(server, 0)
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def perhaps(function):
    """As served, or None without a function."""
    if function is None:
        yield None
        return
    with served(function) as it:
        yield it


# ---- a process of the program ----------------------------------------------------------------------------------------


def main():
    address, name = os.environ.get(ADDRESS), sys.argv[1] if len(sys.argv) == 2 else "?"
    if not address:
        sys.exit(f"the trials are runs of the function {name} in Python: run them from there, with function={name}")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        try:
            server.connect(address)
            socket.send_fds(server, [b"w"], [0, 1, 2])
            status = server.recv(2)
        except OSError as error:
            sys.exit(f"the process that has the function {name} has ended: {error.strerror}")
    if len(status) == 2 and status[1]:
        with contextlib.suppress(OSError):  # SIGKILL has no handler
            signal.signal(status[0], signal.SIG_DFL)
        os.kill(os.getpid(), status[0])
    os._exit(status[0] if status else LOST)


if __name__ == "__main__":
    main()
