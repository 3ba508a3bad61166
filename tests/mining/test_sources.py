"""Files are read in worker processes."""

from __future__ import annotations

import time

from ci_eval.plugins.mining.sources import read_all


def length(limit: int, path: str) -> int | str:
    """Stands for a reader; runs in a worker."""
    if path == "stuck":
        time.sleep(60)
    if path == "raises":
        raise ValueError("no text")
    return len(path) if len(path) < limit else "too long"


def test_what_is_found_and_what_goes_wrong_is_told_for_each_file() -> None:
    told: list[tuple[int, int]] = []
    found, troubles = read_all(
        ["a", "bcd", "raises", "abcdefghij\udc80"],
        length,
        (10,),
        jobs=2,
        advance=lambda done, of: told.append((done, of)),
    )
    assert found == {"a": 1, "bcd": 3}
    assert troubles == {"raises": "ValueError: no text", "abcdefghij\\udc80": "too long"}
    assert told[-1] == (4, 4)


def test_a_file_that_takes_too_long_is_given_up() -> None:
    _, troubles = read_all(["stuck"], length, (10,), jobs=1, advance=lambda *_: None, timeout=1)
    assert troubles == {"stuck": "stopped after 1 s"}
