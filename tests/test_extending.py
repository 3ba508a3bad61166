"""docs/extending.md works as it stands: a package outside of ci-eval adds an engine, a metric and a task."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.model import FORMAT
from tests.adapters.endpoints.scripted import sends, serve
from tests.command import command
from tests.projects import GREETER, write

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PAGE = (Path(__file__).parent.parent / "docs" / "extending.md").read_text()
FILES = dict(re.findall(r"^`([\w/.]+)`:\n\n```\w+\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))
"""Path → content of the files that the page shows."""


def install(folder: Path, files: Mapping[str, str]) -> Path:
    """Install a package as pip does: its modules, and beside them the metadata with its entry points."""
    declared = tomllib.loads(files["pyproject.toml"])["project"]
    groups = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
        for group, points in declared["entry-points"].items()
    ]
    info = f"{declared['name'].replace('-', '_')}-{declared['version']}.dist-info"
    written = {path: text for path, text in files.items() if path.endswith(".py")}
    written |= dict.fromkeys({f"{Path(path).parent}/__init__.py" for path in written}, "")
    written[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {declared['name']}\nVersion: {declared['version']}\n"
    written[f"{info}/entry_points.txt"] = "\n".join(groups)
    for path, text in written.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def ci_eval(site: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process that has the packages in `site` as well."""
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "ci_eval", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("site"), FILES)


def test_the_page_shows_a_whole_package() -> None:
    assert sorted(FILES) == [
        "acme_completion/engine.py",
        "acme_completion/members.py",
        "acme_completion/metrics.py",
        "pyproject.toml",
    ]


@pytest.mark.parametrize(("what", "name"), [("engines", "acme"), ("metrics", "LongNamesAt1"), ("tasks", "members")])
def test_a_list_has_what_the_package_adds(site: Path, what: str, name: str) -> None:
    listed = ci_eval(site, "list", what, "--format", "json")
    assert name in [row["name"] for row in json.loads(listed.stdout)], listed.stderr


def test_an_evaluation_by_the_engine_the_metric_and_the_task(site: Path, tmp_path: Path) -> None:
    write(tmp_path / "src", greet__py="import os\n\n\nprint(os.environment, os.environment)\n")
    out = tmp_path / "out"
    done = ci_eval(
        site, "evaluate", "--engine", "acme", "--task", "members", "--project", f"path:{tmp_path / 'src'}",
        "--language", "python", "--output", out, "--jobs", 2, "--gate", "LongNamesAt1 >= 99%",
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    report = json.loads((out / "reports" / "metrics.json").read_text())
    figures = report["evaluations"][0]["filters"]["ALL"]["metrics"]
    assert report["format"] == FORMAT
    assert figures["LongNamesAt1"]["n"] > 0
    assert json.loads((out / "manifest.json").read_text())["plugins"] == {"acme-completion": "1.0"}


REPORTS = {
    "pyproject.toml": """
[project]
name = "acme-reports"
version = "1.0"
[project.entry-points."ci_eval.reports"]
acme = "acme_reports.added:REPORTER"
""",
    "acme_reports/added.py": """
from ci_eval.core.model import Comparison, Evaluation

class Reporter:
    name = "acme"
    results = (Comparison, Evaluation)

    def write(self, result, sources, folder):
        path = folder / "acme.txt"
        path.write_text(type(result).__name__)
        return path

REPORTER = Reporter()
""",
}
"""A package that adds a format of two results."""


def test_a_format_for_evaluations_and_comparisons(tmp_path: Path) -> None:
    site = install(tmp_path / "site", REPORTS)
    write(tmp_path / "src", greet__py=GREETER)
    run, out, name = tmp_path / "run", tmp_path / "out", "greet"
    done = ci_eval(
        site, "evaluate", "--engine", "words", "--project", f"path:{tmp_path / 'src'}", "--set", f"project.name={name}",
        "--language", "python", "--output", run,
    )  # fmt: skip
    compared = ci_eval(site, "compare", run, run, "--output", out)
    for printed, folder, kind in ((done, run / "reports", "Evaluation"), (compared, out, "Comparison")):
        assert printed.returncode == 0, printed.stderr
        assert (folder / "acme.txt").read_text() == kind


def test_a_name_that_is_taken_is_an_error_that_names_both(tmp_path: Path) -> None:
    taken = FILES["pyproject.toml"].replace('acme = "acme_completion.engine', 'jedi = "acme_completion.engine')
    listed = ci_eval(install(tmp_path, {**FILES, "pyproject.toml": taken}), "list", "engines")
    assert listed.returncode == ConfigError.exit_code
    assert "acme-completion and ci-eval both have 'jedi' among their engines" in listed.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("ENGINE = object()\n", "of the protocol Engine"),
        ("ENGINE = None.missing\n", "AttributeError"),
    ],
)
def test_a_package_that_is_broken_is_named(tmp_path: Path, text: str, message: str) -> None:
    broken = install(tmp_path, {**FILES, "acme_completion/engine.py": text})
    done = ci_eval(broken, "evaluate", "--engine", "acme", "--output", tmp_path / "out")
    assert done.returncode == ConfigError.exit_code
    words = " ".join(done.stderr.split())
    assert (
        "'acme' (ci_eval.engines, acme_completion.engine:ENGINE) of the installed package acme-completion 1.0" in words
    )
    assert message in words
    assert "FAIL" not in words


