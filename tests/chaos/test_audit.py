"""The audit finds what it is there to find: each defect planted alone in facts that are otherwise right."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from chaos_audit import Facts, audit, summary_for
from chaos_model import Call

TEXTS = ["one", "two", "", "two"]


def right() -> Facts:
    """What is left of a run in which the call for ``two`` was made twice, and said to be."""
    return Facts(
        wanted={"s": TEXTS},
        shown={"s": [(text, summary_for(text)) for text in TEXTS]},
        calls=[
            Call("one", 1.0, True),
            Call("two", 1.0, True),
            Call("two", 2.0, True),
            Call("one", 0.5, False),
        ],
        committed={"one": 3.0, "two": 3.0},
        results=frozenset({"one", "two"}),
        jobs={"j": ("s", "done", 1)},
    )


def shown(facts: Facts, number: int, text: str, summary: str) -> Facts:
    rows = list(facts.shown["s"])
    rows[number] = (text, summary)
    return replace(facts, shown={"s": rows})


def test_a_right_run_has_no_problems_and_its_figures_add_up() -> None:
    verdict = audit(right())
    assert verdict.problems == []
    assert verdict.figures == {
        "rows": 3,
        "lost rows": 0,
        "wrong rows": 0,
        "calls": 4,
        "paid calls": 3,
        "distinct texts": 2,
        "repeated": 1,
        "reported as possibly repeated": 1,
        "committed called again": 0,
        "jobs": 1,
    }


DEFECTS: dict[str, tuple[Callable[[Facts], Facts], str]] = {
    "a summary of another text": (lambda f: shown(f, 0, "one", summary_for("two")), "row 2"),
    "a summary beside a blank text": (lambda f: shown(f, 2, "", summary_for("two")), "row 4"),
    "a missing summary": (lambda f: shown(f, 3, "two", ""), "row 5"),
    "a changed text": (lambda f: shown(f, 0, "ten", summary_for("ten")), "the texts are not"),
    "a sheet that is gone": (lambda f: replace(f, shown={}), "the texts are not"),
    "a result that is gone": (lambda f: replace(f, results=frozenset({"one"})), "no result in the index"),
    "a repeated call nobody reports": (
        lambda f: replace(f, jobs={"j": ("s", "done", 0)}),
        "1 calls were repeated",
    ),
    "a call after the commit": (
        lambda f: replace(f, calls=[*f.calls, Call("one", 3.1, False)]),
        "called again after its commit: 'one'",
    ),
    "a summary nobody was asked for": (lambda f: replace(f, calls=f.calls[1:3]), "without a call: 'one'"),
    "a running job": (lambda f: replace(f, jobs={"j": ("s", "running", 1)}), "job j is running"),
    "a paused job": (lambda f: replace(f, jobs={"j": ("s", "paused stuck", 1)}), "job j is paused stuck"),
    "a second job": (lambda f: replace(f, jobs={**f.jobs, "k": ("s", "done", 0)}), "s: 2 jobs"),
    "no job": (lambda f: replace(f, jobs={}), "s: 0 jobs"),
    "an orphan lease": (lambda f: replace(f, leases=["j/0"]), "lease left: j/0"),
    "a leftover task": (lambda f: replace(f, tasks=["t"]), "task left: t"),
    "access not given back": (lambda f: replace(f, shared=["s"]), "can still reach s"),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_planted_defect_is_found(defect: str) -> None:
    plant, said = DEFECTS[defect]
    problems = audit(plant(right())).problems
    assert any(said in problem for problem in problems), problems
