# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from polls.ballots import parse_ballots
from polls.report import report
from polls.runoff import run_off


def test_rounds_stop_at_the_majority_of_counting_ballots():
    assert report("4: ada\n2: bob\n3: cy\n1: dee\n") == [
        "round 1: ada 4, bob 2, cy 3, dee 1",
        "round 2: ada 4, bob 2, cy 3 (1 exhausted)",
        "round 3: ada 4, cy 3 (3 exhausted)",
        "winner: ada",
    ]


def test_early_winner_among_three():
    ballots = parse_ballots("5: red\n2: blue\n2: green\n2: pink\n")
    outcome = run_off(ballots, ["red", "blue", "green", "pink"])
    assert outcome.winner == "red"
    assert [stage.exhausted for stage in outcome.rounds] == [0, 2]


def test_majority_needs_more_than_half():
    lines = report("2: ada > bob\n2: bob > ada\n1: cy\n")
    assert lines == [
        "round 1: ada 2, bob 2, cy 1",
        "round 2: ada 2, bob 2 (1 exhausted)",
        "round 3: ada 4 (1 exhausted)",
        "winner: ada",
    ]


def test_no_ballots():
    assert run_off([], ["ada", "bob"]).winner is None
    assert report("") == ["no winner"]


def test_candidate_order_decides_ties():
    ballots = parse_ballots("ada\nbob\n")
    assert run_off(ballots, ["bob", "ada"]).winner == "bob"
    assert run_off(ballots, ["ada", "bob"]).winner == "ada"


def test_complete_ballots():
    lines = report("4: a > b > c\n3: b > c > a\n2: c > b > a\n")
    assert lines == ["round 1: a 4, b 3, c 2", "round 2: a 4, b 5", "winner: b"]


def test_runs_are_independent():
    short = parse_ballots("3: x\n2: y\n2: z\n")
    first = run_off(short, ["x", "y", "z"])
    assert run_off(short, ["x", "y", "z"]) == first
    assert first.winner == "x" and len(first.rounds) == 2
