"""ci-eval, inspect_ai and lm-eval ask one scripted endpoint the same questions: requests, retries, seconds and CPU.

python benchmarks/endpoint_peers.py [--questions N] [--rounds N] [--peers PYTHON]

The endpoint answers after 20 ms. Of the questions, one in ten gets a 503 first and one in twenty a 429. Each tool is
its own command, with four questions under way at once; one that leaves questions out, or asks again more or less often
than the endpoint failed, ends the benchmark. A command also starts, reads its data and writes its
reports, so that each tool runs with few questions and with many: figures per question are of the difference. `--peers`:
a Python with inspect_ai and lm-eval; without it, a temporary environment gets them from PyPI.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import venv
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PEERS = ("inspect-ai==0.3.285", "openai==3.57.0", "lm-eval[api]==0.4.13")
AT_ONCE = 4
DELAY = 0.02
FEW = 100

INSPECT = """
from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

@task
def scripted():
    return Task(dataset=json_dataset("questions.jsonl"), solver=generate(), scorer=includes())
"""
LM_EVAL = """
task: scripted
dataset_path: json
dataset_kwargs: {data_files: {test: questions.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "{{input}}"
doc_to_target: "{{target}}"
generation_kwargs: {until: [], max_gen_toks: 20}
metric_list: [{metric: exact_match}]
"""


def fault_of(question: str) -> int:
    """Return the status that the first request of a question gets: 200, 429 or 503."""
    draw = zlib.crc32(question.encode()) % 100
    return 503 if draw < 10 else 429 if draw < 15 else 200


def answer(port: Any) -> None:
    """Serve for ever; send the port through the pipe `port`."""
    seen: Counter[str] = Counter()
    failures: Counter[int] = Counter()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Otherwise each answer waits for an acknowledgement of its headers.
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            with lock:
                totals = {"requests": seen.total(), "questions": len(seen), "failures": failures.total()}
                self._send(200, totals)
                seen.clear()
                failures.clear()

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            content = body["messages"][-1]["content"]
            question = content if isinstance(content, str) else content[0]["text"]
            with lock:
                seen[question] += 1
                is_first = seen[question] == 1
            time.sleep(DELAY)
            status = fault_of(question) if is_first else 200
            with lock:
                failures[status] += status != 200
            message = {"role": "assistant", "content": "four"}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
            told = {"id": "1", "object": "chat.completion", "created": 1, "model": "tiny", "choices": [choice]}
            self._send(status, {**told, "usage": usage} if status == 200 else {"error": {"message": "later"}})

        def _send(self, status: int, value: dict[str, Any]) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            if status == 429:
                self.send_header("Retry-After", "1")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the base class
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    port.send(server.server_port)
    server.serve_forever()


@contextmanager
def endpoint() -> Iterator[str]:
    """Start the endpoint in a process of its own, and yield its address."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=answer, args=(theirs,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}/v1"
    finally:
        process.kill()


def counts(address: str) -> dict[str, int]:
    """Return the numbers of requests, of questions and of failures since the last call."""
    import requests

    return dict(requests.get(address, timeout=10).json())


def ci_eval(folder: Path, address: str, _: str) -> list[str]:
    """Write the records and the configuration of ci-eval, and return its command."""
    records = [
        {
            "id": str(number),
            "language": "python",
            "instruction": "{question}",
            "context": {"question": line["input"]},
            "references": ["four"],
        }
        for number, line in enumerate(map(json.loads, (folder / "questions.jsonl").read_text().splitlines()))
    ]
    (folder / "records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    config = {
        "task": "code-review",
        "dataset": "records.jsonl",
        "engine": {"endpoint": address, "model": "tiny", "concurrency": AT_ONCE, "stream": False},
        "interpret": {"timeout": 60},
    }
    (folder / "config.json.yaml").write_text(json.dumps(config))
    argv = [sys.executable, "-m", "ci_eval", "evaluate", "config.json.yaml", "--record"]
    return [*argv, "--jobs", str(AT_ONCE), "--output", "workspace"]


def inspect_ai(folder: Path, address: str, python: str) -> list[str]:
    """Write the task of inspect_ai, and return its command."""
    (folder / "task.py").write_text(INSPECT)
    options = ["--model", "openai-api/scripted/tiny", "--model-base-url", address, "--max-connections", str(AT_ONCE)]
    options += ["--display", "none", "--no-log-samples", "--max-retries", "5"]
    return [python, "-m", "inspect_ai", "eval", "task.py", *options]


def lm_eval(folder: Path, address: str, python: str) -> list[str]:
    """Write the task of lm-eval, and return its command."""
    (folder / "scripted.yaml").write_text(LM_EVAL)
    model = f"base_url={address}/chat/completions,model=tiny,num_concurrent={AT_ONCE},max_retries=5"
    options = ["--model", "local-chat-completions", "--model_args", f"{model},tokenizer_backend=None"]
    return [python, "-m", "lm_eval", *options, "--tasks", "scripted", "--include_path", ".", "--apply_chat_template"]


TOOLS: dict[str, Callable[[Path, str, str], list[str]]] = {
    "ci-eval": ci_eval,
    "inspect_ai": inspect_ai,
    "lm-eval": lm_eval,
}


def run(tool: str, address: str, python: str, questions: int) -> tuple[float, float, dict[str, int]]:
    """Run a tool; return its seconds, its seconds of CPU, and what the endpoint counted."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        lines = ({"input": f"Question {number}: two and two?", "target": "four"} for number in range(questions))
        (folder / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        argv = TOOLS[tool](folder, address, python)
        own = {"SCRIPTED_API_KEY": "none", "OPENAI_API_KEY": "none", "CI_EVAL_CACHE": str(folder / "cache")}
        own |= {"HF_HOME": str(folder / "hf"), "HF_HUB_OFFLINE": "1", "XDG_DATA_HOME": str(folder / "data")}
        counts(address)
        began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            argv, cwd=folder, env={**os.environ, **own}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise SystemExit(f"{tool}: {done.stdout.decode(errors='replace')[-3000:]}")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        totals = counts(address)
        check_totals(tool, totals, questions)
        return seconds, cpu, totals


def check_totals(tool: str, totals: dict[str, int], questions: int) -> None:
    """Check that a tool asked every question, and asked again as often as the endpoint failed. Raises SystemExit."""
    retries = totals["requests"] - totals["questions"]
    if totals["questions"] < questions or retries != totals["failures"]:
        raise SystemExit(
            f"{tool}: {totals['questions']:,} of {questions:,} questions were asked, and {retries:,} asked again after "
            f"{totals['failures']:,} failures"
        )


@contextmanager
def peers(python: str | None) -> Iterator[str]:
    """Yield the Python that has both peers."""
    if python:
        yield python
        return
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        own = str(Path(folder) / "bin" / "python")
        subprocess.run([own, "-m", "pip", "install", "-q", *PEERS], check=True)
        yield own


def main() -> None:
    """Run each tool in each round, and print a row of medians for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", metavar="PYTHON")
    given = parser.parse_args()
    many = FEW + given.questions
    faults = sum(fault_of(f"Question {number}: two and two?") != 200 for number in range(many))
    print(f"{many:,} questions, of which {faults} get an error first\n")
    print("| tool | answered | requests | retries | questions per second | CPU ms per question |")
    print("|---|--:|--:|--:|--:|--:|")
    with endpoint() as address, peers(given.peers) as python:
        runs: dict[str, list[tuple[float, float]]] = {tool: [] for tool in TOOLS}
        last: dict[str, dict[str, int]] = {}
        for tool in TOOLS:
            run(tool, address, python, 1)  # the first start compiles the tool's modules
        for _ in range(given.rounds):
            for tool in TOOLS:
                few, more = (run(tool, address, python, number) for number in (FEW, many))
                runs[tool].append((more[0] - few[0], more[1] - few[1]))
                last[tool] = more[2]
    for tool, figures in runs.items():
        seconds, cpu = (statistics.median(column) for column in zip(*figures, strict=True))
        answered, requests = last[tool]["questions"], last[tool]["requests"]
        shown = f"{given.questions / seconds:.0f} | {1000 * cpu / given.questions:.1f}"
        print(f"| {tool} | {answered:,} | {requests:,} | {requests - answered:,} | {shown} |")


if __name__ == "__main__":
    main()
