"""Bringing a part and the index together, in case the worker before died between the two."""

from addon.jobs.commit import Committer
from addon.jobs.parts import PartRow, PartWriter
from addon.jobs.records import Result, results_path
from addon.rows.keys import text_hash
from addon.store.documents import Documents


def recover(
    documents: Documents,
    committer: Committer,
    writer: PartWriter,
    spreadsheet_id: str,
    void: set[str],
    deadline: float,
) -> int:
    """Adopt what the open part holds and the index does not know yet; it is not paid again.

    Parameters
    ----------
    void
        Gets the keys of results that the index has in this part and that the part does not hold. Whatever is
        committed meanwhile is taken out of it by the committer's caller.
    deadline
        Seconds one request to Drive may take.

    Returns
    -------
    int
        How many such results there were.
    """
    rows: list[PartRow] | None = writer.load(deadline)
    lost = 0
    while rows is not None:
        gone = _reconcile(documents, committer, writer, spreadsheet_id, rows)
        void |= gone
        lost += len(gone)
        rows = writer.turn(deadline)  # it may have begun the next part as well
    return lost


def _reconcile(
    documents: Documents,
    committer: Committer,
    writer: PartWriter,
    spreadsheet_id: str,
    rows: list[PartRow],
) -> set[str]:
    collection = results_path(spreadsheet_id)
    found = documents.get_many(f"{collection}/{row.key}" for row in rows if row.key)
    committer.adopt(rows, {item.id: Result.from_data(item.data) for item in found.values()})
    held = {(row.key, text_hash(row.summary)) for row in rows}
    here = documents.query(collection, where=[("part", "==", writer.file_id)])
    return {item.id for item in here if (item.id, item.data["sha256"]) not in held}
