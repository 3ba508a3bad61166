"""Prompts are spread over the samples of a dataset: evenly, by the seed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from ci_eval.plugins.mining.record import Line, assign_split, detect_licence, match_licence, spread_prompts


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


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ((ROOT / "LICENSE").read_text(), "Apache-2.0"),
        ("Permission is hereby granted, free of charge, to any person\nobtaining a copy of this software", "MIT"),
        ("Redistribution and use in source and\n * binary forms", "BSD-2-Clause"),
        ("Redistribution and use in source and binary forms … Neither the name of the", "BSD-3-Clause"),
        ("GNU LESSER GENERAL PUBLIC LICENSE … the GNU GENERAL PUBLIC LICENSE", "LGPL"),
        ('{"license": "ISC"}', "ISC"),
        ("License-Expression: BSD-3-Clause\n", "BSD-3-Clause"),
        ('[project]\nname = "a"\nlicense = "MIT"\n', "MIT"),
        ("[package]\nlicense = 'ISC'\n", "ISC"),
        ('[project]\nlicense = { text = "MIT" }\n', "MIT"),
        ('[project]\nlicense = { file = "MIT" }\n', ""),
        ("All rights reserved.", ""),
    ],
)
def test_a_licence_is_known_by_what_only_it_says(text: str, expected: str) -> None:
    assert match_licence(text) == expected


def test_a_licence_is_read_before_what_the_metadata_declares(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"license": "MIT"}')
    assert detect_licence(tmp_path) == "MIT"
    (tmp_path / "package.json").rename(tmp_path / "pyproject.toml").write_text('license = "MIT"\n')
    assert detect_licence(tmp_path) == "MIT"
    (tmp_path / "COPYING").write_text("GNU GENERAL PUBLIC LICENSE")
    assert detect_licence(tmp_path) == "GPL"


def test_a_project_without_a_licence_has_none(tmp_path: Path) -> None:
    assert detect_licence(tmp_path) == ""
