"""A small client of Chromium's DevTools protocol (https://chromedevtools.github.io/devtools-protocol), with nothing but
the standard library: starts a headless browser, sends commands, gathers what the page complains of."""

import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class WebSocket:
    """RFC 6455, the client's side, text messages only."""

    def __init__(self, host, port, path):
        self.socket = socket.create_connection((host, port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        self.file = self.socket.makefile("rb")
        if b"101" not in self.file.readline():
            raise RuntimeError("the browser refuses the connection")
        while self.file.readline() != b"\r\n":
            pass

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        size = len(data)
        short = 126 if size < 1 << 16 else 127
        length = bytes([0x80 | size]) if size < 126 else bytes([0x80 | short])
        more = b"" if size < 126 else struct.pack(">H" if short == 126 else ">Q", size)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))
        self.socket.sendall(b"\x81" + length + more + mask + masked)

    def receive(self):
        whole = b""
        while True:
            first, second = self.file.read(2)
            size = second & 0x7F
            if size >= 126:
                size = struct.unpack(">H" if size == 126 else ">Q", self.file.read(2 if size == 126 else 8))[0]
            data = self.file.read(size)
            if first & 0x0F in (0, 1):
                whole += data
            if first & 0x0F in (0, 1) and first & 0x80:
                return whole.decode()


class Browser:
    can = frozenset(("dark", "names", "times", "scripts off", "mobile"))

    def __init__(self, program, width=1200, height=900):
        self.folder = tempfile.mkdtemp(prefix="hopscotch_browser_")
        arguments = ["--headless=new", "--remote-debugging-port=0", "--disable-gpu", "--no-first-run",
                     "--hide-scrollbars", "--disable-dev-shm-usage", "--disable-background-networking",
                     f"--user-data-dir={self.folder}", f"--window-size={width},{height}", "about:blank"]
        if os.geteuid() == 0:
            arguments.insert(0, "--no-sandbox")
        self.process = subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port, path = self._wait_for_port()
        self.browser = WebSocket("127.0.0.1", port, path)
        self.number, self.session, self.complaints, self.events = 0, None, [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def _wait_for_port(self):
        path = os.path.join(self.folder, "DevToolsActivePort")
        for _ in range(300):
            if os.path.exists(path):
                lines = open(path).read().split("\n")
                if len(lines) >= 2 and lines[1]:
                    return int(lines[0]), lines[1]
            time.sleep(0.1)
        raise RuntimeError("the browser does not start")

    def call(self, method, **parameters):
        self.number += 1
        number, message = self.number, {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.browser.send(json.dumps(message))
        while True:
            answer = json.loads(self.browser.receive())
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._note(answer)

    def _note(self, event):
        method, about = event.get("method", ""), event.get("params", {})
        self.events.append(method)
        if method == "Runtime.exceptionThrown":
            self.complaints.append(about["exceptionDetails"].get("exception", {}).get("description", str(about)))
        if method == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.complaints.append(about["entry"]["text"])
        if method == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(about["args"]))
        address = about.get("request", {}).get("url", "") if method == "Network.requestWillBeSent" else ""
        if address and not address.startswith(("file:", "data:", "about:")):
            self.complaints.append("asks the network for " + address)

    def open(self, path):
        """Seconds until the page was loaded and could be painted."""
        self.events.clear()
        start = time.monotonic()
        self.call("Page.navigate", url=path if path == "about:blank" else "file://" + os.path.abspath(path))
        while "Page.loadEventFired" not in self.events:
            self._note(json.loads(self.browser.receive()))
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        return time.monotonic() - start

    def run(self, script):
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", "script failed"))
        return result["result"].get("value")

    def size(self, width, height, mobile=False, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                  mobile=mobile)

    def theme(self, scheme="light", medium=""):
        self.call("Emulation.setEmulatedMedia", media=medium,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path, whole=False):
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole,
                            **({"clip": self._all()} if whole else {}))
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))

    def _all(self):
        box = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": box["width"], "height": min(box["height"], 16000), "scale": 1}

    def press(self, key, code, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code, text=text if kind == "keyDown" else "",
                      windowsVirtualKeyCode={"Tab": 9, " ": 32, "ArrowRight": 39, "Enter": 13}.get(key, 0))

    def mouse(self, kind, x, y, **more):
        """kind: Pressed, Released, Moved or Wheel."""
        self.call("Input.dispatchMouseEvent", type=f"mouse{kind}", x=x, y=y, **more)

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(10)
        except (RuntimeError, OSError, ValueError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
