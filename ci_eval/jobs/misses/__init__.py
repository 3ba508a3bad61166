"""The jobs that help to find the cause of misses: `bisect`, `cases` and `reduce`."""
