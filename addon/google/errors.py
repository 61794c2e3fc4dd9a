"""What can go wrong with Google, sorted by what has to happen next.

No message carries content: Google's own sentences may quote a cell, so only its reason word, the HTTP
status and the id of the spreadsheet or file go into ours.
"""

import re
from typing import Literal, TypeVar

Service = Literal["Sheets", "Drive", "Tasks"]
ActingFor = Literal["user", "worker"]
BlockCode = Literal[
    "access_removed",
    "sheet_gone",
    "protected",
    "storage_full",
    "sharing_refused",
    "resharing_refused",
    "read_only",
    "delegation_refused",
    "shared_drive_refused",
    "spreadsheet_trashed",
    "results_trashed",
    "workbook_full",
    "api_refused",
]

TOO_MANY = 429
"""HTTP status: more requests than the quota of this minute."""


class GoogleError(Exception):
    """Google did not do what was asked.

    Parameters
    ----------
    sentence
        What happened, to which file, and what to do. Never content.
    service
        Which of Google's services said so.
    status
        HTTP status, where there was an answer.
    reason
        Google's own reason or status word, such as ``storageQuotaExceeded`` or ``PERMISSION_DENIED``;
        for what happened on the way a word of ours, such as ``timeout``.
    """

    def __init__(
        self, sentence: str, *, service: Service, status: int | None = None, reason: str = "unknown"
    ) -> None:
        super().__init__(sentence)
        self.service = service
        self.status = status
        self.reason = reason


class TryAgain(GoogleError):
    """Nothing is wrong with the request; the bounded retries are used up, or the deadline is.

    Parameters
    ----------
    wait
        Seconds to leave Google alone before the next try.
    outcome_unknown
        The request may have been carried out although no proper answer came back.
    """

    def __init__(
        self,
        sentence: str,
        *,
        service: Service,
        status: int | None = None,
        reason: str = "unknown",
        wait: float = 0.0,
        outcome_unknown: bool = False,
    ) -> None:
        super().__init__(sentence, service=service, status=status, reason=reason)
        self.wait = wait
        self.outcome_unknown = outcome_unknown

    @property
    def throttled(self) -> bool:
        """There were too many requests for this minute's quota."""
        return self.status == TOO_MANY


class JobBlocked(GoogleError):
    """No row can go on until a person acts; ``code`` says on what."""

    def __init__(
        self,
        sentence: str,
        *,
        code: BlockCode,
        service: Service,
        status: int | None = None,
        reason: str = "unknown",
    ) -> None:
        super().__init__(sentence, service=service, status=status, reason=reason)
        self.code = code


class GrantMissing(GoogleError):
    """The user's token is not accepted, lacks a scope, or was not granted this file: ask the user anew."""


class FileMissing(GoogleError):
    """Drive has no such file, or does not show it to this caller."""


class OutOfGrid(GoogleError):
    """The cells asked for lie outside the sheet's rows and columns as they are now."""


_E = TypeVar("_E", bound=GoogleError)


class Refused(GoogleError):
    """Google's refusal before it is sorted; the clients hand it to `sort_refusal` and raise the answer.

    Parameters
    ----------
    words
        Google's own sentence, to recognise the cause by. It may quote content: never show or log it.
    """

    def __init__(
        self, sentence: str, *, service: Service, status: int | None, reason: str, words: str = ""
    ) -> None:
        super().__init__(sentence, service=service, status=status, reason=reason)
        self.words = words


GRANT_REASONS = frozenset(
    {
        "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
        "appNotAuthorizedToFile",
        "authError",
        "insufficientPermissions",
        "insufficientScopes",
    }
)
"""403 reasons that say the token lacks a scope or a file grant (Drive and Sheets error guides)."""

_API_OFF = frozenset({"SERVICE_DISABLED", "accessNotConfigured", "dailyLimitExceeded"})

_BLOCK_REASONS: dict[str, BlockCode] = {
    **dict.fromkeys(_API_OFF, "api_refused"),
    "activeItemCreationLimitExceeded": "storage_full",
    "delegation_refused": "delegation_refused",
    "domainPolicy": "api_refused",
    "sharingRateLimitExceeded": "sharing_refused",
    "storageQuotaExceeded": "storage_full",
    "teamDriveFileLimitExceeded": "storage_full",
}

_BLOCK_WORDS: tuple[tuple[re.Pattern[str], BlockCode], ...] = (
    (re.compile(r"no grid with id", re.IGNORECASE), "sheet_gone"),
    (re.compile(r"protected (cell|range|sheet)", re.IGNORECASE), "protected"),
    (re.compile(r"above the limit of [\d,]+ cells", re.IGNORECASE), "workbook_full"),
)
_OUT_OF_GRID = re.compile(r"exceeds grid limits|(beyond the|is after) last (requested )?(row|column)", re.I)
_CELL_TOO_LONG = re.compile(r"maximum of [\d,]+ characters", re.IGNORECASE)

