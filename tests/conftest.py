"""Fixtures every folder of tests may use: see `emulator`. Events whose fields are no words fail the test.

A test marked `twin` plays another test's scene with one protection taken out, and is green only if a promise
is seen to be broken: so each protection is known to be needed, and each test able to fail.

Property tests draw the same examples each time, so that CI fails only for what was changed; with ``EXAMPLES``
in the environment they draw that many, and others each time.
"""

import os
from collections.abc import Iterator

import hypothesis
import pytest

from addon.logs import be_strict

pytest_plugins = ["emulator"]

be_strict()

EXAMPLES = int(os.environ.get("EXAMPLES", "0"))
hypothesis.settings.register_profile("same", deadline=None, derandomize=True)
hypothesis.settings.register_profile("many", deadline=None, max_examples=EXAMPLES or 1)
hypothesis.settings.load_profile("many" if EXAMPLES else "same")


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    """Turn the outcome of a twin around."""
    outcome = yield
    if pyfuncitem.get_closest_marker("twin") is None:
        return
    error = outcome.excinfo[1] if outcome.excinfo else None  # type: ignore[attr-defined]
    if error is None:
        outcome.force_exception(  # type: ignore[attr-defined]
            pytest.fail.Exception("the protection was taken out, and nothing was seen to break")
        )
    elif isinstance(error, AssertionError | pytest.fail.Exception):
        outcome.force_result(None)  # type: ignore[attr-defined]
