"""A headless Chromium for tests, controlled over two pipes, without a driver or a port."""
import base64
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SECONDS = 60  # timeout of an answer
ROOT = pathlib.Path(__file__).resolve().parent.parent
AXE = ROOT / "target/axe/node_modules/axe-core/axe.min.js"
AXE_VERSION = "4.14.0"
# The rules of WCAG 2.2 at levels A and AA.
AXE_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


def axe():
    """The script of axe-core, from the npm registry; None without npm, which is said aloud."""
    if not AXE.exists():
        if not shutil.which("npm"):
            print("\n*** skipped: no npm; the pages were not checked for accessibility ***\n", file=sys.stderr)
            return None
        command = ["npm", "install", "--prefix", str(ROOT / "target/axe"), "--no-save", "--no-audit", "--no-fund", f"axe-core@{AXE_VERSION}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return AXE.read_text(encoding="utf-8")


class Browser:
    """One page. `problems` are its errors and warnings, `requests` the URLs it requested."""

    def __init__(self, width=1280, height=900):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.problems, self.requests, self.answers, self.count, self.rest = [], [], {}, 0, b""
        # Chromium reads commands from descriptor 3 and answers on 4. The pipes are first moved to 10 and above to avoid collisions.
        (to_read, self.to), (self.back, to_write) = os.pipe(), os.pipe()
        to_read, to_write = (fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_read, to_write))

        def take_ends():
            os.dup2(to_read, 3)
            os.dup2(to_write, 4)

        self.process = subprocess.Popen(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}", f"--window-size={width},{height}"],
            preexec_fn=take_ends, pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        os.set_blocking(self.back, False)
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Network", "Page"):
            self.ask(f"{domain}.enable")
        self.size(width, height)

    def size(self, width, height, phone=False):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone)

    def dark(self, dark=True):
        value = "dark" if dark else "light"
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    def open(self, path, ready="document.documentElement?.dataset.ready === 'yes'"):
        """Opens a file and waits until its script has finished."""
        self.ask("Page.navigate", url=path.resolve().as_uri())
        self.until(ready)

    def run(self, code):
        """Returns the value of an expression in the page."""
        answer = self.ask("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{code}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, code):
        end = time.monotonic() + SECONDS
        while not self.run(code):
            if time.monotonic() > end:
                raise AssertionError(f"never true: {code}; problems: {self.problems}")
            time.sleep(0.05)

    def violations(self, script):
        """What axe-core finds at levels A and AA: a line per rule with the elements."""
        self.run(f"{script};0")
        found = "({id, nodes}) => `${id}: ${nodes.map((node) => `${node.target} (${node.any[0]?.message})`).join('; ')}`"
        return self.run(f"axe.run(document, {{runOnly: {AXE_RULES}}}).then((done) => done.violations.map({found}))")

    def saves_to(self, folder):
        """Puts downloads into a folder."""
        self.ask("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    def mouse(self, kind, x, y, **more):
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, *points, shift=False):
        """Presses the button at the first point, moves over the others and releases it at the last."""
        keys = {"modifiers": 8} if shift else {}
        self.mouse("mousePressed", *points[0], button="left", clickCount=1, **keys)
        for point in points[1:]:
            self.mouse("mouseMoved", *point, button="left", buttons=1, **keys)
        self.mouse("mouseReleased", *points[-1], button="left", clickCount=1, **keys)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def touch(self, kind, *points):
        """Sends a touch event with fingers at these points; none if all are lifted."""
        self.ask("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y, "id": at} for at, (x, y) in enumerate(points)])

    def type(self, text):
        self.ask("Input.insertText", text=text)

    def press(self, key, code=None):
        number = {"Enter": 13, "ArrowDown": 40, "ArrowLeft": 37, "Tab": 9}.get(key, ord(key[0]))
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, windowsVirtualKeyCode=number,
                     **({"text": text} if text and kind == "keyDown" else {}))

    def picture(self, path, whole=False):
        data = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def ask(self, method, **arguments):
        self.count += 1
        message = {"id": self.count, "method": method, "params": arguments}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + SECONDS
        while self.count not in self.answers:
            if time.monotonic() > end or self.process.poll() is not None:
                raise AssertionError(f"{method}: no answer from {CHROMIUM}")
            self.listen()
        answer = self.answers.pop(self.count)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return answer["result"]

    def listen(self):
        try:
            self.rest += os.read(self.back, 1 << 20)
        except BlockingIOError:
            time.sleep(0.005)
            return
        *messages, self.rest = self.rest.split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self.answers[message["id"]] = message
            else:
                self.hear(message["method"], message.get("params", {}))

    def hear(self, method, news):
        if method == "Runtime.exceptionThrown":
            self.problems.append(news["exceptionDetails"].get("exception", news["exceptionDetails"]).get("description"))
        elif method == "Runtime.consoleAPICalled" and news["type"] in ("error", "warning", "assert"):
            self.problems.append(str(news["args"]))
        elif method == "Log.entryAdded" and news["entry"]["level"] in ("error", "warning"):
            self.problems.append(news["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(news["request"]["url"])

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)
        self.folder.cleanup()