_ADVICE: dict[BlockCode, str] = {
    "access_removed": "the worker no longer has access; share it with the worker again",
    "sheet_gone": "the sheet was deleted; choose another one",
    "protected": "the cells are protected; ask the owner to let the worker edit them",
    "storage_full": "there is no storage for it; free space, or have a user or shared drive own the file",
    "sharing_refused": "sharing was refused; ask the administrator to allow sharing with the worker",
    "resharing_refused": "the person may not share it; ask its owner to share it with the worker",
    "read_only": "the person may read it but not edit it; ask its owner to let them edit it",
    "delegation_refused": "the worker may not act as the person; ask the administrator to authorise its "
    "client id for domain-wide delegation",
    "shared_drive_refused": "the shared drive for results cannot be used; the operator must check that it "
    "exists and make the worker a manager of it",
    "spreadsheet_trashed": "the spreadsheet is in the trash; restore it",
    "results_trashed": "the results are in the trash; restore them",
    "workbook_full": "the workbook has reached its limit of cells; delete unused rows, columns or sheets",
    "api_refused": "the request was refused; the operator must check the project and its permissions",
}


def blocked(code: BlockCode, target: str, refusal: GoogleError) -> JobBlocked:
    """Say that a person must act before ``target`` (a file or spreadsheet, by id) can be worked on."""
    return JobBlocked(
        f"{refusal.service} refused {target} ({refusal.status} {refusal.reason}): {_ADVICE[code]}.",
        code=code,
        service=refusal.service,
        status=refusal.status,
        reason=refusal.reason,
    )


def in_trash(code: BlockCode, target: str) -> JobBlocked:
    """Say that ``target`` (a file, by id) is in the trash, although Google would go on working with it."""
    return JobBlocked(
        f"Drive has {target} in the trash: {_ADVICE[code]}.", code=code, service="Drive", reason="trashed"
    )


def read_only(target: str) -> JobBlocked:
    """Say that the person may not edit ``target`` (a file, by id), so that nobody may do it in their name."""
    return JobBlocked(
        f"Drive lets the person read {target} only: {_ADVICE['read_only']}.",
        code="read_only",
        service="Drive",
        reason="canEdit",
    )


def unusable_drive(target: str, refusal: GoogleError) -> JobBlocked:
    """Say that results cannot be kept in the shared drive ``target`` (by id)."""
    return blocked("shared_drive_refused", f"shared drive {target}", refusal)


def sort_refusal(refusal: Refused, acting_for: ActingFor, target: str) -> GoogleError:
    """Turn a refusal into the error that says what has to happen next.

    Parameters
    ----------
    acting_for
        Whose token it was. What a user can mend by granting access anew is `GrantMissing`; the same answer
        to the worker means its access is gone.
    target
        What was worked on, by id, for the sentence.
    """
    answer = f"({refusal.status} {refusal.reason})"
    code = _recognised(refusal)
    if code is not None:
        return blocked(code, target, refusal)
    if refusal.status == 400 and _OUT_OF_GRID.search(refusal.words):
        return _from(refusal, OutOfGrid, f"{target} has no such cells any more {answer}; read its size anew.")
    if refusal.status == 404 and refusal.service == "Drive":
        return _from(refusal, FileMissing, f"Drive does not show {target} to this caller {answer}.")
    wants_grant = refusal.status == 401 or refusal.reason in GRANT_REASONS
    if acting_for == "user" and (wants_grant or refusal.status in {403, 404}):
        sentence = (
            f"The user's token may not be used on {target} {answer}; ask the user to grant access again."
        )
        return _from(refusal, GrantMissing, sentence)
    if refusal.status in {403, 404} and not wants_grant:
        return blocked("access_removed", target, refusal)
    return blocked("api_refused", target, refusal)


def sort_share_refusal(refusal: Refused, acting_for: ActingFor, target: str) -> GoogleError:
    """As `sort_refusal`, for giving or taking permissions: there a refusal is mostly a rule of the owner's.

    Drive has many words for it (``domainPolicy``, ``invalidSharingRequest``, ``cannotShare…``), so whatever
    is not about the API, the token or the file counts as one. Where the caller has access that does not go as
    far as sharing, as a reader's or that of a writer whom the owner keeps from it, another person can do it.
    """
    if refusal.status == 404 and acting_for == "user":
        return not_granted(refusal, target)
    if refusal.status == 403 and refusal.reason == "insufficientFilePermissions":
        return blocked("resharing_refused", target, refusal)
    if refusal.status in {400, 403} and refusal.reason not in GRANT_REASONS | _API_OFF:
        return blocked("sharing_refused", target, refusal)
    return sort_refusal(refusal, acting_for, target)


def refuses_content(refusal: Refused) -> str | None:
    """Why Google refuses what the request carries, or ``None`` where the cause is something else."""
    if refusal.status == 413:
        return "request_too_large"
    if refusal.status != 400 or _recognised(refusal) or _OUT_OF_GRID.search(refusal.words):
        return None
    return "cell_too_long" if _CELL_TOO_LONG.search(refusal.words) else refusal.reason


def _recognised(refusal: Refused) -> BlockCode | None:
    if refusal.reason in _BLOCK_REASONS:
        return _BLOCK_REASONS[refusal.reason]
    if refusal.status not in {400, 403}:
        return None
    return next((code for pattern, code in _BLOCK_WORDS if pattern.search(refusal.words)), None)


def not_granted(refusal: GoogleError, target: str) -> GrantMissing:
    """Say that the user has not opened ``target`` to the add-on: Google answers as if it were not there."""
    return _from(
        refusal,
        GrantMissing,
        f"{refusal.service} does not let the user's token work on {target} "
        f"({refusal.status} {refusal.reason}); ask the user to grant access again.",
    )


def _from(refusal: GoogleError, kind: type[_E], sentence: str) -> _E:
    return kind(sentence, service=refusal.service, status=refusal.status, reason=refusal.reason)
