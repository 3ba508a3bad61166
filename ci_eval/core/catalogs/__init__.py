"""The catalogs of plugins, one module per kind."""
