"""The view of a workspace: settings that say how its sessions are looked at, and change nothing that was measured.

A view is stored beside the configuration, which is sealed, and may change at any time. No engine is asked again for it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config.loading import load
from ci_eval.core.config.text import parse_yaml, read, write_yaml

SECTIONS = ("reports", "comparison")
KEYS = ("interpret.allowedFailures", "actions.allowedUnparsable")


@dataclass(frozen=True, kw_only=True)
class View:
    overrides: tuple[str, ...] = ()
    """Settings KEY=VALUE, of keys that a view may change."""
    filters: tuple[str, ...] = ()
    """Expressions in place of the filters that reports had; the first one leads."""
    title: str | None = None

    def settings(self) -> dict[str, object]:
        """Return the changed settings: key → value. Raises ConfigError if a key belongs to what was measured."""
        settings = dict[str, object]()
        for override in self.overrides:
            key, _, value = override.partition("=")
            _check(key.strip(), f"--set {override}")
            settings[key.strip()] = parse_yaml(value, f"--set {override}")
        if self.filters:
            settings["reports.sessionsFilters"] = list(self.filters)
            settings.setdefault("reports.headline", self.filters[0].strip())
        if self.title:
            settings["reports.evaluationTitle"] = self.title
        return settings

    def spell(self) -> list[str]:
        """Return the changed settings as overrides KEY=VALUE. Raises ConfigError."""
        return [_override(key, value) for key, value in self.settings().items()]


UNCHANGED = View()


def read_view(path: Path, change: View = UNCHANGED) -> list[str]:
    """Return the settings of the view stored at `path`, after a change, as overrides KEY=VALUE. A missing file is a
    view without settings. Raises ConfigError."""
    return [_override(key, value) for key, value in {**_read_view(path), **change.settings()}.items()]


def change_view(path: Path, config: Path, change: View) -> None:
    """Change the view stored at `path`, of what was measured with the configuration at `config`. Raises ConfigError,
    after which the view is as before."""
    if change == UNCHANGED:
        return
    # A wrong setting raises before anything is stored.
    load(config, overrides=read_view(path, change), environment={})
    atomic.write(path, write_yaml({**_read_view(path), **change.settings()}).encode())


def _read_view(path: Path) -> dict[str, object]:
    if not path.exists():
        return {}
    view = read(path)
    if not isinstance(view, dict):
        raise ConfigError(
            f"{path} is no view: expected keys such as reports.headline; delete the file to show reports without a view"
        )
    for key in view:
        _check(str(key), str(path))
    return view


def _override(key: str, value: object) -> str:
    # JSON is YAML, in one line.
    return f"{key}={json.dumps(value)}"


def _check(key: str, source: str) -> None:
    if key.partition(".")[0] not in SECTIONS and key not in KEYS:
        known = ", ".join((*(f"{section}.*" for section in SECTIONS), *KEYS))
        raise ConfigError(
            f"{source}: `{key}` belongs to what was measured, so a change takes another evaluation; a view may "
            f"change {known}"
        )
