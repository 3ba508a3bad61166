"""The IDEs of JetBrains with the evaluation plugin: installed or found, started headless, watched."""
