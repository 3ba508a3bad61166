"""The view of a workspace: settings that say how its sessions are looked at, and change nothing that was measured.

A view is stored beside the configuration, which is sealed, and may change at any time. No engine is asked again for it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config.loading import load
from ci_eval.core.config.text import parse_yaml, read, write_yaml

SECTIONS = ("reports", "comparison")
KEYS = ("interpret.allowedFailures", "actions.allowedUnparsable")


def read_view(path: Path) -> list[str]:
    """Return the settings of a stored view as overrides KEY=VALUE, none if there is no such file.

    Raises ConfigError.
    """
    return [_override(key, value) for key, value in _read_view(path).items()]


def change_view(
    path: Path, config: Path, *, overrides: Sequence[str] = (), filters: Sequence[str] = (), title: str | None = None
) -> None:
    """Change the view that is stored at `path`, of what was measured with the configuration at `config`.

    `overrides`: KEY=VALUE, of keys that a view may change. `filters`: expressions, in place of the filters that reports
    had; the first one leads. Raises ConfigError, after which the view is as before.
    """
    changes = dict(_split(override) for override in overrides)
    if filters:
        changes["reports.sessionsFilters"] = list(filters)
        changes.setdefault("reports.headline", filters[0].strip())
    if title:
        changes["reports.evaluationTitle"] = title
    if not changes:
        return
    view = {**_read_view(path), **changes}
    # A wrong setting raises before anything is stored.
    load(config, overrides=[_override(key, value) for key, value in view.items()], environment={})
    atomic.write(path, write_yaml(view).encode())


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


def _split(override: str) -> tuple[str, object]:
    key, _, value = override.partition("=")
    _check(key.strip(), f"--set {override}")
    return key.strip(), parse_yaml(value, f"--set {override}")


def _check(key: str, source: str) -> None:
    if key.partition(".")[0] not in SECTIONS and key not in KEYS:
        known = ", ".join((*(f"{section}.*" for section in SECTIONS), *KEYS))
        raise ConfigError(
            f"{source}: `{key}` belongs to what was measured, so a change takes another evaluation; a view may "
            f"change {known}"
        )
