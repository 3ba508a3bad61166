"""A downloader of Rust's crates. Cargo checks them against its index; nothing is built."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.fetch.clients import TIMEOUT, one_file, run_client

CRATE = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z0-9_-]{0,63})==(?P<version>\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)"
)


def crate(source: str, folder: Path, *, timeout: float = TIMEOUT) -> Path:
    """Return the archive of NAME==VERSION, which cargo downloads into `folder`. This takes seconds.

    Raises ConfigError or InstallError.
    """
    match = check_crate(source)

    def run(here: Path) -> None:
        # The user's settings name mirrors, but with the user's own cache nothing might be downloaded.
        home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
        settings = [str(path) for name in ("config.toml", "config") if (path := home / name).is_file()]
        argv = ["cargo", *(part for path in settings[:1] for part in ("--config", path)), "info", "--quiet"]
        cache = here / "cargo"
        run_client(
            (*argv, f"{match['name']}@{match['version']}"),
            cwd=here,
            timeout=timeout,
            variables={"CARGO_HOME": str(cache.resolve()), "CARGO_TERM_COLOR": "never"},
        )
        for archive in cache.glob("registry/cache/*/*.crate"):
            archive.replace(here / archive.name)

    return one_file(
        run,
        ".crate",
        folder,
        f"cargo brought no archive of {source}. Check name and version, and that it is 1.82 or newer.",
    )


def check_crate(text: str) -> re.Match[str]:
    """Return the match of NAME==VERSION, with the groups `name` and `version`. Raises ConfigError if it reads
    otherwise."""
    if match := CRATE.fullmatch(text):
        return match
    raise ConfigError(f"{text!r} is not NAME==VERSION with one full version, as in serde_json==1.0.118.")
