"""The limits of GitHub: how many jobs a matrix may have, and which names are allowed.

https://docs.github.com/en/actions/reference/limits
"""

from __future__ import annotations

import re
from hashlib import blake2b

MOST_JOBS = 256
"""The limit of jobs in a matrix."""
LONGEST_NAME = 80
"""The limit of a name that is made here, in characters. Prefixes and suffixes are added to the name."""


def name(text: str) -> str:
    """Return a name for an artifact, a job or a group: lower case, short, without special characters. Texts that differ
    in more than case get different names: if a part is cut or replaced, a digest is added."""
    plain = re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip(".-")
    if plain == text.lower() and len(plain) <= LONGEST_NAME:
        return plain
    digest = blake2b(text.lower().encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    # The digest follows a point, so that the pattern `shard-NAME-*` does not match names that have NAME and a digest.
    return f"{plain[: LONGEST_NAME - len(digest) - 1].rstrip('.-')}.{digest}".lstrip(".")
