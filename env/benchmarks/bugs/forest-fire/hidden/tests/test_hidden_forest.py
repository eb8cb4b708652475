# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

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
