"""The snapshots of files in the history of a Git repository, one for each commit that changes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ci_eval.core.fetch.git import Repository
from ci_eval.core.grammar.document import NotText, decode
from ci_eval.plugins.mining.reading import LARGEST
from ci_eval.plugins.mining.usages.snapshots import Snapshot


def snapshots(repository: Repository, path: str, skipped: Counter[str]) -> Iterator[Snapshot]:
    """Yield the snapshots of one file, the earliest first, all under its newest name. A commit that deletes the file
    gives an empty text. Revisions that are no text are counted in `skipped`."""
    revisions = repository.revisions(path)
    contents = repository.contents([revision.blob for revision in revisions if revision.blob], LARGEST)
    for position, revision in enumerate(revisions):
        text = _text(next(contents) if revision.blob else b"", skipped)
        if text is not None:
            # The dates of commits need not rise, so the position is the time.
            yield Snapshot(user="", file=path, time=position, text=text)


def _text(data: bytes | None, skipped: Counter[str]) -> str | None:
    if data is None:
        skipped[f"revision of more than {LARGEST:,} bytes"] += 1
        return None
    try:
        return decode(data)
    except NotText:
        skipped["revision that is no text"] += 1
        return None
