"""The entry point of `ci-eval` and of `python -m ci_eval`."""

import os
import sys

# numpy reads this when it is imported. OpenBLAS threads that wait for each other on busy cores take several times as
# long as one thread, and no matrix here is large.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

try:
    from ci_eval.cli import main
except KeyboardInterrupt:
    # The imports take a moment, in which nothing else handles Ctrl-C.
    sys.stderr.write("error: interrupted; the command cannot be resumed: start it again\n")
    sys.exit(130)

if __name__ == "__main__":
    main()
