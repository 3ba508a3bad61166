"""The part of GitHub's services that our workflows ask.

The REST API: runs, their artifacts, a pull request and its comments. The service that stores a run's artifacts, and its
blobs. GitHub's own clients talk to both.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

Answer = tuple[int, bytes, dict[str, str]]


@dataclass
class Services:
    """What GitHub knows, the same for every repository.

    An artifact is the file RUN/NAME.zip in its folder, or RUN/ATTEMPT/NAME.zip of a later attempt. A name is used once
    in an attempt, not in a run: who ran into the 409 found that each further attempt could upload that name once more
    (https://github.com/axodotdev/cargo-dist/issues/656), and the clients take the newest of a name.
    """

    artifacts: Path
    workflows: dict[int, str] = field(default_factory=dict)
    """Of each run the file."""
    expired: set[str] = field(default_factory=set)
    """RUN/NAME of artifacts that are listed and cannot be downloaded any more."""
    foreign: set[int] = field(default_factory=set)
    """Runs of forks, whose branch is called main too."""
    page: int = 100
    heads: dict[int, str] = field(default_factory=dict)
    comments: dict[int, dict[str, Any]] = field(default_factory=dict)
    blocks: dict[tuple[str, str], bytes] = field(default_factory=dict)
    digests: dict[Path, str] = field(default_factory=dict)
    """What was uploaded, as its client said."""
    address: str = ""

    def forget_runs(self) -> None:
        """As in a repository in which nothing has run: what is there is of a workflow that is gone."""
        self.workflows.clear()

    def token(self, run: int, attempt: int = 1) -> str:
        """What a run's clients of the artifact service read its number from."""
        claims = json.dumps({"scp": f"Actions.Results:{run}:{attempt}"}).encode()
        return f"e30.{base64.urlsafe_b64encode(claims).decode().rstrip('=')}.none"

    def answer(self, method: str, target: str, data: bytes) -> Answer:
        """Status, body and headers."""
        url = urlsplit(target)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path.startswith("/blobs/"):
            return self._blob(method, self.artifacts / url.path.removeprefix("/blobs/"), query, data)
        body = json.loads(data) if data else {}
        if url.path.startswith("/twirp/"):
            return self._service(url.path.rpartition("/")[2], body)
        return self._rest(method, re.sub("^/repos/[^/]+/[^/]+/?", "", url.path), query, body)

    def _rest(self, method: str, path: str, query: dict[str, str], body: dict[str, Any]) -> Answer:
        match method, path.split("/"):
            case "GET", [""]:
                return _json({"default_branch": "main"})
            case "GET", ["actions", "artifacts"]:
                runs = sorted((each.name for each in self.artifacts.iterdir()), key=int)
                found = [
                    each for run in runs for each in self._listed(run) if query.get("name") in {None, each["name"]}
                ]
                return self._paged(found, query)
            case "GET", ["actions", "runs", run] if int(run) in self.workflows:
                return _json({"id": int(run), "path": self.workflows[int(run)]})
            case "GET", ["actions", "runs", run, "artifacts"]:
                found = [each for each in self._listed(run) if query.get("name") in {None, each["name"]}]
                page, size = int(query.get("page", 1)), int(query.get("per_page", 30))
                return _json({"total_count": len(found), "artifacts": found[(page - 1) * size : page * size]})
            case "GET", ["actions", "artifacts", number, "zip"]:
                wanted = next(each for each in self.artifacts.rglob("*.zip") if _number(each) == int(number))
                return 302, b"", {"location": self._blob_address(wanted)}
            case "GET", ["pulls", number]:
                return _json({"number": int(number), "head": {"sha": self.heads[int(number)]}})
            case "GET", ["issues", _, "comments"]:
                return _json(list(self.comments.values()))
            case "POST", ["issues", number, "comments"]:
                comment = {"id": len(self.comments) + 1, "issue": int(number), "user": {"type": "Bot"}, **body}
                return _json(self.comments.setdefault(comment["id"], comment))
            case "PATCH", ["issues", "comments", number]:
                self.comments[int(number)].update(body)
                return _json(self.comments[int(number)])
            case _:
                return _json({"message": "Not Found"}, 404)

    def _service(self, method: str, body: dict[str, Any]) -> Answer:
        run, attempt = body["workflow_run_backend_id"], body["workflow_job_run_backend_id"]
        path = self.artifacts / run / ("" if attempt == "1" else attempt) / f"{body.get('name')}.zip"
        match method:
            case "CreateArtifact" if path.exists():
                return _json({"code": "already_exists", "msg": "an artifact with this name already exists"}, 409)
            case "CreateArtifact":
                return _json({"ok": True, "signed_upload_url": self._blob_address(path)})
            case "FinalizeArtifact":
                self.digests[path] = body["hash"]
                return _json({"ok": True, "artifact_id": str(_number(path))})
            case "ListArtifacts":
                listed = [
                    {"workflow_run_backend_id": run, "workflow_job_run_backend_id": each["attempt"],
                     "database_id": str(each["id"]), "size": str(each["size_in_bytes"]), "name": each["name"],
                     "created_at": each["created_at"], "digest": each["digest"]}
                    for each in self._listed(run)
                    if body.get("name_filter") in {None, each["name"]}
                    and body.get("id_filter") in {None, str(each["id"])}
                ]  # fmt: skip
                return _json({"artifacts": listed})
            case "GetSignedArtifactURL":
                return _json({"signed_url": self._blob_address(path)})
            case "DeleteArtifact":
                number = _number(path)
                path.unlink()
                return _json({"ok": True, "artifact_id": str(number)})
            case _:
                return _json({"code": "bad_route", "msg": method}, 404)

    def _blob(self, method: str, path: Path, query: dict[str, str], data: bytes) -> Answer:
        if method == "GET":
            return 200, path.read_bytes(), {"content-type": "application/zip"}
        path.parent.mkdir(parents=True, exist_ok=True)
        if query.get("comp") == "block":
            self.blocks[str(path), query["blockid"]] = data
        elif query.get("comp") == "blocklist":
            ids = re.findall("<Latest>([^<]+)</Latest>", data.decode())
            path.write_bytes(b"".join(self.blocks.pop((str(path), each)) for each in ids))
        else:
            path.write_bytes(data)
        return 201, b"", {"etag": "1", "last-modified": "Thu, 01 Jan 2026 00:00:00 GMT"}

    def _listed(self, run: str) -> list[dict[str, Any]]:
        return [
            {
                "id": _number(path),
                "name": path.stem,
                "size_in_bytes": path.stat().st_size,
                "created_at": "2026-01-01T00:00:00Z",
                "expired": f"{run}/{path.stem}" in self.expired,
                "workflow_run": {
                    "id": int(run),
                    "repository_id": 1,
                    "head_repository_id": 2 if int(run) in self.foreign else 1,
                    "head_branch": "main",
                },
                "digest": self.digests.get(path) or "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest(),
                "attempt": "1" if path.parent.name == run else path.parent.name,
            }
            for path in sorted((self.artifacts / run).rglob("*.zip"))
        ]

    def _paged(self, found: list[dict[str, Any]], query: dict[str, str]) -> Answer:
        """As GitHub does it: the next page's address is in a header."""
        page, size = int(query.get("page", 1)), min(int(query.get("per_page", 30)), self.page)
        status, body, headers = _json({"total_count": len(found), "artifacts": found[(page - 1) * size : page * size]})
        if page * size < len(found):
            name = query.get("name", "")
            following = f"{self.address}/repos/o/r/actions/artifacts?name={name}&per_page={size}&page={page + 1}"
            headers["link"] = f'<{following}>; rel="next"'
        return status, body, headers

    def _blob_address(self, path: Path) -> str:
        return f"{self.address}/blobs/{path.relative_to(self.artifacts)}"


def _number(path: Path) -> int:
    """Larger for what is newer, as at GitHub; JavaScript holds it without loss."""
    return path.stat().st_mtime_ns // 1000


def _json(found: object, status: int = 200) -> Answer:
    return status, json.dumps(found).encode(), {"content-type": "application/json"}


@contextmanager
def served(services: Services) -> Iterator[Services]:
    """The services at their address as long as the block lasts."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
            status, body, headers = services.answer(self.command, self.path, data)
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_PUT = do_PATCH = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            """The tests look at what was stored, not at requests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    services.address = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield services
    finally:
        server.shutdown()
        server.server_close()
