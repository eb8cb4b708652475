# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random

import pytest

from rota import Rota, RotaError
from rota.weeks import Week


def test_several_days():
    rota = Rota()
    for day in ("mon", "wed", "sun"):
        rota.sign_up("bob", 2, day)
    rota.sign_up("cy", 2, "wed")
    assert rota.week(2).days_of("bob") == ["mon", "wed", "sun"]
    assert rota.week(2).days_of("cy") == ["wed"]
    assert rota.load() == {"bob": 3, "cy": 1}


def test_full_day_does_not_fill_others():
    rota = Rota(places=1, days=("sat", "sun"))
    rota.sign_up("ann", 1, "sat")
    with pytest.raises(RotaError):
        rota.sign_up("bob", 1, "sat")
    rota.sign_up("bob", 1, "sun")
    assert rota.open_places(1) == {}


def test_weeks_are_independent():
    rota = Rota(days=("sat", "sun"))
    rota.sign_up("ann", 1, "sat")
    assert rota.week(2).days_of("ann") == []


def test_repeated_weeks_can_be_changed():
    rota = Rota(days=("sat", "sun"))
    rota.sign_up("ann", 1, "sat")
    rota.repeat(1, 2)
    rota.sign_up("bob", 2, "sat")
    assert rota.lines(1) == ["sat: ann", "sun: -"]
    assert rota.lines(2) == ["sat: ann, bob", "sun: -"]
    assert rota.lines(3) == ["sat: ann", "sun: -"]


def test_an_empty_week():
    week = Week.empty(7, ("sat", "sun"))
    assert week.number == 7
    assert week.helpers == {"sat": [], "sun": []}
    week.helpers["sat"].append("ann")
    assert week.days_of("ann") == ["sat"]
    assert week.copy(8).number == 8
    assert list(Week.empty(1).helpers) == ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


@pytest.mark.parametrize("days", [
    ("sun", "mon", "feast"), ["thu"], (), ("sat", "sun", "fri"), ["1", "2", "10"], ("Mon", "mon"), ("sun", "sat", "fri", "thu", "wed", "tue", "mon"),
])
def test_any_days_in_their_order(days):
    rota, wanted = Rota(places=2, days=days), {day: [] for day in days}
    assert rota.lines(1) == [f"{day}: -" for day in days]
    assert Week.empty(1, days).helpers == wanted and list(Week.empty(1, days).helpers) == list(days)
    for number, day in enumerate(reversed(days)):
        rota.sign_up(f"p{number}", 1, day)
        rota.sign_up("ann", 1, day)
        wanted[day] = [f"p{number}", "ann"]
        assert rota.lines(1) == [f"{day}: {', '.join(names) or '-'}" for day, names in wanted.items()]
        assert rota.week(1).days_of("ann") == [day for day in days if wanted[day]]
        assert rota.open_places(1) == {day: 2 for day in days if not wanted[day]}
    assert rota.lines(2) == [f"{day}: -" for day in days]


def test_days_and_weeks_share_nothing():
    days = ["sat", "sun", "mon"]
    weeks = [Week.empty(number, days) for number in (1, 2)] + [Week.empty(3)]
    weeks += [week.copy(9) for week in weeks]
    lists = [names for week in weeks for names in week.helpers.values()]
    for number, names in enumerate(lists):
        names.append(str(number))
        assert [len(each) for each in lists] == [1] * (number + 1) + [0] * (len(lists) - number - 1)
    weeks[0].helpers["feast"] = []
    assert days == ["sat", "sun", "mon"] and "feast" not in weeks[1].helpers


def test_like_a_list_of_names():
    chance = random.Random(4)
    for _ in range(60):
        places, days = chance.randint(1, 3), chance.sample(["fri", "sat", "sun", "feast"], chance.randint(1, 4))
        rota, entries = Rota(places, days), []
        for _ in range(25):
            name, number, day = chance.choice("abcd"), chance.randint(1, 3), chance.choice(["fri", "sat", "sun", "feast"])
            there = [entry for entry in entries if entry[1:] == (number, day)]
            if day not in days or (name, number, day) in there or len(there) >= places:
                with pytest.raises(RotaError):
                    rota.sign_up(name, number, day)
            else:
                rota.sign_up(name, number, day)
                entries.append((name, number, day))
            if chance.random() < 0.1:
                number, times = chance.randint(1, 2), chance.randint(0, 1)
                rota.repeat(number, times)
                if times:
                    entries = [entry for entry in entries if entry[1] != number + 1]
                    entries += [(name, number + 1, day) for name, week, day in entries if week == number]
            for number in (1, 2, 3):
                names = {day: [entry[0] for entry in entries if entry[1:] == (number, day)] for day in days}
                assert rota.week(number).helpers == names
                assert rota.open_places(number) == {day: places - len(x) for day, x in names.items() if len(x) < places}
            load = {}
            for name, _, _ in entries:
                load[name] = load.get(name, 0) + 1
            assert rota.load() == load
