"""A check that a refactoring changes no behaviour: many commands are run by two versions, and all files are compared.

python benchmarks/same_behaviour.py make FOLDER [--ci-eval PROGRAM]
python benchmarks/same_behaviour.py compare BEFORE AFTER

Run the same copy of this script for both versions, so that the samples and configurations are the same. Nothing is
downloaded: the grader CodeBLEU is copied from your cache. If your cache lacks it, unit-tests fails in both folders.
"""

from __future__ import annotations

import argparse
import base64
import csv
import gzip
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path

import numpy as np
import yaml

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CHECKOUT = Path(__file__).parents[1]
RUNS = """
java: evaluate --language java --engine words --project path:code/java --sessions 400
python: evaluate --language python --engine jedi --project path:code/python --sessions 60
kotlin: evaluate --language kotlin --engine frequency --project path:code/kotlin --sessions 200
ruby: evaluate --language ruby --engine recency --project path:code/ruby --sessions 200
scala: evaluate --language scala --engine ngram --project path:code/scala --sessions 200
php: evaluate --language php --engine frequency --project path:code/php --sessions 200
javascript: evaluate --language javascript --engine recency --project path:code/javascript --sessions 200
typescript: evaluate every-prefix.yaml --completion-type NGRAM --sessions 200
go: evaluate --language go --engine words --completion-type ALPHABETICAL --project path:code/go --repeat 2 --sessions 99
cpp: evaluate --language cpp --engine oracle --project path:code/cpp --set actions.allowedUnparsable=0 --sessions 200
rust: evaluate --language rust --engine words --project path:code/rust --sessions 200
empty: evaluate --language php --engine empty --project path:code/php --sessions 40
golf: evaluate --task golf --language java --engine words --project path:code/java --sessions 40
inline: evaluate --task inline --language go --engine oracle --project path:code/go --sessions 40
tokens: evaluate --task tokens --language python --engine ngram --project path:code/python --sessions 150
method-calls: evaluate configs/method-calls.yaml
unit-tests: evaluate configs/unit-tests.yaml
code-review: evaluate configs/code-review.yaml
code-review-hasty: evaluate configs/code-review.yaml --set engine.model=hasty
suite: evaluate suite.yaml
suite-alphabetical: evaluate suite.yaml --completion-type ALPHABETICAL
sweep: sweep --task tokens --language python --project path:code/python --sessions 60 --vary engine=frequency,recency
logs: generate-ml-logs java.yaml --log-format jsonl --log-format parquet
ide-logs: generate-ml-logs java.yaml --log-format jetbrains --sessions 99
ranker.json: train-ranker runs/logs --jobs 1
ml: evaluate java.yaml --completion-type ML --model runs/ranker.json
recommender.model: train-recommender configs/demo/usages.jsonl --kind pbn
shard-1: evaluate --language ruby --engine recency --project path:code/ruby --shard 1/2
shard-2: evaluate --language ruby --engine recency --project path:code/ruby --shard 2/2
merged: merge runs/shard-1 runs/shard-2
actions: actions --language scala --engine words --project path:code/scala
interpreted: interpret runs/actions --engine frequency
frequency: rerank runs/java --completion-type FREQUENCY
comparison: compare runs/java runs/frequency --gate 'RecallAt1 >= -1pp' --gate 'Recall >= -1pp' --history history
reviews: compare runs/code-review runs/code-review-hasty
ranking: compare runs/java runs/frequency runs/ml
suites: compare runs/suite runs/suite-alphabetical
csv: export runs/java --format csv
jsonl: export runs/go --format jsonl
parquet: export runs/python --format parquet
ij21: export runs/python --to ij21
ij23: export runs/java --to ij23
k19: export runs/java --to k19
imported: import runs/ij23
turns: compare-engines words frequency --language php --project path:code/php --sessions 60 --rounds 2
three-in-turns: compare-engines words frequency recency --language ruby --project path:code/ruby --sessions 60
suites-in-turns: compare-engines words frequency suite.yaml --sessions 40 --gate 'RecallAt1 >= -1pp'
filtered: compare runs/java runs/frequency --filter kind=METHOD_CALL --history history
nights: compare runs/frequency --first-night --history history
thesis: evaluate java.yaml --set interpret.userModel.profile=thesis
trained.txt: export-ranker runs/ranker.json --to lightgbm
foreign.json: import-ranker runs/trained.txt
usages.jsonl: dataset usages --project path:code/java --language java --own-types
tests.jsonl: dataset unit-tests path:code/python --language python --any-licence
init-github: init --ci github --language python --engine-command 'build/server --stdio' --build make {init}
init-engines: init --ci github --language python --engine jedi,ty --for algorithms --project path:. --action {action}
init-teamcity: init --ci teamcity --language go --engine-command 'build/server --stdio' --build make {init}
init-gitlab: init --ci gitlab --language python --engine jedi --project path:. --action {action}
site: site history
"""
"""Commands that write runs/NAME, a line each: the name, and the arguments before `--output`."""
ACTION = f"team/ci-eval@{'0123456789' * 4}"
INIT = f"--for night,pull-request,notice --project path:. --action {ACTION}"
PRINTS = """
filter: report runs/kotlin --filter 'kind=METHOD_CALL prefix=1' --gate 'Recall >= 90%'
teamcity: --ci teamcity report runs/php --gate 'RecallAt1 >= 90%'
expect: expect runs/typescript
grade: grade runs/code-review
user-model: fit-user-model runs/logs
plan: plan configs/java.yaml configs/python.yaml --shards 2
plan-logs: plan-logs configs/java.yaml
no-config: evaluate missing.yaml
no-key: evaluate suite.yaml --set interpret.sessionLimit=5
no-sources: evaluate --language java --engine words --project path:code/go
session: show runs/go {session}
no-session: show runs/java 0000000000000000
github: --ci github compare runs/java runs/frequency --gate 'RecallAt1 >= 0pp' --output runs/annotated
ci-evaluate: CI_EVAL_INPUTS='{{"config": "suite.yaml", "gates": "RecallAt1 >= 90%"}}' --ci teamcity ci run evaluate
ci-unknown: CI_EVAL_INPUTS='{{"confg": "suite.yaml"}}' ci run evaluate
ci-compare: CI_EVAL_INPUTS='{{"base": "runs/java", "new": "runs/frequency"}}' ci run compare
ci-key: CI_EVAL_INPUTS='{{"config": "java.yaml"}}' ci key
answers: answers export runs/answers.jsonl
agreement: agreement runs/code-review runs/people.csv
pairs: grade configs/demo/pairs.jsonl --grader chrf
"""
"""Commands that print, change a workspace of RUNS, or fail."""
LISTS = "completion-types engines graders keys languages log-formats metrics schema tasks".split()
CONFIGURATIONS = {
    "suite.yaml": "{language: python, engine: words, projects: [path:code/python, path:code/python/nested]}",
    "java.yaml": "{language: java, engine: words, project: path:code/java, interpret: {sessionsLimit: 300}}",
    "every-prefix.yaml": "{language: typescript, engine: words, project: path:code/typescript, "
    "actions: {strategy: {prefix: {name: EveryPrefix}}}}",
}
MEASURED = {
    **dict.fromkeys(("latency", "latencies", "first_token", "waited", "spread"), "measured times"),
    **dict.fromkeys(("load", "pressure", "busy"), "the machine's state"),
    "footprint": "of start-ups and memory",
    **dict.fromkeys(("digests", "sha256", "size"), "of files with measured times; the files themselves are compared"),
}
"""Keys of JSON whose values differ between runs of the same code, and why. Only null and the number of items count."""
METRICS = re.compile(r"Latency|RightWithin|first, within|FirstToken|PeakMemory")
"""Metrics of measured times and memory. Their counts and verdicts are compared, but not in lines of text."""
BUSY = re.compile(r"^.*[Tt]he machine was busy(.*\n?.*--jobs|.*engines).*\n?\n?", re.MULTILINE)
"""The warning that times say little. The terminal breaks it into two lines."""
DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d[:-]\d\d([:-]\d\d(\.\d{3})?\+\d\d[:-]\d\d)?)?|\d\d_\d\d_\d{4}")
HIDDEN = (
    (BUSY, ""),
    (re.compile(r' class="busy"'), ""),
    (re.compile(r"Sessions: [\d,]+ of [\d,]+ sessions,.*\n"), ""),  # progress, which is printed every few seconds
    (DATE, "#"),
    (re.compile(r"^\d{13}\b|(?<=\"lookupShownTime\":)\d+", re.MULTILINE), "#"),  # times in logs of JetBrains
    (re.compile(r"[±+-]?\d+([.,]\d+)*((\u2013|, )\d+([.,]\d+)*)* (ms|s|MB)\b"), "#"),
    (re.compile(r"(?<=the slowest is )\d+%"), "#"),
    (re.compile(r"(<td>[\d.]+%){2}(?=<td>#)"), "<td>#<td>#"),  # RightWithin100ms and RightWithin200ms of a file
    (re.compile(r'(?<=<td class="number">#</td><td class="number strong">)[\d.]+'), "#"),  # quotients of times
    (re.compile(r'<svg[^>]*"chart-Latency".*?</svg>', re.DOTALL), "#"),
)
"""Parts of texts that hold times, dates, memory or the machine's state, and their replacement."""
DRAWN = re.compile(r'<svg.*?</svg>(<span class="ends".*?</span></span>)?|[±+-]?\d[\d.,]*')
"""Figures, and charts of them; hidden in lines of text that name one of METRICS."""
PARTS = ("code", "configs", "help", "history", "outputs", "runs")
"""Folders that are compared; not the cache."""
PACKED = re.compile(rb'^ciEval\.\w+\((?:\d+,)?"([\w+/=]+)"')
"""The start of a script of the HTML report that holds packed JSON."""


