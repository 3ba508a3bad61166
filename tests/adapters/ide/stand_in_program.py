"""The program behind the stand-in; standard library only."""

# ruff: noqa: T201  it talks by its output
from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import sys
import time
import uuid
from pathlib import Path
from typing import Any, NoReturn

FAULT = Path(__file__).with_name("fault").read_text()
NAME = re.compile(r"\b[a-z_]\w*(?=\()")


def fail(text: str) -> NoReturn:
    print(f"Evaluation failed: {text}", file=sys.stderr)
    sys.exit(1)


def progress(title: str, done: int, of: int, text: str) -> None:
    parts = 19 * done // of
    bar = "=" * parts + ">" + " " * (19 - parts)
    print(f"\r{title}:{100 * done // of:3}% [{bar}] {text}", flush=True)


def packed(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(json.dumps(value).encode()))


def evaluate(config: dict[str, Any]) -> Path:
    """One session for each call of a function whose name begins with a small letter."""
    root = Path(config["projectPath"])
    out = Path(config["outputDir"]) / time.strftime("%Y-%m-%d_%H-%M-%S")
    kind = config["strategy"]["type"]
    roots = [root / each for each in config["actions"]["evaluationRoots"]] or [root]
    below = {path for each in roots for path in (each.rglob("*.py") if each.is_dir() else [each])}
    files = sorted(path for path in below if path.is_file())
    if not files:
        fail(f"No files for {config['language']} found")
    out.mkdir(parents=True)
    (out / "config.json").write_text(json.dumps(config))
    listed = {}
    for number, path in enumerate(files):
        text = path.read_text()
        name = path.relative_to(root).as_posix()
        sessions, actions = [], []
        for found in NAME.finditer(text):
            word, offset, identity = found[0], found.start(), str(uuid.uuid4())
            known = {"tokenType": "METHOD_CALL", "location": "PROJECT", "features": [], "additional": {}}
            shown = [word, "other"] if kind == "ML" else ["other", word]
            items = [{"text": each, "presentationText": each, "isRelevant": each == word} for each in shown]
            lookup = {"prefix": "", "offset": 0, "suggestions": items, "latency": 7, "selectedPosition": -1}
            sessions.append(
                {"offset": offset, "expectedText": word, "_properties": known, "id": identity, "_lookups": [lookup]}
            )
            of = {"sessionId": identity}
            actions += [
                {"type": "DELETE_RANGE", **of, "begin": offset, "end": offset + len(word)},
                {"type": "MOVE_CARET", **of, "offset": offset},
                {"type": "CALL_FEATURE", **of, "expectedText": word, "offset": offset, "nodeProperties": known},
                {"type": "PRINT_TEXT", **of, "text": word},
            ]
        checksum = hashlib.sha256(text.encode()).hexdigest()
        body = {"path": name, "checksum": checksum, "sessionsCount": len(sessions), "actions": actions}
        packed(out / f"actions/{path.name}({number + 1}).json.gz", body)
        packed(
            out / f"data/files/{path.name}({number}).json.gz", {"filePath": name, "text": text, "sessions": sessions}
        )
        listed[name] = f"{path.name}({number}).json.gz"
        progress(
            "Interpreting actions", number + 1, len(files), f"{path.name} ({len(sessions)}/{len(sessions)} sessions)"
        )
        if FAULT == "half written":
            (out / "data/files/half.json.gz").write_bytes(gzip.compress(json.dumps({"filePath": "b.py"}).encode())[:-9])
        if FAULT in {"dies", "half written"}:
            os.kill(os.getpid(), 9)
        if FAULT == "hangs":
            time.sleep(3600)
    (out / "data/files.json").write_text(json.dumps(listed))
    return out


def main() -> None:
    command, verb, feature, path = sys.argv[1:]
    assert (command, verb, feature) == ("ml-evaluate", "full", "token-completion")
    properties = Path(os.environ["IDEA_PROPERTIES"]).read_text()
    assert "-Djava.awt.headless=true" in Path(os.environ["IDEA_VM_OPTIONS"]).read_text()
    plugins = Path(re.findall("idea.plugins.path=(.*)", properties)[0])
    if FAULT == "needs the plugin" and not (plugins / "evaluation-plugin").is_dir():
        fail("Cannot find application starter for command ml-evaluate")
    config = json.loads(Path(path).read_text())
    if FAULT == "config":
        fail(f"Error for loading config: {path}, strategy not found. Existing keys: []")
    if FAULT == "licence":
        fail("No valid license found")
    print(f"Open and load project {config['projectPath']}. Operation may take few minutes.")
    print("Project loaded!")
    if FAULT == "sdk":
        print("Project SDK not found. Evaluation cannot be fair.\nConfigure project sdk and start again.", flush=True)
        sys.exit(1)
    if FAULT == "cancelled":
        print("Interpreting actions was cancelled by user.", flush=True)
        return
    print("Starting step: Interpreting actions (Interpretation of generated actions)", flush=True)
    out = evaluate(config)
    print(f"Evaluation completed.\nReports:\nALL: {out}/reports/html/ALL/index.html", flush=True)


main()
