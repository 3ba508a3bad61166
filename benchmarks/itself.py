"""Does a comparison of two runs of one engine say that they differ? Real engines, asked all sessions of a few files.

python benchmarks/itself.py [--runs 5] [--only clangd …] [--folder DIR]

Each engine is run that often, and every two of its runs are compared as `compare` does, by the declared metrics and
over the sessions that lead, as a maintainer compares before and after. `same_engine.py` compares engines in turns and
in rounds, which measure how far answers vary; here, each session is asked once. Some engines vary: a scripted server
that shuffles 3 or 10 % of its lists, llama.cpp's server with a tiny language model at temperature 1, TypeScript 7 with
auto-import, which lists a name two or three times.

Printed is each verdict that must not be: better or worse, of this project or of other code, or a difference that is
called exact. Then one row per engine. Runs that are compared with several others depend on each other, so that one
unusual run may be wrong up to four times.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from ci_eval.core.compare.compare import compare
from ci_eval.core.model import Difference, Verdict
from ci_eval.core.workspace import Workspace
from ci_eval.jobs.comparison_rules import load_metrics
from ci_eval.jobs.runs import stored_config

TINY = Path(__file__).parent.parent / "tests" / "adapters" / "endpoints" / "tiny.py"
LLAMA = ("xllamacpp==2026.10.11549", "gguf==0.19.0")
FALSE = {Verdict.BETTER, Verdict.WORSE}
ONE_LETTER = "actions.strategy.prefix={name: Ladder, lengths: [1]}"
SHUFFLING = """
import json, random, re, sys

def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body))
    sys.stdout.buffer.flush()

text, share = "", float(sys.argv[1])
while line := sys.stdin.buffer.readline():
    length = int(line.split(b":")[1])
    while sys.stdin.buffer.readline().strip():
        pass
    message = json.loads(sys.stdin.buffer.read(length))
    method, params = message.get("method"), message.get("params")
    if method == "initialize":
        send({"id": message["id"], "result": {"capabilities": {"textDocumentSync": 1, "completionProvider": {}}}})
    elif method == "textDocument/didOpen":
        text = params["textDocument"]["text"]
    elif method == "textDocument/didChange":
        text = params["contentChanges"][-1]["text"]
    elif method == "textDocument/completion":
        words = sorted(set(re.findall(r"\\w+", text)))
        if random.random() < share:
            random.shuffle(words)
        items = [{"label": word, "sortText": f"{rank:05}"} for rank, word in enumerate(words)]
        send({"id": message["id"], "result": items})
    elif method == "exit":
        break
    elif "id" in message:
        send({"id": message["id"], "result": None})
