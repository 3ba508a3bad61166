"""A GitHub with one repository."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.mining.reviews.github import GitHub, serve


@pytest.fixture
def github() -> Iterator[GitHub]:
    with serve(GitHub()) as known:
        yield known
