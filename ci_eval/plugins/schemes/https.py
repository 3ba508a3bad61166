"""A scheme for an archive by its address."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ci_eval.core.base.errors import ConfigError, DownloadError
from ci_eval.core.fetch.contract import Scheme, Spec
from ci_eval.core.fetch.download import check_url, download, shown
from ci_eval.core.fetch.pinned import check_and_unpack, cut_pin


def parse(text: str) -> Spec:
    """Return the spec of an address with its digest. Raises ConfigError."""
    url, pin = cut_pin(text)
    try:
        check_url(url)
    except DownloadError as error:
        raise ConfigError(str(error)) from None
    if "@" in urlsplit(url).netloc:
        raise ConfigError(f"{shown(url)} is given with a user or a password. Let ~/.netrc hold them.")
    if not pin:
        raise ConfigError(f"{shown(url)} needs its digest: append #sha256= and what `sha256sum FILE` prints.")
    file = unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2]
    name = re.sub(r"(\.tar)?\.(zip|jar|whl|tgz|tar|gz|bz2|xz)$", "", file)
    return Spec(scheme="https", source=url, name=name or "archive", sha256=pin)


def fetch(spec: Spec, files: Path, cache: Path) -> Spec:
    """Download the archive and unpack it; see `contract.Fetch`."""
    return check_and_unpack(spec, download(spec.source, sha256=spec.sha256, cache=cache), files)


SCHEME = Scheme(
    example="https://HOST/FILE#sha256=HEX",
    parse=parse,
    fetch=fetch,
    write=lambda spec: f"{shown(spec.source)}{spec.pin}",
    top=True,
)
