# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from builder import Circle, Project, UnknownTarget


def project(**needs):
    result = Project()
    for name, others in needs.items():
        result.add(name, *others.split())
    return result


def test_chain():
    p = project(app="lib", lib="core", core="")
    assert p.build("app") == ["core", "lib", "app"]
    p.touch("lib")
    assert p.build("app") == ["lib", "app"]
    assert p.build("app") == []


def test_shared_part():
    p = project(app="ui net", ui="core", net="core", core="")
    assert p.build("app") == ["core", "ui", "net", "app"]


def test_circle():
    with pytest.raises(Circle) as caught:
        project(a="b", b="c", c="b").build("a")
    assert caught.value.path == ["b", "c", "b"]


def test_unknown():
    with pytest.raises(UnknownTarget):
        project(a="x").build("a")
