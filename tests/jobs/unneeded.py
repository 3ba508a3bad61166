"""A language server that lists each word of the text twice, in scope and imported: unneeded.py [--imports-first]."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

FIRST, LAST = "01" if "--imports-first" in sys.argv else "10"
text = ""


def answer(method: str, params: dict[str, Any]) -> Any:
    global text
    if method == "initialize":
        return {"capabilities": {"textDocumentSync": 1, "completionProvider": {}}}
    if method == "textDocument/didOpen":
        text = params["textDocument"]["text"]
    if method == "textDocument/didChange":
        text = params["contentChanges"][-1]["text"]
    if method != "textDocument/completion":
        return None
    start = {"line": 0, "character": 0}
    words = sorted({*re.findall(r"[a-z]\w+", text), "total", "amount", "count", "result", "value"})
    imported = [
        {
            "label": word,
            "sortText": FIRST + word,
            "additionalTextEdits": [
                {"range": {"start": start, "end": start}, "newText": f"from other import {word}\n"}
            ],
        }
        for word in words
    ]
    return [*imported, *({"label": word, "sortText": LAST + word} for word in words)]


while head := sys.stdin.buffer.readline():
    sys.stdin.buffer.readline()
    message = json.loads(sys.stdin.buffer.read(int(head.split()[1])))
    result = answer(message.get("method", ""), message.get("params") or {})
    if message.get("method") == "exit":
        break
    if "id" in message and "method" in message:
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
        sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        sys.stdout.buffer.flush()
