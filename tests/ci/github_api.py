"""GitHub's services that our workflows ask: its REST API, the service that stores a run's artifacts, and its blobs.

GitHub's own clients and ours talk to them.
"""

from __future__ import annotations

import base64
import json
import mimetypes
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.ci.github_rest import Answer, Known, number_of


@dataclass
class Services(Known):
    """What is stored, and how it is asked for."""

    blocks: dict[tuple[str, str], bytes] = field(default_factory=dict)

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
        if url.path.startswith("/site/"):
            return _page(self.site / url.path.removeprefix("/site/"))
        body = json.loads(data) if data else {}
        if url.path.startswith("/twirp/"):
            return self._service(url.path.rpartition("/")[2], body)
        return self.rest(method, url.path, query, body)

    def _service(self, method: str, body: dict[str, Any]) -> Answer:
        run, attempt = body["workflow_run_backend_id"], body["workflow_job_run_backend_id"]
        path = self.artifacts / run / ("" if attempt == "1" else attempt) / f"{body.get('name')}.zip"
        match method:
            case "CreateArtifact" if path.exists():
                return _json({"code": "already_exists", "msg": "an artifact with this name already exists"}, 409)
            case "CreateArtifact":
                return _json({"ok": True, "signed_upload_url": self.blob_address(path)})
            case "FinalizeArtifact":
                self.digests[path] = body["hash"]
                return _json({"ok": True, "artifact_id": str(number_of(path))})
            case "ListArtifacts":
                listed = [
                    {"workflow_run_backend_id": run, "workflow_job_run_backend_id": each["attempt"],
                     "database_id": str(each["id"]), "size": str(each["size_in_bytes"]), "name": each["name"],
                     "created_at": each["created_at"], "digest": each["digest"]}
                    for each in self.listed(run)
                    if body.get("name_filter") in {None, each["name"]}
                    and body.get("id_filter") in {None, str(each["id"])}
                ]  # fmt: skip
                return _json({"artifacts": listed})
            case "GetSignedArtifactURL":
                return _json({"signed_url": self.blob_address(path)})
            case "DeleteArtifact":
                number = number_of(path)
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


def _page(path: Path) -> Answer:
    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
    return (200, path.read_bytes(), {"content-type": kind}) if path.is_file() else (404, b"", {})


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
            if self.command != "HEAD":
                self.wfile.write(body)

        do_HEAD = do_POST = do_PUT = do_PATCH = do_GET  # noqa: N815

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
