"""GitLab as far as the components need it: a pipeline whose includes are expanded, and whose jobs are executed.

The rule of inputs is that of GitLab's documentation (docs.gitlab.com/ci/inputs) and source (gitlabhq, template.rb and
config.rb in lib/gitlab/ci/config/interpolation): the header's `spec:inputs` says which there are; one without a default
must be given; one that is not there is an error; a value must be of the type, which is a text by default. The rest is
read as YAML first; then `$[[ inputs.NAME ]]` is replaced in every text and key of it, and a text that is nothing else
gets the value with its type. Functions behind a `|` are not ported, and refused; so is a second block in one text,
which some versions leave as it is. Jobs of one name are merged, the later include over the earlier one.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml

ROOT = Path(__file__).parents[2]
COMPONENT = re.compile(r"\$CI_SERVER_FQDN/OWNER/ci-eval/([a-z-]+)@\S+|https://\S+/templates/([a-z-]+)\.yml")
BLOCK = re.compile(r"\$\[\[\s*(\S.*?\S)\s*\]\]")
TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "boolean": (bool,), "number": (int, float), "array": (list,)}


class RefusedError(Exception):
    """An error of a pipeline that GitLab does not start."""


def expand(text: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the jobs of a component that is included with these inputs."""
    header, body = text.split("\n---\n")
    declared: dict[str, dict[str, Any]] = yaml.safe_load(header)["spec"]["inputs"]
    if unknown := set(values) - set(declared):
        raise RefusedError(f"unknown input arguments: {', '.join(sorted(unknown))}")
    chosen: dict[str, Any] = {}
    for name, rules in declared.items():
        if name not in values and "default" not in rules:
            raise RefusedError(f"`{name}` input: required value has not been provided")
        chosen[name] = values.get(name, rules.get("default"))
        kind = rules.get("type", "string")
        if not isinstance(chosen[name], TYPES[kind]):
            raise RefusedError(f"`{name}` input: provided value is not a {kind}")

    return {str(_replace(name, chosen)): _replace(job, chosen) for name, job in yaml.safe_load(body).items()}


def _replace(node: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(node, dict):
        return {_replace(key, values): _replace(value, values) for key, value in node.items()}
    if isinstance(node, list):
        return [_replace(item, values) for item in node]
    blocks = list(BLOCK.finditer(node)) if isinstance(node, str) else []
    if not blocks:
        return node
    name = re.fullmatch(r"inputs\.([\w-]+)", blocks[0][1])
    if len(blocks) > 1 or not name or name[1] not in values:
        raise RefusedError(f"unknown interpolation: {node}")
    value = values[name[1]]
    return value if blocks[0][0] == node else node.replace(blocks[0][0], str(value))


def pipeline(text: str) -> dict[str, Any]:
    """Return the jobs of a file .gitlab-ci.yml that includes our components."""
    jobs: dict[str, Any] = {}
    own = yaml.safe_load(text)
    for include in own.pop("include"):
        address = include.get("component") or include["remote"]
        match = COMPONENT.fullmatch(address)
        if not match:
            raise RefusedError(f"{address} is not there")
        component = (ROOT / "templates" / f"{match[1] or match[2]}.yml").read_text(encoding="utf-8")
        for name, job in expand(component, include.get("inputs", {})).items():
            jobs[name] = {**jobs.get(name, {}), **job}
    return {name: {**jobs.get(name, {}), **own.get(name, {})} for name in (*jobs, *own)}


@dataclass
class Server:
    """GitLab's API as far as components ask it, after docs.gitlab.com/api: jobs, job_artifacts, notes, users.

    The token of a job may take artifacts, and list nothing; that of the project may do both. Artifacts are found by
    branch and name only in the newest pipeline that succeeded, which here is the newest job.
    """

    folder: Path
    address: str = ""
    jobs: list[dict[str, Any]] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)

    def finish(self, name: str, branch: str, code: int, checkout: Path, paths: Sequence[str]) -> None:
        """Store the artifacts of a job that ended."""
        number = len(self.jobs) + 1
        status = "failed" if code else "success"
        page = f"https://gitlab.example.com/jobs/{number}"
        self.jobs.append({"id": number, "name": name, "ref": branch, "tag": False, "status": status, "web_url": page})
        with zipfile.ZipFile(self._archive(number), "w") as archive:
            for path in (each for part in paths for each in (checkout / part).rglob("*")):
                archive.write(path, path.relative_to(checkout))

    def forget(self, number: int) -> None:
        """Let the artifacts of a job expire."""
        self._archive(number).unlink()

    def answer(self, method: str, target: str, token: str, data: bytes) -> tuple[int, bytes]:
        """Return the status and the body of an answer."""
        url = urlsplit(target)
        query = parse_qs(url.query)
        is_of_the_job = query.get("job_token") == ["of-the-job"]
        if not is_of_the_job and token != "Bearer of-the-project":
            return 401, b"{}"
        path = url.path.removeprefix("/projects/7")
        if match := re.fullmatch(r"/jobs/(\d+)/artifacts", path):
            return self._stored(int(match[1]))
        if match := re.fullmatch(r"/jobs/artifacts/(.+)/download", path):
            newest = max(
                (job for job in self.jobs if job["status"] == "success"), key=lambda job: job["id"], default={}
            )
            fits = (newest.get("ref"), [newest.get("name")]) == (match[1], query["job"])
            return self._stored(newest["id"]) if fits else (404, b"{}")
        if is_of_the_job:
            return 403, b"{}"
        if path == "/jobs":
            listed = [job for job in reversed(self.jobs) if job["status"] in query["scope[]"]]
            return 200, json.dumps(listed).encode()
        if path == "/user":
            return 200, b'{"id": 3}'
        return self._note(method, path, json.loads(data or b"{}"))

    def _note(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, bytes]:
        match = re.fullmatch(r"/merge_requests/5/notes(?:/(\d+))?", path)
        if not match:
            return 404, b"{}"
        if method == "POST":
            self.notes.append({"id": len(self.notes), "author": {"id": 3}, **body})
        elif method == "PUT":
            self.notes[int(match[1])] |= body
        return 200, json.dumps(self.notes).encode()

    def _archive(self, number: int) -> Path:
        return self.folder / f"artifacts-{number}.zip"

    def _stored(self, number: int) -> tuple[int, bytes]:
        path = self._archive(number)
        return (200, path.read_bytes()) if path.exists() else (404, b"{}")


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """The server at its address as long as the block lasts."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
            status, body = server.answer(self.command, self.path, self.headers.get("authorization", ""), data)
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_PUT = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            """The tests look at what was stored, not at requests."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.address = f"http://127.0.0.1:{listening.server_port}"
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()


