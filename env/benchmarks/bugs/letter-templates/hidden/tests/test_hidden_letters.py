# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random

import pytest

from letters import Mailing, MissingField, UnknownFilter, render


def test_values_that_look_like_places():
    assert render("{{a}}{{b}}", {"a": "{{b}}", "b": "{{a}}"}) == "{{b}}{{a}}"
    assert render("{{a}} {{a}}", {"a": "{{ a }}"}) == "{{ a }} {{ a }}"
    assert render("{{a|quoted}} {{b}}", {"a": "{{zz}}", "b": 1}) == '"{{zz}}" 1'


def test_places_that_come_about_by_chance():
    assert render("{{a}}{{b}}", {"a": "{", "b": "{b}}"}) == "{{b}}"
    assert render("{{{a}}}", {"a": "a"}) == "{a}"


@pytest.mark.parametrize("value", [r"\1", r"\g<0>", "\\", r"C:\new\table", "$1", ".*"])
def test_values_are_written_as_they_are(value):
    assert render("<{{v}}|{{ v }}>", {"v": value}) == f"<{value}|{value}>"


def test_filters_in_order_and_repeated_places():
    values = {"n": " ann lee "}
    assert render("{{n|strip|title|quoted}} {{ n | strip }} {{n|strip}}", values) == '"Ann Lee" ann lee ann lee'
    with pytest.raises(UnknownFilter):
        render("{{n|nothing}}", values)


def test_missing_field_in_a_value_is_no_error_but_in_the_template_it_is():
    assert render("{{a}}", {"a": "{{ghost}}"}) == "{{ghost}}"
    with pytest.raises(MissingField):
        render("{{a}} {{ghost}}", {"a": 1})


def test_own_values_come_before_common_ones():
    letters = Mailing("{{who}}", "{{a}}", who="all", a="x")
    assert letters.letter({"who": "{{a}}"}) == "{{a}}\n\nx"
    assert letters.lacking([{}]) == []


def test_white_space_and_odd_signs_are_kept():
    assert render("\n  {{a}} \n", {"a": " x "}) == "\n   x  \n"
    assert render("{{a}}", {"a": "x\0{{b}}"}) == "x\0{{b}}"


ODD = ["<0>", "<1>", "{0}", "%s", "%(a)s", r"\1", r"\g<a>", "$a", "\x000\x00", "@1@", "__0__", "#", "'", "", "é", "0", "1"]


def test_letters_put_together_from_pieces():
    chance = random.Random(2)
    values = {"a": "", "bb": "", "c_1": ""}
    for _ in range(400):
        values = {name: chance.choice(ODD + ["{{a}}", "{{bb|upper}}", "a", "bb"]) for name in values}
        template, letter = "", ""
        for _ in range(chance.randint(0, 6)):
            text, name = chance.choice(ODD), chance.choice(list(values))
            place, wanted = chance.choice([
                ("{{%s}}" % name, values[name]),
                ("{{ %s }}" % name, values[name]),
                ("{{%s|upper}}" % name, values[name].upper()),
                ("{{%s | strip|quoted}}" % name, '"%s"' % values[name].strip()),
            ])
            template, letter = template + text + place, letter + text + wanted
        assert render(template, values) == letter, template


def test_values_that_look_like_marks():
    assert render("{{a}}, {{b}}", {"a": "<1>", "b": "y"}) == "<1>, y"
    assert render("<0> {{a}} {{b}} {0}", {"a": "{1}", "b": "%s"}) == "<0> {1} %s {0}"
    assert render("", {"a": "x"}) == ""