def test_a_metric_with_the_name_of_another_is_an_error(tmp_path: Path) -> None:
    text = FILES["acme_completion/metrics.py"].replace("LongNamesAt1", "RecallAt1")
    listed = ci_eval(install(tmp_path, {**FILES, "acme_completion/metrics.py": text}), "list", "metrics")
    assert listed.returncode == ConfigError.exit_code
    assert "'RecallAt1'" in listed.stderr


def test_without_packages_nothing_is_recorded(tmp_path: Path) -> None:
    write(tmp_path / "src", greet__py=GREETER)
    code, _, errors = command(
        "evaluate", "--engine", "words", "--project", f"path:{tmp_path / 'src'}", "--output", tmp_path / "out"
    )
    assert code == 0, errors
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["plugins"] == {}


API = """
from ci_eval.api import Api, EndpointConfig, Piece, Prompt


def body(prompt: Prompt, settings: EndpointConfig) -> dict[str, object]:
    return {"acme": prompt.instruction or prompt.prefix, "model": settings.model}


def read(answer: dict[str, str]) -> Piece:
    return Piece(text=answer["said"], finish="stop")


API = Api(name="acme", path="/acme", body=body, read=read, key="said")
"""


def test_an_endpoint_is_asked_by_the_api_of_a_package(tmp_path: Path) -> None:
    """The neutral endpoint of other tests answers in its own shape, which no api of ours reads."""
    declared = """
[project]
name = "acme-endpoint"
version = "1.0"

[project.entry-points."ci_eval.endpoints"]
acme = "acme_endpoint.api:API"
"""
    site = install(tmp_path / "site", {"pyproject.toml": declared, "acme_endpoint/api.py": API})
    write(tmp_path / "src", greet__py=GREETER)
    with serve(sends('{"said": "names"}')) as there:
        done = ci_eval(
            site, "evaluate", "--project", f"path:{tmp_path / 'src'}", "--language", "python",
            "--set", f"engine.endpoint={there.address}", "--set", "engine.model=m", "--set", "engine.api=acme",
            "--sessions", 2, "--output", tmp_path / "out",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert {body["model"] for body in there.asked} == {"m"}
    assert all("acme" in body for body in there.asked)
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["plugins"] == {"acme-endpoint": "1.0"}


def test_an_unknown_api_is_an_error_that_names_the_known_ones(tmp_path: Path) -> None:
    write(tmp_path / "src", greet__py=GREETER)
    code, _, errors = command(
        "evaluate", "--project", f"path:{tmp_path / 'src'}", "--language", "python", "--output", tmp_path / "out",
        "--set", "engine.endpoint=http://127.0.0.1:9/v1", "--set", "engine.model=m", "--set", "engine.api=chatt",
    )  # fmt: skip
    assert code == ConfigError.exit_code
    assert "unknown api 'chatt': did you mean 'chat'? known are chat, completions, fim, infill, ollama" in errors