@dataclass(frozen=True)
class Runner:
    """A runner that keeps caches by their key, and hands the artifacts of a job on to the next one."""

    folder: Path
    project: Path
    server: Server
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables of the project, such as a token."""

    def execute(self, jobs: Mapping[str, Any], *, branch: str = "main") -> dict[str, tuple[int, str]]:
        """Run the jobs one after the other; return the exit code and the log of each."""
        artifacts = self.folder / "artifacts"
        shutil.rmtree(artifacts, ignore_errors=True)
        results = {}
        for name, job in jobs.items():
            checkout = self.folder / "builds" / "checkout"
            shutil.rmtree(checkout, ignore_errors=True)
            shutil.copytree(self.project, checkout)
            cache = self.folder / "caches" / job["cache"]["key"].replace("$CI_COMMIT_REF_SLUG", branch)
            for source in (cache, artifacts):
                if source.exists():
                    shutil.copytree(source, checkout, dirs_exist_ok=True)
            script = "set -eo pipefail\n" + "\n".join(job["script"])
            number = len(self.server.jobs) + 1
            own = {"CI_JOB_ID": str(number), "CI_JOB_NAME": name}
            environment = {**os.environ, **self._variables(job, checkout, branch), **own, **self.variables}
            done = subprocess.run(
                ["bash", "-c", script], cwd=checkout, env=environment, capture_output=True, text=True, check=False
            )
            results[name] = (done.returncode, done.stdout + done.stderr)
            self.server.finish(name, branch, done.returncode, checkout, job.get("artifacts", {}).get("paths", []))
            kept = [*((cache, path) for path in job["cache"]["paths"])]
            kept += [(artifacts, path) for path in job.get("artifacts", {}).get("paths", [])]
            for target, path in kept:
                if (checkout / path).exists():
                    shutil.rmtree(target / path, ignore_errors=True)
                    shutil.copytree(checkout / path, target / path)
        return results

    def _variables(self, job: Mapping[str, Any], checkout: Path, branch: str) -> dict[str, str]:
        known = {
            "CI_PROJECT_DIR": str(checkout), "CI_COMMIT_REF_SLUG": branch, "CI_API_V4_URL": self.server.address,
            "CI_PROJECT_ID": "7", "CI_JOB_TOKEN": "of-the-job", "CI_DEFAULT_BRANCH": "main", "GITLAB_CI": "true",
            "NO_PROXY": "127.0.0.1",
        }  # fmt: skip
        variables = {
            "PATH": f"{self._programs()}:{os.environ['PATH']}",
            "RECORD": str(self.folder / "installed"),
            **known,
        }
        for name, entry in job["variables"].items():
            text = entry if isinstance(entry, str) else entry["value"]
            if isinstance(entry, str) or entry.get("expand", True):
                text = re.sub(r"\$(\w+)", lambda reference: known[reference[1]], text)
            variables[name] = text
        return variables

    def _programs(self) -> Path:
        """Return a folder with this ci-eval, and a pip that writes down what it should install."""
        folder = self.folder / "bin"
        folder.mkdir(parents=True, exist_ok=True)
        scripts = {
            "ci-eval": f'exec {sys.executable} -m ci_eval "$@"',
            "pip": 'printf "%s\\n" "$*" >> "$RECORD"',
        }
        for name, script in scripts.items():
            (folder / name).write_text(f"#!/bin/sh\n{script}\n")
            (folder / name).chmod(0o755)
        return folder


def read(folder: Path, file: str) -> dict[str, Any]:
    """Return a JSON file of an artifact."""
    return dict(json.loads((folder / file).read_text(encoding="utf-8")))