"""
"""A language server that lists the words of the document, in random order in a share of its answers."""


@dataclass(frozen=True)
class Row:
    """An engine, and the sessions that it is asked."""

    name: str
    arguments: Sequence[str]
    """What `evaluate` is given beside the output."""


def row(name: str, engine: Sequence[str], language: str, project: str, *settings: str) -> Row:
    given = [*engine, "--language", language, "--project", project, "--all"]
    settings = (ONE_LETTER, "interpret.timeout=60", *settings)
    return Row(name, [*given, *(part for setting in settings for part in ("--set", setting))])


def named(engine: str, language: str, project: str, file: str) -> Row:
    return row(engine, ["--engine", engine], language, project, f"actions.evaluationRoots=[{file}]")


SERVERS = (
    named("typescript", "typescript", "npm:rxjs@7.8.1", "src/internal/Subject.ts"),
    named("typescript-language-server", "typescript", "npm:rxjs@7.8.1", "src/internal/Subject.ts"),
    named("clangd", "cpp", "npm:leveldown@6.1.1", "deps/leveldb/leveldb-1.20/db/log_writer.cc"),
    named("gopls", "go", "go:github.com/spf13/cobra@v1.8.1", "args.go"),
    named("jdt", "java", "maven:commons-cli:commons-cli:1.6.0", "org/apache/commons/cli/Util.java"),
)
PYTHON = "pypi:itsdangerous==2.2.0"


def rows(folder: Path) -> Iterator[Row]:
    """Yield the engines; `folder`: where the scripted server is written."""
    (folder / "shuffling.py").write_text(SHUFFLING)
    for percent in (3, 10):
        command = shlex.join([sys.executable, str(folder / "shuffling.py"), str(percent / 100)])
        yield row(f"shuffles {percent} %", ["--engine-command", command], "python", PYTHON)
    yield from SERVERS


@contextmanager
def language_model(folder: Path) -> Iterator[Row]:
    """Yield the engine that is a language model, while its server runs. Its model has read names of Python."""
    environment = folder / "llama"
    if not environment.exists():
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        subprocess.run([environment / "bin" / "pip", "install", "--quiet", *LLAMA], check=True)
    names = "self value key return serializer payload signer bytes str None data encode "
    (folder / "text").write_text(names * 20)
    program = [environment / "bin" / "python", TINY, folder / "tiny.gguf", folder / "text"]
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log) as process,
    ):
        assert process.stdout
        address = process.stdout.readline().decode().strip()
        settings = {
            "endpoint": f"{address}/v1",
            "model": "tiny",
            "api": "completions",
            "template": "{suffix}{prefix}",
            "sampling": {"temperature": 1.0, "maxTokens": 12},
            "window": {"characters": 200, "suffix": 0.0},
        }
        project = ["--set", "actions.evaluationRoots=[itsdangerous/signer.py, itsdangerous/timed.py]", "--record"]
        plain = row("temperature 1", ["--set", f"engine={json.dumps(settings)}"], "python", PYTHON)
        # A language model has a time limit of its own.
        yield Row(plain.name, [*plain.arguments, *project])
        process.kill()


def ci_eval(*arguments: object) -> None:
    """Run it; raise an error with its messages if it fails."""
    done = subprocess.run([sys.executable, "-m", "ci_eval", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)


def differences(base: Path, new: Path) -> dict[str, Difference]:
    """Return the differences of the declared metrics over the leading sessions."""
    config = stored_config(Workspace(new))
    result = compare(
        Workspace(base), Workspace(new), load_metrics(config), config.report_filters, declared=config.declared
    )
    figures = result.filters[result.headline]
    return {name: figures[name] for name in result.declared if name in figures}


def compare_runs(engine: Row, runs: int, folder: Path) -> str:
    """Run the engine, compare every two runs, print what is false; return the row of the table."""
    slug = "".join(letter if letter.isalnum() else "-" for letter in engine.name)
    outputs = [folder / f"{slug}-{number}" for number in range(runs)]
    for output in outputs:
        if not (output / "reports").exists():
            ci_eval("evaluate", *engine.arguments, "--jobs", 1, "--output", output)
    false = exact = changed = sessions = 0
    pairs = list(combinations(outputs, 2))
    for base, new in pairs:
        figures = differences(base, new)
        shown = [name for name, figure in figures.items() if {figure.verdict, figure.elsewhere.verdict} & FALSE]
        named_exact = [name for name, figure in figures.items() if figure.state == "exact" and figure.difference]
        for name in shown:
            print(f"{engine.name}: {base.name} and {new.name}: {name}: {figures[name].why}", flush=True)
        for name in named_exact:
            print(f"{engine.name}: {base.name} and {new.name}: {name} differs, and is called exact", flush=True)
        false, exact = false + bool(shown), exact + bool(named_exact)
        changed += any(figure.better or figure.worse for figure in figures.values())
        sessions = max(figure.n for figure in figures.values())
    return f"| {engine.name} | {sessions} | {len(pairs)} | {changed} | {false} | {exact} |"


def main() -> None:
    """Print false verdicts, then the table of engines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", nargs="+", default=[], help="names of engines")
    parser.add_argument("--folder", type=Path, help="keeps the runs there")
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = given.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(exist_ok=True)
        engines = list(rows(folder))
        if not given.only or "temperature 1" in given.only:
            engines.insert(0, stack.enter_context(language_model(folder)))
        table = [
            compare_runs(engine, given.runs, folder)
            for engine in engines
            if not given.only or engine.name in given.only
        ]
    print("| engine | sessions | comparisons | of which changed | false verdicts | called exact |")
    print("|---|--:|--:|--:|--:|--:|\n" + "\n".join(table))


if __name__ == "__main__":
    main()
