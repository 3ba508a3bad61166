"""The making of a dossier: a few starts in projects full of tricks, then real sessions in two orders."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from ci_eval.core import machine
from ci_eval.core.catalogs import engines
from tests.engines.dossiers import Dossier
from tests.engines.looking import look, settings_of
from tests.engines.ordering import ask_in_two_orders


def observe(name: str, language: str) -> Dossier:
    """Observe a verified engine; it takes from ten seconds to some minutes."""
    with TemporaryDirectory(prefix="dossier-") as temporary:
        folder = Path(temporary)
        version = engines.CATALOG.load(name).install(None, machine.cache_folder()).info.version
        looks = [
            look(name, language, setting, folder / f"look{number}")
            for number, setting in enumerate(settings_of(language))
        ]
        ordered, shuffled = ask_in_two_orders(name, language, folder)
    return Dossier(digest="", run="", version=version, looks=looks, ordered=ordered, shuffled=shuffled)
