"""Runs npm and go in the sandbox. They can reach only a server of ours, which asks the registries in the user's
settings of npm and go."""

from __future__ import annotations

import os
import re
import secrets
import ssl
import threading
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from ci_eval.core.base.errors import EngineFailure, InstallError
from ci_eval.fetch.clients import TIMEOUT, failure, run_client
from ci_eval.fetch.download import CHUNK, MAX_BYTES
from ci_eval.fetch.download import TIMEOUT as TIMEOUTS
from ci_eval.fetch.packages import ALONE, NO_PROGRAMS, npm_run
from ci_eval.plugins.adapters.place import Place, bare_surroundings, variables
from ci_eval.plugins.adapters.testruns.sandbox import Program

ORIGIN = re.compile(r"https?://(?:[^/@\s\"]*@)?(?P<host>(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d+)?)")
NOT_PASSED = frozenset({"accept-encoding", "connection", "host", "proxy-connection"})


class Relay:
    """A server that asks registries on behalf of a client, with the user's certificates, proxies and passwords."""

    def __init__(self, registries: Sequence[Sequence[str]]) -> None:
        """Open the server. `registries`: each registry's addresses, which are asked in turn until one has the file."""
        import requests

        self.registries = registries
        self.refused: list[str] = []
        self.session = requests.Session()
        paths = ssl.get_default_verify_paths()
        # If the folder of certificates is empty, the certificates of requests are used.
        self.session.verify = paths.cafile or (any(Path(paths.capath or ".").glob("*.0")) and paths.capath) or True
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"relay": self}))
        # Other users of this machine do not know the path, so they cannot use the user's passwords.
        self.path = f"/{secrets.token_urlsafe(16)}/"
        self.base = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.session.close()

    def address(self, number: int) -> str:
        return f"{self.base}{self.path}{number}"

    def translate(self, text: str) -> str:
        numbers = {_host(addresses[0]): number for number, addresses in enumerate(self.registries)}

        def own(match: re.Match[str]) -> str:
            number = numbers.get(_host(match[0]))
            return match[0] if number is None else self.address(number)

        return ORIGIN.sub(own, text)

    def targets(self, path: str) -> Sequence[str]:
        """Return the addresses to ask for the requested path. There are none if the path belongs to no registry."""
        # A client that uses this server as its proxy names the whole address.
        match = re.fullmatch(rf"{self.path}(\d{{1,3}})(/[!-~]*)", path.removeprefix(self.base))
        registries = self.registries[int(match[1]) :][:1] if match else []
        return [address + match[2] for registry in registries for address in registry] if match else []

    def run(self, argv: Sequence[str], cwd: Path, own: Mapping[str, str], *writes: Path, npmrc: str = "") -> str:
        """Run a client in the sandbox and return its output. It may write to `cwd`, `writes` and a temporary home.

        `own`: the client's environment variables. `npmrc`: the content of the client's `.npmrc`. Raises InstallError.
        """
        try:
            with Place.temporary(cwd, bare_surroundings(ALONE, timeout=TIMEOUT, memory=0)) as place:
                (place.scratch / "home" / ".npmrc").write_text(npmrc, encoding="utf-8")
                walls = place.walls(argv[0], "node")
                walls = replace(walls, writes=(place.scratch, cwd, *writes), connects=self.server.server_port)
                proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), self.base)
                environment = {**variables(place), **proxies, **own}
                with closing(Program(argv, cwd=cwd, environment=environment, walls=walls)) as process:
                    ended = process.finish(TIMEOUT)
        except EngineFailure as error:
            raise InstallError(f"{error}. Check the network, and that {argv[0]} is on PATH; then run again.") from error
        if ended.code:
            words = [ended.trouble, *(f"{argv[0]} asked for {text}" for text in dict.fromkeys(self.refused[-5:]))]
            # The user knows the registries' addresses, not those of this server.
            trouble = re.sub(rf"{self.address(0)[:-1]}(\d+)", lambda m: self.registries[int(m[1])][0], "\n".join(words))
            raise InstallError(failure(replace(ended, trouble=trouble)))
        return ended.output


def _host(address: str) -> str:
    match = ORIGIN.match(address)
    return re.sub(":(?:80|443)$", "", match["host"].lower()) if match else ""


