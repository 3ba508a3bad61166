"""The reports, one module per format; `rendering/reporters.py` recognises kinds by the beginning of a module's name."""
