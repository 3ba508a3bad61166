"""A document consists of blocks. Each block can write itself as Markdown, as HTML and to the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec
from markupsafe import Markup

from ci_eval.rendering import markdowntext

ALL = "markdown terminal html"
LONGEST = 1_000
"""The limit of a sentence in Markdown, in characters."""
OF_HEADS = frozenset({"number", "times", "wide"})
"""The classes of cells that the head of their column gets, too. A page may hide all cells of "times" and "wide"."""


class Terminal(Protocol):
    def result(self, text: str) -> None: ...

    def warn(self, text: str) -> None: ...

    @property
    def table(self) -> Callable[..., None]:
        """Return the function that prints a table (see `Screen.table`)."""


class Block(Protocol):
    """A part of a document."""

    @property
    def formats(self) -> str:
        """Return the names of the formats that show the block, such as "markdown html"."""

    def markdown(self) -> str:
        """Return the block as Markdown; "" if there is nothing to say."""

    def terminal(self, screen: Terminal) -> None: ...

    def html(self) -> str:
        """Return the block as HTML. All foreign text in it is escaped."""


def to_markdown(blocks: Iterable[Block]) -> str:
    return "\n\n".join(filter(None, (block.markdown() for block in blocks if "markdown" in block.formats)))


def to_terminal(blocks: Iterable[Block], screen: Terminal) -> None:
    for block in blocks:
        if "terminal" in block.formats:
            block.terminal(screen)


class Sentence(msgspec.Struct, frozen=True):
    """A paragraph. `in_markdown` and `in_html` replace `text` in these formats; they must be safe there."""

    text: str = ""
    formats: str = ALL
    in_markdown: str | None = None
    in_html: Markup | None = None

    def markdown(self) -> str:
        return self.text if self.in_markdown is None else self.in_markdown

    def terminal(self, screen: Terminal) -> None:
        screen.result(self.text)

    def html(self) -> Markup:
        return Markup("<p>{}</p>\n").format(self.text) if self.in_html is None else self.in_html


class Warned(Sentence, frozen=True):
    def markdown(self) -> str:
        return f"> {markdowntext.prose(self.text, LONGEST)}"

    def terminal(self, screen: Terminal) -> None:
        screen.warn(self.text)

    def html(self) -> Markup:
        return Markup('<p class="warning">⚠ {}</p>\n').format(self.text)


class Cell(NamedTuple):
    """A cell of a table. `below` is the interval of a figure. `safe` makes the text safe in Markdown, in place of the
    column's function. `on_terminal` and `in_html` replace `text` in these formats."""

    text: str
    below: str = ""
    safe: Callable[[str], str] | None = None
    on_terminal: str | None = None
    in_html: Markup | None = None

    @property
    def whole(self) -> str:
        return f"{self.text} ({self.below})" if self.below else self.text


class Column(msgspec.Struct, frozen=True):
    """`about` is the tooltip of the column's head. `classes` are the HTML classes of its cells; "row" makes a cell a
    head. `safe` makes cells safe in Markdown. `on_terminal` is the name on the terminal (default: in lower case)."""

    name: str
    classes: str = ""
    about: str = ""
    formats: str = ALL
    safe: Callable[[str], str] = str
    on_terminal: str | None = None
    in_html: str | None = None


