"""Finding and loading of plug-ins."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from stackrank import plugins
from stackrank.errors import PluginError
from stackrank.plugins import load_plugin, plugin_names

GROUP = "stackrank.agents"


def register(monkeypatch: pytest.MonkeyPatch, *points: EntryPoint) -> None:
    monkeypatch.setattr(plugins, "entry_points", lambda group: [point for point in points if point.group == group])


def test_plugins_are_found_by_group_and_name(monkeypatch: pytest.MonkeyPatch) -> None:
    points = (
        EntryPoint("theirs", "json:loads", GROUP),
        EntryPoint("ours", "stackrank.errors:PluginError", GROUP),
        EntryPoint("elsewhere", "json:dumps", "stackrank.tools"),
    )
    register(monkeypatch, *points)
    assert plugin_names(GROUP) == ["ours", "theirs"]
    assert load_plugin(GROUP, "ours") is PluginError
    assert load_plugin(GROUP, "elsewhere") is None


@pytest.mark.parametrize(
    ("target", "cause", "remedy"),
    [
        ("missing_package.agents:Agent", "No module named 'missing_package'", "reinstall or uninstall missing_package"),
        ("json:Agent", "AttributeError", "reinstall or uninstall json"),
        ("json.decoder:Agent [extra]", "AttributeError", r"pip install 'json\[extra\]'"),
        ("tests.ground.needs_missing:Agent", "'missing_package'", "install what provides missing_package, or uninst"),
    ],
)
def test_unloadable_plugin(monkeypatch: pytest.MonkeyPatch, target: str, cause: str, remedy: str) -> None:
    register(monkeypatch, EntryPoint("broken", target, GROUP))
    with pytest.raises(
        PluginError, match=rf"^the plug-in 'broken' of .*\(entry point group {GROUP}\).*{cause}.*; .*{remedy}"
    ):
        load_plugin(GROUP, "broken")
