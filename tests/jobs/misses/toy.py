"""The repository of a toy language server for the tutorial: python -m tests.jobs.misses.toy FOLDER."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.jobs.misses.regressing import git

SERVER = '''\
#!/usr/bin/env python3
"""Offers the members of the class after `self.`, and the words of the file elsewhere."""

import json
import re
import sys

VERSION = "1.0"


def members(text):
    names = set(re.findall(r"def (\\w+)\\(self", text))
    return names | set(re.findall(r"self\\.(\\w+)[:=, ]", text))


def complete(text, line, column):
    lines = text.split("\\n")
    before = lines[line][:column]
    if re.search(r"\\bself\\.\\w*$", before):
        begin = max((n for n in range(line) if lines[n].startswith("class ")), default=0)
        end = next((n for n in range(line, len(lines)) if re.match(r"\\w", lines[n])), len(lines))
        return sorted(members("\\n".join(lines[begin:end])))
    return [] if re.search(r"\\.\\w*$", before) else sorted(set(re.findall(r"\\b[A-Za-z_]\\w+", text)))


def define(text, line, column):
    word = re.match(r"\\w*", text.split("\\n")[line][column:])[0]
    for number, row in enumerate(text.split("\\n")):
        if found := re.search(rf"(?:def |class |self\\.){word}(?:\\(| =)", row):
            return number, found.start()
    return None


def answer(method, params):
    if method == "initialize":
        info = {"name": "toy", "version": VERSION}
        able = {"textDocumentSync": 1, "completionProvider": {"triggerCharacters": ["."]}, "definitionProvider": True}
        return {"capabilities": able, "serverInfo": info}
    uri = params.get("textDocument", {}).get("uri")
    if method == "textDocument/didOpen":
        texts[uri] = params["textDocument"]["text"]
    if method == "textDocument/didChange":
        texts[uri] = params["contentChanges"][-1]["text"]
    if method == "textDocument/completion":
        return [{"label": name} for name in complete(texts[uri], *params["position"].values())]
    if method == "textDocument/definition" and (place := define(texts[uri], *params["position"].values())):
        start = {"line": place[0], "character": place[1]}
        return {"uri": uri, "range": {"start": start, "end": start}}
    return None


texts = {}
while header := sys.stdin.buffer.readline():
    sys.stdin.buffer.readline()
    message = json.loads(sys.stdin.buffer.read(int(header.split(b":")[1])))
    if message["method"] == "exit":
        break
    result = answer(message["method"], message.get("params") or {})
    if "id" in message:
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
        sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body))
        sys.stdout.buffer.flush()
'''
CHANGES = (
    ("The first server", "", ""),
    ("Call it 1.1", '"1.0"', '"1.1"'),
    ("Say what the server does", "Offers the", "Offers, in order of the alphabet, the"),
    ("Call it 1.2", '"1.1"', '"1.2"'),
    ("Look for members in the class alone", "lines[begin:end]", "lines[begin + 1 : end]"),
    ("Ignore constants", "[A-Za-z_]", "[a-z_]"),
    ("Call it 1.3", '"1.2"', '"1.3"'),
    ("Say less", ", in order of the alphabet,", ""),
    ("Call it 1.4", '"1.3"', '"1.4"'),
)
"""The commits: message, text, and what replaces it."""


def make_engine(folder: Path) -> None:
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "config", "user.name", "a")
    git(folder, "config", "user.email", "a@b")
    text = SERVER
    for number, (message, before, after) in enumerate(CHANGES):
        assert before in text
        text = text.replace(before, after)
        (folder / "server").write_text(text)
        (folder / "server").chmod(0o755)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message", message)
        if not number:
            git(folder, "tag", "v1.0")


if __name__ == "__main__":
    make_engine(Path(sys.argv[1]))
