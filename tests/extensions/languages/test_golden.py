"""What a model reads of `debug` is what the files in `texts` say; `--write-golden` writes them again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from stackrank.env.tools.base import ToolError
from stackrank.extensions.languages.debugging.tool import Debug, DebugArguments
from tests.extensions.languages.test_debug import GROWN, PROGRAM, TEST, Played, normal_mode, opened
from tests.golden.prompts import section

COMMANDS = (
    "h", "p x", "b nowhere.c:3", "b {place} if x == 2\nb", "c", "p no_such_name", "p x + y\nlocals", "n", "w\nu\nl",
    "cl 1\nr", "inspect grow", "watch y\nc", "cl 7", "c\nc", "c", "q",
)  # fmt: skip
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


def write_texts(played: Played) -> Iterator[str]:
    place = f"{PROGRAM[played.language]}:{GROWN[played.language]}"
    test: str | None = TEST[played.language].format(normal_mode(played.language))
    for command in COMMANDS:
        command = command.format(place=place)
        try:
            text = Debug()(played.bench, DebugArguments(command=command, test=test)).text
        except ToolError as error:
            text = f"refused: {error}"
        test = None
        yield section("debug", f"{command}\n\n{ADDRESS.sub('0x...', text)}")


@pytest.mark.exhaustive
@pytest.mark.parametrize("language", ["cpp", "go"])
def test_the_texts_of_debug(request: pytest.FixtureRequest, language: str) -> None:
    file = Path(__file__).parent / "texts" / f"debug-{language}.txt"
    for played in opened(language):
        text = "".join(write_texts(played))
        if request.config.getoption("--write-golden"):
            file.write_text(text, encoding="utf-8")
        assert text == file.read_text(encoding="utf-8"), "if the difference is meant, run with --write-golden"
