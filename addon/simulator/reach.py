"""The file that a request to Drive is about, as far as its sender may reach it."""

from flask import g, request

from addon.simulator.filemeta import File, not_found
from addon.simulator.files import Files


def reach(files: Files, file_id: str, needed: str = "reader") -> File:
    """As `Files.get`, for the caller of the request.

    Raises
    ------
    Refusal
        Also 404 for what is in a shared drive, where the request does not say that it knows of them.
    """
    file = files.find(file_id)
    if file is not None and file.drive is not None and not knows_drives():
        raise not_found(file_id)
    return files.get(file_id, g.caller.email, needed)


def knows_drives() -> bool:
    """Whether the request says that its sender knows of shared drives."""
    return "true" in (request.args.get("supportsAllDrives"), request.args.get("supportsTeamDrives"))
