"""Fixtures every folder of tests may use: see `emulator`. Events whose fields are no words fail the test."""

from addon.logs import be_strict

pytest_plugins = ["emulator"]

be_strict()
