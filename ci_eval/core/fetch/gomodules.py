"""A downloader of Go modules as zips. The go command verifies them as the user's settings say; nothing is built."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from ci_eval.core.base.errors import InstallError
from ci_eval.core.fetch.clients import TIMEOUT, ClientEnd, last_words, match_source, one_file, run_to_end

GO = re.compile(
    r"(?P<name>[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)+(?:/[A-Za-z0-9_~](?:[A-Za-z0-9_.~-]*[A-Za-z0-9_~-])?)*)"
    r"@(?P<version>v\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+incompatible)?)"
)
NEWER_GO = re.compile(r" requires go >= ")
SETTINGS = {
    # -modcacherw: the module cache is temporary, and its files would be read-only.
    "GOFLAGS": "-mod=mod -modcacherw",
    "GO111MODULE": "on",
    "GOTOOLCHAIN": "local",
    "GOWORK": "off",
}


class _Downloaded(msgspec.Struct):
    zip: str = msgspec.field(name="Zip", default="")
    error: str = msgspec.field(name="Error", default="")


def module_zip(module: str, folder: Path, *, timeout: float = TIMEOUT) -> Path:
    """Return the zip of MODULE@VERSION, which go downloads into `folder`. This takes seconds. All files in the zip are
    below one path, `module` itself. Raises ConfigError or InstallError."""
    check_module(module)

    def run(here: Path) -> None:
        variables = {**SETTINGS, "GOMODCACHE": str(here.resolve() / "cache")}
        argv = ("go", "mod", "download", "-json", "--", module)
        downloaded = _read(run_to_end(argv, cwd=here, timeout=timeout, variables=variables), module)
        Path(downloaded.zip).replace(here / "module.zip")

    return one_file(run, ".zip", folder, f"go brought no zip of {module}. Check module and version.")


def check_module(module: str) -> re.Match[str]:
    """Return the match of MODULE@VERSION, with the groups `name` and `version`. Raises ConfigError unless it is one
    full version."""
    needed = "the module's whole path and one exact version are needed, as in github.com/spf13/cobra@v1.8.1."
    return match_source(GO, module, f"MODULE@VERSION: {needed}")


def _read(ended: ClientEnd, module: str) -> _Downloaded:
    try:
        downloaded = msgspec.json.decode(ended.output, type=_Downloaded)
    except msgspec.MsgspecError:
        downloaded = _Downloaded()
    # A module that asks for a newer go is not to be built: its zip is there, and its sum was checked.
    if not downloaded.zip or (downloaded.error and not NEWER_GO.search(downloaded.error)):
        raise InstallError(
            f"go brought no zip of {module}:\n{last_words(downloaded.error or ended.trouble or ended.output)}\n"
            "Check the module's path and version as a go.mod has them, the network, and `go env GOPROXY`."
        )
    return downloaded
