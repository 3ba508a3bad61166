"""A folder of this machine, used in place."""

from __future__ import annotations

from pathlib import Path

from ci_eval.core.fetch.contract import Scheme, Spec


def parse(text: str) -> Spec:
    """Return the spec of FOLDER, named by its last part."""
    return Spec(scheme="path", source=text, name=Path(text).name or "project")


SCHEME = Scheme(example="path:FOLDER", parse=parse, fetch=None)
