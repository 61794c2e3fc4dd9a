"""A running product on each store."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fault_scene import nobody_waits_long
from stack import Stack, running

from addon.store.documents import Documents

__all__ = ["nobody_waits_long"]


@pytest.fixture
def stack(tmp_path: Path, documents: Documents) -> Iterator[Stack]:
    """The product on the store under test, with the default scripted model."""
    with running(tmp_path, documents=documents) as stack:
        yield stack
