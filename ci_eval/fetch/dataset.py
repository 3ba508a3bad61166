"""Prepare datasets. A dataset is a file on this machine, or a download that is pinned by its digest."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path

import msgspec

from ci_eval.core.base.errors import ConfigError, PreparationError
from ci_eval.core.model import ProjectInfo
from ci_eval.fetch import schemes, sealed
from ci_eval.fetch.download import download, hash_file, shown

LONGEST = 16 << 20
"""The limit of a line, in bytes. Longer lines are not read."""


def read_lines(path: Path) -> Iterator[bytes | None]:
    """Yield the lines of a file without its byte order mark, and None for each line that is longer than LONGEST."""
    with path.open("rb") as file:
        if file.read(3) != codecs.BOM_UTF8:
            file.seek(0)
        while line := file.readline(LONGEST + 1):
            is_long = len(line) > LONGEST
            yield None if is_long else line
            # The rest of the line is skipped in pieces, so that a long line does not fill memory.
            while is_long and line and not line.endswith(b"\n"):
                line = file.readline(LONGEST)


class Dataset(msgspec.Struct, frozen=True, kw_only=True):
    path: Path
    info: ProjectInfo

    def lines(self) -> Iterator[tuple[int, dict[str, object] | str]]:
        """Yield the number of each line that is not blank, with its JSON fields or the reason why it has none."""
        for number, line in enumerate(read_lines(self.path), 1):
            if line is None:
                yield number, f"it is longer than {LONGEST:,} bytes"
            elif line.strip():
                try:
                    fields = msgspec.json.decode(line, type=dict[str, object])
                except RecursionError:
                    yield number, "it is nested too deeply"
                except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                    yield number, f"it is not a JSON object: {error}"
                else:
                    yield number, fields


def prepare(spec: str, *, cache: Path) -> Dataset:
    """Return the dataset that `spec` names: FILE, or `https://…#sha256=…`, which is downloaded once. Raises ConfigError
    or PreparationError."""
    if spec.startswith(("https:", "http:")):
        pinned = schemes.CATALOG.load("https").parse(spec)
        path = download(pinned.source, sha256=pinned.sha256, cache=cache)
        spec, name = f"{shown(pinned.source)}{pinned.pin}", pinned.name
    else:
        path = Path(spec).expanduser()
        name = path.name
    if not path.is_file():
        raise ConfigError(f"there is no dataset {spec}: give a file of JSON lines, or https://HOST/FILE#sha256=HEX")
    if not os.access(path, os.R_OK):
        raise ConfigError(f"the dataset {spec} cannot be read: check its permissions")
    digest = hash_file(path)
    info = ProjectInfo(spec=spec, name=name.removesuffix(".jsonl"), revision=digest[:12], checksum=digest)
    return Dataset(path=path, info=info)


def lay_out(files: Mapping[str, str], *, cache: Path) -> Path:
    """Write these files (path → text) to a folder below `cache`, unless that folder exists, and return the folder.
    Raises PreparationError."""
    digest = sha256()
    for path, text in files.items():
        digest.update(f"{path}\0{text}\0".encode())
    folder = cache.absolute() / "datasets" / digest.hexdigest()[:32]
    if sealed.intact(folder):
        return folder
    try:
        with sealed.new_folder(folder.parent) as whole:
            for path, text in files.items():
                (whole / path).parent.mkdir(parents=True, exist_ok=True)
                (whole / path).write_bytes(text.encode())
            sealed.publish(whole, folder)
    except OSError as error:
        raise PreparationError(f"Cannot lay out a dataset: {error}. Is {cache} writable, the disk full?") from error
    return folder
