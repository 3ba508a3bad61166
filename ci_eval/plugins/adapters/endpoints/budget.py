"""The budget of one command for an endpoint, over all its worker processes."""

from __future__ import annotations

import math
import time
from pathlib import Path

from ci_eval.core.base.errors import BudgetSpent, EngineMisbehaved
from ci_eval.core.model.endpoints import BudgetConfig, PriceConfig
from ci_eval.plugins.adapters.endpoints.contract import Reply
from ci_eval.plugins.adapters.endpoints.database import Database

TABLE = "spent (command TEXT PRIMARY KEY, began REAL, requests INTEGER, tokens INTEGER, money REAL) WITHOUT ROWID"


def compute_cost(reply: Reply, price: PriceConfig) -> float | None:
    """Return the cost of an answer in the currency of the prices, or None if its tokens or the prices are unknown."""
    if not (price.input or price.output) or reply.prompt_tokens is None or reply.answer_tokens is None:
        return None
    return (reply.prompt_tokens * price.input + reply.answer_tokens * price.output) / 1e6


class Ledger:
    """The books of one command. Requests are booked before they are sent, tokens and money when the answer is there."""

    def __init__(self, path: Path, command: str, budget: BudgetConfig, price: PriceConfig) -> None:
        """Open the books of a command. `command`: a name that its worker processes share. Raises PreparationError."""
        self._command = command
        self._budget = budget
        self._price = price
        self._database = Database(path, TABLE)
        with self._database.using() as cursor:
            # All workers of a command share the row, and so the time at which the first of them began.
            cursor.execute("INSERT OR IGNORE INTO spent VALUES (?, ?, 0, 0, 0)", (command, time.time()))

    def reserve(self) -> None:
        """Book one more request. Raises BudgetSpent if that is one too many."""
        with self._database.changing() as cursor:
            row = "SELECT began, requests, tokens, money FROM spent WHERE command = ?"
            began, requests, tokens, money = cursor.execute(row, (self._command,)).fetchone()
            budget = self._budget
            # The check and the booking are one transaction: two processes cannot both take the last request.
            _check("seconds", time.time() - began, budget.seconds)
            _check("requests", requests, budget.requests)
            # Questions under way have booked no tokens yet, so up to `concurrency` of them may come on top.
            _check("tokens", tokens, budget.tokens)
            _check("money", money, budget.money)
            cursor.execute("UPDATE spent SET requests = requests + 1 WHERE command = ?", (self._command,))

    def book(self, reply: Reply) -> None:
        """Add the tokens and the cost of an answer."""
        tokens = (reply.prompt_tokens or 0) + (reply.answer_tokens or 0)
        with self._database.using() as cursor:
            cursor.execute(
                "UPDATE spent SET tokens = tokens + ?, money = money + ? WHERE command = ?",
                (tokens, compute_cost(reply, self._price) or 0.0, self._command),
            )

    def check(self, reply: Reply) -> None:
        """Raise EngineMisbehaved if a limit needs numbers that the endpoint does not give."""
        counted = reply.prompt_tokens is not None and reply.answer_tokens is not None
        if not counted and (self._budget.tokens is not None or self._budget.money is not None):
            raise EngineMisbehaved(
                "the endpoint does not say how many tokens it took, so engine.budget.tokens and money cannot be kept; "
                "use requests or seconds instead",
                # There is no process of ours that could be started again.
                restart=False,
            )

    def left(self) -> float:
        """Return the seconds until the time is over; infinity without a limit."""
        if self._budget.seconds is None:
            return math.inf
        with self._database.using() as cursor:
            row = cursor.execute("SELECT began FROM spent WHERE command = ?", (self._command,)).fetchone()
        return float(row[0]) + self._budget.seconds - time.time()

    def close(self) -> None:
        self._database.close()


def _check(what: str, spent: float, limit: float | None) -> None:
    if limit is not None and spent >= limit:
        raise BudgetSpent(
            f"the budget is spent: {spent:,.6g} of engine.budget.{what}: {limit:,.6g}; answers so far are kept, so "
            "that a run with a larger budget goes on from here"
        )
