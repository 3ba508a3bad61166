"""Prompts are spread over the samples of a dataset: evenly, by the seed."""

from __future__ import annotations

from collections import Counter

import pytest

from ci_eval.plugins.mining.record import Line, assign_split, spread_prompts


def lines(count: int, clusters: int = 3) -> list[Line]:
    return [
        Line(id=f"{number}", cluster=f"p{number % clusters}", language="go", context={}, references=("a",), meta={})
        for number in range(count)
    ]


def prompts(lines: list[Line], seed: int = 0) -> list[object]:
    spread = spread_prompts(lines, [f"ask {number}" for number in range(10)], "ru", seed, lambda text, _: f"{text}!")
    assert all(line.instruction == f"ask {int(str(line.meta['prompt'])[3:]) - 1}!" for line in spread)
    assert [line.id for line in spread] == [line.id for line in lines]
    return [line.meta["prompt"] for line in spread]


@pytest.mark.parametrize("count", [1, 9, 10, 57, 300])
def test_each_prompt_gets_as_many_samples_as_the_others_or_one_more(count: int) -> None:
    counts = Counter(prompts(lines(count)))
    assert max(counts.values()) - (min(counts.values()) if len(counts) == 10 else 0) <= 1
    assert sum(counts.values()) == count


def test_so_it_is_in_each_cluster() -> None:
    samples = lines(210)
    for cluster in ("p0", "p1", "p2"):
        of_cluster = [prompt for line, prompt in zip(samples, prompts(samples), strict=True) if line.cluster == cluster]
        assert {*Counter(of_cluster).values()} == {7}


def test_the_seed_decides_and_the_order_of_the_samples_does_not() -> None:
    samples = lines(50)
    assert prompts(samples) == prompts(samples)
    assert prompts(samples) != prompts(samples, seed=1)
    assert [*reversed(prompts([*reversed(samples)]))] == prompts(samples)


def test_clusters_are_split_about_as_asked() -> None:
    counts = [assign_split(f"o/{number}", (80, 10, 10), 0) for number in range(1000)]
    assert 750 < counts.count("train") < 850
    assert 70 < counts.count("test") < 130
    assert assign_split("O/5", (80, 10, 10), 0) == assign_split("o/5", (80, 10, 10), 0)
