"""A new variant is one new file: each test drops one into a copy of the package, and uses it by the command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ci_eval
from tests.command import command
from tests.projects import GREETER, write

pytestmark = pytest.mark.slow


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package, which nobody else imports."""
    source = Path(ci_eval.__file__).parent
    return shutil.copytree(source, tmp_path / "copy" / "ci_eval", ignore=shutil.ignore_patterns("__pycache__"))


def run(package: Path, *arguments: object) -> str:
    """What the copy's command prints on standard output."""
    argv = (sys.executable, "-m", "ci_eval", *map(str, arguments))
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "CI_EVAL_CACHE": str(package.parent / "cache")}
    done = subprocess.run(
        argv, cwd=package.parent, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def evaluate(package: Path, project: str, *options: object) -> Path:
    """The workspace of the engine `words` over a project of one file."""
    write(package.parent / "project", a__py=GREETER)
    options = ("--engine", "words", "--jobs", 1, "--output", "workspace", *options)
    run(package, "evaluate", "--project", project, *options)
    return package.parent / "workspace"


LONGEST = '''
"""How long the longest expected text is."""

from ci_eval.core.contracts import Metric
from ci_eval.core.model import MetricInfo

METRICS = (
    Metric(
        info=MetricInfo(name="LongestText", summary="letters of the longest text", unit="count", better="neither"),
        observe=lambda session: [(float(len(session.expected_text)), 1.0)],
        statistic="quantile",
        order=(1, 3),
    ),
)
'''


def test_a_metric_is_one_file(package: Path) -> None:
    (package / "plugins" / "metrics" / "longest.py").write_text(LONGEST)
    workspace = evaluate(package, "path:project")
    (evaluation,) = json.loads((workspace / "reports" / "metrics.json").read_text())["evaluations"]
    figures = evaluation["filters"]["ALL"]["metrics"]
    assert figures["LongestText"]["value"] == 7
    assert list(figures)[1:4] == ["RecallAt1", "LongestText", "RecallAt5"]
    assert "LongestText" in (workspace / "reports" / "report.md").read_text()


HERE = '''
"""A folder, copied."""

import shutil

from ci_eval.fetch.schemes import Scheme, Spec


def parse(text):
    return Spec(scheme="here", source=text, name=text, revision="now")


def fetch(spec, files, cache):
    shutil.copytree(spec.source, files)
    return spec


SCHEME = Scheme(example="here:FOLDER", parse=parse, fetch=fetch)
'''


def test_a_scheme_is_one_file(package: Path) -> None:
    (package / "plugins" / "schemes" / "here.py").write_text(HERE)
    workspace = evaluate(package, "here:project")
    project = json.loads((workspace / "manifest.json").read_text())["project"]
    assert (project["spec"], project["revision"]) == ("here:project", "now")
    assert (package.parent / "cache" / "projects").is_dir()
    assert "here:FOLDER" in run(package, "evaluate", "--help")


IDS = '''
"""Which sessions were asked."""

from ci_eval.core.logs.formats import LogFormat


class Part:
    def __init__(self, path, origin):
        self._file = path.open("w")

    def add(self, logged):
        self._file.write(f"{logged.session.id}\\n")

    def close(self):
        self._file.close()


def join(parts, target):
    target.write_text("".join(part.read_text() for part in parts))


FORMAT = LogFormat(summary="names of sessions", end=".ids", write=Part, join=join)
'''


def test_a_log_format_is_one_file(package: Path) -> None:
    (package / "plugins" / "log_formats" / "ids.py").write_text(IDS)
    workspace = evaluate(
        package, "path:project", "--set", "interpret.saveLogs=true", "--set", "interpret.logFormat=[ids]"
    )
    manifest = json.loads((workspace / "manifest.json").read_text())
    assert {file["path"] for file in manifest["logs"]["files"]} == {"schema.json", "train.ids", "validation.ids"}
    written = (workspace / "logs" / "train.ids").read_text() + (workspace / "logs" / "validation.ids").read_text()
    assert len(written.splitlines()) == manifest["finished"]
    assert "names of sessions" in run(package, "list", "log-formats")


@pytest.mark.slow
def test_shards_of_a_log_format_are_merged_by_it(package: Path) -> None:
    (package / "plugins" / "log_formats" / "ids.py").write_text(IDS)
    for name in ("a", "b"):
        write(package.parent / "project", **{f"{name}__py": GREETER})
    made = ("generate-ml-logs", "--project", "path:project", "--engine", "words", "--log-format", "ids", "--jobs", 1)
    for number in (1, 2):
        run(package, *made, "--shard", f"{number}/2", "--output", f"shard{number}")
    run(package, "merge", "shard1", "shard2", "--output", "both")
    written = [(package.parent / of / "logs" / "train.ids").read_text() for of in ("shard1", "shard2", "both")]
    assert written[0] + written[1] == written[2] != ""


def test_an_unknown_log_format_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    given = (
        "evaluate",
        "--project",
        f"path:{tmp_path}",
        "--engine",
        "words",
        "--set",
        "interpret.logFormat=[jsonlines]",
    )
    code, _, err = command(*given)
    assert code == 2
    assert "unknown log format 'jsonlines': did you mean 'jsonl'?" in " ".join(err.split())
