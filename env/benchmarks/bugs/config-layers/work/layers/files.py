# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The file format: `[a.b]` headers and `key = value` lines."""
from __future__ import annotations

from typing import Any, Dict, List

from layers.values import parse_value, write_value

Tree = Dict[str, Any]


def parse(text: str) -> Tree:
    """Read a file into nested dictionaries. `#` starts a comment line."""
    tree: Tree = {}
    section = tree
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]"):
            section = tree
            for name in line[1:-1].split("."):
                section = section.setdefault(name.strip(), {})
            continue
        key, equals, value = line.partition("=")
        if not equals:
            raise ValueError("line %d: neither a header nor a setting" % number)
        section[key.strip()] = parse_value(value)
    return tree


def write(tree: Tree) -> str:
    """Write nested dictionaries as a file; sections without settings of their own get no header."""
    lines: List[str] = []

    def section(path: List[str], node: Tree) -> None:
        settings = {k: v for k, v in node.items() if not isinstance(v, dict)}
        if settings and path:
            lines.append("[" + ".".join(path) + "]")
        lines.extend("%s = %s" % (k, write_value(v)) for k, v in settings.items())
        for name, child in node.items():
            if isinstance(child, dict):
                section(path + [name], child)

    section([], tree)
    return "\n".join(lines) + "\n" if lines else ""
