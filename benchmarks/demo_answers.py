"""Writes configs/demo/recorded.jsonl: the answers that configs/code-review.yaml and unit-tests.yaml take.

python benchmarks/demo_answers.py

The answers are made up (configs/demo/answers/README.md); here an endpoint of this machine says them to the real
client. To be run again when a record, an answer or the way in which an endpoint is asked changes: a test replays them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ci_eval.core.records import read_mera_line
from ci_eval.plugins.adapters.endpoints.engine import fill_instruction

DEMO = Path("configs", "demo")
TASKS = ("code-review", "unit-tests")
ASSISTANTS = ("careful", "hasty")
ADDRESS = "https://demo.invalid/v1"
WRITTEN = "2026-11-22T00:00:00+00:00"


def written() -> dict[tuple[str, str], str]:
    """Assistant and question → answer."""
    found = {}
    for task in TASKS:
        records = {each["id"]: read_mera_line(each) for each in map(json.loads, (DEMO / f"{task}.jsonl").open())}
        for each in map(json.loads, (DEMO / "answers" / f"{task}.jsonl").open()):
            found[each["assistant"], fill_instruction(records[each["id"]])] = each["answer"]
    return found


class Handler(BaseHTTPRequestHandler):
    """An OpenAI-compatible endpoint; what it does not know is the question whether it is there."""

    answers = written()

    def do_POST(self) -> None:
        """Say what was written."""
        asked: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = self.answers.get((asked["model"], asked["messages"][-1]["content"]), "ok")
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        body = json.dumps({"model": asked["model"], "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing on the terminal."""


def record(address: str, folder: Path) -> Path:
    """The store's export after both assistants have done both tasks."""
    environment = {**os.environ, "CI_EVAL_CACHE": str(folder / "cache")}
    run = [sys.executable, "-m", "ci_eval"]
    for task in TASKS:
        for assistant in ASSISTANTS:
            engine = {"endpoint": address, "model": assistant, "recorded": None}
            given = [part for key, value in engine.items() for part in ("--set", f"engine.{key}={json.dumps(value)}")]
            given += ["--output", str(folder / f"{task}-{assistant}")]
            subprocess.run([*run, "evaluate", f"configs/{task}.yaml", *given], env=environment, check=True)
    subprocess.run([*run, "answers", "export", str(folder / "answers.jsonl")], env=environment, check=True)
    return folder / "answers.jsonl"


def main() -> None:
    """Serve, record, and write the lines under the demo's own address, without times: nobody waited for them."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    own = f"http://127.0.0.1:{server.server_port}/v1"
    with tempfile.TemporaryDirectory() as folder, (DEMO / "recorded.jsonl").open("w") as out:
        for line in map(json.loads, record(own, Path(folder)).open()):
            line["request"]["address"] = line["request"]["address"].replace(own, ADDRESS)
            line["reply"]["lastToken"] = 0.0
            line["asked"] = WRITTEN
            out.write(json.dumps(line, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
