"""A cart."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

RATE = 0.19


@dataclass
class Cart:
    owner: str
    items: list[tuple[str, float]] = field(default_factory=list)

    def add(self, name: str, *, price: float = 1.0) -> Cart:
        self.items.append((name, price))
        return self

    @property
    def total(self) -> float:
        return sum(price for _, price in self.items) * (1 + RATE)


def load(path: str) -> Cart | None:
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except OSError as error:
        print(f"not read: {error!r}")
        return None
    cart = Cart(owner=data["owner"])
    for name, price in data.get("items", {}).items():
        cart.add(name, price=price)
    return cart if cart.total > 0 else None
