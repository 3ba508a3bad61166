"""What a project's locks would have package clients ask: only registries are asked, whatever they say."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import shutil
import socket
import subprocess
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from msgspec.structs import replace

from ci_eval.core.base.errors import InstallError, PreparationError
from ci_eval.core.contracts import Surroundings
from ci_eval.fetch.locks import Groups
from ci_eval.plugins.adapters.environments import prepare
from ci_eval.plugins.adapters.fetching import Relay
from ci_eval.plugins.adapters.place import Place, variables
from ci_eval.plugins.adapters.testruns.sandbox import Program
from ci_eval.plugins.drivers.confine import landlock
from tests.adapters import hostile_locks
from tests.adapters.hostile_locks import Files
from tests.adapters.test_environments import INFO, packages
from tests.needs import need
from tests.projects import write


@dataclass
class Listener:
    """A port of this machine that nobody may ask."""

    port: int = 0
    heard: list[bytes] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def project(self, root: Path, files: Files) -> Path:
        return write(root, **{name: text.replace("EVIL", self.address) for name, text in files.items()})


@pytest.fixture
def listener() -> Iterator[Listener]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        found = Listener(server.getsockname()[1])

        def listen() -> None:
            # The test is over when the server is closed.
            with suppress(OSError):
                while True:
                    with server.accept()[0] as connection:
                        connection.settimeout(0.5)
                        found.heard.append(b"a connection")
                        with suppress(OSError):
                            found.heard[-1] = connection.recv(200)

        threading.Thread(target=listen, daemon=True).start()
        yield found
        # So that `accept` returns.
        server.shutdown(socket.SHUT_RDWR)


def tarball(name: str, needs: Mapping[str, str]) -> bytes:
    content = json.dumps({"name": name, "version": "1.0.0", "dependencies": needs}).encode()
    with io.BytesIO() as file:
        with tarfile.open(fileobj=file, mode="w:gz") as archive:
            info = tarfile.TarInfo("package/package.json")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        return file.getvalue()


@dataclass
class Registry:
    """A registry of npm packages and a proxy of Go modules: x, and two packages that lead to the listener."""

    address: str
    files: dict[str, bytes]
    keys: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def registry(listener: Listener, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Registry]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.keys.append(self.headers.get("Authorization", ""))
            made.asked.append(self.path)
            body = made.files.get(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", "application/json" if self.path.count("/") == 2 else "text/plain")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Registry(f"http://127.0.0.1:{server.server_port}", {})
    for name, needs in (("x", {}), ("wants", {"e": f"http://{listener.address}/e.tgz"}), ("elsewhere", {})):
        file = made.files[f"/npm/{name}/-/{name}.tgz"] = tarball(name, needs)
        home = f"http://{listener.address}" if name == "elsewhere" else made.address
        digest = f"sha512-{base64.b64encode(hashlib.sha512(file).digest()).decode()}"
        dist = {"tarball": f"{home}/npm/{name}/-/{name}.tgz", "integrity": digest}
        version = {"name": name, "version": "1.0.0", "dependencies": needs, "dist": dist}
        document = {"name": name, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
        made.files[f"/npm/{name}"] = json.dumps(document).encode()
    with io.BytesIO() as module:
        with zipfile.ZipFile(module, "w") as archive:
            archive.writestr("example.org/x@v1.0.0/go.mod", "module example.org/x\n")
        made.files["/go/example.org/x/@v/v1.0.0.zip"] = module.getvalue()
    made.files["/go/example.org/x/@v/v1.0.0.mod"] = b"module example.org/x\n"
    made.files["/go/example.org/x/@v/v1.0.0.info"] = b'{"Version": "v1.0.0"}'
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    monkeypatch.setenv("npm_config_registry", f"{made.address}/npm/")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm-cache"))
    monkeypatch.setenv("GOPROXY", f"{made.address}/go,direct")
    monkeypatch.setenv("GOSUMDB", "off")
    # Whoever asks a host by https asks the listener; Go would for private modules.
    monkeypatch.setenv("HTTPS_PROXY", f"http://{listener.address}")
    monkeypatch.setenv("GOPRIVATE", "*")
    yield made
    server.shutdown()
    server.server_close()


def hostile(table: Mapping[str, Files]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("files", table.values(), ids=table.keys())


def prepare_anyway(kind: str, root: Path, cache: Path) -> None:
    """Prepare what a project needs, and hold that none of the private files is in it."""
    write(root.parent / "private", id_rsa="secret", package__json='{"name": "x"}', go__mod="module example.org/x\n")
    with suppress(PreparationError):
        prepare(kind, root, INFO, dependencies=True, cache=cache)
    assert not list(cache.rglob("id_rsa"))


# --------------------------------------------------------------------------------------------------------------- npm


@pytest.mark.needs("npm")
@pytest.mark.usefixtures("registry")
@hostile(hostile_locks.NPM)
def test_npm_asks_registries_alone(files: Files, listener: Listener, tmp_path: Path) -> None:
    prepare_anyway("node", listener.project(tmp_path / "p", files), tmp_path / "cache")
    assert listener.heard == []


@pytest.mark.needs("npm")
@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize(
    "name", ["a version that is an address", "a needed entry for development", "an optional dependency"]
)
def test_the_listener_would_hear_npm_itself(name: str, listener: Listener, tmp_path: Path) -> None:
    root = listener.project(tmp_path / "p", hostile_locks.NPM[name])
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--fetch-retries=0"]
    subprocess.run(command, cwd=root, capture_output=True, check=False, timeout=60)
    assert listener.heard


@pytest.mark.needs("npm")
def test_npm_installs_from_its_registry_with_the_key_for_it(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = registry.address.removeprefix("http:")
    settings = write(tmp_path, npmrc=f"{host}/npm/:_authToken=${{SECRET_OF_NPM}}\n") / "npmrc"
    monkeypatch.setenv("NPM_CONFIG_USERCONFIG", str(settings))
    monkeypatch.setenv("SECRET_OF_NPM", "sesame")
    root = write(tmp_path / "p", **hostile_locks._npm({"version": "1.0.0"}))
    assert packages("node", root, tmp_path) == {"x": "1.0.0"}
    assert set(registry.keys) == {"Bearer sesame"}


@pytest.mark.needs("npm")
@pytest.mark.usefixtures("registry")
def test_aliases_optional_packages_and_nested_ones_are_installed(tmp_path: Path) -> None:
    entries = {
        "": {},
        "node_modules/a": {"name": "x", "version": "1.0.0", "dependencies": {"x": "^1"}},
        "node_modules/a/node_modules/x": {"version": "1.0.0"},
        "node_modules/far": {"name": "x", "version": "1.0.0", "optional": True, "os": ["aix"]},
        "node_modules/own": {"resolved": "packages/own", "link": True},
        "node_modules/dev": {"version": "1.0.0", "resolved": "git+ssh://git@example.org/d.git#0", "dev": True},
    }
    needs = {"a": "npm:x@^1", "own": "*"}
    manifest = {"dependencies": needs, "optionalDependencies": {"far": "npm:x@1"}, "devDependencies": {"dev": "*"}}
    lock = json.dumps({"lockfileVersion": 3, "packages": entries})
    root = write(tmp_path / "p", package__json=json.dumps(manifest), **{"package-lock__json": lock})
    assert packages("node", root, tmp_path) == {"a": "1.0.0", "a/node_modules/x": "1.0.0"}


@pytest.mark.needs("npm")
@pytest.mark.usefixtures("registry")
def test_an_older_lock_is_installed_as_well(tmp_path: Path) -> None:
    inner = {"x": {"version": "1.0.0"}}
    lock = {"dependencies": {"a": {"version": "npm:x@1.0.0", "requires": {"x": "*"}, "dependencies": inner}}}
    files = {"package__json": '{"dependencies": {"a": "*"}}', "package-lock__json": json.dumps(lock)}
    assert packages("node", write(tmp_path / "p", **files), tmp_path) == {"a": "1.0.0", "a/node_modules/x": "1.0.0"}


WORKSPACES = {
    "npm": {"package__json": '{"workspaces": ["packages/*"]}'},
    "yarn": {"package__json": '{"workspaces": {"packages": ["packages/*"]}, "dependencies": {"core": "workspace:^"}}'},
    "pnpm": {"package__json": "{}", "pnpm-workspace__yaml": "packages: ['packages/*']\ncatalog: {x: ^1.0.0}\n"},
    "paths": {"package__json": '{"dependencies": {"app": "file:packages/app", "core": "link:packages/core"}}'},
    "locked": {
        "package__json": '{"workspaces": ["packages/*"]}',
        "package-lock__json": json.dumps(
            {
                "packages": {
                    "": {"workspaces": ["packages/*"]},
                    "packages/app": {"name": "app", "version": "1.0.0", "dependencies": {"x": "*", "core": "*"}},
                    "packages/app/node_modules/x": {"version": "1.0.0"},
                    "packages/core": {"name": "core", "version": "1.0.0"},
                    "node_modules/app": {"resolved": "packages/app", "link": True},
                    "node_modules/core": {"resolved": "packages/core", "link": True},
                }
            }
        ),
    },
}


@pytest.mark.needs("npm")
@pytest.mark.parametrize("client", WORKSPACES)
def test_no_registry_is_asked_for_what_the_project_has_itself(client: str, registry: Registry, tmp_path: Path) -> None:
    needs = {"x": "catalog:" if client == "pnpm" else "*", "core": "workspace:*" if client == "pnpm" else "9.0.0"}
    members = {
        "packages/app/package__json": json.dumps({"name": "app", "version": "1.0.0", "dependencies": needs}),
        "packages/core/package__json": '{"name": "core", "version": "1.0.0"}',
    }
    root = write(tmp_path / "p", **WORKSPACES[client], **members)
    made = prepare("node", root, INFO, dependencies=True, cache=tmp_path)
    assert made is not None
    (installed,) = (path for path in made.folder.rglob("node_modules/x") if path.is_dir())
    assert (installed.parents[1] == made.folder) == (client != "locked")
    assert registry.asked
    assert not [path for path in registry.asked if not path.startswith("/npm/x")]


@pytest.mark.needs("npm")
@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("groups", [(), ("dev",), "all"])
def test_what_is_for_development_is_installed_if_asked_for(groups: Groups, tmp_path: Path) -> None:
    root = write(tmp_path / "p", package__json=json.dumps({"devDependencies": {"x": "*"}}))
    made = prepare("node", root, INFO, dependencies=True, cache=tmp_path, groups=groups)
    assert made is not None
    assert ("x" in made.packages) == bool(groups)
    with pytest.raises(PreparationError, match="names 'docs', but npm only has the group dev"):
        prepare("node", root, INFO, dependencies=True, cache=tmp_path, groups=("docs",))


@pytest.mark.needs("npm")
@pytest.mark.usefixtures("registry")
def test_a_package_with_another_digest_is_refused(tmp_path: Path) -> None:
    root = write(tmp_path / "p", **hostile_locks._npm({"version": "1.0.0", "integrity": f"sha512-{'A' * 86}=="}))
    with pytest.raises(PreparationError, match="EINTEGRITY"):
        packages("node", root, tmp_path)


# ---------------------------------------------------------------------------------------------------------------- go


@pytest.mark.needs("go")
@pytest.mark.usefixtures("registry")
@hostile(hostile_locks.GO)
def test_go_asks_its_proxies_alone(files: Files, listener: Listener, tmp_path: Path) -> None:
    prepare_anyway("go", listener.project(tmp_path / "p", files), tmp_path / "cache")
    assert listener.heard == []


@pytest.mark.needs("go")
@pytest.mark.usefixtures("registry")
def test_the_listener_would_hear_go_itself(listener: Listener, tmp_path: Path) -> None:
    root = write(tmp_path / "p", **hostile_locks.GO["a host"])
    subprocess.run(["go", "mod", "download"], cwd=root, capture_output=True, check=False, timeout=60)
    assert listener.heard


@pytest.mark.needs("go")
@pytest.mark.usefixtures("registry")
def test_go_takes_modules_from_its_proxy(tmp_path: Path) -> None:
    root = write(tmp_path / "p", go__mod="module example\n\ngo 1.20\n\nrequire example.org/x v1.0.0 // indirect\n")
    assert packages("go", root, tmp_path) == {"example.org/x": "v1.0.0"}


@pytest.mark.needs("go")
@pytest.mark.parametrize("main", ["", "module example.org/main\n\ngo 1.20\n"])
def test_the_modules_of_a_workspace_are_asked_at_no_proxy(main: str, registry: Registry, tmp_path: Path) -> None:
    needs = "module example.org/a\n\ngo 1.20\n\nrequire (\n\texample.org/b v0.1.0\n\texample.org/x v1.0.0\n)\n"
    files = {"mods/a/go__mod": needs, "mods/b/go__mod": "module example.org/b\n\ngo 1.20\n"}
    uses = "go 1.20\n\nuse (\n\t./mods/a\n\t./mods/b\n)\n" + ("use .\n" if main else "")
    root = write(tmp_path / "p", go__work=uses, **files, **({"go__mod": main} if main else {}))
    assert packages("go", root, tmp_path) == {"example.org/x": "v1.0.0"}
    assert registry.asked
    assert not [path for path in registry.asked if "/b/" in path or "/a/" in path]


@pytest.mark.needs("go")
@pytest.mark.parametrize("use", ["../out", "/etc", "none"])
def test_a_workspace_takes_modules_of_the_project_alone(use: str, tmp_path: Path) -> None:
    write(tmp_path / "out", go__mod="module out\n")
    with pytest.raises(PreparationError, match=r"go\.work of the project requires"):
        packages("go", write(tmp_path / "p", go__work=f"go 1.20\n\nuse {use}\n"), tmp_path)


@pytest.mark.needs("go")
@pytest.mark.parametrize("proxies", ["direct", "off", "direct,off"])
def test_without_a_proxy_go_is_not_started(proxies: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOPROXY", proxies)
    with pytest.raises(PreparationError, match="names no proxy: set one"):
        packages("go", write(tmp_path / "p", go__mod="module example\n\ngo 1.20\n"), tmp_path)


# ------------------------------------------------------------------------------------- clients that are never started

COMMANDS = {
    "cargo": ("cargo", "metadata", "--format-version=1"),
    "composer": ("composer", "install", "--no-interaction"),
    "bundle": ("bundle", "install", "--retry=0"),
}
OTHERS = {
    f"{client}: {name}": (client, files)
    for client, table in (
        ("cargo", hostile_locks.CARGO), ("composer", hostile_locks.COMPOSER), ("bundle", hostile_locks.BUNDLER)
    )
    for name, files in table.items()
}  # fmt: skip


def start(client: str, place: Place, *, confined: bool) -> None:
    """Run a client in the project in a place's temporary folder, as an engine would that starts it."""
    need(client)
    program = shutil.which(client) or client
    if client == "cargo" and shutil.which("rustup"):
        # What is on PATH there only chooses the program.
        found = subprocess.run(["rustup", "which", "cargo"], capture_output=True, text=True, check=True)
        program = found.stdout.strip()
    environment = {**variables(place), "COMPOSER_ALLOW_SUPERUSER": "1", "BUNDLE_SILENCE_ROOT_WARNING": "1"}
    environment["PATH"] = f"{Path(program).parent}{os.pathsep}{environment['PATH']}"
    walls = place.walls(program, "php", "ruby")
    command = (program, *COMMANDS[client][1:])
    process = Program(
        command,
        cwd=place.scratch / "p",
        environment=environment,
        walls=walls if confined else replace(walls, confine="off"),
    )
    try:
        process.finish(60)
    finally:
        process.close()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    around = Surroundings(root=tmp_path, language="", keywords=frozenset(), cache=tmp_path, timeout=0, memory=0)
    made = Place.new(tmp_path, around)
    made.renew()
    yield made
    made.remove()


