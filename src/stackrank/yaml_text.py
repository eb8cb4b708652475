"""Reads YAML that people write."""

from __future__ import annotations

from typing import Any

import yaml
from yaml.constructor import ConstructorError
from yaml.nodes import MappingNode, ScalarNode


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Refuses a key that is given twice, which YAML 1.2 forbids. PyYAML silently keeps the last value."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        if isinstance(node, MappingNode):
            keys = set[tuple[str, str]]()
            for key, _ in node.value:
                if isinstance(key, ScalarNode):
                    if (key.tag, key.value) in keys:
                        raise ConstructorError(None, None, f"{key.value!r} is given twice", key.start_mark)
                    keys.add((key.tag, key.value))
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return mapping


def load_yaml(text: str) -> Any:
    """Return what a YAML text holds. Raises yaml.YAMLError, also for a key that is given twice in one mapping."""
    return yaml.load(text, Loader=_Loader)