class Maker:
    """A program and the folder that it works in."""

    def __init__(self, folder: Path, program: Path) -> None:
        self.folder, self.program = folder, program
        self.environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        self.environment |= {"LANG": "C.UTF-8", "COLUMNS": "400", "PIP_NO_INDEX": "1"}
        self.environment["CI_EVAL_CACHE"] = str(folder / "cache")

    def run(self, name: str, arguments: list[str]) -> str:
        """Run a command, write its exit code and outputs to NAME.txt, and return its standard output.

        Arguments before the command may set variables, as in a shell.
        """
        variables = dict(argument.split("=", 1) for argument in arguments if re.match("[A-Z_]+=", argument))
        command = [str(self.program), *(argument for argument in arguments if not re.match("[A-Z_]+=", argument))]
        environment = self.environment | variables
        ended = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)
        path = self.folder / f"{name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        outputs = f"--- standard output\n{ended.stdout}\n--- standard error\n{ended.stderr}"
        path.write_text(f"{shlex.join(arguments)}\nexit code {ended.returncode}\n{outputs}")
        print(f"exit code {ended.returncode}: {shlex.join(arguments)}", flush=True)
        return ended.stdout

    def print_help(self, *command: str) -> None:
        """Keep the help of a command and of all commands below it."""
        text = self.run("/".join(["help", "ci-eval", *command]), [*command, "--help"])
        _, _, commands = text.partition("\nCommands:\n")
        for name in re.findall(r"^  ([a-z]\S*)", commands.partition("\n\n")[0], re.MULTILINE):
            self.print_help(*command, name)


