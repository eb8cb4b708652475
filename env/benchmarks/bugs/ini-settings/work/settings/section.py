# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Sections and the settings in them."""
from __future__ import annotations

from typing import Iterator, Mapping

_TRUE = {"yes", "true", "on", "1"}
_FALSE = {"no", "false", "off", "0"}


class MissingSetting(KeyError):
    """A setting or a section that the file does not have."""

    def __init__(self, where: str, name: str) -> None:
        super().__init__(name)
        self.where = where
        self.name = name

    def __str__(self) -> str:
        return f"{self.where} has no {self.name!r}"


class Section(Mapping):
    """The settings of one section: `section["name"]` as a mapping, or `section.name` as an attribute.

    As a mapping a missing setting raises MissingSetting, which is a KeyError; as an attribute it behaves as
    any missing attribute. Underscores in an attribute may stand for hyphens in the file.
    """

    def __init__(self, title: str, values: dict[str, str], defaults: dict[str, str] | None = None) -> None:
        self._title = title
        self._values = {**(defaults or {}), **values}

    @property
    def title(self) -> str:
        return self._title

    def __getitem__(self, name: str) -> str:
        try:
            return self._values[name.lower()]
        except KeyError:
            raise MissingSetting(f"[{self._title}]", name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, name: str) -> str:
        if name.startswith("_"):
            raise AttributeError(name)
        hyphened = name.replace("_", "-")
        return self[hyphened if hyphened in self else name]

    def flag(self, name: str, default: bool | None = None) -> bool:
        """The setting as yes or no; a missing one is the default, if there is one."""
        if default is not None and name not in self:
            return default
        word = self[name].lower()
        if word in _TRUE:
            return True
        if word in _FALSE:
            return False
        raise ValueError(f"[{self._title}] {name} is neither yes nor no: {word!r}")


class Settings:
    """All the sections of a file."""

    def __init__(self, sections: dict[str, Section]) -> None:
        self._sections = sections

    def titles(self) -> list[str]:
        return list(self._sections)

    def section(self, title: str) -> Section:
        try:
            return self._sections[title]
        except KeyError:
            raise MissingSetting("the file", title) from None
