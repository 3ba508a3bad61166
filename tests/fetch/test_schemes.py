"""None"""

from __future__ import annotations

import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.fetch.schemes import cut_pin

DIGEST = "0123456789abcdef" * 4


def test_the_digest_is_cut_off_and_is_in_small_letters() -> None:
    assert cut_pin(f"six==1#sha256={DIGEST.upper()}") == ("six==1", DIGEST)
    assert cut_pin("six==1") == ("six==1", "")


@pytest.mark.parametrize("pin", ["#", f"#{DIGEST}", "#sha256=", "#sha256=12", f"#sha256={DIGEST}0"])
def test_what_is_no_digest_is_refused(pin: str) -> None:
    with pytest.raises(ConfigError, match="64 hex"):
        cut_pin(f"six==1{pin}")
