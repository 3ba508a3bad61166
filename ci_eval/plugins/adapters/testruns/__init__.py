"""Runs tests that engines wrote. Each test runs in the sandbox, in a fresh folder, on a function and on wrong versions
of the function."""
