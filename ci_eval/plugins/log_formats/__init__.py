"""The formats of logs, one file each."""
