"""Memory while logging: rows of made-up queries through the real writers, and the peak of what the process held.

python benchmarks/log_memory.py [--rows N] [--files N]
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from ci_eval.core.logs import Log, Logged, LoggedSession, LogOrigin, LogRun, gather
from ci_eval.core.logs.features import NAMES
from ci_eval.core.model import EngineInfo, Kind, Properties, Session, Status, Suggestion

LISTED = 200


def sessions(count: int, number: int) -> list[LoggedSession]:
    """Of one file; each with one list."""
    random = np.random.default_rng(number)
    suggestions = [Suggestion(text=f"name_{place}", kind="function") for place in range(LISTED)]
    return [
        LoggedSession(
            session=Session(
                id=f"{number:08x}{each:08x}",
                file=f"file{number}.py",
                offset=each,
                expected_text="name_3",
                properties=Properties(kind=Kind.VARIABLE),
                status=Status.OK,
            ),
            queries=[
                Logged(
                    prefix="n",
                    suggestions=suggestions,
                    features=random.random((LISTED, len(NAMES)), dtype=np.float32),
                    rank=4,
                    selected=True,
                    latency=1.0,
                )
            ],
            cancelled=False,
        )
        for each in range(count)
    ]


def held() -> float:
    """The most this process ever held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Print the peak after each tenth."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--files", type=int, default=20)
    given = parser.parse_args()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        names = [f"part{number}" for number in range(given.files)]
        per_file = given.rows // given.files // LISTED
        for number, name in enumerate(names):
            origin = LogOrigin(
                project="p",
                file=f"file{number}.py",
                language="python",
                engine=EngineInfo(name="words", version="1"),
                completion_type="BASIC",
                seed=0,
                began=0,
            )
            log = Log(folder / "parts", name, origin, ("parquet",))
            for begin in range(0, per_file, 100):
                for each in sessions(min(100, per_file - begin), number * per_file + begin):
                    log.add(each)
            log.close()
            if number % max(given.files // 10, 1) == 0:
                print(f"{(number + 1) * per_file * LISTED:12,} rows: peak {held():.0f} MB", flush=True)
        record = gather(
            folder,
            folder / "parts",
            names,
            LogRun(project="p", language="python", seed=0, day="01_01_2026"),
        )
        size = sum(each.size for each in record.files) / 1e6
    rows = record.train.rows + record.validation.rows
    taken = time.perf_counter() - started
    print(f"{rows:12,} rows put together: peak {held():.0f} MB, {size:.0f} MB on disk, {taken:.0f} s")


if __name__ == "__main__":
    main()
