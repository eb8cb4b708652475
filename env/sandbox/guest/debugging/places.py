"""Places in the program as an agent names them: the one grammar of all debugging tools.

`file:line`, `file:first-last`, `function`, `Class.method`, `package.module.Class.method` and `module:function`, where a
module is named as in an import or by its file, and every form in which a tool shows a place: `cart.py:12 in total`,
`cart.py:12 (total)`, `total (cart.py:12)`. A condition may follow: `cart.py:12 if price > 3`.
"""

from __future__ import annotations

import ast
import difflib
import dis
import os
import re
import types
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from ..core.disk import real_file
from ..core.files import Refused
from .source import functions, is_overload

_MOST_NAMED = 5
_LONGEST_NUMBER = 9
_SHOWN = re.compile(
    r"(?P<place>[^\s()]+:\d+):?(?: in [\w.<>]+| \([\w.<>]+\))?"
    r"|[\w.<>]+(?: at |\s*\()(?P<inner>[^\s()]+:\d+)\)?"
)
"""A line of a file as a tool shows it, with its function."""


class Place(NamedTuple):
    """A line of a file (`function` is empty), or a function, identified by its file and the first line of its code."""

    name: str
    """As the agent wrote it."""
    file: str
    """The absolute path of the file."""
    line: int
    function: str
    body: int
    """The line to stop at: of a function, that of its first statement."""

    def is_function(self, code: types.CodeType) -> bool:
        """Whether a code object of the place's file is this function."""
        return code.co_firstlineno == self.line and code.co_name == self.function.rpartition(".")[2]


def split_condition(text: str) -> Tuple[str, str]:
    """Return a place and the condition after it: `place if condition`, or as in pdb `place, condition`."""
    comma = text.find(",")
    match = re.search(r"\sif\s", text if comma < 0 else text[:comma])
    if match is not None:
        return text[: match.start()].strip(), text[match.end() :].strip()
    return (text.strip(), "") if comma < 0 else (text[:comma].strip(), text[comma + 1 :].strip())


def separate_condition(places: str, condition: str) -> Tuple[str, str]:
    """Return places and their condition, which may follow them: `a.py:3, b.py:4 if x > 1`. Raises Refused."""
    match = re.search(r"\sif\s", places)
    if match is None:
        return places, condition
    if condition:
        raise Refused("two conditions given: one after the place and one as `condition`")
    return places[: match.start()].strip(), places[match.end() :].strip()


def find_places(root: str, text: str) -> List[Place]:
    """Return the places that a text names, separated by commas or newlines. Raises Refused."""
    places: List[Place] = []
    for name in (name.strip() for part in text.split("\n") for name in part.split(",")):
        if name:
            places += find_place(root, name)
    if not places:
        raise Refused("no place given: name a file:line, a function, a Class.method or a module:function")
    return places


def find_functions(root: str, name: str) -> List[Place]:
    """Return the functions with that name. Raises Refused."""
    places = find_place(root, name.strip())
    if not places[0].function:
        raise Refused("%r is not a function: name one, as in total, Cart.total or cart.py:total" % name)
    return places


def find_place(root: str, name: str) -> List[Place]:
    """Return the lines, or the functions, that one name stands for. Raises Refused."""
    shown = _SHOWN.fullmatch(name)
    name = (shown["place"] or shown["inner"]) if shown else name.rstrip("()")
    file, colon, line_text = name.rpartition(":")
    if colon and not file:
        raise Refused("%r names no file: write it as in cart.py%s" % (name, name))
    if colon and not re.match(r"[^\W\d]|\d+-?\d*$", line_text):
        raise Refused("%r names neither a line nor a function: write it as in cart.py:12 or cart.py:total" % name)
    first, dash, last = line_text.partition("-")
    if colon and first.isdecimal() and (last.isdecimal() if dash else not last):
        if max(len(first), len(last)) > _LONGEST_NUMBER:
            raise Refused("no file has a line whose number has %d digits" % max(len(first), len(last)))
        return _lines(root, name, find_file(root, file), int(first), int(last or first))
    if name.isdecimal():
        raise Refused("%r names no file: write it as in cart.py:%s" % (name, name))
    candidates: List[Tuple[str, str, int, int]] = []
    for path in [find_file(root, file)] if colon else _python_files(root):
        candidates += [(path, *row) for row in _functions_of(path)]
    dotted = line_text.replace(".<locals>", "")
    matches = [row for row in candidates if row[1] == dotted] or [
        row for row in candidates if row[1].endswith("." + dotted)
    ]
    if not matches and "." in dotted:
        # `module.function` or `package.module.Class.method`.
        for row in candidates:
            module = os.path.relpath(row[0], root)[:-3].replace(os.sep, ".")
            if ("." + module + "." + row[1]).endswith("." + dotted):
                matches.append(row)
    if not matches:
        raise Refused(_unknown(root, name, dotted, candidates))
    return [Place(name, path, first, qualified, body) for path, qualified, first, body in matches]


