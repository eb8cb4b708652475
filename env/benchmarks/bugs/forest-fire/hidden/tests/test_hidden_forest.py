# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random

from forest import Simulation


def pictures(rows, steps, rainy=False):
    fire = Simulation(rows)
    fire.rainy = rainy
    result = []
    for _ in range(steps):
        fire.step()
        result.append("/".join(fire.picture()))
    return result


def test_line():
    assert pictures(["T*TTT"], 4) == ["*a*TT", "a.a*T", "...a*", "....a"]


def test_column():
    assert pictures(["T", "*", "T", "T"], 3) == ["*/a/*/T", "a/./a/*", "./././a"]


def test_mirror_images_behave_alike():
    rows = ["TT.TT", "T*TTT", "TTT.T", ".TTTT"]
    plain = pictures(rows, 7)
    turned = pictures([row[::-1] for row in rows[::-1]], 7)
    assert ["/".join(row[::-1] for row in one.split("/")[::-1]) for one in turned] == plain


def test_rain():
    assert pictures(["*T*", "TTT", "*T*"], 3, rainy=True) == ["a*a/*T*/a*a", ".a./a*a/.a.", ".../.a./..."]


def test_rain_counts_only_what_burns_at_the_same_time():
    assert pictures(["*TT", "TT."], 2, rainy=True) == ["aTT/TT.", ".TT/TT."]
    assert pictures(["*TT", "*T."], 2, rainy=True) == ["aTT/aT.", ".TT/.T."]


def test_changes_and_steps():
    fire = Simulation(["*TT"])
    assert [fire.step() for _ in range(5)] == [2, 3, 2, 1, 0]
    fire = Simulation(["*T" + "T" * 20])
    assert fire.run(limit=5) == 16


def test_ash_beside_a_tree_saves_it_not():
    assert pictures(["aT*"], 2) == [".*a", ".a."]
    assert pictures(["Ta*T"], 2) == ["T.a*", "T..a"]
    assert pictures(["a", "T", "*"], 1) == ["./*/a"]


def by_hand(rows, rainy):
    after = []
    for y, row in enumerate(rows):
        line = ""
        for x, sign in enumerate(row):
            around = [(y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)]
            fires = sum(1 for v, u in around if 0 <= v < len(rows) and 0 <= u < len(row) and rows[v][u] == "*")
            if sign == "T" and fires >= (2 if rainy else 1):
                sign = "*"
            else:
                sign = {"*": "a", "a": "."}.get(sign, sign)
            line += sign
        after.append(line)
    return after


def test_rain_counts_no_fire_lit_in_the_same_step():
    assert pictures(["*T*", ".T*"], 2, rainy=True) == ["a*a/.Ta", ".a./.T."]
    assert pictures(["*T", "*T", "TT"], 1, rainy=True) == ["aT/aT/TT"]


def test_many_forests():
    chance = random.Random(12)
    for _ in range(250):
        width, signs = chance.randint(1, 6), chance.choice(["TTT*", "TT*a.", "T*"])
        rows = ["".join(chance.choice(signs) for _ in range(width)) for _ in range(chance.randint(1, 6))]
        fire = Simulation(rows)
        fire.rainy = chance.random() < 0.5
        for number in range(1, 5):
            after = by_hand(rows, fire.rainy)
            changed = sum(a != b for one, other in zip(rows, after) for a, b in zip(one, other))
            assert (fire.step(), fire.picture(), fire.steps) == (changed, after, number)
            rows = after