class Table(msgspec.Struct, frozen=True):
    """`numbers` is how many columns after the first are right-aligned on the terminal; None: all. See `Screen.table`
    about `styles` and `spare`. `label` is for screen readers: a text, or "#" and a heading's id. Only reports have
    the `reasons` for what the rows say, and pages fold them. If `is_tall`, a page scrolls the table up and down."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[str | Cell]]
    title: str = ""
    formats: str = ALL
    on_terminal: str | None = None
    numbers: int | None = None
    styles: Mapping[str, str] = msgspec.field(default_factory=dict)
    spare: Sequence[str] = ()
    classes: str = ""
    label: str = ""
    foot: Sequence[str | Cell] = ()
    note: str = ""
    reasons: Sequence[str] = ()
    is_tall: bool = False

    def within(self, name: str) -> tuple[list[Column], list[list[Cell]]]:
        """Return the columns and rows that a format shows, with the foot as the last row."""
        places = [place for place, column in enumerate(self.columns) if name in column.formats]
        listed = [*self.rows, self.foot] if self.foot else self.rows
        rows = [[Cell(cell) if isinstance(cell, str) else cell for cell in row] for row in listed]
        return [self.columns[place] for place in places], [[row[place] for place in places] for row in rows]

    def markdown(self) -> str:
        columns, rows = self.within("markdown")
        names = [f"{'>' * ('number' in column.classes)}{column.name}" for column in columns]
        texts = [
            [(cell.safe or column.safe)(cell.whole) for column, cell in zip(columns, row, strict=True)] for row in rows
        ]
        shown = markdowntext.table(self.title, names, texts)
        reasons = "\n".join(f"- {markdowntext.prose(reason, LONGEST)}" for reason in self.reasons)
        note = markdowntext.prose(self.note, LONGEST)
        return "\n\n".join(filter(None, [shown, reasons, note])) if shown else shown

    def terminal(self, screen: Terminal) -> None:
        columns, rows = self.within("terminal")
        screen.table(
            [column.name.lower() if column.on_terminal is None else column.on_terminal for column in columns],
            [[cell.whole if cell.on_terminal is None else cell.on_terminal for cell in row] for row in rows],
            numbers=len(columns) - 1 if self.numbers is None else self.numbers,
            title=self.title if self.on_terminal is None else self.on_terminal,
            styles=self.styles,
            spare=self.spare,
        )
        if self.note:
            screen.result(self.note)

    def html(self) -> Markup:
        columns, rows = self.within("html")
        heads = Markup().join(
            Markup('<th scope="col"{}{}>{}</th>').format(
                Markup(' class="{}"').format(" ".join(classes)) if classes else "",
                Markup(' title="{}"').format(column.about) if column.about else "",
                column.name if column.in_html is None else column.in_html,
            )
            for column in columns
            for classes in [[name for name in column.classes.split() if name in OF_HEADS]]
        )
        lines = [Markup("<tr>{}</tr>\n").format(Markup().join(map(_html_cell, columns, row))) for row in rows]
        foot = Markup("<tfoot>\n{}</tfoot>\n").format(lines.pop()) if self.foot else ""
        reasons = Markup().join(Markup("<li>{}</li>\n").format(reason) for reason in self.reasons)
        return Markup(
            '<div class="scroll{}" tabindex="0" role="group" aria-{}="{}">\n<table{}>\n<thead><tr>{}</tr></thead>\n'
            "<tbody>\n{}</tbody>\n{}</table>\n</div>\n{}{}"
        ).format(
            " tall" if self.is_tall else "",
            "labelledby" if self.label.startswith("#") else "label",
            self.label.lstrip("#"),
            Markup(' class="{}"').format(self.classes) if self.classes else "",
            heads,
            Markup().join(lines),
            foot,
            Markup("<details>\n<summary>Why</summary>\n<ul>\n{}</ul>\n</details>\n").format(reasons) if reasons else "",
            Markup('<p class="quiet">{}</p>\n').format(self.note) if self.note else "",
        )


def breakable(path: str) -> Markup:
    return Markup("/<wbr>").join(path.split("/"))


def _html_cell(column: Column, cell: Cell) -> Markup:
    shown = cell.in_html
    if shown is None:
        shown = Markup("{}<small>{}</small>").format(cell.text, cell.below) if cell.below else Markup.escape(cell.text)
    if column.classes == "row" and shown:
        return Markup('<th scope="row">{}</th>').format(shown)
    classes = Markup(' class="{}"').format(column.classes) if column.classes else ""
    return Markup("<td{}>{}</td>").format(classes, shown)


class Fold(msgspec.Struct, frozen=True):
    """A table that is folded unless `is_open`. `title` is the heading in Markdown, `about` in HTML."""

    title: str
    block: Table
    about: str
    is_open: bool = False
    formats: str = "markdown html"

    def markdown(self) -> str:
        return markdowntext.fold(self.title, self.block.markdown())

    def terminal(self, screen: Terminal) -> None:
        self.block.terminal(screen)

    def html(self) -> Markup:
        opened = Markup(" open") if self.is_open else ""
        return Markup("<details{}><summary>{}</summary>\n{}</details>\n").format(opened, self.about, self.block.html())


class Section(msgspec.Struct, frozen=True):
    """Several blocks, which have a heading in HTML only."""

    identity: str
    title: str
    about: str
    blocks: Sequence[Block]
    formats: str = ALL

    def markdown(self) -> str:
        return to_markdown(self.blocks)

    def terminal(self, screen: Terminal) -> None:
        to_terminal(self.blocks, screen)

    def html(self) -> Markup:
        about = Markup(' <span class="quiet">{}</span>').format(self.about) if self.about else ""
        heading = Markup('<section aria-labelledby="{0}">\n<h2 id="{0}">{1}{2}</h2>\n').format(
            self.identity, self.title, about
        )
        blocks = Markup().join(Markup(block.html()) for block in self.blocks if "html" in block.formats)  # noqa: S704
        return heading + blocks + Markup("</section>\n")
