"""Describes tools in words, from the same schemas that models get."""

from __future__ import annotations

from stackrank.env.tools.base import Tool, schema
from stackrank.env.tools.registry import find_tool, tool_names


def usage(name: str, required: list[str], arguments: list[str], body: str = "") -> str:
    """Return a line such as `rewrite path [start] [end]`, without the argument that is written below it."""
    words = [argument if argument in required else f"[{argument}]" for argument in arguments if argument != body]
    return " ".join([name, *words])


def markdown_table() -> str:
    """Return all tools as a Markdown table."""
    rows = ["| tool | arguments | what it does |", "| --- | --- | --- |"]
    rows += [_row(find_tool(name)) for name in tool_names()]
    return "\n".join(rows)


def _row(tool: Tool) -> str:
    definition = schema(tool)
    arguments = usage("", definition["required"], list(definition["properties"])).strip()
    code = f"`{arguments}`" if arguments else ""
    return f"| `{tool.name}` | {code} | {tool.description.replace('|', chr(92) + '|')} |"
