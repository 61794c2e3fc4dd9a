"""Would the tests notice? Change one thing at a time in `addon/jobs` and `addon/rows` and run what covers it.

``python tests/mutants.py`` learns which tests execute which lines, then makes mutants (a comparison turned, a
condition negated, a number off by one, a statement left out, ...) and runs the covering tests on each, in a
fork of its own. A mutant no test fails on has survived: a line in the report. ``--sample`` takes that many
mutants, chosen by ``--seed``; without it, all.
"""

import argparse
import ast
import importlib.util
import json
import os
import random
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("addon/jobs", "addon/rows")
TESTS = ("tests/unit", "tests/integration")
CHOSEN = "(test_core or test_jobs or test_rows or integration) and not (firestore or fault or worker_access)"
MOST_TESTS = 60
"""Tests run on one mutant, the quickest first."""
ENDLESS = "did not end, which would be noticed"

PATIENCE = 90.0
"""Seconds until a mutant counts as noticed because nothing ends any more."""

SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.BitOr: ast.BitAnd,
}


@dataclass(frozen=True)
class Mutant:
    """One change: the ``number``-th possible one in a file. ``begun`` is where its statement begins: the line
    that is traced."""

    path: str
    line: int
    begun: int
    number: int
    what: str


class Mutator(ast.NodeTransformer):
    """Counts the possible changes inside functions, and makes the one asked for."""

    def __init__(self, wanted: int = -1) -> None:
        self.wanted = wanted
        self.found: list[tuple[int, int, str]] = []
        self._depth = self._begun = 0

    def _chance(self, line: int, what: str) -> bool:
        if not self._depth:
            return False
        self.found.append((line, self._begun or line, what))
        return len(self.found) - 1 == self.wanted

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self._depth += 1
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        node.body[len(node.body) - len(body) :] = [self._statement(statement) for statement in body]
        self._depth -= 1
        return node

    def _statement(self, node: ast.stmt) -> ast.stmt:
        self._begun = node.lineno
        node = self.visit(node)
        self._begun = node.lineno
        if isinstance(node, ast.Expr | ast.Raise | ast.AugAssign) and self._chance(node.lineno, "left out"):
            return ast.copy_location(ast.Pass(), node)
        if (
            isinstance(node, ast.Return)
            and node.value is not None
            and not (isinstance(node.value, ast.Constant) and node.value.value is None)
            and self._chance(node.lineno, "returns None")
        ):
            node.value = ast.copy_location(ast.Constant(None), node.value)
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and self._depth:
                block[:] = [
                    self._statement(item) if isinstance(item, ast.stmt) else self.visit(item)
                    for item in block
                ]
        for name, value in ast.iter_fields(node):
            if name in {"body", "orelse", "finalbody"} and isinstance(value, list) and self._depth:
                continue
            if name in {"annotation", "returns", "decorator_list"}:
                continue
            if isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
            elif isinstance(value, list):
                value[:] = [self.visit(item) if isinstance(item, ast.AST) else item for item in value]
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if self._chance(node.lineno, f"{type(node.ops[0]).__name__} turned"):
            node.ops[0] = SWAPPED[type(node.ops[0])]()  # type: ignore[assignment]
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        if self._chance(node.lineno, f"{type(node.op).__name__} turned"):
            node.op = SWAPPED[type(node.op)]()  # type: ignore[assignment]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        kind = type(node.op)
        if kind in SWAPPED and self._chance(node.lineno, f"{kind.__name__} turned"):
            node.op = SWAPPED[kind]()  # type: ignore[assignment]
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and self._chance(node.lineno, "not left out"):
            return node.operand
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool):
            if self._chance(node.lineno, f"{node.value} turned"):
                node.value = not node.value
        elif isinstance(node.value, int | float) and self._chance(node.lineno, f"{node.value} + 1"):
            node.value += 1
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node


