"""Writes the list of languages in settings.kts anew, from configs/: python3 .teamcity/generate.py"""

from __future__ import annotations

import re
from pathlib import Path

from ci_eval import languages
from ci_eval.config import load
from ci_eval.jobs.preparing import engine_of

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = ROOT / ".teamcity" / "settings.kts"
BLOCK = re.compile(r"(// begin generated:[^\n]*\n).*?(// end generated\n)", re.DOTALL)


def generated() -> str:
    """The lines between the marks."""
    rows = []
    for path in sorted((ROOT / "configs").glob("*.yaml")):
        config = load(path).config
        language, engine = languages.CATALOG.load(config.language), engine_of(config)
        place = path.relative_to(ROOT).as_posix()
        rows.append(f'    Language("{language.name}", "{language.title}", "{engine.name}", "{place}"),\n')
    return f"val languages = listOf(\n{''.join(rows)})\n"


def main() -> None:
    """Replace what stands between the marks."""
    text = BLOCK.sub(lambda found: found[1] + generated() + found[2], SETTINGS.read_text())
    SETTINGS.write_text(text)


if __name__ == "__main__":
    main()
