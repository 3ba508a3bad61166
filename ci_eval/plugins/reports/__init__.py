"""The reports, one file each; `core/catalogs/reporters.py` tells their kinds apart by the beginning of their names."""
