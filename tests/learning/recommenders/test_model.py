"""A model is read as it was written, or refused with the reason."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.plugins.learning import recommenders
from ci_eval.plugins.learning.recommenders import model as model_file
from ci_eval.plugins.learning.recommenders.model import FACTS, TYPES, load
from ci_eval.plugins.learning.recommenders.training import Trained
from tests.learning.recommenders.trained import T, proposed, trained, usage

Entries = dict[str, bytes]


def changed(path: Path, change: Callable[[Entries], object], *, sealed: bool = True) -> Path:
    """The model with other contents; `sealed`: with the digest of these, as somebody who means harm would write it."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    facts = msgspec.json.decode(entries.pop(FACTS))
    change(entries)
    if sealed:
        facts["digest"] = model_file._digest(entries)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {FACTS: msgspec.json.encode(facts), **entries}.items():
            archive.writestr(name, data)
    return path


def test_a_model_says_what_it_is_made_of(tmp_path: Path) -> None:
    model = trained(tmp_path, "pbn", [*T, usage("")], t1=0.2, t2=0.2)
    facts = model.facts
    assert (facts.kind, facts.usages, facts.without_calls, facts.bad, facts.types) == ("pbn", 21, 1, 0, 1)
    assert facts.options["t1"] == 0.2


def test_what_changed_on_the_way_is_refused(tmp_path: Path) -> None:
    trained(tmp_path, "bmn", T)
    changed(tmp_path / "bmn.model", lambda entries: entries.update({TYPES: b"[]"}), sealed=False)
    with pytest.raises(ConfigError, match=r"bmn\.model: the model is damaged: it changed since it was written"):
        load(tmp_path / "bmn.model")


@pytest.mark.parametrize("data", [b"", b"PK", b"no zip at all", b"\x80\x04\x95pickle", bytes(100)])
def test_what_is_no_model_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(data)
    with pytest.raises(ConfigError, match=r"is not a model of `ci-eval train-recommender`"):
        load(tmp_path / "m")
    with pytest.raises(ConfigError, match="cannot read"):
        load(tmp_path / "none")


def test_a_file_that_unpacks_to_too_much_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_file, "UNPACKED", 1_000_000)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(FACTS, b"0" * 2_000_000)
    (tmp_path / "m").write_bytes(buffer.getvalue())
    with pytest.raises(ConfigError, match="unpacks to more than 1,000,000 bytes"):
        load(tmp_path / "m")


def test_nor_is_a_small_file_that_claims_to_be_large(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "m", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(FACTS, b"0" * 30_000_000)
    with pytest.raises(ConfigError, match="unpacks to more than 16,000,000 bytes"):
        load(tmp_path / "m")


@pytest.mark.parametrize("kind", recommenders.names())
@pytest.mark.parametrize("value", [-7, 2**40])
def test_numbers_beyond_their_bounds_cost_an_error_and_nothing_else(kind: str, value: int, tmp_path: Path) -> None:
    trained(tmp_path, kind, T)
    whole = (tmp_path / f"{kind}.model").read_bytes()
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        names = [name for name in archive.namelist() if name.endswith((".i", ".lengths"))]
    for name in names:
        (tmp_path / "m").write_bytes(whole)

        def spoil(entries: Entries, name: str = name) -> None:
            numbers = np.frombuffer(entries[name], dtype="<i4" if name.endswith(".i") else "<i8").copy()
            numbers[-1] = value if numbers.dtype == "<i8" else max(min(value, 2**31 - 1), -(2**31))
            entries[name] = numbers.tobytes()

        changed(tmp_path / "m", spoil)
        # A count may be any number from 1 on, and a value may be one that no query has: then it is only wrong.
        if value > 0 and name in {"contexts.i", "counts.i", "members.i", "support.i", "usages.i"}:
            continue
        with pytest.raises(ConfigError, match="damaged"):
            proposed(Trained(tmp_path / "m"), usage("m1"))


@pytest.mark.parametrize("kind", recommenders.names())
def test_arrays_that_are_missing_or_cut_off_cost_an_error(kind: str, tmp_path: Path) -> None:
    trained(tmp_path, kind, T)
    whole = (tmp_path / f"{kind}.model").read_bytes()
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        names = [name for name in archive.namelist() if name != FACTS]
    for name in names:
        for change in (
            lambda entries, name=name: entries.pop(name),
            lambda entries, name=name: entries.update({name: entries[name][:-3]}),
            lambda entries, name=name: entries.update({name: b""}),
        ):
            (tmp_path / "m").write_bytes(whole)
            changed(tmp_path / "m", change)
            with pytest.raises(ConfigError):
                proposed(Trained(tmp_path / "m"), usage("m1"))


@pytest.mark.parametrize(
    ("facts", "said"),
    [({"format": 9}, "has format 9"), ({"kind": "../x"}, "unknown"), ({"options": {"x": 1}}, "known are")],
)
def test_a_model_of_another_kind_is_refused(facts: dict[str, object], said: str, tmp_path: Path) -> None:
    trained(tmp_path, "frequency", T)
    with zipfile.ZipFile(tmp_path / "frequency.model") as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries[FACTS] = msgspec.json.encode(msgspec.json.decode(entries[FACTS]) | facts)
    with zipfile.ZipFile(tmp_path / "m", "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    with pytest.raises(ConfigError, match=said):
        Trained(tmp_path / "m")
