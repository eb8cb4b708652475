# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from letters import render
from letters.errors import UnknownName


def test_names_set_in_the_loop_are_not_seen_by_the_macro():
    source = "{macro m}[{x}]{end}{each i in items}{let x = i}{call m}{x}{end}"
    assert render(source, {"x": "out", "items": [1, 2]}) == "[out]1[out]2"


def test_macro_called_by_a_macro():
    source = "{macro a}{who}{end}{macro b who}{who}:{call a};{end}{call b 'you'}"
    assert render(source, {"who": "me"}) == "you:me;"


def test_name_that_only_the_caller_has():
    with pytest.raises(UnknownName):
        render("{macro m}{inner}{end}{each inner in xs}{call m}{end}", {"xs": [1]})


def test_global_set_after_the_definition_is_seen():
    assert render("{macro m}{x}{end}{let x = 1}{call m}{let x = 2}{call m}", {"x": 0}) == "12"


def test_macro_of_a_loop_sees_the_item():
    source = "{each i in xs}{macro m}<{i}>{end}{each i in 'ab'}{call m}{end}{end}"
    assert render(source, {"xs": [1, 2]}) == "<1><1><2><2>"


def test_names_set_in_a_macro_end_with_it():
    assert render("{macro m}{let x = 5}{x}{end}{call m}{x}{call m}", {"x": 1}) == "515"


def test_macro_that_calls_itself_finds_itself():
    source = "{macro m items}{each one in items}({one.n}{call m one.kids}){end}{end}{call m tree}"
    tree = [{"n": 1, "kids": [{"n": 2, "kids": []}, {"n": 3, "kids": []}]}]
    assert render(source, {"tree": tree}) == "(1(2)(3))"
