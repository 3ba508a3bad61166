"""The catalogs through which everything finds the plugins, one module per kind."""
