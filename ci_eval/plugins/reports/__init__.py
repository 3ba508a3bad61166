"""The reports, one module per format. `rendering/reporters.py` finds the modules, which define `REPORTER`."""
