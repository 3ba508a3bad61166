"""The reports, one file each; `core/catalogs/reporters.py` tells their kinds apart by how their names begin."""
