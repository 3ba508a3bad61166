"""A downloader of Rust's crates. Cargo checks them against its index; nothing is built."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ci_eval.core.fetch.clients import TIMEOUT, match_source, one_file, run_client

CRATE = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z0-9_-]{0,63})==(?P<version>\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)"
)

NO_WRAPPERS = {"RUSTC_WRAPPER": "", "RUSTC_WORKSPACE_WRAPPER": ""}
"""The variables that keep cargo from starting the compiler by a program that some settings name."""


def crate(source: str, folder: Path, *, timeout: float = TIMEOUT) -> Path:
    """Return the archive of NAME==VERSION, which cargo downloads into `folder`. This takes seconds. Raises ConfigError
    or InstallError."""
    match = check_crate(source)

    def run(here: Path) -> None:
        # The user's settings name mirrors and their keys, but with the user's own cache nothing might be downloaded.
        home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo").absolute()
        cache = (here / "cargo").resolve()
        cache.mkdir()
        for name in ("credentials", "credentials.toml"):
            if (home / name).is_file():
                (cache / name).symlink_to(home / name)
        # Where both are there, cargo reads `config`.
        settings = [str(path) for name in ("config", "config.toml") if (path := home / name).is_file()]
        argv = ["cargo", *(part for path in settings[:1] for part in ("--config", path)), "info", "--quiet"]
        run_client(
            (*argv, f"{match['name']}@{match['version']}"),
            # Cargo obeys the settings of all folders above, and a temporary folder is below one that anybody may
            # write to: `build.rustc` there names a program that is run.
            cwd=Path(cache.anchor),
            timeout=timeout,
            variables={"CARGO_HOME": str(cache), "CARGO_TERM_COLOR": "never", **NO_WRAPPERS},
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
    return match_source(CRATE, text, "NAME==VERSION with one full version, as in serde_json==1.0.118.")
