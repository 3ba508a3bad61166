"""An IDE on this machine: its folder, its description of itself, and the plugin beside it."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ci_eval.core.base import stored
from ci_eval.core.base.errors import ConfigError, InstallError
from ci_eval.core.fetch.archive import Limits, find_top_folder, unpack
from ci_eval.core.fetch.download import check_sha256, download
from ci_eval.plugins.adapters.ide.options import IdeOptions

MARKER = ".ci-eval-complete"
LARGEST = Limits(entries=500_000, file_bytes=4 << 30, total_bytes=16 << 30)
"""The limits of an unpacked IDE, which has a few GB."""
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
    """The product and build, such as IU-233.11799.241."""
    launcher: Path
    variables: str
    """The beginning of the names of the IDE's variables, such as IDEA in IDEA_PROPERTIES."""
    plugin: Path | None
    """The folder of the evaluation plugin, if the IDE does not bring it."""


def find(options: IdeOptions, cache: Path) -> Ide:
    """Return the IDE of these options; an archive is unpacked below `cache`. Raises ConfigError or PreparationError."""
    if not options.ide:
        raise ConfigError(
            "engine jetbrains needs an IDE: add --set engine.options.ide=FOLDER, or an archive with "
            "--set engine.options.sha256=HEX"
        )
    folder = _folder("ide", options.ide, options.sha256, cache)
    plugin = _folder("plugin", options.plugin, options.plugin_sha256, cache) if options.plugin else None
    product = _product(folder)
    launcher = folder / next((launch.launcher_path for launch in product.launch if launch.os == "Linux"), "")
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
    # JSON that is nested too deeply raises a RecursionError.
    except (msgspec.MsgspecError, RecursionError) as error:
        raise InstallError(f"{path} is damaged: {error}; install the IDE again") from error


def _folder(option: str, location: str, sha256: str, cache: Path) -> Path:
    if location.startswith(("https://", "http://")):
        _need_digest(option, location, sha256)
        archive = download(location, sha256=sha256, cache=cache, max_bytes=LARGEST_DOWNLOAD)
        return _unpack(archive, sha256, cache)
    path = Path(location).expanduser().absolute()
    if path.is_dir():
        return path
    if not path.is_file():
        raise ConfigError(f"`engine.options.{option}` is {location}, where there is neither a folder nor an archive")
    _need_digest(option, location, sha256)
    check_sha256(path, sha256, path.name)
    return _unpack(path, sha256, cache)


def _need_digest(option: str, location: str, sha256: str) -> None:
    if not sha256:
        key = "sha256" if option == "ide" else "pluginSha256"
        raise ConfigError(
            f"`engine.options.{option}` is the archive {location}: add its SHA-256 as `engine.options.{key}`"
        )


def _unpack(archive: Path, sha256: str, cache: Path) -> Path:
    """Return the folder in the archive, which is unpacked once."""
    home = cache / "ides" / sha256[:32]
    if not (home / MARKER).is_file():
        home.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=home.parent) as new:
            # The folder is filled and marked before it is moved, so that no other process sees a part of it.
            whole = Path(new, "whole")
            unpack(archive, whole / "files", LARGEST)
            (whole / MARKER).touch()
            # Another process may have been faster.
            if not (home / MARKER).is_file():
                whole.rename(home)
    return find_top_folder(home / "files")
