"""CSV files as a person's spreadsheet program writes them: read without loss, written back in their style."""

import csv
import errno
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from addon.simulator.state import replace_file

Row = tuple[str, ...]

_BOM = "\ufeff"
_FIELD_LIMIT = 64 * 1024 * 1024
"""Characters in one cell; Python's own limit of 131,072 refuses files that other programs open."""


class WorkbookError(Exception):
    """A file cannot be read or written as a workbook; the message is the sentence for the person."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a CSV file is written.

    Parameters
    ----------
    rectangular
        Every row had as many cells as the others; rows are then kept equally wide.
    """

    delimiter: str = ","
    newline: str = "\n"
    bom: bool = False
    rectangular: bool = True


def load(path: Path) -> bytes:
    """Read a file's bytes.

    Raises
    ------
    WorkbookError
        There is no such file, it is a folder, or it may not be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise WorkbookError(f"There is no file {path}; check its name.") from None
    except IsADirectoryError:
        raise WorkbookError(f"{path} is a folder; name a CSV file in it.") from None
    except PermissionError:
        raise WorkbookError(f"{path} may not be read by you; change its permissions.") from None
    except OSError as error:
        raise WorkbookError(f"{path} could not be read: {error.strerror}.") from None


def parse(content: bytes, path: Path) -> tuple[list[Row], Style]:
    """Read CSV text; ``path`` is for messages, and ``.tsv`` means tabs.

    Raises
    ------
    WorkbookError
        It is empty, not UTF-8, or not well-formed CSV.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise WorkbookError(
            f"{path} is not UTF-8 text (byte {error.start}); save it as “CSV UTF-8”, or convert it, for "
            f"example with `iconv -f SHIFT_JIS -t UTF-8 OLD.csv > NEW.csv`."
        ) from None
    bom = text.startswith(_BOM)
    if bom:
        text = text[1:]
    if not text.strip():
        raise WorkbookError(f"{path} is empty; it needs a header row and rows below it.")
    head = re.sub(r'"[^"]*"', "", text[:65536])
    ending = re.search(r"\r\n|\n|\r", head)
    newline = ending.group() if ending else "\n"
    delimiter = _delimiter(head, newline, path)
    csv.field_size_limit(_FIELD_LIMIT)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[Row] = []
    first_line = 1
    try:
        for row in reader:
            rows.append(tuple(row))
            first_line = reader.line_num + 1
    except csv.Error as error:
        raise WorkbookError(
            f"{path} is not well-formed CSV: the row that begins in line {first_line} has a stray or "
            f"unclosed quotation mark ({error}); correct it."
        ) from None
    widths = {len(row) for row in rows if row}
    return rows, Style(delimiter, newline, bom, len(widths) == 1)


def _delimiter(head: str, newline: str, path: Path) -> str:
    if path.suffix.lower() in {".tsv", ".tab"}:
        return "\t"
    header = head.split(newline, 1)[0]
    return max((",", "\t", ";"), key=header.count)


def render(rows: Iterable[Sequence[str]], style: Style) -> bytes:
    """Write rows as CSV; a cell is quoted only where it must be."""
    # csv.writer before Python 3.13 leaves a lone carriage return unquoted and so breaks the row in two.
    special = re.compile(f'[\r\n"{re.escape(style.delimiter)}]')

    def cell(text: str) -> str:
        return f'"{text.replace(chr(34), chr(34) * 2)}"' if special.search(text) else text

    lines = []
    for row in rows:
        line = style.delimiter.join(map(cell, row))
        lines.append('""' if not line and row else line)
    if lines and lines[0].startswith(_BOM) and not style.bom:
        lines[0] = _quote_first(rows, lines[0])
    text = style.newline.join([*lines, ""])
    return ((_BOM if style.bom else "") + text).encode("utf-8")


def _quote_first(rows: Iterable[Sequence[str]], line: str) -> str:
    # Unquoted, a first character U+FEFF would be taken for the file's byte order mark.
    first = next(iter(rows))[0]
    return f'"{first}"{line[len(first) :]}'


def store(path: Path, content: bytes) -> None:
    """Replace a file, keeping its permissions.

    Raises
    ------
    WorkbookError
        It could not be written; the old file is untouched.
    """
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    try:
        replace_file(path, content, mode=mode)
    except IsADirectoryError:
        raise WorkbookError(f"{path} is a folder; name a file to write to.") from None
    except FileNotFoundError:
        raise WorkbookError(f"The folder {path.parent} does not exist; make it first.") from None
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise WorkbookError(f"The disk is full; {path} was left as it was.") from None
        if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
            raise WorkbookError(
                f"The folder {path.parent} may not be written to; change its permissions or choose another."
            ) from None
        raise WorkbookError(f"{path} could not be written: {error.strerror}.") from None
