"""The page for a nightly run, with the result of each evaluation."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ci_eval.ci.repository import Repository
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.base.files import read_own
from ci_eval.core.catalogs import metrics
from ci_eval.core.rendering import plaintext
from ci_eval.core.rendering.figures import amount, change

ESCAPED = {ord(sign): f"&#{ord(sign)};" for sign in "&|[]<>`*_@\\"}
"""The characters that could end a table's cell, or begin a link, a tag, code or a mention."""
MARKS = {True: "🟢 kept", False: "🔴 broken"}
HEAD = (
    "| evaluation | metric | base | tonight | difference | verdict | gates |",
    "|---|---|---:|---:|---:|---|---|",
)


def page(repository: Repository, evaluations: Mapping[str, bool]) -> str:
    """Return the page in Markdown, from the comparisons that this run has uploaded so far.

    `evaluations`: name → whether it may fail, in which case its row says so. Raises DownloadError.
    """
    with tempfile.TemporaryDirectory() as temporary:
        lines = [
            line
            for name, may in sorted(evaluations.items())
            for line in _rows(repository, name, f"{_escape(name)}{' (may fail)' * may}", Path(temporary) / name)
        ]
    return "\n".join(["## ci-eval: the night", "", *HEAD, *lines, ""])


def _rows(repository: Repository, name: str, title: str, folder: Path) -> Iterator[str]:
    stored = repository.find_artifact(repository.run, f"comparison-{name}")
    if stored is None:
        yield _row(title, *[""] * 4, "🔴 ended before it was compared", "")
        return
    repository.fetch(stored, folder)
    linked = f"[{title}]({repository.page_of(stored)})"
    if not (folder / "comparison.json").is_file():
        yield _row(linked, *[""] * 4, "no base yet", "none judged")
        return
    compared = _read(folder, "comparison.json")
    # A comparison by an older ci-eval has no sides.
    if compared.get("sides", {}).get("new", {}).get("engine", {}).get("baseline"):
        linked += ", a baseline"
    # A comparison by an older ci-eval has no headline: it was about all sessions.
    leading = compared["filters"][compared.get("headline", "ALL")]
    for metric in compared["declared"][:1]:
        yield _figures_row(linked, metric, leading["metrics"][metric], compared["gates"])
    yield from (_broken_gate_row(gate) for gate in compared["gates"] if not gate["passed"])


def _figures_row(linked: str, metric: str, metric_values: Mapping[str, Any], gates: Sequence[Mapping[str, Any]]) -> str:
    known = metrics.among([metric])
    unit = known[metric].unit if metric in known else ""
    gates_cell = MARKS[all(gate["passed"] for gate in gates)] if gates else "none"
    values = (
        amount(metric_values["base"], unit),
        amount(metric_values["new"], unit),
        change(metric_values["difference"], unit),
    )
    return _row(linked, *map(_escape, (metric, *values, str(metric_values["verdict"]))), gates_cell)


def _broken_gate_row(gate: Mapping[str, Any]) -> str:
    return _row(*[""] * 5, _escape(str(gate["reason"])), f"🔴 {_escape(str(gate['rule']))}")


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _escape(text: str) -> str:
    return plaintext.line(text).translate(ESCAPED)


def _read(folder: Path, name: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(read_own(folder, name), type=dict[str, Any])
    except (msgspec.DecodeError, OSError) as error:
        raise WorkspaceError(f"{folder / name} cannot be read ({error}): download the artifact again") from None
