"""People made up of tables, who type programs while somebody records it in the neutral format."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from ci_eval.core.user_model import Emulated, UserModel

WORDS = [
    f"{verb}{noun}"
    for verb in ("open", "close", "read", "write", "find", "make", "drop", "send")
    for noun in ("Box", "Bag", "File", "Item", "Page", "Row", "Name", "Path")
]


def recorded(path: Path, model: UserModel, *, users: int = 12, lines: int = 60, seed: int = 1) -> Path:
    """A recording of that many users with that model; each types a file of calls."""
    with path.open("w") as file:
        for number in range(users):
            for event in _typed(f"u{number}", model, lines, seed * 1_000 + number):
                file.write(json.dumps(event) + "\n")
    return path


def _typed(user: str, model: UserModel, lines: int, seed: int) -> Iterator[dict[str, object]]:
    chance = random.Random(seed)
    own = chance.sample(WORDS, 12)
    text, time = "", 0.0
    of = {"user": user, "file": "shop.py"}
    for number in range(lines):
        word = chance.choices(own, weights=range(len(own), 0, -1))[0]
        yield {**of, "t": time, "op": "edit", "offset": len(text), "ins": "shop."}
        text += "shop."
        user_ = Emulated(model, seed, f"{number}", len(word))
        for typed in range(len(word)):
            time += 1
            prefix = word[:typed]
            if user_.asks(prefix):
                yield {**of, "t": time, "op": "completion", "offset": len(text), **_asked(user_, prefix, word, chance)}
            yield {**of, "t": time, "op": "edit", "offset": len(text), "ins": word[typed]}
            text += word[typed]
        yield {**of, "t": time, "op": "edit", "offset": len(text), "ins": "()\n"}
        text += "()\n"


def _asked(user: Emulated, prefix: str, word: str, chance: random.Random) -> dict[str, object]:
    shown = [each for each in WORDS if each.startswith(prefix)]
    chance.shuffle(shown)
    shown = shown[:10]
    rank = shown.index(word) + 1 if word in shown else None
    taken = user.takes(rank, prefix)
    outcome = "select" if taken else "cancel" if user.over else "typed"
    told = {"item": word} if outcome == "typed" and len(prefix) == len(word) - 1 else {}
    return {"prefix": prefix, "candidates": shown, "outcome": outcome, "index": (rank or 1) - 1, **told}
