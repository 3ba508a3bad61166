"""Made-up histories of evaluations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

NASTY = '</td><script>document.title="owned"</script><img src=x onerror=alert(1)>{{ 7*7 }}\u202e'


def night(
    folder: Path,
    day: int,
    *,
    engine: str = "jedi",
    version: str = "0.19.2",
    language: str = "python",
    declared: Sequence[str] = (),
    gates: Sequence[object] = (),
    run: str = "",
    **values: float,
) -> Path:
    """The file that a comparison adds to a history, for a day of January 2026; `values` are other figures."""
    figures = {"RecallAt1": 0.5, "Recall": 0.8, "LatencyPercentile50": 12.0, **values}
    evaluation = {
        "title": f"{engine} {version}",
        "engine": {"name": engine, "version": version},
        "project": {"spec": "pypi:flask==3.0.3", "name": "flask", "revision": "3.0.3", "checksum": "0" * 64},
        "language": language,
        "started": f"2026-01-{day:02}T03:00:00+00:00",
        "filters": {
            "ALL": {
                "sessions": 2409,
                "metrics": {
                    name: {"value": value, "low": value * 0.98, "high": value * 1.02, "n": 2409}
                    for name, value in figures.items()
                },
            }
        },
        "declared": declared,
        "gates": gates,
        "run": run,
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{day:02}-{engine.encode().hex()[:8]}.json"
    path.write_text(json.dumps({"format": 1, "evaluations": [evaluation]}))
    return path
