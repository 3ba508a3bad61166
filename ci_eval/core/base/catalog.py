"""Catalogs of plugins, such as metrics or engines: modules of a package, and entry points of installed packages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, cached_property
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Generic, TypeVar, cast

import msgspec

from ci_eval.core.base.errors import ConfigError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


class Plugin(msgspec.Struct, frozen=True):
    point: EntryPoint
    package: str
    version: str

    def load(self, kind: object) -> object:
        """Import the value. Raises ConfigError if that fails, or if the value does not have this kind (see `lacks`)."""
        try:
            value = self.point.load()
        # The code of the package may raise any exception.
        except Exception as error:
            raise ConfigError(self._broken(f"{type(error).__name__}: {error}")) from error
        if missing := lacks(value, kind):
            raise ConfigError(self._broken(missing))
        # Workspaces store `value.name`, by which the catalog must find the plugin later.
        if (own := getattr(value, "name", self.point.name)) != self.point.name:
            raise ConfigError(self._broken(f"the value has another name, {own!r}"))
        return value

    def _broken(self, reason: str) -> str:
        point = f"{self.point.name!r} ({self.point.group}, {self.point.value})"
        package = f"{self.package} {self.version}"
        return f"{point} of the installed package {package} cannot be used: {reason}; repair or uninstall that package"


REPLACED = {
    "jshell": "jdt",
    "jetbrains": "`ci-eval import` on a workspace of the plugin",
    **dict.fromkeys(
        ("crowd-code", "crowd-code-csv", "progsnap2", "task-tracker"),
        "neutral, a format that a script can make from such recordings",
    ),
    **dict.fromkeys(("embedding", "subtoken-beam"), "ngram"),
    **dict.fromkeys(("EMBEDDING", "SUBTOKEN_BEAM"), "NGRAM"),
}
"""Name of a removed variant → its replacement, as a text for the message."""


class Catalog(Generic[T]):
    """The variants in a package. Each variant is a module that defines a value, such as `GRADER`.

    A module may define several variants in a mapping by name, such as `GRADERS`. The table `TOGETHER` of the package
    then lists their names. The entry points of `group` in installed packages are variants, too. Entry points are read
    only if a name is not in the package, or if all names are listed.
    """

    def __init__(
        self,
        package: str,
        value: str,
        *,
        spelling: Callable[[str], str] = lambda module: module.replace("_", "-"),
        group: str = "",
        kind: object = None,
    ) -> None:
        """`spelling`: a function: module name → the name that users write. `kind`: the class or protocol of the values,
        which is checked for entry points; None if the caller checks them."""
        self._package = package
        self._value = value
        self._spelling = spelling
        self._group = group
        self._kind = kind

    def names(self) -> list[str]:
        """Return the names that users write, sorted. Raises ConfigError if two variants share a name."""
        return sorted((*self.modules, *self._plugins()))

    def load(self, name: str) -> T:
        """Return the variant with this name. Raises ConfigError, which suggests similar names."""
        if name in self.modules:
            module = import_module(self.modules[name])
            several = getattr(module, f"{self._value}S", None)
            return cast("T", several[name] if several else getattr(module, self._value))
        plugins = self._plugins()
        if name in plugins:
            return cast("T", plugins[name].load(self._kind))
        known = sorted((*self.modules, *plugins))
        # The user may have written the name in another case, such as basic for BASIC.
        near = get_close_matches(name, known, n=1) or get_close_matches(self._spelling(name.lower()), known, n=1)
        kind = {"RANKER": "completion type", "FORMAT": "log format"}.get(self._value, self._value.lower())
        hint = f"did you mean {near[0]!r}? " if near else ""
        if kind == "engine" and not near:
            hint = "to evaluate another language server, give its command, `engine: {command: [PROGRAM, …]}`; "
        if name in REPLACED:
            hint = f"it was removed, use {REPLACED[name]}; "
        if name in OF_THE_IDE:
            hint = "only JetBrains IDEs have it, use `ci-eval import` on a workspace of their plugin; "
        raise ConfigError(f"unknown {kind} {name!r}: {hint}known are {', '.join(known)}")

    def all(self) -> list[T]:
        return [self.load(name) for name in self.names()]

    @cached_property
    def modules(self) -> dict[str, str]:
        """Return the name of each variant in the package → its module."""
        folder = import_module(self._package)
        together: Mapping[str, Sequence[str]] = getattr(folder, "TOGETHER", {})
        modules = (module.name for module in iter_modules(folder.__path__))
        pairs = ((name, module) for module in modules for name in together.get(module, [self._spelling(module)]))
        return {name: f"{self._package}.{module}" for name, module in pairs}

    def _plugins(self) -> dict[str, Plugin]:
        known: dict[str, Plugin] = {}
        for plugin in plugins(self._group) if self._group else ():
            name = plugin.point.name
            # Names must be unique: otherwise results would depend on which package is found first.
            if owner := "ci-eval" if name in self.modules else known[name].package if name in known else "":
                raise ConfigError(
                    f"the installed package {plugin.package} and {owner} both have {name!r} among their {self._group}: "
                    f"rename it in {plugin.package}, or uninstall that package"
                )
            known[name] = plugin
        return known


OF_THE_IDE = frozenset({"SMART", "FULL_LINE", "CLANGD"})
"""Completion types that are valid in the JetBrains plugin, but that ci-eval does not have."""


def guess(given: str, known: Iterable[str]) -> str:
    """Return "; did you mean X?" with a similar known name X; "" if there is none."""
    spelled = {name.lower(): name for name in known}
    close = get_close_matches(given.lower().replace("-", "").replace(" ", ""), spelled, n=1)
    return f"; did you mean {spelled[close[0]]}?" if close else ""


def plugins(group: str) -> list[Plugin]:
    return [plugin for plugin in all_plugins() if plugin.point.group == f"ci_eval.{group}"]


@cache
def all_plugins() -> tuple[Plugin, ...]:
    # `--help` needs no entry points, and this import would double its time.
    from importlib.metadata import distributions

    known: dict[tuple[str, str, str], Plugin] = {}
    for distribution in distributions():
        for point in distribution.entry_points:
            if point.group.startswith("ci_eval."):
                package = distribution.metadata["Name"]
                # If a package is on the path twice, keep the first one, since Python imports that one.
                known.setdefault((point.group, point.name, package), Plugin(point, package, distribution.version))
    return tuple(known[key] for key in sorted(known))


def packages() -> dict[str, str]:
    """Return the installed packages that extend ci-eval: name → version."""
    return {plugin.package: plugin.version for plugin in all_plugins()}


def lacks(value: object, kind: object) -> str:
    """Return why a value is not an instance of a class, or lacks members of a protocol; "" if it fits."""
    if not isinstance(kind, type):
        return ""
    # `isinstance` rejects protocols that are not runtime-checkable, and does not tell which members are missing.
    if not getattr(kind, "_is_protocol", False):
        return "" if isinstance(value, kind) else f"its type is {type(value).__name__}, not {kind.__name__}"
    members = {name for base in kind.__mro__ for name in vars(base) if not name.startswith("_")}
    missing = sorted(name for name in members if not hasattr(value, name))
    return f"it lacks {', '.join(missing)} of the protocol {kind.__name__}" if missing else ""
