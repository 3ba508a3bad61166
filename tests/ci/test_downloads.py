"""What a pipeline elsewhere takes from GitHub, against a server that speaks GitHub's protocol."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar
from urllib.parse import parse_qsl, urlsplit

import pytest

from ci_eval.ci.repository import variables_of
from tests.ci.documentation import documented
from tests.ci.github_api import Services, served
from tests.command import command
from tests.needs import need_modules
from tests.projects import GREETER, write


@pytest.fixture
def github(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    """Asked from outside of any run."""
    (tmp_path / "artifacts").mkdir()
    with served(Services(tmp_path / "artifacts")) as services:
        monkeypatch.chdir(tmp_path)
        variables = {"API_URL": services.address, "SERVER_URL": "https://github.com", "REPOSITORY": "o/r", "TOKEN": "t"}
        for name, value in variables.items():
            monkeypatch.setenv(f"GITHUB_{name}", value)
        monkeypatch.delenv("GITHUB_RUN_ID", raising=False)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield services


def stored(services: Services, run: int, name: str, folder: Path | None = None) -> None:
    services.workflows[run] = "logs.yml"
    target = services.artifacts / str(run) / f"{name}.zip"
    target.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("run.txt", str(run))
        for path in folder.rglob("*") if folder else ():
            archive.write(path, path.relative_to(folder or path))


def downloaded(pattern: str) -> tuple[int, str]:
    """Exit code, and what is said."""
    code, _, said = command("ci", "download", pattern, "--beside", "ranker", "--output", "logs")
    return code, said


def test_the_artifacts_are_those_of_the_newest_run_that_has_the_one_beside_them(github: Services) -> None:
    for run, names in ((3, "logs-a logs-b ranker"), (4, "logs-a logs-c other ranker"), (5, "logs-a")):
        for name in names.split():
            stored(github, run, name)
    code, said = downloaded("logs-*")
    assert code == 0, said
    assert {str(path) for path in Path("logs").rglob("*.txt")} == {"logs/logs-a/run.txt", "logs/logs-c/run.txt"}
    assert Path("logs/logs-a/run.txt").read_text() == "4"


@pytest.mark.parametrize(
    ("names", "said"), [("logs-a", "no run of the default branch"), ("ranker", "has no artifact logs-*")]
)
def test_what_is_not_there_is_said(github: Services, names: str, said: str) -> None:
    stored(github, 3, names)
    code, text = downloaded("logs-*")
    assert (code, said in text) == (4, True), text


def test_a_name_that_leads_elsewhere_is_refused(github: Services) -> None:
    for name in ("ranker", ".."):
        stored(github, 3, name)
    code, text = downloaded(".*")
    assert (code, "is not the name of a folder" in text) == (4, True), text
    assert not Path("run.txt").exists()


@pytest.mark.parametrize(
    ("name", "content", "mode"),
    [
        ("../escaped", b"x", 0o100644), ("/escaped", b"x", 0o100644), ("..\\escaped", b"x", 0o100644),
        ("link", b"../../run.txt", 0o120777), ("link", b"/etc/passwd", 0o120777), ("run.txt", b"twice", 0o100644),
        ("RUN.TXT/../../escaped", b"x", 0o100644), ("pipe", b"", 0o010644), ("run.txt/x", b"x", 0o100644),
    ],
)  # fmt: skip
def test_an_artifact_that_leads_elsewhere_leaves_nothing(
    github: Services, name: str, content: bytes, mode: int
) -> None:
    for artifact in ("logs-a", "ranker"):
        stored(github, 3, artifact)
    with zipfile.ZipFile(github.artifacts / "3" / "logs-a.zip", "a") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of a name that comes twice
        entry = zipfile.ZipInfo(name)
        entry.external_attr = mode << 16
        archive.writestr(entry, content)
    code, text = downloaded("logs-*")
    assert (code, "Refused to unpack" in " ".join(text.split())) == (4, True), text
    assert not list(Path().rglob("*escaped*"))
    assert not list(Path().glob("logs/logs-a"))


@pytest.mark.slow
def test_the_documented_pipeline_trains_on_the_latest_logs(github: Services, tmp_path: Path) -> None:
    need_modules("lightgbm", "pyarrow")
    project = write(tmp_path / "p", **{f"file{i}__py": GREETER + f"x{i} = {i}\nprint(x{i})\n" for i in range(8)})
    logs = tmp_path / "made"
    code, _, said = command(
        "generate-ml-logs", "--project", f"path:{project}", "--engine", "words", "--output", logs, "--jobs", 1
    )
    assert code == 0, said
    for name in ("logs-completion-a", "ranker-completion"):
        stored(github, 3, name, logs)
    (tmp_path / "bin").mkdir()
    tool = tmp_path / "bin" / "ci-eval"
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} -m ci_eval "$@"\n')
    tool.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    subprocess.run(
        ["bash", "-euc", documented("An ML pipeline that pulls the latest logs", 1)],
        cwd=tmp_path,
        env=environment,
        check=True,
    )
    assert (tmp_path / "model.json").exists()


# ----------------------------------------------------------------------------------------------------------- TeamCity

BUILDS = {
    7: ("Weekly", "SUCCESS", True), 8: ("Weekly", "FAILURE", True), 9: ("Weekly", "SUCCESS", False),
    10: ("Other", "SUCCESS", True),
}  # fmt: skip
"""Id of a build → build configuration, status, whether it is of the default branch."""


class TeamCity(BaseHTTPRequestHandler):
    """TeamCity's REST API as far as downloads ask it, by the public reference: locators, fields, children, content."""

    token = "secret"
    storage = ""
    """Another server, which has the artifacts; empty where this one has them."""

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        query = dict(parse_qsl(address.query))
        if self.headers["Authorization"] != f"Bearer {self.token}":
            return self.answer(401)
        if address.path == "/app/rest/builds":
            asked = re.fullmatch(
                r"buildType:\(id:(\w+)\),branch:\(default:true\),state:finished,status:SUCCESS,count:1",
                query["locator"],
            )
            if not asked or query["fields"] != "build(id,finishDate)":
                return self.answer(400)
            good = [number for number, build in BUILDS.items() if build == (asked[1], "SUCCESS", True)]
            return self.answer(
                200, {"build": [{"id": number, "finishDate": "20261122T050712+0000"} for number in good[-1:]]}
            )
        if address.path == "/app/rest/builds/id:7/artifacts/children/":
            names = ("logs1.zip", "logs2.zip", "ranker.zip", "notes.txt")
            return self.answer(200, {"file": [{"name": name} for name in names]})
        if content := re.fullmatch(r"/app/rest/builds/id:7/artifacts/content/(logs[12])\.zip", address.path):
            if self.storage:
                self.send_response(302)
                self.send_header("location", f"{self.storage}/{content[1]}.zip")
                return self.end_headers()
            body = io.BytesIO()
            with zipfile.ZipFile(body, "w") as archive:
                archive.writestr("run.txt", content[1])
            return self.answer(200, body.getvalue())
        return self.answer(404)

    def answer(self, status: int, body: object = b"") -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Write no line about the request."""


@pytest.fixture
def teamcity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return the address of a server, whose token is in the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TEAMCITY_TOKEN", TeamCity.token)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), TeamCity) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_documented_line_takes_the_logs_of_the_newest_good_build(teamcity: str) -> None:
    line = documented("An ML pipeline that pulls the latest logs", 2)
    line = line.replace("https://teamcity.example.com", teamcity).replace("GenerateLogs_Completion", "Weekly")
    _, *argv = shlex.split(line)
    code, out, said = command(*argv)
    assert code == 0, said
    assert out.splitlines() == ["logs/logs1", "logs/logs2"]
    assert Path("logs/logs2/run.txt").read_text() == "logs2"
    assert "2 artifacts of build 7" in said


class Storage(BaseHTTPRequestHandler):
    """A server that only stores artifacts, and what it was sent of tokens."""

    tokens: ClassVar[list[str | None]] = []

    def do_GET(self) -> None:
        self.tokens.append(self.headers["Authorization"])
        body = io.BytesIO()
        with zipfile.ZipFile(body, "w") as archive:
            archive.writestr("run.txt", "stored")
        self.send_response(200)
        self.send_header("content-length", str(len(body.getvalue())))
        self.end_headers()
        self.wfile.write(body.getvalue())

    def log_message(self, *_: object) -> None:
        """Write no line about the request."""


def test_a_server_that_only_stores_artifacts_gets_no_token(teamcity: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Storage, "tokens", [])
    with ThreadingHTTPServer(("127.0.0.1", 0), Storage) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(TeamCity, "storage", f"http://127.0.0.1:{server.server_port}")
        page = f"{teamcity}/buildConfiguration/Weekly"
        code, _, text = command("ci", "download", "logs*", "--from", page, "--output", "logs")
        server.shutdown()
    assert (code, Storage.tokens) == (0, [None, None]), text
    assert Path("logs/logs1/run.txt").read_text() == "stored"


@pytest.mark.parametrize(
    ("pattern", "page", "token", "said"),
    [
        ("logs*", "None", "secret", "no build of None at the default branch has been successful"),
        ("model*", "Weekly", "secret", "has no artifact model*.zip"),
        ("ranker", "Weekly", "secret", "it is missing"),
        ("logs*", "Weekly", "wrong", "the token in TEAMCITY_TOKEN is not valid"),
        ("logs*", "Weekly", "", "set the variable to an access token"),
    ],
)
def test_what_teamcity_does_not_give_is_said(
    pattern: str, page: str, token: str, said: str, teamcity: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAMCITY_TOKEN", token)
    code, _, text = command(
        "ci", "download", pattern, "--from", f"{teamcity}/buildConfiguration/{page}", "--output", "o"
    )
    assert (code, said in " ".join(text.split())) == (4 if token else 2, True), text


SERVER = "https://teamcity.example.com"


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("https://github.com/o/r", "add --beside NAME"),
        ("r", "give https://github.com/OWNER/NAME"),
        ("https://github.com/o", "give https://github.com/OWNER/NAME"),
        ("https://github.com/o/r/tree/main", "give https://github.com/OWNER/NAME"),
        ("https://o:t@github.com/o/r", "give https://github.com/OWNER/NAME"),
        ("http://git.example.com/o/r", "give https://github.com/OWNER/NAME"),
        ("https://git.example.com/o/r", "GITHUB_TOKEN belongs to github.com"),
        (f"{SERVER}/viewType.html?buildTypeId=Weekly&tab=x", "https://SERVER/buildConfiguration/ID"),
        (f"{SERVER}/buildconfiguration/Weekly", "GITHUB_TOKEN belongs to github.com"),
        ("teamcity.example.com/ci/buildConfiguration/Weekly", "https://SERVER/buildConfiguration/ID"),
        ("http://teamcity.example.com/buildConfiguration/Weekly", "https://SERVER/buildConfiguration/ID"),
        ("https://x@teamcity.example.com/buildConfiguration/Weekly", "https://SERVER/buildConfiguration/ID"),
    ],
)
def test_no_token_goes_to_what_is_no_address_of_its_server(
    page: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"GITHUB_TOKEN": "t", "TEAMCITY_TOKEN": "t", "GITHUB_SERVER_URL": "https://github.com"}.items():
        monkeypatch.setenv(name, value)
    code, _, text = command("ci", "download", "logs-*", "--from", page, "--output", "logs")
    assert (code, said in " ".join(text.split())) == (2, True), text


def test_a_mark_beside_the_artifacts_is_refused_at_teamcity(teamcity: str) -> None:
    page = f"{teamcity}/buildConfiguration/Weekly"
    code, _, text = command("ci", "download", "logs*", "--from", page, "--beside", "ranker", "--output", "logs")
    assert (code, "has no effect at TeamCity" in " ".join(text.split())) == (2, True), text


def test_a_repository_has_its_own_api_if_it_is_at_an_enterprise_server() -> None:
    assert variables_of("https://github.com/o/r", {}) == {
        "GITHUB_REPOSITORY": "o/r", "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_API_URL": "https://api.github.com",
    }  # fmt: skip
    own = {"GITHUB_SERVER_URL": "https://git.example.com"}
    assert variables_of("https://git.example.com/o/r.git", own)["GITHUB_API_URL"] == "https://git.example.com/api/v3"
    proxied = own | {"GITHUB_API_URL": "https://proxy.example.com"}
    assert variables_of("https://git.example.com/o/r", proxied)["GITHUB_API_URL"] == "https://proxy.example.com"
