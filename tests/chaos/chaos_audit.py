"""The audit after chaos: pure, so that a test can plant what it must find."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from chaos_model import Call


@dataclass(frozen=True)
class Facts:
    """What is left when everything is over.

    Parameters
    ----------
    wanted, shown
        Of each spreadsheet its rows: text, and text and summary as the sheet has them.
    calls
        What the provider saw.
    committed
        When (the harness' monotonic clock) a text was first seen committed in the index.
    results
        Texts with a result in the index at the end.
    jobs
        Of each job: spreadsheet, status with reason, and most calls it says it may have repeated.
    leases
        Names of leases that somebody holds, or that nobody gave back.
    tasks
        Names of tasks left in the queue.
    shared
        Spreadsheets that the worker can still reach.
    """

    wanted: Mapping[str, Sequence[str]]
    shown: Mapping[str, Sequence[tuple[str, str]]]
    calls: Sequence[Call]
    committed: Mapping[str, float]
    results: frozenset[str]
    jobs: Mapping[str, tuple[str, str, int]]
    leases: Sequence[str] = ()
    tasks: Sequence[str] = ()
    shared: Sequence[str] = ()


@dataclass
class Verdict:
    """What was found: figures, and sentences about everything that is wrong."""

    problems: list[str] = field(default_factory=list)
    figures: dict[str, int] = field(default_factory=dict)


def summary_for(text: str) -> str:
    """What the provider says to a text; nothing is asked about a blank one."""
    return f"summary of {text[:40].rstrip()}" if text else ""


def audit(facts: Facts) -> Verdict:
    """Hold the facts against the promises."""
    verdict = Verdict()
    for check in (_rows, _calls, _jobs, _leftovers):
        check(facts, verdict)
    return verdict


def _rows(facts: Facts, verdict: Verdict) -> None:
    lost = wrong = rows = 0
    for sheet, texts in facts.wanted.items():
        shown = facts.shown.get(sheet, ())
        if [text for text, _ in shown] != list(texts):
            verdict.problems.append(f"{sheet}: the texts are not those that were there")
        for number, (text, summary) in enumerate(shown, 2):
            rows += bool(text)
            if summary != summary_for(text):
                lost += not summary
                wrong += bool(summary)
                verdict.problems.append(f"{sheet} row {number}: {summary!r} beside {text!r}")
    missing = {text for texts in facts.wanted.values() for text in texts if text} - facts.results
    verdict.problems += [f"no result in the index for {text!r}" for text in sorted(missing)]
    verdict.figures |= {"rows": rows, "lost rows": lost, "wrong rows": wrong}


def _calls(facts: Facts, verdict: Verdict) -> None:
    paid = Counter(call.text for call in facts.calls if call.paid)
    repeated, reported = paid.total() - len(paid), sum(job[2] for job in facts.jobs.values())
    again = [call.text for call in facts.calls if call.at > facts.committed.get(call.text, call.at)]
    never = {text for texts in facts.wanted.values() for text in texts if text} - set(paid)
    verdict.problems += [f"called again after its commit: {text!r}" for text in again]
    verdict.problems += [f"summarised without a call: {text!r}" for text in sorted(never)]
    if repeated > reported:
        verdict.problems.append(f"{repeated} calls were repeated, and the jobs report {reported} at most")
    verdict.figures |= {
        "calls": len(facts.calls),
        "paid calls": paid.total(),
        "distinct texts": len(paid),
        "repeated": repeated,
        "reported as possibly repeated": reported,
        "committed called again": len(again),
    }


def _jobs(facts: Facts, verdict: Verdict) -> None:
    per_sheet = Counter(sheet for sheet, _, _ in facts.jobs.values())
    for sheet in facts.wanted:
        if per_sheet[sheet] != 1:
            verdict.problems.append(f"{sheet}: {per_sheet[sheet]} jobs")
    for job, (_, status, _) in sorted(facts.jobs.items()):
        if status != "done":
            verdict.problems.append(f"job {job} is {status}")
    verdict.figures["jobs"] = len(facts.jobs)


def _leftovers(facts: Facts, verdict: Verdict) -> None:
    verdict.problems += [f"lease left: {name}" for name in facts.leases]
    verdict.problems += [f"task left: {name}" for name in facts.tasks]
    verdict.problems += [f"the worker can still reach {sheet}" for sheet in facts.shared]
