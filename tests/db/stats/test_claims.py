"""Sentences that say who is better do so only if a corrected test does."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from stackrank.db import queries
from stackrank.db.queries import Scope
from stackrank.db.queries.comparisons.claims import claim, corrected_p, in_sentence
from stackrank.db.stats import ALPHA
from stackrank.db.writes.store import Store
from stackrank.wording import point_interval
from tests.db.queries.test_run_pair import play
from tests.support.session import sample

TASKS = [f"t{number:02}" for number in range(24)]
SHARES = {"a": 0.9, "b": 0.75, "c": 0.6, "d": 0.55, "e": 0.2}


def drawn(dice: random.Random, share: float, attempts: int = 1) -> dict[str, list[str]]:
    return {task: ["resolved" if dice.random() < share else "unresolved" for _ in range(attempts)] for task in TASKS}


@pytest.mark.parametrize(
    ("difference", "p_value", "expected"),
    [
        (0.3, 0.049, "better"),
        (-0.3, 0.049, "worse"),
        (0.3, 0.05, "No clear difference between two"),
        (0.0, 0.0, "No clear difference between two"),
        (0.3, None, "No clear difference between two"),
        (None, 0.01, "No clear difference between two"),
    ],
)
def test_a_claim_follows_the_test(difference: float | None, p_value: float | None, expected: str) -> None:
    said = claim(difference, p_value, above="better", below="worse", between="between two")
    assert said == expected
    assert in_sentence(said) == (f"n{expected[1:]}" if expected.startswith("No") else expected)


def test_the_correction_is_named_only_if_there_is_one() -> None:
    assert corrected_p(0.02, 0.02, 1) == "p = 0.020"
    assert corrected_p(0.02, 0.02, 3, "entrant") == "p = 0.020 over 3 entrants (Holm)"
    assert corrected_p(0.035, 0.069, 3) == "p = 0.035 alone, 0.069 over 3 pairs (Holm)"
    assert corrected_p(1e-9, 0.002, 45) == "p < 0.001 alone, 0.002 over 45 pairs (Holm)"
    assert corrected_p(1e-9, 1e-7, 45) == "p < 0.001 over 45 pairs (Holm)"


def test_a_tie_is_level_and_keeps_its_zero(store: Store) -> None:
    play(store, "one", {name: {task: ["resolved"] for task in TASKS[:4]} for name in ("x", "y")})
    pair = queries.compare(store.engine, "x", "y")
    assert pair["sentence"].startswith("No clear difference: y is level with x (")


@pytest.mark.parametrize("seed", sample(range(6), [0, 3]))
def test_pairs_claim_what_the_corrected_test_says(store: Store, seed: int) -> None:
    dice = random.Random(seed)
    run = play(store, "r", {name: drawn(dice, share, 1 + seed % 2) for name, share in SHARES.items()})
    scope = Scope(run=run)
    unclear = 0
    for first, second in combinations(SHARES, 2):
        pair = queries.compare(store.engine, first, second, scope)
        is_clear = pair["p_holm"] is not None and pair["p_holm"] < ALPHA and pair["difference"] != 0
        unclear += pair["p_holm"] != pair["p_value"] and not is_clear
        claimed = " ahead of " in pair["sentence"] or " behind " in pair["sentence"]
        assert claimed == is_clear and pair["sentence"].startswith("No clear difference") != is_clear
        assert " over 10 pairs (Holm)" in pair["sentence"]
        assert pair["holm_low"] is not None and pair["holm_high"] is not None
        assert (pair["holm_low"] <= 0 <= pair["holm_high"]) != is_clear
        assert f"({point_interval(pair['holm_low'], pair['holm_high'])})" in pair["sentence"]
    assert unclear, "some pairs are clear alone, and not among ten"
    lead = queries.front_page(store.engine, scope)["lead"]
    best, second_best = (row["entrant"] for row in queries.leaderboard(store.engine, scope)[:2])
    pair = queries.compare(store.engine, second_best, best, scope)
    assert lead.startswith(queries.headline(pair)) and pair["sentence"].startswith(queries.headline(pair)[:-1])
    assert f"{pair['tasks']} tasks" in queries.evidence(pair)


@pytest.mark.parametrize("seed", sample(range(6), [1, 3]))
def test_nights_claim_what_the_corrected_test_says(store: Store, seed: int) -> None:
    dice = random.Random(seed)
    for name in ("old", "new"):
        drop = 0.3 * (name == "new") * (seed % 3)
        play(store, name, {entrant: drawn(dice, share - drop) for entrant, share in SHARES.items()})
    pair = queries.run_pair(store.engine, "old", "new")
    clear = [row for row in pair["entrants"] if row["p_value"] < ALPHA and row["difference"]]
    for row in pair["entrants"]:
        word = "better" if row["difference"] > 0 else "worse"
        assert (f"{row['entrant']} is {word} than before" in pair["sentence"]) == (row in clear)
    assert pair["sentence"].startswith("No clear difference for any entrant; ") == (not clear)
