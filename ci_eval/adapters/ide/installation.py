"""An IDE on this machine: its folder, what it says of itself, and the plugin beside it."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ci_eval import stored
from ci_eval.adapters.ide.options import IdeOptions
from ci_eval.errors import ConfigError, InstallError
from ci_eval.fetch.archive import Limits, top_of, unpack
from ci_eval.fetch.download import check_sha256, download

MARKER = ".ci-eval-complete"
LARGEST = Limits(entries=500_000, file_bytes=4 << 30, total_bytes=16 << 30)
"""An IDE unpacks to a few GB."""
LARGEST_DOWNLOAD = 4 << 30


class _Launch(msgspec.Struct, rename="camel"):
    os: str = ""
    launcher_path: str = ""


class _Product(msgspec.Struct, rename="camel"):
    product_code: str
    build_number: str
    env_var_base_name: str = "IDEA"
    launch: list[_Launch] = []


@dataclass(frozen=True, kw_only=True)
class Ide:
    """An IDE that can be started."""

    folder: Path
    build: str
    """Product and build, such as IU-233.11799.241."""
    launcher: Path
    variables: str
    """What its variables begin with, such as IDEA in IDEA_PROPERTIES."""
    plugin: Path | None
    """Folder of the evaluation plugin, where the IDE does not bring it."""


def find(options: IdeOptions, cache: Path) -> Ide:
    """The IDE of these options, unpacked below `cache` where it is an archive. Raises ConfigError, PreparationError."""
    if not options.ide:
        raise ConfigError(
            "engine jetbrains needs an IDE: add --set engine.options.ide=FOLDER, or an archive with "
            "--set engine.options.sha256=HEX"
        )
    folder = _folder("ide", options.ide, options.sha256, cache)
    plugin = _folder("plugin", options.plugin, options.plugin_sha256, cache) if options.plugin else None
    product = _product(folder)
    launcher = folder / next((each.launcher_path for each in product.launch if each.os == "Linux"), "")
    if not launcher.is_file():
        raise InstallError(f"{folder} has no launcher for Linux: product-info.json names none that is there")
    return Ide(
        folder=folder,
        build=f"{product.product_code}-{product.build_number}",
        launcher=launcher,
        variables=product.env_var_base_name,
        plugin=plugin,
    )


def _product(folder: Path) -> _Product:
    path = folder / "product-info.json"
    if not path.is_file():
        raise InstallError(f"{folder} is no IDE of JetBrains: it has no product-info.json; give the folder that has")
    try:
        return msgspec.json.decode(stored.read(path, stored.MANIFEST), type=_Product)
    except msgspec.MsgspecError as error:
        raise InstallError(f"{path} is damaged: {error}; install the IDE again") from error


def _folder(what: str, given: str, sha256: str, cache: Path) -> Path:
    if given.startswith(("https://", "http://")):
        _need_digest(what, given, sha256)
        archive = download(given, sha256=sha256, cache=cache, max_bytes=LARGEST_DOWNLOAD)
        return _unpacked(archive, sha256, cache)
    path = Path(given).expanduser().absolute()
    if path.is_dir():
        return path
    if not path.is_file():
        raise ConfigError(f"`engine.options.{what}` is {given}, where there is neither a folder nor an archive")
    _need_digest(what, given, sha256)
    check_sha256(path, sha256, path.name)
    return _unpacked(path, sha256, cache)


def _need_digest(what: str, given: str, sha256: str) -> None:
    if not sha256:
        key = "sha256" if what == "ide" else "pluginSha256"
        raise ConfigError(f"`engine.options.{what}` is the archive {given}: add its SHA-256 as `engine.options.{key}`")


def _unpacked(archive: Path, sha256: str, cache: Path) -> Path:
    """The folder in the archive; unpacked once."""
    home = cache / "ides" / sha256[:32]
    if not (home / MARKER).is_file():
        home.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=home.parent) as new:
            whole = Path(new, "whole")
            unpack(archive, whole / "files", LARGEST)
            (whole / MARKER).touch()
            # Another process may have been faster.
            if not (home / MARKER).is_file():
                whole.rename(home)
    return top_of(home / "files")
