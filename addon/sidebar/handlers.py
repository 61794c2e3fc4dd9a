"""Which function answers which route."""

from collections.abc import Callable, Mapping

from addon.sidebar import actions, admin, commands
from addon.sidebar.visit import Visit
from addon.sidebar.widgets import Action, Json

HANDLERS: Mapping[Action, Callable[[Visit], Json]] = {
    **actions.HANDLERS,
    **commands.HANDLERS,
    **admin.HANDLERS,
}
