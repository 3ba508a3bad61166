"""Text, places and edits."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.core.grammar import document as document_module
from ci_eval.core.grammar.document import (
    MANY,
    Document,
    GapText,
    NotText,
    OtherEncoding,
    code_points,
    decode,
    difference,
    line_and_column,
    read_text,
)
from ci_eval.core.model import DeleteRange, MoveCaret, PrintText


@pytest.mark.parametrize("data", [b"a\nb\nc", b"a\r\nb\r\nc", b"a\rb\rc", b"\xef\xbb\xbfa\nb\r\nc"])
def test_all_line_ends_become_one(data: bytes) -> None:
    assert decode(data) == "a\nb\nc"


@pytest.mark.parametrize(("data", "why"), [(b"a\0b", "NUL byte at offset 1"), (b"ab\xff", "0xff at offset 2")])
def test_what_is_no_text_says_where(data: bytes, why: str) -> None:
    with pytest.raises(NotText, match=why):
        decode(data)


@given(st.text(max_size=50))
def test_each_byte_offset_has_the_offset_of_its_code_point(text: str) -> None:
    points = code_points(text.encode())
    for i in range(len(text) + 1):
        assert points[len(text[:i].encode())] == i


@given(st.text(alphabet="ab\n", max_size=40), st.data())
def test_line_and_column_lead_back_to_the_offset(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    line, column = line_and_column(text, offset)
    assert sum(len(each) + 1 for each in text.split("\n")[:line]) + column == offset


@given(st.text(max_size=30), st.data())
def test_the_edits_lead_from_the_old_text_to_the_new_one(text: str, data: st.DataObject) -> None:
    document, follower = Document(text), text
    for _ in range(data.draw(st.integers(0, 8))):
        begin = data.draw(st.integers(0, len(document.text)))
        if data.draw(st.booleans()):
            document.delete(begin, data.draw(st.integers(begin, len(document.text))))
        document.insert(data.draw(st.sampled_from(["", "x", "yz", text[begin : begin + 2]])))
    for offset, deleted, inserted in document.take_edits():
        follower = follower[:offset] + inserted + follower[offset + deleted :]
    assert follower == document.text


def test_what_is_put_back_is_no_edit() -> None:
    document = Document("one two")
    document.delete(0, 3)
    document.insert("one")
    assert document.take_edits() == []


@pytest.mark.parametrize("window", [0, 2, 1_000])
@given(text=st.text("ab\n", max_size=20), data=st.data())
def test_a_document_has_the_text_of_slices_wherever_the_changes_are(
    window: int, text: str, data: st.DataObject
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document_module, "WINDOW", window)
        document, follower = Document(text), text
        for _ in range(data.draw(st.integers(0, 2 * MANY))):
            begin = data.draw(st.integers(0, len(text)))
            end = data.draw(st.integers(begin, min(begin + 3, len(text))))
            new = data.draw(st.sampled_from(["", "x", "yz", text[begin:end]]))
            document.apply(DeleteRange(begin=begin, end=end))
            document.apply(MoveCaret(offset=begin))
            # Half of the tokens are typed letter by letter.
            for part in new if data.draw(st.booleans()) else [new]:
                document.apply(PrintText(text=part))
            text = text[:begin] + new + text[end:]
            with pytest.raises(ValueError, match=f"outside the text of {len(text)} char"):
                document.delete(len(text), len(text) + 1)
            if data.draw(st.booleans()):
                assert (document.text, document.caret) == (text, begin + len(new))
            if data.draw(st.booleans()):
                for offset, deleted, inserted in document.take_edits():
                    follower = follower[:offset] + inserted + follower[offset + deleted :]
                assert follower == text
        assert document.text == text


@pytest.mark.parametrize("offset", [-1, 4])
def test_a_caret_outside_the_text_is_refused(offset: int) -> None:
    with pytest.raises(ValueError, match="outside"):
        Document("abc").move(offset)


@given(old=st.text("ab", max_size=20), new=st.text("ab", max_size=20))
def test_the_difference_makes_the_new_text_of_the_old_one_and_is_short(old: str, new: str) -> None:
    begin, deleted, inserted = difference(old, new)
    assert old[:begin] + inserted + old[begin + deleted :] == new
    if deleted and inserted:
        assert old[begin] != inserted[0]
        assert old[begin + deleted - 1] != inserted[-1]


def test_many_edits_are_taken_as_one() -> None:
    document = Document("one two")
    for character in "three and four":
        document.move(len(document.text) - 4)
        document.insert(character)
    assert document.take_edits() == [(3, 0, "three and four")]


@given(st.text("ab", max_size=20), st.data())
def test_changes_are_those_of_slices(text: str, data: st.DataObject) -> None:
    gap = GapText(text)
    for _ in range(data.draw(st.integers(0, 12))):
        begin = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(begin, len(text)))
        new = data.draw(st.sampled_from(["", "x", "yz"]))
        assert gap.replace(begin, end, new) == text[begin:end]
        text = text[:begin] + new + text[end:]
        assert len(gap) == len(text)
        if data.draw(st.booleans()):
            assert str(gap) == text
    assert str(gap) == text


@pytest.mark.parametrize(("begin", "end"), [(-1, 0), (2, 1), (0, 4)])
def test_a_range_outside_the_text_is_refused(begin: int, end: int) -> None:
    with pytest.raises(ValueError, match="outside"):
        GapText("abc").replace(begin, end, "")


@pytest.mark.parametrize(
    "head",
    ["# -*- coding: latin-1 -*-", "#!/usr/bin/ruby\n# encoding: ISO-8859-1", "// -*- coding: latin-1 -*-"],
    ids=["PEP 263", "Ruby, behind the program", "an editor's"],
)
def test_the_encoding_that_the_first_lines_declare_is_read(head: str) -> None:
    assert decode(f"{head}\ncafé\n".encode("latin-1")).endswith("\ncafé\n")


def test_what_is_utf_8_is_read_as_such_whatever_is_declared() -> None:
    assert decode("# coding: latin-1\ncafé".encode()).endswith("café")


@pytest.mark.parametrize("name", ["utf-8", "klingon", "hex", "undefined"])
def test_a_declared_encoding_that_fits_not_is_said(name: str) -> None:
    with pytest.raises(OtherEncoding, match=f", nor {name}, the declared encoding"):
        decode(f"# coding: {name}\ncafé".encode("latin-1"))


@pytest.mark.parametrize(
    ("file", "build"),
    [
        (
            "pom.xml",
            '<?xml version="1.0" encoding="UTF-8"?><x.sourceEncoding>ISO-8859-1</x.sourceEncoding>',
        ),
        ("pom.xml", "<configuration><encoding>ISO-8859-1</encoding></configuration>"),
        ("build.xml", '<javac srcdir="src" encoding="ISO-8859-1"/>'),
        ("build.gradle", "compileJava.options.encoding = 'ISO-8859-1'"),
        ("build.sbt", 'javacOptions ++= Seq("-encoding", "ISO-8859-1")'),
    ],
)
def test_the_encoding_of_the_nearest_build_file_is_read(tmp_path: Path, file: str, build: str) -> None:
    (tmp_path / "part" / "src").mkdir(parents=True)
    (tmp_path / "part" / file).write_text(build)
    for folder in ("part/src", "."):
        (tmp_path / folder / "A.java").write_bytes("class A { int é; }".encode("latin-1"))
    assert read_text(tmp_path, "part/src/A.java") == "class A { int é; }"
    with pytest.raises(OtherEncoding, match="not UTF-8: byte 0xe9"):
        read_text(tmp_path, "A.java")


@given(st.text("ab", max_size=8), st.text("ab", max_size=8))
def test_a_jump_is_at_most_one_edit(old: str, new: str) -> None:
    document = Document(old)
    document.jump(new, len(new))
    assert (document.text, document.caret) == (new, len(new))
    assert len(document.take_edits()) == (old != new)
