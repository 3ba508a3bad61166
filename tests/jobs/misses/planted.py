"""A language server that knows one small file, with a defect planted: planted.py none|inherited|bare|range."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

OWN, INHERITED = ["count", "label"], ["describe", "render", "total"]
NAMES = ["amount", "base", "child", "data", "dummy", "print", "reader", "self", "text", "value", "vacuum"]
DEFECT = sys.argv[1]


def items(line: str, position: dict[str, int]) -> list[dict[str, Any]]:
    caret = position["character"]
    typed = re.search(r"\w*$", line[:caret])
    assert typed
    if line[: typed.start()].endswith("."):
        members = OWN if DEFECT == "inherited" else OWN + INHERITED
        return [{"label": name, "kind": 2} for name in members]
    listed = [{"label": name, "kind": 6, "sortText": f"1{name}"} for name in NAMES]
    if DEFECT == "bare":
        listed += [{"label": name, "kind": 2, "sortText": f"0{name}"} for name in OWN + INHERITED]
    if DEFECT == "range":
        # The typed letters stay where they are.
        here = {"start": position, "end": position}
        listed = [{**item, "textEdit": {"range": here, "newText": item["label"]}} for item in listed]
    return listed


def definition(uri: str, texts: dict[str, str], position: dict[str, int]) -> dict[str, Any] | None:
    lines = texts[uri].split("\n")
    name = re.match(r"\w*", lines[position["line"]][position["character"] :])
    for number, line in enumerate(lines):
        if name and (defined := re.search(rf"(?:def |self\.){name[0]}(?:\(| =)", line)):
            start = {"line": number, "character": defined.start()}
            return {"uri": uri, "range": {"start": start, "end": start}}
    return None


def answer(message: dict[str, Any], texts: dict[str, str]) -> Any:
    params = message.get("params") or {}
    match message["method"]:
        case "initialize":
            able = {"textDocumentSync": 1, "completionProvider": {}, "definitionProvider": True}
            return {"capabilities": {**able, "positionEncoding": "utf-16"}}
        case "textDocument/didOpen":
            texts[params["textDocument"]["uri"]] = params["textDocument"]["text"]
        case "textDocument/didChange":
            texts[params["textDocument"]["uri"]] = params["contentChanges"][-1]["text"]
        case "textDocument/completion":
            position = params["position"]
            return items(texts[params["textDocument"]["uri"]].split("\n")[position["line"]], position)
        case "textDocument/definition":
            return definition(params["textDocument"]["uri"], texts, params["position"])
        case "exit":
            sys.exit(0)
        case _:
            pass
    return None


def main() -> None:
    texts: dict[str, str] = {}
    while header := sys.stdin.buffer.readline():
        length = int(header.split(b":")[1])
        sys.stdin.buffer.readline()
        message = json.loads(sys.stdin.buffer.read(length))
        result = answer(message, texts)
        if "id" in message:
            body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
            sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
