"""The shares of all usages."""

from __future__ import annotations

from pathlib import Path

from tests.learning.recommenders.trained import CREATE, NEW, T, proposed, trained, usage


def test_what_surrounds_an_object_does_not_matter(tmp_path: Path) -> None:
    model = trained(tmp_path, "frequency", T)
    for query in (usage("", NEW), usage("", CREATE, "N")):
        assert proposed(model, query) == {"m1": 0.8, "m2": 0.5}
    assert proposed(model, usage("m1"), 0) == {"m2": 0.5, "m3": 0.2}
