"""The run specification: what is wrong is said in one sentence, what is right is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flows.spec import RunSpec, SpecError, make_spec, read_spec

MINIMAL: dict[str, Any] = {"entrants": [{"agent": "oracle"}]}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({**MINIMAL, "benchmrk": "bugs"}, ["benchmrk", "not a field", "benchmark"]),
        ({"entrants": [{"agent": "oracle", "modle": "x"}]}, ["entrants.0.modle", "model"]),
        ({**MINIMAL, "attempts": 0}, ["attempts", "greater than or equal to 1", "0"]),
        ({**MINIMAL, "workers": "many"}, ["workers", "integer", "many"]),
        ({**MINIMAL, "sandbox": "vm"}, ["sandbox", "docker", "vm"]),
        ({**MINIMAL, "cost_usd": -1}, ["cost_usd", "-1"]),
        ({"entrants": []}, ["entrants"]),
        ({"entrants": [{"agent": "repair"}, {"agent": "repair"}]}, ["repair (debug)", "names"]),
    ],
)
def test_wrong_fields_are_named(data: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(SpecError) as caught:
        make_spec(data, "the file")
    for word in ["the file", *words]:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a: [1,", ["not YAML"]),
        (b"- a\n- b\n", ["no run specification", "entrants:"]),
        (b"\xff\xfe\x00", ["not YAML"]),
        (b"benchmark: bugs\n", ["no entrant", "--agent"]),
    ],
)
def test_wrong_files_are_named(tmp_path: Path, content: bytes, words: list[str]) -> None:
    file = tmp_path / "run.yaml"
    file.write_bytes(content)
    with pytest.raises(SpecError) as caught:
        read_spec(file, {})
    assert all(word in str(caught.value) for word in words)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="cannot be read"):
        read_spec(tmp_path / "none.yaml", {})


def test_flags_override_the_file(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text("benchmark: bugs\nattempts: 2\ntags: [nightly]\nentrants:\n  - {agent: oracle, tools: rewrite}\n")
    spec = read_spec(file, {"attempts": 3, "limit": None, "tags": [], "agent": [], "model": [], "tools": []})
    assert (spec.attempts, spec.tags, spec.entrants[0].label) == (3, ["nightly"], "oracle (rewrite)")
    spec = read_spec(file, {"agent": ["repair"], "tools": ["rewrite", "debug"]})
    assert [entrant.label for entrant in spec.entrants] == ["repair (rewrite)", "repair (debug)"]


def test_models_and_tools_are_crossed() -> None:
    spec = read_spec(None, {"model": ["a", "b"], "tools": ["rewrite", "debug"]})
    assert [each.label for each in spec.entrants] == [
        "llm/a (rewrite)", "llm/a (debug)", "llm/b (rewrite)", "llm/b (debug)",
    ]  # fmt: skip


def test_a_specification_survives_json() -> None:
    spec = make_spec({**MINIMAL, "tasks": "one, two", "name": "x"}, "test")
    assert spec.tasks == ["one", "two"]
    assert RunSpec.model_validate(spec.model_dump(mode="json")) == spec
