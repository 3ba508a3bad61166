"""A program that asks many questions in a few threads; tests kill it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from ci_eval.core.base.errors import EngineFailure
from ci_eval.core.model.settings import EndpointConfig
from ci_eval.plugins.adapters.endpoints.client import Asking, Client
from ci_eval.plugins.adapters.endpoints.messages import Prompt, Reply


def ask_all(client: Client, prompts: Iterable[Prompt]) -> Iterator[Reply | EngineFailure]:
    """Yield the answers, or the failures, in the order of the questions, all of which are asked ahead."""
    prompts = list(prompts)
    for prompt in prompts:
        client.expect(prompt)
    for prompt in prompts:
        try:
            yield client.ask(prompt)
        except EngineFailure as failure:  # noqa: PERF203 - each question may fail
            yield failure


if __name__ == "__main__":
    address, cache, count = sys.argv[1:]
    settings = EndpointConfig(endpoint=address, model="tiny", concurrency=4)
    client = Client(Asking(settings=settings, mode="keep"), Path(cache), 10.0)
    found = list(ask_all(client, (Prompt(instruction=str(number)) for number in range(int(count)))))
    sys.exit(any(isinstance(each, EngineFailure) for each in found))
