"""Reports of runs that go on."""
