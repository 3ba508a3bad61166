"""The reports, one file each; `rendering/reporters.py` tells their kinds apart by the beginning of their names."""
