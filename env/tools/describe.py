"""Describes tools in words, from the same schemas that models get."""

from __future__ import annotations

from stackrank.env.tools.base import Tool, schema
from stackrank.env.tools.registry import find_tool, tool_names


def usage(name: str, required: list[str], arguments: list[str], body: str = "") -> str:
    """Return a line such as `rewrite path [start] [end]`, without the argument that is written below it."""
    words = [each if each in required else f"[{each}]" for each in arguments if each != body]
    return " ".join([name, *words])


def markdown_table() -> str:
    """Return all tools as a Markdown table."""
    rows = ["| tool | arguments | what it does |", "| --- | --- | --- |"]
    rows += [_row(find_tool(name)) for name in tool_names()]
    return "\n".join(rows)


def _row(tool: Tool) -> str:
    described = schema(tool)
    arguments = usage("", described["required"], list(described["properties"])).strip()
    shown = f"`{arguments}`" if arguments else ""
    return f"| `{tool.name}` | {shown} | {tool.description.replace('|', chr(92) + '|')} |"
