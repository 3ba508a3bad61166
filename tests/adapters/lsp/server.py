"""A language server with one peculiarity, named on its command line: server.py PECULIARITY [FOLDER].

`WHAT@METHOD`: at the first message of that method it begins with WHAT, and never ends (`ENDLESS`).
`says@METHOD`: before it answers one of that method, it sends what the file `message` holds, with the id for ID.
`says-third@textDocument/completion`: the same at its third question.

Its candidates are the words of the document it was last told of, so that a wrong idea of the text shows.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

WHAT = sys.argv[1]
SYNC = 1 if WHAT == "full" else 2
ENCODING = WHAT if WHAT in {"utf-8", "utf-16"} else "utf-32"
CODEC, SIZE = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[ENCODING]


def line_from_its_begin(position: Any) -> Any:
    """What a server answers that replaces the whole line: four words for one."""
    start = {"line": position["line"], "character": 0}
    line = Server.text.split("\n")[position["line"]].encode(CODEC)[: position["character"] * SIZE].decode(CODEC)
    return [
        {
            "insertText": {"kind": "snippet", "value": f"{line}five six\nseven"},
            "range": {"start": start, "end": position},
        }
    ]


INLINE: dict[str, Callable[[Any], dict[str, Any]]] = {
    "inline": lambda _: {"result": {"items": [{"insertText": "five six\nseven"}, {"insertText": ""}]}},
    "inline-range": lambda position: {"result": line_from_its_begin(position)},
    "inline-other": lambda position: {
        "result": [{"insertText": "x", "range": {"start": {"line": 0, "character": 0}, "end": position}}]
    },
    "inline-none": lambda _: {"result": None},
    "inline-stranger": lambda _: {"error": {"code": 1000, "message": "Not authenticated: NotSignedIn"}},
    "inline-nonsense": lambda _: {"result": [{"insertText": 5}]},
}
"""Its grey text."""


TRIGGERS = {"triggerCharacters": [" ", 5]} if WHAT in {"triggers", "late-completion"} else {}


class Server:
    """What it knows."""

    text = ""
    last = ""
    """What the last change inserted."""
    questions = 0
    parsed = False
    checked = ""
    """The texts of all documents that were checked, which is what it offers to import."""


def read() -> Any:
    length = 0
    while (line := sys.stdin.buffer.readline().strip()) or not length:
        if not line and not length:
            sys.exit(0)
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return json.loads(sys.stdin.buffer.read(length))


def send(**message: Any) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    raw(b"Content-Length: %d\r\nContent-Type: application/json\r\n\r\n%b" % (len(body), body))


def raw(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def offset(position: Any) -> int:
    lines = Server.text.split("\n")
    before = lines[position["line"]].encode(CODEC)[: position["character"] * SIZE].decode(CODEC)
    return sum(len(line) + 1 for line in lines[: position["line"]]) + len(before)


def change(changes: Any) -> None:
    for each in changes:
        begin, end = 0, len(Server.text)
        if "range" in each:
            begin, end = offset(each["range"]["start"]), offset(each["range"]["end"])
        Server.text = Server.text[:begin] + each["text"] + Server.text[end:]
        Server.last = each["text"]


def die() -> None:
    sys.stderr.write("out of luck\n")
    sys.stderr.flush()
    os.kill(os.getpid(), signal.SIGKILL)


def die_once() -> None:
    marker = Path(sys.argv[2], "died")
    if not marker.exists():
        marker.touch()
        die()


def flood() -> None:
    for i in range(20_000):
        send(method="window/logMessage", params={"type": 4, "message": f"{i} " + "x" * 100})


BEFORE: dict[str, Callable[[], object]] = {
    "slow": lambda: time.sleep(0.4),
    "dies": die,
    "dies-once": die_once,
    "garbage": lambda: raw(b"Segmentation fault, sorry\r\n\r\n"),
    "no-json": lambda: raw(b"Content-Length: 5\r\n\r\n{]{]{"),
    "wrong-id": lambda: send(id=4711, result=None),
    "floods": flood,
}
"""What it does before it answers."""


def asks() -> list[Any]:
    send(id="q1", method="workspace/configuration", params={"items": [{"section": "a.b"}, {}]})
    first = read()["result"][0]
    send(id="q2", method="something/unknown", params={})
    return [{"label": first}, {"label": f"code{-read()['error']['code']}"}]


def list_checked_words() -> list[dict[str, str]]:
    return [{"label": word} for word in sorted(set(Server.checked.split()))]


def complete(own: int, position: Any, context: Any) -> None:
    Server.questions += 1
    BEFORE.get(WHAT, lambda: None)()
    at = offset(position)
    words = sorted(set(re.findall(r"\w+", Server.text)))
    items = [{"label": word, "kind": 6, "sortText": f"{at:04}"} for word in words]
    answers: dict[str, Callable[[], Any]] = {
        "incomplete": lambda: {"isIncomplete": True, "items": items},
        "huge": lambda: {"items": [*items, {"label": "huge", "documentation": "x" * 50_000_000}]},
        "asks": asks,
        "null": lambda: None,
        "nonsense": lambda: {"items": [{"label": 17}]},
        "parses": lambda: items if Server.parsed else [],
        "typed": lambda: [{"label": f"typed{Server.last.replace(' ', '_')}"}] if Server.last else [],
        "odd": lambda: [{"label": "one", "kind": None}, {"label": 5}],
        "triggers": lambda: {"isIncomplete": True, "items": [{"label": json.dumps(context)}]},
        "late-completion": lambda: [{"label": json.dumps(context)}],
        "cold": lambda: items if Server.questions > 2 else [],
        "checks": list_checked_words,
        "checks-faults": list_checked_words,
    }
    if WHAT == "silent" or (WHAT == "silent-once" and Server.questions == 1):
        return
    if WHAT == "ahead":
        for guess in range(60):
            send(id=own + guess, result=items)
    if WHAT == "partial":
        raw(b"Content-Length: 1000\r\n\r\n{")
    elif WHAT == "cancels" or (WHAT == "cancels-twice" and Server.questions < 3):
        send(id=own, error={"code": -32801 - Server.questions % 2, "message": "content modified"})
    elif WHAT == "indexes-when-asked" and Server.questions == 1:
        progress("begin")
        send(id=own, result=[{"label": "early"}])
        later(0.3)
    elif WHAT == "error":
        send(id=own, error={"code": -32603, "message": "internal"})
    else:
        answer = answers.get(WHAT)
        send(id=str(own) if WHAT == "id-as-text" else own, result=answer() if answer else {"items": items})


def index() -> None:
    send(id=900, method="window/workDoneProgress/create", params={"token": "t"})
    read()
    send(method="$/progress", params={"token": "t", "value": {"kind": "begin", "title": "indexing"}})
    time.sleep(0.8)
    Server.text += " indexed"
    send(method="$/progress", params={"token": "t", "value": {"kind": "end"}})


def progress(kind: str) -> None:
    send(method="$/progress", params={"token": "t", "value": {"kind": kind, "title": "indexing"}})


def later(seconds: float, *, begins: bool = False) -> None:
    """Is done with its work after so many seconds; or only begins it then."""

    def work() -> None:
        time.sleep(seconds)
        if begins:
            progress("begin")
            time.sleep(0.3)
        Server.text += " indexed"
        progress("end")

    threading.Thread(target=work, daemon=True).start()


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def endless(**message: Any) -> None:
    """Writes as fast as a pipe takes it, and reads nothing any more; `%` stands for many numbers."""
    body = json.dumps({"jsonrpc": "2.0", **message})
    much = b"".join(framed(body.replace("%", str(number)).encode()) for number in range(20_000))
    with suppress(AttributeError, OSError):
        # Then there is always another message, whenever the client looks.
        fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 2**20)  # type: ignore[attr-defined, unused-ignore]
    while True:
        raw(much)


def stop() -> None:
    raw(b'Content-Length: 1000\r\n\r\n{"jsonrpc"')
    time.sleep(3600)


def say(message: Any) -> None:
    wanted = Path(sys.argv[2], "message")
    if wanted.exists():
        raw(framed(wanted.read_bytes().replace(b"ID", str(message.get("id", 0)).encode())))


ENDLESS: dict[str, Callable[[], object]] = {
    "logs": lambda: endless(method="window/logMessage", params={"type": 4, "message": "x" * 100}),
    "works": lambda: endless(method="$/progress", params={"token": "%", "value": {"kind": "begin"}}),
    "questions": lambda: endless(id="%", method="workspace/configuration", params={"items": [{"section": "a"}]}),
    "answers": lambda: endless(id="not %", result=None),
    "half": stop,
}


def check(document: Any) -> None:
    """Checks a document a little after it was opened, and says so; some servers only if they find a fault."""
    time.sleep(0.2)
    Server.checked += f"{document['text']} "
    if WHAT == "checks-faults" and not document["text"].endswith(")"):
        return
    # Some servers escape more than they must.
    uri = document["uri"].replace("_", "%5F")
    send(method="textDocument/publishDiagnostics", params={"uri": uri, "diagnostics": []})


def opened(message: Any) -> None:
    if WHAT.startswith("checks"):
        threading.Thread(target=check, args=(message["params"]["textDocument"],), daemon=True).start()
    before = Server.text if WHAT == "remembers" else ""
    Server.text = message["params"]["textDocument"]["text"] + before
    if WHAT == "indexes":
        index()
    if WHAT == "indexes-late":
        time.sleep(0.8)
        index()
    if WHAT == "announces-late":
        later(0.8, begins=True)
    if WHAT == "works-for-ever":
        send(method="$/progress", params={"token": "t", "value": {"kind": "begin", "title": "indexing"}})


def changed(message: Any) -> None:
    change(message["params"]["contentChanges"])
    Server.parsed = False


def parse(message: Any) -> None:
    Server.parsed = True
    send(id=message["id"], result=[])


DOCUMENT: dict[str, Callable[[Any], None]] = {
    "textDocument/didOpen": opened,
    "textDocument/didChange": changed,
    "textDocument/selectionRange": parse,
}


def handle(message: Any) -> None:
    params = message.get("params")
    match message["method"]:
        case method if method in DOCUMENT:
            DOCUMENT[method](message)
        case "initialize" if WHAT == "never-starts":
            time.sleep(3600)
        case "initialize":
            sync = SYNC if WHAT == "full" else {"openClose": True, "change": SYNC}
            able: dict[str, Any] = {"textDocumentSync": sync, "positionEncoding": ENCODING}
            able |= {} if WHAT in {"no-completion", "late-completion"} else {"completionProvider": TRIGGERS}
            send(
                id=message["id"],
                result={
                    "capabilities": able | ({"inlineCompletionProvider": {}} if WHAT in INLINE else {}),
                    **({"serverInfo": {"name": WHAT[7:]}} if WHAT.startswith("called-") else {}),
                },
            )
        case "initialized" if WHAT == "late-completion":
            registrations = [{"id": "1", "method": "textDocument/completion", "registerOptions": TRIGGERS}]
            send(id="r", method="client/registerCapability", params={"registrations": registrations})
        case "textDocument/inlineCompletion":
            send(id=message["id"], **INLINE[WHAT](params["position"]))
        case "textDocument/completion":
            complete(message["id"], params["position"], params["context"])
        case "$/cancelRequest" if WHAT == "silent-once":
            send(id=params["id"], error={"code": -32800, "message": "cancelled"})
        case "shutdown" if WHAT != "never-ends":
            send(id=message["id"], result=None)
        case "exit" if WHAT != "never-ends":
            sys.exit(0)


if WHAT == "dies-at-start":
    sys.exit("no licence")
while True:
    told = read()
    if "method" not in told:
        continue
    what, _, method = WHAT.partition("@")
    if method == told["method"] and (what != "says-third" or Server.questions == 2):
        ENDLESS.get(what, partial(say, told))()
    handle(told)
