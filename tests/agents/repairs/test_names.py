"""The names of tools as models and servers write them."""

from __future__ import annotations

import pytest

from stackrank.agents.llm.repairs.names import find_name

NAMES = ["view", "review", "listdir", "str_replace"]


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("view", "view"),
        ("review", "review"),
        (" `view` ", "view"),
        ("functions.view:3", "view"),
        ("tools.view", "view"),
        ("View()", "view"),
        # vllm-project/vllm#32587
        ("view<|channel|>commentary", "view"),
        ("commentary to=functions.view", "view"),
        ("view[ARGS]", "view"),
        ("list_dir", "listdir"),
        ("strReplace", "str_replace"),
        # weicj/vLLM-2080Ti-Definitive#127
        ("viewviewviewview", "view"),
        ("revreviewreview", "review"),
        ("reviewview", None),
        ("vie", None),
        ("viewx", None),
        ("", None),
        ("bash", None),
        ("view" * 10_000, None),
    ],
)
def test_names(said: str, name: str | None) -> None:
    assert find_name(said, NAMES) == name


def test_a_name_that_may_be_two() -> None:
    assert find_name("LISTDIR", ["list_dir", "listdir"]) is None
