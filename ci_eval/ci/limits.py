"""What GitHub takes: how many jobs, and which names.

Characters that no artifact's name may have: `upload/path-and-artifact-name-validation` of the npm package
@actions/artifact 6.2.1. Jobs of a matrix: https://docs.github.com/en/actions/reference/limits. Characters of a
concurrency group: what GitHub said to https://github.com/cilium/cilium/pull/18201.
"""

from __future__ import annotations

import re
from hashlib import blake2b

MOST_JOBS = 256
"""Of one matrix."""
LONGEST_GROUP = 400
"""Characters of a concurrency group."""
LONGEST_NAME = 80
"""Characters of what `name` makes; others are put before and after it."""
FORBIDDEN = '":<>|*?\r\n\\/'
"""Characters that no artifact's name may have."""


def name(text: str) -> str:
    """The text as the name of an artifact, a job or a group: lower case, short, with no character special anywhere.

    Texts that differ in more than case have different names: what was cut or replaced leaves a digest behind.
    """
    plain = re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip(".-")
    if plain == text.lower() and len(plain) <= LONGEST_NAME:
        return plain
    digest = blake2b(text.lower().encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    # After a point: `shard-NAME-*` then means no name that has a digest besides.
    return f"{plain[: LONGEST_NAME - len(digest) - 1].rstrip('.-')}.{digest}".lstrip(".")