class _Handler(BaseHTTPRequestHandler):
    relay: Relay
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        *others, last = self.relay.targets(self.path) or [""]
        if not last:
            self.refuse()
        elif not any(self._pass_on(target, {404, 410}) for target in others) and not self._pass_on(last):
            self._fail(502)

    def _pass_on(self, target: str, ignored: Collection[int] = ()) -> bool:
        headers = {name: value for name, value in self.headers.items() if name.lower() not in NOT_PASSED}
        body = bytearray()
        try:
            # A key that the client sends takes precedence over a password in the user's .netrc.
            key = (lambda request: request) if "Authorization" in self.headers else None
            with self.relay.session.get(target, headers=headers, auth=key, timeout=TIMEOUTS, stream=True) as response:
                for chunk in response.iter_content(CHUNK):
                    body += chunk
                    if len(body) > MAX_BYTES:
                        raise OSError(f"it has more than {MAX_BYTES:,} bytes")
        except OSError as error:  # includes the errors of requests
            self.relay.refused.append(f"{target}: {error}")
            return False
        if response.status_code in ignored:
            return False
        kind = response.headers.get("content-type", "text/plain")
        if "json" in kind:
            # Answers of npm registries contain addresses of archives, which must lead to this server.
            body = bytearray(self.relay.translate(body.decode("latin-1")).encode("latin-1"))
        self.send_response(response.status_code)
        for name, value in (("Content-Type", kind), ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        return True

    def refuse(self) -> None:
        self.relay.refused.append(f"{self.path[:300]}, which belongs to no registry in its settings")
        self._fail(403)

    do_CONNECT = do_POST = do_PUT = refuse  # noqa: N815

    def _fail(self, code: int) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.send_error(code)

    def log_message(self, *arguments: object) -> None:
        """Print nothing about the requests."""


# --------------------------------------------------------------------------------------------------------------- npm


def read_npm_settings(folder: Path) -> dict[str, str]:
    """Return the user's npm settings. `folder` must not contain a `.npmrc`. Raises InstallError."""
    settings = msgspec.json.decode(npm_run(("config", "list", "--json"), cwd=folder), type=dict[str, object])
    return {name: value for name, value in settings.items() if isinstance(value, str) and value}


def npm_registries(settings: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in settings.items() if re.fullmatch("(?:@.+:)?registry", name)}


def npm_install(command: Sequence[str], folder: Path, settings: Mapping[str, str]) -> None:
    registries = npm_registries(settings)
    origins = dict.fromkeys(match[0] for match in map(ORIGIN.match, registries.values()) if match)
    lines = [f"{name}={address}" for name, address in registries.items()]
    for path in (Path(settings.get(name, "")) for name in ("globalconfig", "userconfig")):
        text = path.read_text("utf-8", "replace") if path.is_file() else ""
        # The name of a key begins with the address of its registry, without the scheme.
        keys = re.findall(r"^\s*(//\S+?:_?(?:authToken|auth|username|password)\s*=.*)", text, re.MULTILINE)
        lines += [f"http:{key}" for key in keys]
    filled = re.sub(r"\$\{(\w+)\}", lambda match: os.environ.get(match[1], match[0]), "\n".join(lines))
    with closing(Relay([[origin] for origin in origins])) as relay:
        proxies = {"http": settings.get("proxy", ""), "https": settings.get("https-proxy", "")}
        relay.session.proxies.update({scheme: address for scheme, address in proxies.items() if address})
        relay.session.verify = settings.get("cafile", relay.session.verify)
        own = {"NODE_OPTIONS": NO_PROGRAMS, "npm_config_globalconfig": str(folder / "none")}
        own |= {"npm_config_noproxy": "", "npm_config_replace_registry_host": "never"}
        npmrc = re.sub("^http:", "", relay.translate(filled), flags=re.MULTILINE)
        # `--no-bin-links` is needed because the sandbox does not let npm make files executable.
        relay.run(("npm", *command, "--ignore-scripts", "--no-bin-links"), folder, own, npmrc=npmrc)


# ---------------------------------------------------------------------------------------------------------------- go


def go_run(commands: Sequence[Sequence[str]], folder: Path, modules: Path) -> str:
    """Run go for the go.mod in `folder`, with the proxies and the checksum database of `go env`, and with `modules` as
    the module cache. Returns the output of the last command. Raises InstallError."""
    settings = msgspec.json.decode(run_client(("go", "env", "-json"), cwd=folder), type=dict[str, str])
    # `direct` is dropped: with it, go and git would ask any host that a module's path names.
    proxies = [proxy for proxy in re.split("[,|]", settings["GOPROXY"]) if re.match("(?:https?|file)://", proxy)]
    if not proxies:
        raise InstallError(
            "GOPROXY in `go env` names no proxy: set one, since in the sandbox go cannot ask the modules' hosts."
        )
    name, _, database = settings["GOSUMDB"].partition(" ")
    host = name.partition("+")[0]
    # A proxy may have the checksums; then the database itself is not asked.
    sums = [f"{proxy.rstrip('/')}/sumdb/{host}" for proxy in proxies if proxy.startswith("http")]
    registries = [*([proxy] for proxy in proxies), [database] if database else [*sums, f"https://{host}"]]
    with closing(Relay(registries)) as relay:
        addresses = [relay.address(n) if proxy.startswith("http") else proxy for n, proxy in enumerate(proxies)]
        own = {
            "GOPROXY": ("|" if "|" in settings["GOPROXY"] else ",").join(addresses),
            "GOSUMDB": name if name == "off" else f"{name} {relay.address(len(proxies))}",
            "GOMODCACHE": str(modules),
            # Go makes its module cache read-only, unless -modcacherw is given.
            "GOFLAGS": "-mod=mod -modcacherw",
            # Without this, a go.mod could make go download and run another version.
            "GOTOOLCHAIN": "local",
            # A go.work in a folder above would bring other modules in.
            "GOWORK": "off",
            "GOENV": "off",
            "GOVCS": "*:off",
            "GOAUTH": "off",
        }
        folders = [Path(urlsplit(proxy).path) for proxy in proxies if proxy.startswith("file:")]
        return [relay.run(command, folder, own, modules, *folders) for command in commands][-1]
