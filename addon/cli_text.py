"""Every sentence of the terminal: why a run was refused, is paused, lacks a row, and what to do about it."""

from collections.abc import Iterable, Mapping

MOST_TITLES = 30
"""Column titles named in one sentence."""

TITLE_LENGTH = 60
"""Characters of a title that are shown."""

START: Mapping[str, str] = {
    "no_source_column": "Name at least one column to read with --source. {file} has {columns}.",
    "no_such_column": "{file} has no column {names}. It has {columns}. Correct --source, or the file.",
    "duplicate_column": "More than one column of {file} is called {names}. Give each its own title in the "
    "first line.",
    "output_is_source": "The column {names} cannot be read and written at once. Name another one with "
    "--output.",
    "output_blank": "Name the column for the summaries with --output; a title of spaces is none.",
    "no_instructions": "Say with --instructions what to write; spaces say nothing.",
    "no_such_sheet": "The state folder has lost the table of {file}. Name another folder with --state.",
    "no_header": "{file} has no titles in its first line. Put one above each column.",
    "no_rows": "{file} has a header but no rows below it.",
    "all_blank": "No row of {file} has any text in {sources}. It has {columns}. Name columns with text with "
    "--source.",
    "too_large": "{file} has more rows than one run takes (200,000 with text). Split it into several files.",
    "other": "{file} cannot be worked on with these choices. Check --source, --output and --rows.",
}
"""Why a run was not started."""

COMMAND: Mapping[str, str] = {
    "no_such_job": "There is no job with this id here. `addon jobs list` shows those there are; --state "
    "names another folder.",
    "already_over": "The job is over already, so nothing was changed.",
    "still_running": "The job still has rows to work on. Retry its failed rows when it is done.",
    "nothing_failed": "The job has no failed rows of that kind to work on again.",
    "another_job_active": "Another job is under way on the same sheet. Let it finish, or cancel it with "
    "`addon jobs cancel`, then try again.",
    "other": "This does not fit the job's state, so nothing was changed. `addon jobs show` says how it is.",
}
"""Why a command about a job was refused."""

PAUSED: Mapping[str, str] = {
    "by_person": "Somebody paused it. To go on, {again}.",
    "key_rejected": "The model provider rejects the access key. Replace the key, then {again}.",
    "model_unknown": "The model provider does not know this model. Choose another one, then {again}.",
    "quota_exhausted": "The model's quota is used up for now. Wait until it is renewed or have it raised, "
    "then {again}.",
    "insufficient_quota": "The account at the model provider has no credit left. Top it up, then {again}.",
    "google_silent": "Google has not answered properly for a long time; nothing finished is lost. "
    "Wait a while, then {again}.",
    "model_silent": "The model has not answered for a long time. Check the network and the provider's "
    "status page, then {again}.",
    "access_removed": "The worker may not open the spreadsheet any more. Share it with the worker again, "
    "then {again}.",
    "sheet_gone": "The sheet was deleted. Put it back, then {again}.",
    "column_gone": "A column of this job is not in the header row any more. Give it its old title back, "
    "then {again}.",
    "protected": "The column for the summaries is protected. Have the protection lifted, then {again}.",
    "storage_full": "The owner's Drive is full. Free some space in it, then {again}.",
    "workbook_full": "The spreadsheet has reached its limit of cells. Delete rows, columns or sheets that "
    "nobody needs, then {again}.",
    "sharing_refused": "The spreadsheet may not be shared with the worker. Ask the administrator to allow "
    "that, then {again}.",
    "resharing_refused": "The person who started it may not share the spreadsheet. Ask its owner to share "
    "it with the worker, then {again}.",
    "read_only": "The person who started it may read the spreadsheet, but not edit it. Ask its owner to let "
    "them edit it, then {again}.",
    "delegation_refused": "The worker may not act as the person who started it. Have the administrator "
    "authorise its client id for domain-wide delegation, then {again}.",
    "shared_drive_refused": "Results cannot be kept in the shared drive. Make the worker a manager of it, "
    "then {again}.",
    "spreadsheet_trashed": "The spreadsheet is in the trash. Restore it, then {again}.",
    "results_trashed": "A results file is in the trash of Drive. Restore it, then {again}.",
    "api_refused": "A request was refused, and trying again would not help. See what `addon doctor` says, "
    "then {again}.",
    "run_file_gone": "The file that says what to write is gone from the results folder. Put it back, then "
    "{again}; or cancel the job with `addon jobs cancel` and start anew.",
    "results_file_gone": "A results file is gone from Drive. Put it back, then {again}; or cancel the job "
    "with `addon jobs cancel` and start anew.",
    "stuck": "The same step failed again and again. To try once more, {again}; if that does not help, see "
    "what `addon doctor` says.",
    "other": "It needs a person. To try once more, {again}.",
}
"""Why a job waits for a person, and what that person does in the terminal."""

FAILED: Mapping[str, str] = {
    "blocked": "the model refused the text; change it, or write this summary by hand",
    "truncated": "the summary became too long; ask for a shorter one, or shorten the text",
    "empty": "the model answered with nothing; running again often helps",
    "rejected": "the model could not take the text as it is; shorten or change it",
    "model_error": "the model kept failing; run again later",
    "source_error": "a cell to read shows an error such as #REF!; repair it, then run again",
    "source_too_long": "a cell to read holds more than 50,000 characters; shorten it, then run again",
    "cell_refused": "the summary was not accepted in its cell; it is kept in the results file",
    "other": "for a reason this version does not know; run again",
}
"""Why a row has no summary, and what helps. They follow the rows' numbers, so they begin small."""


def start_refused(
    code: str, file: object, *, names: Iterable[str], columns: Iterable[str], sources: Iterable[str]
) -> str:
    """Say why a run was not started: what is wrong with the file or the choice, and what there is instead."""
    return START.get(code, START["other"]).format(
        file=file, names=titles(names), columns=_columns(columns), sources=titles(sources)
    )


def command_refused(code: str) -> str:
    """Say why a command about a job changed nothing."""
    return COMMAND.get(code, COMMAND["other"])


def paused(reason: str | None, again: str) -> str:
    """Say why a job waits; ``again`` is how to let it go on, such as ``run the same command again``."""
    return PAUSED.get(reason or "other", PAUSED["other"]).format(again=again)


def failed(error_class: str, count: int, rows: Iterable[int]) -> str:
    """Say how many rows failed, which they are, and why."""
    named = [str(row) for row in rows]
    more = ", …" if count > len(named) else ""
    which = f" ({plural(count, 'row', word_only=True)} {', '.join(named)}{more})" if named else ""
    return f"{count:,} failed{which}: {FAILED.get(error_class, FAILED['other'])}."


def plural(count: int, noun: str, *, word_only: bool = False) -> str:
    """``1 row``, ``2 rows``, ``1,000 rows``; or the noun alone in the number that fits."""
    word = noun if count == 1 else f"{noun}s"
    return word if word_only else f"{count:,} {word}"


def titles(names: Iterable[str]) -> str:
    """Column titles in quotation marks, on one line; only the first ones where there are many."""
    all_names = list(names)
    shown = [f"“{_short(name)}”" for name in all_names[:MOST_TITLES]]
    left = len(all_names) - len(shown)
    return ", ".join(shown) + (f" and {left} more" if left else "")


def _columns(names: Iterable[str]) -> str:
    shown = titles(names)
    return f"the columns {shown}" if shown else "no columns"


def _short(title: str) -> str:
    line = " ".join(title.split())
    return line if len(line) <= TITLE_LENGTH else f"{line[: TITLE_LENGTH - 1].rstrip()}…"
