"""Writes the lists of languages and training projects in settings.kts anew: python3 .teamcity/generate.py"""

from __future__ import annotations

import json
import re
from pathlib import Path

from ci_eval.core.catalogs import languages
from ci_eval.core.config import Config, load
from ci_eval.fetch import schemes
from ci_eval.jobs.preparation import load_engine

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = ROOT / ".teamcity" / "settings.kts"
BLOCK = re.compile(r"(// begin generated:[^\n]*\n).*?(// end generated\n)", re.DOTALL)


def generated() -> str:
    """The lines between the marks."""
    rows, training = [], []
    for path in sorted((ROOT / "configs").glob("*.yaml")):
        config = load(path).config
        if config.dataset.spec:
            continue  # records of several languages, and no engine that is installed
        language, engine = languages.CATALOG.load(config.language), load_engine(config)
        values = (language.name, language.title, engine.name, path.relative_to(ROOT).as_posix(), *needed(config))
        rows.append(f"    Language({', '.join(map(json.dumps, values))}),\n")
        if projects := ", ".join(map(json.dumps, config.training_projects)):
            training.append(f"    {json.dumps(language.name)} to listOf({projects}),\n")
    return (
        f"val languages = listOf(\n{''.join(rows)})\n\n"
        "/** What rankers learn from: name of the language to project SPECs. */\n"
        f"val training = mapOf(\n{''.join(training)})\n"
    )


def needed(config: Config) -> list[str]:
    """Programs that the engine and the project's registry take."""
    scheme = schemes.CATALOG.load(config.project.spec.partition(":")[0])
    return sorted({*scheme.needs, *load_engine(config).needs})


def main() -> None:
    """Replace what stands between the marks."""
    text = BLOCK.sub(lambda found: found[1] + generated() + found[2], SETTINGS.read_text())
    SETTINGS.write_text(text)


if __name__ == "__main__":
    main()
