"""Writes lists of tests into a `tasks.yaml`, and leaves everything else in it as its author wrote it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import yaml
from yaml.nodes import MappingNode, Node, SequenceNode

from stackrank.env.benchmarks.files import read_text
from stackrank.env.benchmarks.repo_schema import TaskEntry, read_tasks, write_tasks

Lists = Mapping[str, tuple[str, ...]]
"""`fail_to_pass` or `pass_to_pass` -> test ids."""


def write_lists(file: Path, lists: Mapping[str, Lists]) -> None:
    """Write the lists of tasks, by id, into the file. Comments and layout stay, if the file's layout allows that."""
    text = read_text(file)
    content, _ = read_tasks(file)
    wanted = content.model_copy(update={"tasks": [_with_lists(entry, lists) for entry in content.tasks]})
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    edits = sorted(_edits(root, lists), reverse=True) if isinstance(root, MappingNode) else []
    for start, end, new in edits:  # from the end, so that no edit moves the next one
        text = text[:start] + new + text[end:]
    file.write_text(text, encoding="utf-8")
    if read_tasks(file)[0] != wanted:  # for instance because two tasks share a part by an alias
        write_tasks(file, wanted)


def _with_lists(entry: TaskEntry, lists: Mapping[str, Lists]) -> TaskEntry:
    return entry.model_copy(update={name: list(tests) for name, tests in lists.get(entry.id, {}).items()})


def _edits(root: MappingNode, lists: Mapping[str, Lists]) -> list[tuple[int, int, str]]:
    """Return what to replace in the text: start, end, new text."""
    tasks = next((value for key, value in root.value if key.value == "tasks"), None)
    edits = []
    for node in tasks.value if isinstance(tasks, SequenceNode) else ():
        fields = {key.value: (key, value) for key, value in node.value} if isinstance(node, MappingNode) else {}
        if "id" not in fields:
            continue
        key, name = fields["id"]
        for field, tests in lists.get(str(name.value), {}).items():
            new = f"{json.dumps(field)}: {json.dumps(list(tests), ensure_ascii=False)}"
            indent = " " * key.start_mark.column
            if not node.flow_style:
                new = f"{field}:" + "".join(f"\n{indent}  - {json.dumps(test, ensure_ascii=False)}" for test in tests)
            if field in fields:
                edits.append((fields[field][0].start_mark.index, _end(fields[field][1]), new))
            else:
                start = key.start_mark.index
                edits.append((start, start, f"{new}, " if node.flow_style else f"{new}\n{indent}"))
    return edits


def _end(node: Node) -> int:
    """Return where the text of a node ends; the mark of a block also covers the comments after it."""
    if isinstance(node, SequenceNode) and not node.flow_style and node.value:
        return _end(node.value[-1])
    return int(node.end_mark.index)