@pytest.mark.parametrize(("client", "files"), OTHERS.values(), ids=OTHERS.keys())
def test_within_the_sandbox_no_client_asks_anybody(client: str, files: Files, listener: Listener, place: Place) -> None:
    listener.project(place.scratch / "p", files)
    start(client, place, confined=True)
    assert listener.heard == []
    start(client, place, confined=False)
    assert listener.heard, "the listener would hear it"


# -------------------------------------------------------------------------------------------------------------- relay


@pytest.mark.needs("node")
@pytest.mark.skipif(landlock.version()[0] < 4, reason="this kernel cannot tell one port from another")
@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("require('net').connect(EVIL, '127.0.0.1')", "EACCES"),
        ("require('net').connect('/var/run/docker.sock')", "EPERM"),
        ("require('net').createServer().listen(0)", "EPERM|EACCES"),
        ("require('fs').readFileSync(process.env.SECRET)", "EACCES"),
        ("console.log(Object.keys(process.env).includes('GITHUB_TOKEN') ? 'seen' : process.exit(3))", "exit code 3"),
        ("const s = require('dgram').createSocket('udp4'); s.send('x', EVIL, '127.0.0.1')", "EPERM|EACCES"),
    ],
)
def test_a_client_reaches_neither_other_ports_nor_files(
    code: str, outcome: str, listener: Listener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    secret = write(tmp_path / "home", id_rsa="secret") / "id_rsa"
    (work := tmp_path / "work").mkdir()
    code = code.replace("EVIL", str(listener.port))
    with closing(Relay([])) as relay, pytest.raises(InstallError, match=outcome):
        relay.run(("node", "-e", code), work, {"SECRET": str(secret)})
    assert listener.heard == []


def test_the_gate_passes_what_registries_have_and_records_all_else(registry: Registry) -> None:
    import requests

    addresses = [f"{registry.address}/none", f"{registry.address}/npm"]
    with closing(Relay([addresses])) as relay, requests.Session() as session:
        session.trust_env = False
        assert session.get(f"{relay.address(0)}/x").json()["name"] == "x"
        assert session.get(f"{relay.address(0)}/y").status_code == 404
        for path in ("/x", "/0/x", f"{relay.path}1/x", f"{relay.path}0", f"{relay.path}9999/x"):
            assert session.get(f"{relay.base}{path}").status_code == 403
        session.proxies["http"] = relay.base
        assert session.get("http://evil.example/x").status_code == 403
    assert len(relay.refused) == 6
    assert "http://evil.example/x, which belongs to no registry" in relay.refused[-1]
