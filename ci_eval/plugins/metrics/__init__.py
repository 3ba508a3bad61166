"""The metrics, one file per family."""