def mutants() -> Iterator[Mutant]:
    """All there are."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).glob("*.py")):
            if path.name == "events.py":  # only words for the log
                continue
            mutator = Mutator()
            mutator.visit(ast.parse(path.read_text()))
            for number, (line, begun, what) in enumerate(mutator.found):
                yield Mutant(str(path.relative_to(ROOT)), line, begun, number, what)


class Loader(MetaPathFinder):
    """Imports one module with its change."""

    def __init__(self, mutant: Mutant) -> None:
        self.path = ROOT / mutant.path
        self.name = mutant.path.removesuffix(".py").replace("/", ".")
        self.number = mutant.number

    def find_spec(self, name: str, *_: object) -> object:
        """Only that module is ours."""
        return (
            importlib.util.spec_from_file_location(name, self.path, loader=self)
            if name == self.name
            else None
        )

    def create_module(self, _: object) -> None:
        """As usual."""

    def exec_module(self, module: object) -> None:
        """Run the changed source."""
        tree = ast.fix_missing_locations(Mutator(self.number).visit(ast.parse(self.path.read_text())))
        exec(compile(tree, str(self.path), "exec"), module.__dict__)


class Tracer:
    """A pytest plugin that notes which test executes which lines of the packages, and how long each takes."""

    def __init__(self) -> None:
        self.covered: dict[str, set[str]] = defaultdict(set)
        self.seconds: dict[str, float] = {}
        self._roots = tuple(str(ROOT / package) for package in PACKAGES)
        self._test = ""

    def _trace(self, frame: object, event: str, _: object) -> object:
        name = frame.f_code.co_filename  # type: ignore[attr-defined]
        if not name.startswith(self._roots):
            return None
        if event == "line":
            place = f"{name[len(str(ROOT)) + 1 :]}:{frame.f_lineno}"  # type: ignore[attr-defined]
            self.covered[place].add(self._test)
        return self._trace

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Trace a test and its fixtures, in all threads."""
        self._test = item.nodeid
        threading.settrace(self._trace)  # type: ignore[arg-type]
        sys.settrace(self._trace)  # type: ignore[arg-type]
        began = time.monotonic()
        try:
            yield
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]
            self.seconds[item.nodeid] = time.monotonic() - began


def learn(cache: Path) -> tuple[dict[str, list[str]], dict[str, float]]:
    """Which tests execute which lines; remembered in a file, for it takes minutes."""
    if not cache.exists():
        child = os.fork()
        if not child:
            tracer = Tracer()
            code = pytest.main(
                ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", CHOSEN, *TESTS], plugins=[tracer]
            )
            if code == 0:
                covered = {place: sorted(tests) for place, tests in tracer.covered.items()}
                cache.write_text(json.dumps([covered, tracer.seconds]))
            os._exit(int(code))
        _, status = os.waitpid(child, 0)
        if status:
            sys.exit("The tests must pass before mutants can be tried.")
    covered, seconds = json.loads(cache.read_text())
    return covered, seconds


def begin(mutant: Mutant, tests: list[str]) -> int:
    """Run tests on a mutant in a fork; its process id."""
    child = os.fork()
    if child:
        return child
    os.setsid()
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    sys.meta_path.insert(0, Loader(mutant))
    os._exit(int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests])))


def attempts(work: list[tuple[Mutant, list[str]]]) -> Iterator[tuple[Mutant, str]]:
    """Try all, some at a time; each with how it survived, or nothing, or that it never ended."""
    waiting, running = work[::-1], {}
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            mutant, tests = waiting.pop()
            if tests:
                running[begin(mutant, tests)] = (mutant, len(tests), time.monotonic() + PATIENCE)
            else:
                yield mutant, "covered by no test"
        time.sleep(0.02)
        for child, (mutant, count, end) in list(running.items()):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                del running[child]
                yield mutant, "" if os.waitstatus_to_exitcode(status) else f"survived {count} tests"
            elif time.monotonic() > end:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                del running[child]
                yield mutant, ENDLESS


def main() -> None:
    """Try mutants and print those that survive."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, help="mutants to try; all without it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="part of the path of the files to change")
    parser.add_argument("--cache", type=Path, default=ROOT / ".state" / "coverage.json")
    options = parser.parse_args()
    os.chdir(ROOT)
    options.cache.parent.mkdir(exist_ok=True)
    covered, seconds = learn(options.cache)
    chosen = [mutant for mutant in mutants() if options.only in mutant.path]
    everything = len(chosen)
    if options.sample and options.sample < everything:
        chosen = random.Random(options.seed).sample(chosen, options.sample)

    work = []
    for mutant in chosen:
        tests = covered.get(f"{mutant.path}:{mutant.begun}", [])
        work.append((mutant, sorted(tests, key=lambda test: seconds[test])[:MOST_TESTS]))
    survivors = endless = 0
    for mutant, outcome in attempts(work):
        endless += outcome == ENDLESS
        survivors += bool(outcome) and outcome != ENDLESS
        if outcome:
            print(f"{mutant.path}:{mutant.line}: {mutant.what}: {outcome}", flush=True)
    killed = len(chosen) - survivors
    print(
        f"{killed} of {len(chosen)} mutants noticed ({killed / len(chosen):.1%}); {everything} are possible."
    )


if __name__ == "__main__":
    main()
