"""One stage for all tests of a module, and a proper click after each of them."""

from collections.abc import Iterator

import pytest
from hostile import World
from stage import BOSS, OWNER, Stage, staged


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A stage where the owner and the boss have a run each."""
    with staged(tmp_path_factory.mktemp("hostile")) as stage:
        yield World(stage, stage.run(OWNER, stage.mine), stage.run(BOSS, stage.theirs))


@pytest.fixture
def stage(world: World) -> Iterator[Stage]:
    """The stage; after each request, whatever it was, the owner's next click is answered as ever."""
    yield world.stage
    answer = world.stage.click("refresh")
    assert answer.status == 200
    assert world.my_job in answer.body.decode()
