"""A language client of a hundred lines that shares no code with ci-eval, to check ours against: see agreement.py.

python benchmarks/minimal_client.py --root DIR --language ID [--options JSON] [--anew] [--no-hidden]
    -- COMMAND… < PLACES > RANKS

A place is a line of JSON: {"file", "text", "offset", "expected"}, the token at the offset (in code points) already cut
out of the text. Each is answered by a line {"rank": N or null, "total": N}: the candidates by sortText, then by text.
`--anew`: a server for each file. `--no-hidden`: without classes (kinds 7, 22) whose label is also that of a function
(3), a variable (6) or an alias (8), which clangd lists or not by chance. It knows NoPrefix only, and waits for nothing
but answers.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any


class Server:
    """One process, asked and answered in turn."""

    def __init__(self, command: list[str], root: Path, options: Any) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root)
        self.number = 0
        self.open = ""
        uri = root.as_uri()
        completion = {"completionItem": {"snippetSupport": True, "insertReplaceSupport": True}}
        start = {
            "processId": None,
            "rootUri": uri,
            "workspaceFolders": [{"uri": uri, "name": root.name}],
            "capabilities": {"textDocument": {"completion": completion}, "workspace": {"configuration": True}},
            "initializationOptions": options,
        }
        self.ask("initialize", start)
        self.tell("initialized", {})

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin
        self.process.stdin.write(f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        self.process.stdin.flush()

    def tell(self, method: str, params: Any) -> None:
        self.send({"method": method, "params": params})

    def receive(self) -> Any:
        assert self.process.stdout
        length = 0
        while line := self.process.stdout.readline().strip():
            name, _, value = line.decode().partition(":")
            if name.lower() == "content-length":
                length = int(value)
        return json.loads(self.process.stdout.read(length))

    def ask(self, method: str, params: Any) -> Any:
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while True:
            message = self.receive()
            if "method" not in message and message["id"] == self.number:
                return message.get("result")
            if "method" in message and "id" in message:
                wanted = message.get("params") or {}
                nothing = [None] * len(wanted["items"]) if message["method"] == "workspace/configuration" else None
                self.send({"id": message["id"], "result": nothing})

    def candidates(self, uri: str, language: str, text: str, place: dict[str, int]) -> list[Any]:
        self.number += 1
        if self.open == uri:
            document = {"uri": uri, "version": self.number}
            self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        else:
            if self.open:
                self.tell("textDocument/didClose", {"textDocument": {"uri": self.open}})
            document = {"uri": uri, "languageId": language, "version": self.number, "text": text}
            self.tell("textDocument/didOpen", {"textDocument": document})
            self.open = uri
        answer = self.ask("textDocument/completion", {"textDocument": {"uri": uri}, "position": place})
        return answer.get("items", []) if isinstance(answer, dict) else answer or []


def utf16(text: str) -> int:
    return sum(2 if ord(letter) > 0xFFFF else 1 for letter in text)


def position(text: str, offset: int) -> dict[str, int]:
    lines = text[:offset].split("\n")
    return {"line": len(lines) - 1, "character": utf16(lines[-1])}


def name_of(item: Any, caret: dict[str, int]) -> str:
    """The first word of what the item writes where the token begins; all of `&T{}`, which is another row than T."""
    edit = item.get("textEdit")
    written = edit["newText"] if edit else item.get("insertText") or item["label"]
    if edit:
        begin = edit.get("range") or edit["insert"]
        written = written[max(caret["character"] - begin["start"]["character"], 0) :]
    found = re.match(r"\w+", written)
    return found[0] if found else written


def ranked(items: list[Any], caret: dict[str, int]) -> list[str]:
    """The names, best first, each once."""
    keyed = [(item.get("sortText") or item["label"], name_of(item, caret)) for item in items]
    keyed.sort(key=lambda pair: (pair[0].lower(), pair[1].lower(), pair[1]))
    return list(dict.fromkeys(name for _, name in keyed if name))


def without_hidden(items: list[Any]) -> list[Any]:
    hiding = {item["label"].split("(")[0].strip(" •") for item in items if item.get("kind") in (3, 6, 8)}
    return [item for item in items if item.get("kind") not in (7, 22) or item["label"].strip(" •") not in hiding]


def main() -> None:
    """Answer line by line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--language", required=True)
    parser.add_argument("--options", type=json.loads)
    parser.add_argument("--anew", action="store_true")
    parser.add_argument("--no-hidden", action="store_true")
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    server, file = None, ""
    for line in sys.stdin:
        place = json.loads(line)
        if server is None or (given.anew and place["file"] != file):
            if server:
                server.process.kill()
            server = Server(given.command, given.root, given.options)
        file = place["file"]
        caret = position(place["text"], place["offset"])
        items = server.candidates((given.root / file).as_uri(), given.language, place["text"], caret)
        names = ranked(without_hidden(items) if given.no_hidden else items, caret)
        rank = names.index(place["expected"]) + 1 if place["expected"] in names else None
        print(json.dumps({"rank": rank, "total": len(names)}), flush=True)
    if server:
        server.process.kill()


if __name__ == "__main__":
    main()
