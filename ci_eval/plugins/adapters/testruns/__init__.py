"""The runner of tests that engines wrote. Each test runs in the sandbox, in a fresh folder, against a function and
wrong versions of it."""
