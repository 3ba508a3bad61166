"""The recommenders: one file each."""
