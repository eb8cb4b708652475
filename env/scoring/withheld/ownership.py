"""Tells the values that a test file computes by itself from those that depend on the program under test."""

from __future__ import annotations

import ast
import builtins
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import PurePosixPath

from stackrank.env.scoring.literals import called

Function = ast.FunctionDef | ast.AsyncFunctionDef
Key = tuple[ast.AST, str]
"""A scope and a name that is bound in it."""
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_EMPTY_MAKERS = {"list", "dict", "set", "deque", "defaultdict", "Counter"}


def workspace_modules(paths: Collection[str]) -> set[str]:
    """Return the top-level names by which the files of a workspace can be imported."""
    modules = set()
    for path in paths:
        parts = PurePosixPath(path).parts
        modules |= {part.partition(".")[0] for part in parts[: 2 if parts[0] in ("src", "lib") else 1]}
    return modules


def loaded_names(node: ast.AST) -> Iterator[ast.Name]:
    """Yield the names that are read in a tree."""
    return (name for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load))


class Ownership:
    """What one test file computes by itself, whatever the program does.

    An expression is the file's own if all its names are: built-ins, modules from elsewhere than the workspace,
    parameters with written values, and what is computed from these. Lists that start empty are for others to fill.
    """

    def __init__(self, tree: ast.Module, modules: Collection[str]) -> None:
        """`modules`: see `workspace_modules`."""
        self._modules = modules
        self._parents: dict[ast.AST, ast.AST] = {}
        self._scopes: dict[ast.AST, ast.AST] = {tree: tree}
        for node in ast.walk(tree):
            scope = node if isinstance(node, _SCOPES) else self._scopes[node]
            for child in ast.iter_child_nodes(node):
                self._parents[child], self._scopes[child] = node, scope
        self._bindings: dict[Key, list[ast.expr | Function | ast.ClassDef | bool]] = defaultdict(list)
        self._calls: dict[str, list[ast.Call]] = defaultdict(list)
        for node in self._parents:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                self._calls[node.func.id].append(node)
        for node in self._parents:
            self._bind(node)

    def calls(self, function: str) -> Sequence[ast.Call]:
        """Return the calls of a function of this file by its name."""
        return self._calls.get(function, ())

    def owns(self, node: ast.AST) -> bool:
        """Whether the value of an expression does not depend on the program."""
        return not any(self._is_foreign(key) for key in self._keys_read(node))

    def is_function(self, name: ast.Name) -> bool:
        """Whether a name that is read is a function or class of this file."""
        bindings = self._bindings.get((self.binding_scope(name), name.id), [])
        return any(isinstance(binding, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) for binding in bindings)

    def scope(self, node: ast.AST) -> ast.AST:
        """Return the function, class or module around a node."""
        return self._scopes[node]

    def binding_scope(self, name: ast.Name) -> ast.AST:
        """Return the scope in which a name that is read is bound; the outermost one if it is bound nowhere."""
        scope = self.scope(name)
        while (scope, name.id) not in self._bindings and scope in self._parents:
            scope = self.scope(scope)
        return scope

    # ---- names

    def _keys_read(self, node: ast.AST) -> Iterator[Key]:
        return ((self.binding_scope(name), name.id) for name in loaded_names(node))

    def _is_foreign(self, key: Key) -> bool:
        return key in self._foreign or (key not in self._bindings and not hasattr(builtins, key[1]))

    @cached_property
    def _foreign(self) -> set[Key]:
        """The names whose values depend on the program: those from elsewhere, and all that is computed from them."""
        users: dict[Key, list[Key]] = defaultdict(list)
        pending: list[Key] = []
        for key, values in self._bindings.items():
            for value in map(_origin, values):
                if value is False:
                    pending.append(key)
                elif value is not True:
                    for read in self._keys_read(value):
                        users[read].append(key)
        pending += [key for key in users if key not in self._bindings and not hasattr(builtins, key[1])]
        foreign: set[Key] = set()
        while pending:
            key = pending.pop()
            if key not in foreign:
                foreign.add(key)
                pending += users[key]
        return foreign

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                module = (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
                foreign = not getattr(node, "level", 0) and module.partition(".")[0] not in self._modules
                self._bindings[self.scope(node), (alias.asname or alias.name).partition(".")[0]].append(foreign)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self._bindings[self.scope(node), node.name].append(node)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            self._bindings[self.scope(node), node.id].append(self._source(node))
        elif isinstance(node, ast.ExceptHandler) and node.name:
            self._bindings[self.scope(node), node.name].append(False)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            self._bind_parameters(node)

    def _source(self, name: ast.Name) -> ast.expr | bool:
        """Return the expression that a name gets its value from; False if it is not known."""
        target: ast.AST = name
        while isinstance(self._parents[target], (ast.Tuple, ast.List, ast.Starred)):
            target = self._parents[target]
        owner = self._parents[target]
        if isinstance(owner, (ast.For, ast.AsyncFor, ast.comprehension)):
            return owner.iter
        if isinstance(owner, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
            return owner.value if owner.value is not None else True
        return False

    def _bind_parameters(self, node: Function | ast.Lambda) -> None:
        arguments = node.args
        names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
        values = self._parameter_values(node, names)
        for name in (*names, *(argument.arg for argument in arguments.kwonlyargs)):
            self._bindings[node, name] += values.get(name) or [False]
        for rest in (arguments.vararg, arguments.kwarg):
            if rest is not None:
                self._bindings[node, rest.arg].append(False)

    def _parameter_values(self, node: Function | ast.Lambda, names: Sequence[str]) -> dict[str, list[ast.expr | bool]]:
        if isinstance(node, ast.Lambda):
            return {name: [True] for name in names}  # what it is called with counts where it is called
        values: dict[str, list[ast.expr | bool]] = defaultdict(list)
        for name, table in parametrized(node):
            values[name].append(table)
        if not node.name.startswith("test") and not node.decorator_list:
            for number, name in enumerate(names):
                values[name] += [argument(call, number, name) for call in self._calls[node.name]]
        return values


def _origin(value: ast.expr | Function | ast.ClassDef | bool) -> ast.expr | Function | ast.ClassDef | bool:
    """Return what a bound value is computed from; True if from nothing, False if the program may have filled it."""
    if isinstance(value, (ast.List, ast.Dict, ast.Set)) and not list(ast.iter_child_nodes(value))[1:]:
        return bool(getattr(value, "elts", getattr(value, "keys", ())))
    if isinstance(value, ast.Call) and called(value) in _EMPTY_MAKERS and not value.args:
        return False
    return value


def argument(call: ast.Call, number: int, name: str) -> ast.expr | bool:
    """Return what a call passes for a parameter; False if that is not known, True if it is left out."""
    if any(isinstance(argument, ast.Starred) for argument in call.args) or any(not key.arg for key in call.keywords):
        return False
    if number < len(call.args):
        return call.args[number]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), True)


def parametrized(node: Function) -> Iterator[tuple[str, ast.expr]]:
    """Yield the parameters that `parametrize` gives a test function, each with its table of values."""
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and called(decorator) == "parametrize" and len(decorator.args) > 1:
            for name in parameter_names(decorator):
                yield name, decorator.args[1]


def parameter_names(decorator: ast.Call) -> list[str]:
    """Return the names in the first argument of `parametrize`."""
    first = decorator.args[0]
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        return [name.strip() for name in first.value.split(",") if name.strip()]
    return [str(name.value) for name in getattr(first, "elts", ()) if isinstance(name, ast.Constant)]
