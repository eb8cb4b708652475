"""What a model reads is what the golden files say. `python -m pytest tests/golden --write-golden` writes them again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixtures.env import usable
from tests.golden import observations, prompts

FOLDER = Path(__file__).parent
TEXTS = {
    "tools.txt": prompts.write_tools,
    "prompts.txt": prompts.write_prompts,
    "text-mode.txt": prompts.write_text_mode,
    "refusals.txt": prompts.write_refusals,
    "nudges.txt": prompts.write_nudges,
}


def check(request: pytest.FixtureRequest, name: str, text: str) -> None:
    if request.config.getoption("--write-golden"):
        (FOLDER / name).write_text(text, encoding="utf-8")
    golden = (FOLDER / name).read_text(encoding="utf-8")
    assert text == golden, f"{name}: read the difference; if it is meant, run pytest tests/golden --write-golden"


@pytest.mark.parametrize("name", TEXTS)
def test_prompts_and_descriptions(request: pytest.FixtureRequest, name: str) -> None:
    check(request, name, TEXTS[name]())


def test_observations(request: pytest.FixtureRequest) -> None:
    for name, text in observations.write_observations(usable("local")).items():
        check(request, name, text)


def test_every_golden_file_is_made() -> None:
    made = {
        *TEXTS,
        *(f"observations-{part}.txt" for part in ("reading", "editing", "debugging", "terminal", "locked-tool")),
    }
    assert {path.name for path in FOLDER.glob("*.txt")} == made
