"""Finds machinery in a change that a repair does not need. For people to look at; no verdict depends on it."""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Container, Iterator, Mapping
from typing import Any

from stackrank.source import parse_python

_MOST_BYTES = 1 << 20
"""The most bytes of source that are parsed per change: a syntax tree takes 500 times as much memory as its text."""
_NAMES = {
    "sys._getframe": "reads its callers' frames", "sys._current_frames": "reads frames of other threads",
    "sys.settrace": "traces the program", "sys.setprofile": "traces the program", "sys.addaudithook": "hooks audits",
    "sys.meta_path": "hooks imports", "sys.path_hooks": "hooks imports", "sys.modules": "changes what is imported",
    "inspect.stack": "reads its callers' frames", "inspect.currentframe": "reads its callers' frames",
    "inspect.getframeinfo": "reads its callers' frames", "os._exit": "ends the process at once",
    "os.abort": "ends the process at once", "os.kill": "sends signals",
}  # fmt: skip
_MODULES = {
    "gc": "searches the heap", "ctypes": "reaches into memory", "_ctypes": "reaches into memory",
    "atexit": "acts when the process ends", "linecache": "reads source texts", "_pytest": "reaches for the test runner",
    "pytest": "reaches for the test runner", "pluggy": "reaches for the test runner", "builtins": "changes builtins",
    "unittest": "reaches for the test runner", "importlib": "imports by hand", "mmap": "reaches into memory",
    "readline": "reaches into the process", "faulthandler": "acts on crashes",
}  # fmt: skip
_CALLS = {
    "exec": "runs generated code",
    "eval": "runs generated code",
    "compile": "makes code",
    "__import__": "imports by hand",
}
_ATTRIBUTES = {
    "f_back", "f_locals", "f_globals", "tb_frame", "__code__", "__closure__", "__globals__", "__subclasses__",
    "co_filename", "gi_frame", "cr_frame",
}  # fmt: skip
_EQUALITY = ("__eq__", "__ne__", "__instancecheck__", "__subclasscheck__", "__bool__")


def find_suspicious(original: Mapping[str, bytes], work: Mapping[str, bytes]) -> tuple[dict[str, Any], ...]:
    """Return what the change added: `file`, 1-based `line`, `what`. Lines that were there before are not checked."""
    findings: list[dict[str, Any]] = []
    remaining = _MOST_BYTES
    for path, content in work.items():
        old_content = original.get(path, b"")
        if content == old_content or not path.endswith((".py", ".pyi")):
            continue
        remaining -= len(content)
        if remaining < 0:
            return (*findings, {"file": path, "line": 1, "what": "from here on, more source than is looked at"})
        new: Container[int] = _new_lines(old_content, content)
        if _hides_text(content):
            what = "declares an encoding in which Python reads other text than people see"
            findings.append({"file": path, "line": 1, "what": what})
            new = range(1, _MOST_BYTES)
        try:
            tree = parse_python(content)
        except (SyntaxError, ValueError) as error:  # perhaps the syntax of a newer Python
            reason = str(getattr(error, "msg", error))
            findings.append({"file": path, "line": 1, "what": f"is not looked at, because it does not parse: {reason}"})
            continue
        aliases = _imports(tree)
        nodes = [node for node in ast.walk(tree) if getattr(node, "lineno", 0) in new]
        remarks = {(getattr(node, "lineno", 0), remark) for node in nodes for remark in _said(node, aliases)}
        findings += [{"file": path, "line": line, "what": remark} for line, remark in sorted(remarks)]
    return tuple(findings)


def _new_lines(old_text: bytes, new: bytes) -> set[int]:
    # No sequence comparison: for a file with a million equal lines it would take hours.
    old = set(old_text.splitlines())
    return {number for number, line in enumerate(new.splitlines(), 1) if line not in old}


def _hides_text(source: bytes) -> bool:
    """Whether Python reads a source otherwise than as the UTF-8 text that people are shown, as `utf-7` can make it."""
    try:
        shown = source.decode()
        return source.decode(tokenize.detect_encoding(io.BytesIO(source).readline)[0]) != shown.removeprefix("\ufeff")
    except (SyntaxError, UnicodeError, LookupError):  # Python does not read it, or people are not shown it as UTF-8
        return False


def _imports(tree: ast.Module) -> dict[str, str]:
    """Map each imported local name to the dotted name that it stands for."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
    return names


def _dotted(node: ast.AST, aliases: Mapping[str, str]) -> str:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        names.append(aliases.get(node.id, node.id))
    elif names:
        names.append("")
    return ".".join(reversed(names))


def _said(node: Any, aliases: Mapping[str, str]) -> Iterator[str]:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        for module in modules:
            if (remark := _MODULES.get(module.partition(".")[0])) is not None:
                yield f"imports {module}: {remark}"
        if isinstance(node, ast.ImportFrom):
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (f"{name}: {_NAMES[name]}" for name in full if name in _NAMES)
    elif isinstance(node, ast.Attribute):
        name = _dotted(node, aliases)
        if name in _NAMES:
            yield f"{name}: {_NAMES[name]}"
        if node.attr in _ATTRIBUTES:
            yield f"{node.attr}: looks behind the language"
        if isinstance(node.ctx, (ast.Store, ast.Del)) and _is_standard(name):
            yield f"{name} is replaced"
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in _CALLS:
            yield f"{node.func.id}: {_CALLS[node.func.id]}"
        if node.func.id == "setattr" and node.args and _is_standard(f"{_dotted(node.args[0], aliases)}.x"):
            yield f"an attribute of {_dotted(node.args[0], aliases)} is replaced"
    elif isinstance(node, ast.FunctionDef) and node.name in _EQUALITY and _is_constant(node):
        yield f"{node.name} always says the same"
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("/proc"):
        yield f"{node.value}: looks into processes"


def _is_standard(name: str) -> bool:
    module, _, attribute = name.partition(".")
    return bool(attribute) and (module in sys.stdlib_module_names or module in _MODULES)


def _is_constant(node: ast.FunctionDef) -> bool:
    last = node.body[-1]
    return isinstance(last, ast.Return) and isinstance(last.value, ast.Constant)
