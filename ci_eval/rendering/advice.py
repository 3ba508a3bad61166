"""What a reader must know to judge the figures of an evaluation, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ci_eval.model import Evaluation
from ci_eval.rendering.figures import counted, first_filter
from ci_eval.statistics.population import NOTABLE

MOSTLY = 0.9
"""From this share of sessions without a suggestion on, something other than the engine is likely to be wrong."""
NAMED = 5
"""Packages that a warning names."""


def warnings_of(evaluation: Evaluation) -> Sequence[str]:
    """One text each, without an end mark of its own."""
    return [*_end(evaluation), *_unread(evaluation), *_imports(evaluation), *_emptiness(evaluation)]


def listed(names: Sequence[str]) -> str:
    """The first of many names, and how many more there are."""
    left = len(names) - NAMED
    return ", ".join([*names[:NAMED], *([f"{left:,} more"] if left > 0 else [])])


def _end(evaluation: Evaluation) -> Iterator[str]:
    if evaluation.unfinished is not None:
        _, whole = first_filter(evaluation)
        state, hint = "unfinished", "--resume takes it up"
        if evaluation.edition:
            state, hint = "going on", "pages follow by themselves as long as `ci-eval report --watch` runs"
        yield (
            f"this run is {state}: the figures are those of {counted(len(whole.files), 'file')} that are through, "
            f"and {counted(evaluation.unfinished, 'file')} with sessions are not; {hint}"
        )


def _unread(evaluation: Evaluation) -> Iterator[str]:
    if evaluation.unparsable > NOTABLE:
        worst = [f"{path} ({percent(share)} of it)" for path, share in evaluation.unparsable_files.items()]
        yield (
            f"{percent(evaluation.unparsable)} of the source could not be read, and has no sessions: the figures are "
            f"of the rest. Most was lost in {listed(worst)}. The grammar may be older than the language, or not know "
            "macros that the code uses; actions.ignoreFileNames leaves files out"
        )


def percent(share: float) -> str:
    """Return a share of the source in percent, with a decimal where it is small."""
    return f"{share:.1%}" if share < 0.1 else f"{share:.0%}"


def _imports(evaluation: Evaluation) -> Iterator[str]:
    # A relative import is of the project's own code: of a file that is made when it is built, for example.
    packages = [name for name in evaluation.lacking if not name.startswith(".")]
    if packages:
        several = f"{len(packages):,} packages" if len(packages) > 1 else "1 package"
        yield (
            f"imports of {several} cannot be resolved: {listed(packages)}. Of what they hold, the engine finds less "
            "than it would for a user: --dependencies installs what the project says it needs (none of it is run)"
        )


def _emptiness(evaluation: Evaluation) -> Iterator[str]:
    _, whole = first_filter(evaluation)
    empty = whole.statuses.get("empty", 0)
    if whole.sessions and empty >= MOSTLY * whole.sessions:
        yield (
            f"the engine answered nothing in {empty:,} of {whole.sessions:,} sessions: it may lack what the project "
            "needs (--dependencies), or not know where the project is"
        )
