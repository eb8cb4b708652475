# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from flat import dump, flatten, load

SETTINGS = {"name": "web", "ports": [80, 443], "log": {"level": "info", "to": [{"file": "a"}, {"file": "b"}]}}


def test_flatten():
    assert flatten(SETTINGS) == {
        "name": "web",
        "ports[0]": 80,
        "ports[1]": 443,
        "log.level": "info",
        "log.to[0].file": "a",
        "log.to[1].file": "b",
    }


def test_there_and_back():
    assert load(dump(SETTINGS)) == SETTINGS


def test_no_plugins():
    settings = {"name": "web", "plugins": []}
    assert load(dump(settings)) == settings


def test_comments():
    assert load("# hello\n\na.b = 1\n") == {"a": {"b": 1}}
