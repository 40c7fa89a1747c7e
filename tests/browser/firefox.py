"""A headless Firefox with the interface of devtools.Browser, by WebDriver BiDi (https://w3c.github.io/webdriver-bidi),
which it speaks without a driver. It can't choose dark or print, switch scripts off, or tell names and times."""

import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

from devtools import WebSocket

KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "ArrowRight": "\ue014", "ArrowLeft": "\ue012"}


def find():
    return shutil.which("firefox-esr") or shutil.which("firefox")


def plain(value):
    """A RemoteValue as Python has it."""
    kind = value["type"]
    if kind in ("null", "undefined") or "value" not in value:
        return None
    if kind == "array":
        return [plain(one) for one in value["value"]]
    if kind == "object":
        return {key: plain(one) for key, one in value["value"]}
    return value["value"]


class Browser:
    can = frozenset(["printed"])  # of "dark", "names", "times", "scripts off", "mobile"

    def __init__(self, program, width=1200, height=900):
        self.folder = tempfile.mkdtemp(prefix="hopscotch_browser_")
        with open(os.path.join(self.folder, "user.js"), "w") as preferences:  # focus though no window has it
            preferences.write('user_pref("focusmanager.testmode", true);')
        self.log = open(os.path.join(self.folder, "log"), "w+")
        self.process = subprocess.Popen([program, "--headless", "--no-remote", "--profile", self.folder,
                                         "--remote-debugging-port", "0", "about:blank"], stdout=self.log,
                                        stderr=self.log, env={**os.environ, "HOME": self.folder})
        self.socket = WebSocket("127.0.0.1", self._port(), "/session")
        self.number, self.complaints = 0, []
        self._call("session.new", capabilities={})
        self._call("session.subscribe", events=["log.entryAdded"])
        self.context = self._call("browsingContext.getTree")["contexts"][0]["context"]
        self.at = (0, 0)
        self.size(width, height)

    def _port(self):
        for _ in range(600):
            found = re.search(r"ws://127\.0\.0\.1:(\d+)", open(self.log.name).read())
            if found:
                return int(found.group(1))
            time.sleep(0.1)
        raise RuntimeError("the browser does not start")

    def _call(self, method, **parameters):
        self.number += 1
        number = self.number
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.receive())
            if answer.get("id") == number:
                if answer["type"] == "error":
                    raise RuntimeError(f"{method}: {answer['message']}")
                return answer["result"]
            if answer.get("method") == "log.entryAdded" and answer["params"]["level"] in ("error", "warn"):
                self.complaints.append(answer["params"]["text"])

    def call(self, method, **parameters):
        if method != "Page.reload":
            raise RuntimeError(f"Firefox has no {method}")
        self._call("browsingContext.reload", context=self.context, wait="complete")

    def open(self, path):
        start, page, _, part = time.monotonic(), *path.partition("#")
        url = path if path == "about:blank" else "file://" + os.path.abspath(page) + ("#" + part if part else "")
        self._call("browsingContext.navigate", context=self.context, url=url, wait="complete")
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        return time.monotonic() - start

    def run(self, script):
        got = self._call("script.evaluate", expression=script, target={"context": self.context}, awaitPromise=True)
        if got["type"] == "exception":
            raise RuntimeError(got["exceptionDetails"]["text"])
        return plain(got["result"])

    def size(self, width, height, mobile=False, scale=1):
        self._call("browsingContext.setViewport", context=self.context, viewport={"width": width, "height": height},
                   devicePixelRatio=scale)

    def theme(self, scheme="light", medium=""):
        pass

    def printed(self, path):
        """The page on A4 across, as a PDF, nothing made smaller so that it fits."""
        pdf = self._call("browsingContext.print", context=self.context, orientation="landscape", shrinkToFit=False,
                         background=True, page={"width": 21.0, "height": 29.7})
        with open(path, "wb") as file:
            file.write(base64.b64decode(pdf["data"]))

    def screenshot(self, path, whole=False):
        picture = self._call("browsingContext.captureScreenshot", context=self.context,
                             origin="document" if whole else "viewport")
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))

    def _act(self, kind, name, *actions, **more):
        self._call("input.performActions", context=self.context,
                   actions=[{"type": kind, "id": name, "actions": list(actions), **more}])

    def press(self, key, code, text=""):
        value = KEYS.get(key, key)
        self._act("key", "keys", {"type": "keyDown", "value": value}, {"type": "keyUp", "value": value})

    def mouse(self, kind, x, y, **more):
        place = {"x": round(x), "y": round(y)}
        if kind == "Wheel":
            self._act("wheel", "wheel", {"type": "scroll", **place, "deltaX": 0, "deltaY": int(more["deltaY"])})
            return
        down, up = {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}
        act = {"Pressed": [down], "Released": [up], "Moved": []}[kind]
        if more.get("clickCount") == 2:  # two clicks are double only within one sequence of actions
            act = [down, up, down, up] if kind == "Pressed" else []
        move = [] if (x, y) == self.at and act else [{"type": "pointerMove", "duration": 0, **place}]
        self.at = (x, y)
        self._act("pointer", "mouse", *move, *act, parameters={"pointerType": "mouse"})

    def close(self):
        try:
            self._call("browser.close")
            self.process.wait(10)
        except (RuntimeError, OSError, ValueError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
