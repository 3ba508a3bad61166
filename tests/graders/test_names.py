"""Equal or not."""

from __future__ import annotations

import pytest

from ci_eval.core.contracts import Pairing
from ci_eval.plugins.graders.names import GRADERS


@pytest.mark.parametrize(("text", "score"), [("a b", 1.0), ("a  b", 0.0), ("", 0.0)])
def test_only_the_same_text_is_exact(text: str, score: float) -> None:
    assert GRADERS["exact"].grade(Pairing(reference="a b", hypothesis=text, language="python")) == {"exact": score}
