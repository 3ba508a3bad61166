"""The page for a nightly run, with the result of each evaluation."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ci_eval.ci.repository import Repository
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.base.files import read_own
from ci_eval.core.catalogs import metrics
from ci_eval.core.manifest import commits_between
from ci_eval.core.model.units import amount, change
from ci_eval.core.rendering import plaintext

COMPARISON = "comparison.json"
ESCAPED = {ord(sign): f"&#{ord(sign)};" for sign in "&|[]<>`*_@\\"}
"""The characters that could end a table's cell, or begin a link, a tag, code or a mention."""
MARKS = {True: "🟢 kept", False: "🔴 broken"}
HEAD = (
    "| evaluation | metric | base | tonight | difference | verdict | gates |",
    "|---|---|---:|---:|---:|---|---|",
)


def page(repository: Repository, evaluations: Mapping[str, bool]) -> str:
    """Return the page in Markdown, from the comparisons that this run has uploaded so far. `evaluations`: name →
    whether it may fail, in which case its row says so. Raises DownloadError."""
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
    if not (folder / COMPARISON).is_file():
        yield _row(linked, *[""] * 4, "no base yet", "none judged")
        return
    compared = read_comparison(folder)
    # A comparison by an older ci-eval has no sides.
    if compared.get("sides", {}).get("new", {}).get("engine", {}).get("baseline"):
        linked += ", a baseline"
    # A comparison by an older ci-eval has no headline: it was about all sessions.
    leading = compared["filters"][compared.get("headline", "ALL")]
    for metric in compared["declared"][:1]:
        figures, known = leading["metrics"][metric], metrics.among([metric])
        unit = known[metric].unit if metric in known else ""
        texts = [amount(figures["base"], unit), amount(figures["new"], unit), change(figures["difference"], unit)]
        gates = MARKS[all(gate["passed"] for gate in compared["gates"])] if compared["gates"] else "none"
        yield _row(linked, *map(_escape, (metric, *texts, str(figures["verdict"]))), gates)
    yield from (_row(*[""] * 5, _escape(why), f"🔴 {_escape(rule)}") for rule, why in broken_gates(compared))


def broken_gates(compared: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the rule of each broken gate of a comparison, and its figure with the command that lists the commits."""
    sides = compared.get("sides", {})
    commits = commits_between(*(sides.get(side, {}).get("revision", "") for side in ("base", "new")))
    for gate in compared["gates"]:
        if not gate["passed"]:
            yield str(gate["rule"]), "; ".join(filter(None, (str(gate["reason"]), commits)))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _escape(text: str) -> str:
    return plaintext.line(text).translate(ESCAPED)


def read_comparison(folder: Path) -> dict[str, Any]:
    """Return the comparison in an artifact. Raises WorkspaceError."""
    try:
        return msgspec.json.decode(read_own(folder, COMPARISON), type=dict[str, Any])
    except (msgspec.DecodeError, OSError, RecursionError) as error:
        raise WorkspaceError(f"{folder / COMPARISON} cannot be read ({error}): download the artifact again") from None