def write_projects(folder: Path) -> None:
    """Write a project of three files for each language: a sample, the same again, and its first third."""
    for sample in (CHECKOUT / "tests" / "languages" / "samples").iterdir():
        project, lines = folder / "code" / sample.stem, sample.read_text().splitlines(keepends=True)
        (project / "nested").mkdir(parents=True)
        for name, number in (("whole", len(lines)), ("nested/same", len(lines)), ("nested/third", len(lines) // 3)):
            (project / f"{name}{sample.suffix}").write_text("".join(lines[:number]))
    shutil.copytree(CHECKOUT / "configs", folder / "configs")
    for name, configuration in CONFIGURATIONS.items():
        (folder / name).write_text(configuration)


def make(folder: Path, program: Path) -> None:
    """Run all commands in a new folder."""
    folder.mkdir(parents=True)
    (folder / "folder").write_text(str(folder))
    write_projects(folder)
    graders = Path(os.environ.get("CI_EVAL_CACHE", Path.home() / ".cache" / "ci-eval"), "graders")
    if graders.is_dir():
        shutil.copytree(graders, folder / "cache" / "graders")
    maker = Maker(folder, program)
    for name, _, arguments in (line.partition(": ") for line in RUNS.strip().splitlines()):
        arguments = arguments.format(init=INIT, action=ACTION)
        maker.run(f"outputs/runs/{name}", [*shlex.split(arguments), "--output", f"runs/{name}"])
    with (folder / "runs" / "jsonl" / "sessions.jsonl").open() as sessions:
        session = json.loads(next(sessions))["session"]
    for name, _, arguments in (line.partition(": ") for line in PRINTS.strip().splitlines()):
        maker.run(f"outputs/{name}", shlex.split(arguments.format(session=session)))
    for name in LISTS:
        maker.run(f"help/list-{name}", ["list", name])
        maker.run(f"help/list-{name}-json", ["list", name, "--format", "json"])
    maker.print_help()


def read_parquet(data: bytes) -> object:
    """Return the schema and the rows of a table."""
    from pyarrow import BufferReader
    from pyarrow.parquet import read_table

    table = read_table(BufferReader(data))
    return [str(table.schema).splitlines(), table.to_pylist()]


def read_array(data: bytes) -> object:
    """Return the type and the items of an array."""
    array = np.load(io.BytesIO(data))
    return [str(array.dtype), array.tolist()]


def read_text(data: bytes) -> list[str]:
    """Return the lines of a text without times."""
    text = data.decode()
    for pattern, replacement in HIDDEN:
        text = pattern.sub(replacement, text)
    return [DRAWN.sub("#", line) if METRICS.search(line) else line for line in text.splitlines()]


UNPACKERS: dict[str, Callable[[bytes], bytes]] = {"zst": zstd.decompress, "gz": gzip.decompress}
READERS: dict[str, Callable[[bytes], object]] = {
    "json": json.loads,
    "jsonl": lambda data: [json.loads(line) for line in data.splitlines()],
    "yaml": yaml.safe_load,
    "csv": lambda data: list(csv.DictReader(io.StringIO(data.decode()))),
    "npy": read_array,
    "parquet": read_parquet,
}


def decode(name: str, data: bytes) -> object:
    """Return the contents of a file: JSON, or a list of lines."""
    stem, _, suffix = name.rpartition(".")
    if suffix in UNPACKERS:
        return decode(stem, UNPACKERS[suffix](data))
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {member: decode(member, archive.read(member)) for member in archive.namelist()}
    if packed := PACKED.search(data):
        return json.loads(zlib.decompress(base64.b64decode(packed[1])))
    return READERS.get(suffix, read_text)(data)


def is_busy(item: object) -> bool:
    """Return whether an item of a list is the warning that the machine was busy."""
    return isinstance(item, str) and bool(BUSY.match(item))


def flatten(value: object, path: str = "", is_metric: bool = False) -> Iterator[str]:
    """Return a line for each value in decoded JSON, with its path; `#` stands for what is measured."""
    if isinstance(value, dict) and value:
        is_metric = is_metric or bool(METRICS.search(str(value.get("name"))))
        for key, item in value.items():
            if key not in MEASURED:
                yield from flatten(item, f"{path}.{key}", is_metric or bool(METRICS.search(str(key))))
            elif item is not None:
                yield f"{path}.{key} = # {len(item) if isinstance(item, dict | list) else ''}"
    elif isinstance(value, list) and (items := [item for item in value if not is_busy(item)]):
        for number, item in enumerate(items):
            yield from flatten(item, f"{path}[{number}]", is_metric)
    elif (isinstance(value, float) and is_metric) or (isinstance(value, str) and DATE.fullmatch(value)):
        yield f"{path} = #"
    else:
        yield f"{path} = {json.dumps([] if isinstance(value, list) else value, ensure_ascii=False, default=str)}"


class Side:
    """A folder that `make` made."""

    def __init__(self, folder: Path) -> None:
        self._own = (folder / "folder").read_text()
        paths = [path for part in PARTS for path in (folder / part).rglob("*") if path.is_file()]
        self.files = {DATE.sub("#", str(path.relative_to(folder))): path for path in paths}

    def lines(self, name: str) -> Iterator[str]:
        """Return the lines of a file; `#` stands for the folder. Help has no measured times and is read as it is."""
        data = self.files[name].read_bytes()
        for line in data.decode().splitlines() if name.startswith("help") else flatten(decode(name, data)):
            line = line.replace(self._own, "#")
            # The columns of tables on the terminal are as wide as the times in them.
            yield re.sub(r" {2,}|─+", "  ", line) if name.startswith("outputs") else line


def difference(name: str, before: Side, after: Side) -> tuple[str, str] | None:
    """Return the first line of a file that differs, in both folders, cut to the place; None if the files are alike."""
    if name not in before.files or name not in after.files:
        return ("the file", "no file") if name in before.files else ("no file", "the file")
    if before.files[name].read_bytes() == after.files[name].read_bytes():
        return None
    for old, new in zip_longest(before.lines(name), after.lines(name), fillvalue="no line"):
        if old != new:
            place = next((place for place, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
            start, end = max(0, place - 80), place + 80
            return old[start:end], new[start:end]
    return None


def compare(before: Side, after: Side) -> int:
    """Print each differing file with its first differing line, and return the number of these files."""
    names = sorted(before.files.keys() | after.files.keys())
    differing = 0
    for name in names:
        if lines := difference(name, before, after):
            differing += 1
            print(name, f"  before: {lines[0]}", f"  after:  {lines[1]}", sep="\n")
    print(f"{differing} of {len(names)} files differ")
    return differing


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make", help="run all commands in a new folder")
    making.add_argument("folder", type=Path)
    making.add_argument("--ci-eval", type=Path, default=Path(sys.executable).with_name("ci-eval"))
    comparing = commands.add_parser("compare", help="compare two such folders; exit code 1 if they differ")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    options = parser.parse_args()
    if options.command == "make":
        make(options.folder.resolve(), options.ci_eval.absolute())
    elif compare(Side(options.before), Side(options.after)):
        sys.exit(1)
