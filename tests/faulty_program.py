"""The program behind the faulty engine; standard library only, so that it starts at once."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any

KNOWN = [["self", "param"], ["return", "keyword"]]
CALM = {"ms": 1.0, "items": KNOWN}


def answer(fault: str, number: int) -> object:
    """What the program answers to its `number`-th question; it only misbehaves at the third."""
    if number != 3 and not fault.startswith("always "):
        return CALM
    match fault.removeprefix("always "):
        case "hangs":
            time.sleep(3600)
        case "is killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "exits":
            sys.exit("out of ideas")
        case "raises":
            return {"error": "Traceback: ValueError: no idea"}
        case "answers no JSON":
            return None
        case "answers another shape":
            return {"items": [1, 2, 3]}
        case "repeats itself":
            return {"ms": 1.0, "items": [KNOWN[0]] * 5 + KNOWN}
        case "suggests a million":
            return {"ms": 1.0, "items": [[f"name{i}", "x"] for i in range(1_000_000)]}
        case _:
            return CALM
    return CALM


def serve(fault: str) -> None:
    """Answer until the input ends."""
    asked = 0
    for line in sys.stdin:
        request: list[Any] = json.loads(line)
        asked += request[0] == "complete"
        reply = answer(fault, asked) if request[0] == "complete" else {}
        print("Segmentation what?" if reply is None else json.dumps(reply), flush=True)  # noqa: T201


if __name__ == "__main__":
    serve(sys.argv[1])