def _unknown(root: str, name: str, dotted: str, candidates: List[Tuple[str, str, int, int]]) -> str:
    if os.path.isfile(os.path.join(root, name)):
        return "%s is a file: name a line or a function in it, as in %s:12" % (name, name)
    methods = [row for row in candidates if ("." + row[1]).rpartition(".")[0].endswith("." + dotted)]
    if methods:
        names = ", ".join(row[1] for row in methods[:_MOST_NAMED])
        return "%s is not a function; its functions are %s" % (name, names)
    last = dotted.rpartition(".")[2]
    names_known = list(dict.fromkeys(row[1] for row in candidates))
    close = [name for name in names_known if name.rpartition(".")[2] == last]
    close += [name for name in difflib.get_close_matches(dotted, names_known, 3, 0.6) if name not in close]
    hint = "did you mean %s?" % " or ".join(close[:_MOST_NAMED]) if close else "use grep to find where it is defined"
    return "no function in the workspace is called %s: %s" % (name, hint)


def find_file(root: str, name: str) -> str:
    """Return the file or module with that name, or the only one whose path ends with it. Raises Refused."""
    inner_path = os.path.join(root, name)
    if os.path.isfile(inner_path):
        return real_file(inner_path)
    paths = [os.path.relpath(path, root) for path in _python_files(root)]
    module = os.path.join(*name.split("."))
    endings = tuple(
        os.sep + ending for ending in (name.lstrip("./"), module + ".py", os.path.join(module, "__init__.py"))
    )
    matches = [path for path in paths if (os.sep + path).endswith(endings)]
    if len(matches) == 1:
        return os.path.join(root, matches[0])
    close = matches or difflib.get_close_matches(name, paths, 3)
    hint = ": did you mean %s?" % " or ".join(close[:_MOST_NAMED]) if close else ""
    raise Refused("no file %s%s" % (name, hint))


def _lines(root: str, name: str, path: str, first: int, last: int) -> List[Place]:
    """Return the lines from `first` to `last` that can be reached. Raises Refused if there are none."""
    relative = os.path.relpath(path, root)
    try:
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise Refused("%s cannot be parsed (%s), so none of its lines can be reached" % (relative, error)) from None
    lines = sorted({line for part in _codes(code) for _, line in dis.findlinestarts(part) if line})
    inside_range = [line for line in lines if first <= line <= last]
    if not inside_range:
        nearest = [line for line in lines if line < first][-1:] + [line for line in lines if line > last][:1]
        plural = len(nearest) > 1
        hint = "; the nearest %s with code %s %s" % (
            "lines" if plural else "line",
            "are" if plural else "is",
            " and ".join(map(str, nearest)),
        )
        subject = str(first) if first == last else "%d-%d" % (first, last)
        raise Refused("%s:%s has no code%s" % (relative, subject, hint if nearest else ""))
    return [Place(name, path, line, "", line) for line in inside_range]


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _codes(const)


def defined_at(path: str, line: int) -> str:
    """Return the function whose definition, decorators included, is in that line; empty if there is none."""
    return next((name for name, first, body in _functions_of(path) if first <= line < body), "")


def _functions_of(path: str) -> Iterator[Tuple[str, int, int]]:
    """Yield the qualified name, the first line (decorators included) and the line of the first statement of each
    function in a file. Functions that only declare types are left out."""
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
        for qualified, node in functions(tree):
            definition: Any = node
            if is_overload(node):
                continue
            first = min([definition.lineno, *(decorator.lineno for decorator in definition.decorator_list)])
            statement = definition.body[0]
            is_docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            yield qualified, first, definition.body[is_docstring and len(definition.body) > 1].lineno
    except (SyntaxError, ValueError, OSError, RecursionError):
        return


def _python_files(root: str) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        hidden = ("__pycache__", "node_modules", "site-packages")
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in hidden)
        paths = (os.path.join(folder, name) for name in sorted(names) if name.endswith(".py"))
        yield from (path for path in paths if not os.path.islink(path))


class Names:
    """Qualified names of code objects, which Python itself provides only since 3.11."""

    def __init__(self) -> None:
        self._files: Dict[str, Dict[Tuple[int, str], str]] = {}

    def __call__(self, code: types.CodeType) -> str:
        """Return the qualified name, such as `Class.method`."""
        qualified: Optional[str] = getattr(code, "co_qualname", None)
        if qualified is not None:
            return qualified.replace("<locals>.", "")
        functions = self._files.get(code.co_filename)
        if functions is None:
            functions = {(first, name.rpartition(".")[2]): name for name, first, _ in _functions_of(code.co_filename)}
            self._files[code.co_filename] = functions
        return functions.get((code.co_firstlineno, code.co_name), code.co_name)
