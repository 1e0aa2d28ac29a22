"""What the programs for Python clients share: the line protocol of harness/program.py, and tests that need only an adapter."""
