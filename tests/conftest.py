"""Fixtures every folder of tests may use: see `emulator`."""

pytest_plugins = ["emulator"]
