"""Every query of the code, read from its source, and whether Firestore would want a composite index for it.

The reading is strict: what cannot be read fails, so that no query passes unseen.
"""

import ast
import importlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

Where = tuple[str, str]
Order = tuple[str, str]


class Unreadable(Exception):
    """A query whose fields or collection cannot be told from the source."""


@dataclass(frozen=True)
class Query:
    """Collection (last segment of its path), conditions as (field, operator), order as (field, direction).

    A name in angle brackets is a parameter of the function around the call: any value.
    """

    place: str
    collection: str
    where: tuple[Where, ...]
    order_by: tuple[Order, ...]


@dataclass(frozen=True)
class Prune:
    """A call that deletes what is past its time: collection, and the field that says when."""

    place: str
    collection: str
    field: str


def needs_composite(where: Sequence[Where], order_by: Sequence[Order]) -> bool:
    """Whether the automatic single-field indexes do not suffice.

    They do for any number of equalities (their indexes are merged), and for one field that is compared as a
    range or ordered by, alone. ``in`` counts as equality: it is a union of equalities.
    Source: firebase.google.com/docs/firestore/query-data/index-overview.
    """
    equal = {field for field, operator in where if operator in {"==", "in"}}
    others = {field for field, operator in where if operator not in {"==", "in"}}
    sorted_by = others | {field for field, _ in order_by}
    return len(sorted_by) > 1 or bool(equal and sorted_by)


def scan(package: Path) -> tuple[list[Query], list[Prune]]:
    """All calls of ``query`` and ``prune`` in a package, without the simulator: it has no store."""
    found: list[Query] = []
    pruned: list[Prune] = []
    for path in sorted(package.rglob("*.py")):
        if "simulator" in path.relative_to(package).parts:
            continue
        name = ".".join(path.relative_to(package.parent).with_suffix("").parts)
        source = path.read_text(encoding="utf-8")
        if ".query(" in source or ".prune(" in source:
            queries, prunes = scan_source(source, name)
            found += queries
            pruned += prunes
    return found, pruned


def scan_source(source: str, module: str) -> tuple[list[Query], list[Prune]]:
    """The same for one module's source; functions that make paths are called, so it must be importable."""
    reader = _Reader(ast.parse(source), module)
    return list(reader.queries()), list(reader.prunes())


class _Reader:
    def __init__(self, tree: ast.Module, module: str) -> None:
        self._tree, self._name = tree, module
        self._parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}

    def queries(self) -> Iterator[Query]:
        for call, place in self._calls("query"):
            where = self._pairs(_argument(call, 1, "where"), call)
            order = self._pairs(_argument(call, 2, "order_by"), call)
            collection = self._collection(_argument(call, 0, "collection"), call)
            for one, other in itertools.product(where, order):
                yield Query(place, collection, one, other)

    def prunes(self) -> Iterator[Prune]:
        for call, place in self._calls("prune"):
            field = self._word(_argument(call, 1, "field"), call)
            yield Prune(place, self._collection(_argument(call, 0, "collection"), call), field)

    def _calls(self, method: str) -> Iterator[tuple[ast.Call, str]]:
        for node in ast.walk(self._tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == method
            ):
                yield node, f"{self._name}:{node.lineno}"

    def _pairs(self, node: ast.expr | None, call: ast.AST) -> list[tuple[tuple[str, str], ...]]:
        """Each list of (field, word) the expression can be."""
        if node is None or (isinstance(node, ast.Tuple | ast.List) and not node.elts):
            return [()]
        if isinstance(node, ast.List):
            return [tuple(self._pair(item, call) for item in node.elts)]
        if isinstance(node, ast.IfExp):
            return self._pairs(node.body, call) + self._pairs(node.orelse, call)
        if isinstance(node, ast.Name):
            function = self._function(call)
            given = _assigned(node, function)
            if given:
                return [pairs for value in given for pairs in self._pairs(value, call)]
        raise Unreadable(
            f"{self._name}:{node.lineno}: {ast.unparse(node)} is no list of conditions I can read"
        )

    def _pair(self, item: ast.expr, call: ast.AST) -> tuple[str, str]:
        if not isinstance(item, ast.Tuple) or len(item.elts) < 2:
            raise Unreadable(f"{self._name}:{item.lineno}: {ast.unparse(item)} is no condition I can read")
        return self._word(item.elts[0], call), self._word(item.elts[1], call)

    def _word(self, node: ast.expr | None, call: ast.AST) -> str:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        if isinstance(node, ast.Name) and node.id in self._parameters(call):
            return f"<{node.id}>"
        shown = "nothing" if node is None else ast.unparse(node)
        raise Unreadable(f"{self._name}: {shown} is no field or operator I can read")

    def _collection(self, node: ast.expr | None, call: ast.AST) -> str:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value.rsplit("/", 1)[-1]
        if isinstance(node, ast.JoinedStr):
            last = node.values[-1]
            if isinstance(last, ast.Constant) and "/" in str(last.value):
                return str(last.value).rsplit("/", 1)[-1]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            path = getattr(self._module, node.func.id)(*["x"] * len(node.args))
            return str(path).rsplit("/", 1)[-1]
        if isinstance(node, ast.Name | ast.Attribute):
            here = _assigned(node, self._function(call) if isinstance(node, ast.Name) else self._tree)
            collections = {self._collection(value, call) for value in here}
            if not here and isinstance(node, ast.Name) and node.id in self._parameters(call):
                return f"<{node.id}>"
            if len(collections) == 1:
                return collections.pop()
        shown = "nothing" if node is None else ast.unparse(node)
        raise Unreadable(f"{self._name}: {shown} is no collection I can read")

    @property
    def _module(self) -> ModuleType:
        return importlib.import_module(self._name)

    def _function(self, node: ast.AST) -> ast.FunctionDef | None:
        while node in self._parents:
            node = self._parents[node]
            if isinstance(node, ast.FunctionDef):
                return node
        return None

    def _parameters(self, node: ast.AST) -> set[str]:
        function = self._function(node)
        return {item.arg for item in function.args.args} if function else set()


def _argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    if len(call.args) > position:
        return call.args[position]
    return next((item.value for item in call.keywords if item.arg == name), None)


def _assigned(target: ast.expr, within: ast.AST | None) -> list[ast.expr]:
    """Everything that is assigned to a name or an attribute in a piece of source."""
    if within is None:
        return []
    wanted = ast.unparse(target)
    return [
        node.value
        for node in ast.walk(within)
        if isinstance(node, ast.Assign) and any(ast.unparse(one) == wanted for one in node.targets)
    ]
