"""Licences are told by a project's own files."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.plugins.mining.licences import detect_licence, match_licence

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
