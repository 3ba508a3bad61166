"""The folder in which tests store what they download and build, so that it outlasts a clone."""

from __future__ import annotations

import os
from pathlib import Path

TEST_CACHE = "CI_EVAL_TEST_CACHE"


def use_test_cache() -> Path:
    """Make the cache of the tests that of ci-eval, here and in all processes started from here; return it.

    Its folder is `CI_EVAL_TEST_CACHE`, or else one in the user's cache that is not ci-eval's own.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(os.environ.get(TEST_CACHE) or base / "ci-eval-tests").expanduser().absolute()
    os.environ["CI_EVAL_CACHE"] = str(folder)
    return folder
