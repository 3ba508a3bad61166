"""The runner of tests that engines wrote: in a fresh folder, confined, against a function and wrong versions of it."""
