"""Hostile text is neutralized in terminals, spreadsheets and pages; number formats."""

from __future__ import annotations

import ast
import csv
import io
import itertools
import json
import logging
import re
from pathlib import Path

import pytest

from stackrank import log, wording
from stackrank.agents.episode.protocol import Briefing
from stackrank.agents.human.agent import Human
from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.models.runs import Step
from stackrank.db.writes.store import Store
from stackrank.env.actions import Observation
from stackrank.env.tools import tool_set
from stackrank.flows.cli import main as command_line
from stackrank.flows.runs.afterwards.html_report import render
from stackrank.wording import count_of, csv_lines, one_line, percent, visible
from tests.support.episodes import start
from tests.test_layout import ROOT, sources

EVIL = "\x1b[31mred\x07\x9b2J\u202egnp.exe\u2066\u200b\U000e0041\x7f"
FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3+cmd", "@SUM(1)", "\t=1", "\r=1", "\n=1", "＝1+1", f"={EVIL}"]
EFFECT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060-\u2069\U000e0000-\U000e007f]")


@pytest.mark.parametrize(
    "char", "\xad\u034f\u115f\u1160\u180e\u200c\u200d\u206a\u2800\u3164\ufe0f\uffa0\U0001d173\U000e0101"
)
def test_no_character_is_invisible(char: str) -> None:
    """Two names that look the same differ by one, in a change that a person approves."""
    assert visible(f"ad{char}min") == f"ad⟨U+{ord(char):04X}⟩min"


def test_emoji_and_scripts_keep_the_characters_that_join_them() -> None:
    text = "⚠\ufe0f 1\ufe0f\u20e3 👩\u200d💻 ❤\ufe0f\u200d🔥 می\u200cخواهم क्\u200dष"
    assert visible(text) == text


def test_control_characters_are_made_visible() -> None:
    assert visible(EVIL) == "␛[31mred␇⟨U+009B⟩2J⟨U+202E⟩gnp.exe⟨U+2066⟩⟨U+200B⟩⟨U+E0041⟩␡"
    assert visible("a\tb\r\nc\rd") == "a\tb\nc␍d"
    assert visible("naïve 你好 👩‍🚀 שלום") == "naïve 你好 👩‍🚀 שלום", "no letter of any language is one"
    assert visible("\ud800") == "⟨U+D800⟩", "which no file could take"
    assert one_line("a\nb\tc") == "a␊b␉c"


@pytest.mark.parametrize("text", FORMULAS)
def test_csv_text_is_never_a_formula(text: str) -> None:
    ((cell,),) = csv.reader(io.StringIO("".join(csv_lines([[text]])), newline=""))
    assert cell.startswith("'") and not EFFECT.search(cell)


def test_numbers_stay_numbers_in_csv() -> None:
    cells = [-3, 0.1 + 0.2, "-3", "+1.5e-7", None, True, "a,b", ["=1", {"x": -1}]]
    (row,) = csv.reader(io.StringIO("".join(csv_lines([cells])), newline=""))
    assert row == ["-3", "0.3", "-3", "+1.5e-7", "", "True", "a,b", '["=1", {"x": -1}]']


def test_json_is_lossless_and_escapes_control_characters() -> None:
    document = {"text": EVIL, EVIL: ["\ud800", "ä", "\n"]}
    text = wording.as_json(document)
    assert json.loads(text) == document
    assert not EFFECT.search(text) and "ä" in text


def seed_evil(store: Store) -> int:
    """A run of which every text is hostile; its id."""
    tasks = [{"name": f"={EVIL}", "title": EVIL, "statement": EVIL, "category": EVIL, "digest": "d"}]
    benchmark = store.save_benchmark(name=f"b{EVIL}", digest="b", license=EVIL, source=EVIL, tasks=tasks)
    entrant = store.save_entrant(digest="e", name=f"@{EVIL}", agent=EVIL, model=EVIL, tools=EVIL, tool_list=["view"])
    spec = {"benchmark": EVIL, "steps": 5, "attempts": 2}
    cells = [(task, entrant, attempt) for task in benchmark.task_ids.values() for attempt in (1, 2, 3)]
    run = store.create_run(
        name=f"-{EVIL}",
        benchmark_id=benchmark.id,
        spec=spec,
        owner=EVIL,
        project=EVIL,
        tags=[EVIL],
        host=EVIL,
        cells=cells,
    )
    store.start_run(run)
    for number, row in enumerate(queries.episodes(store.engine, run)):
        start(store, row["id"])
        store.add_step(Step(episode_id=row["id"], index=0, observation=EVIL))
        action = {"tool": EVIL, "arguments": {EVIL: EVIL, "text": f"{EVIL}\n{EVIL}"}, "thought": EVIL}
        store.add_step(Step(episode_id=row["id"], index=1, observation=EVIL, **action))
        score = {"unfixed": [EVIL], "regressions": [EVIL], "notes": [EVIL]}
        verdict = ("resolved", "unresolved", "error")[number]
        store.finish_episode(row["id"], verdict=verdict, stop_reason="submitted", error=EVIL, diff=EVIL, score=score)
    return run


@pytest.fixture
def evil_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path))
    monkeypatch.setenv("STACKRANK_DATABASE_URL", f"sqlite:///{tmp_path / 'x.db'}")
    return seed_evil(Store(connect()))


CALLS = [
    "runs", "episodes latest", "trace 1", "leaderboard", "leaderboard --reliability", "runs --json", "trace 1 --json",
    "export --format csv", "export --format jsonl", "export --format swebench", "episodes nowhere" + EVIL,
    "trace " + EVIL, "cancel latest",
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_commands_neutralize_hostile_text(
    call: str, evil_run: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["stackrank", *call.split(" ")])
    with pytest.raises(SystemExit):
        command_line.main()
    output = "".join(capsys.readouterr())
    assert output and not EFFECT.search(output)


def test_report_neutralizes_hostile_text(evil_run: int) -> None:
    text, _ = render(connect(), evil_run)
    assert "gnp.exe" in text and not EFFECT.search(text)


def test_human_agent_neutralizes_hostile_observations(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("view cart.py\n"))
    player = Human()
    player.begin(Briefing("t", "", "", tool_set("rewrite"), 5), Observation(""))
    player.act(Observation(EVIL))
    assert not EFFECT.search(capsys.readouterr().out)


def test_log_neutralizes_hostile_text() -> None:
    record = logging.makeLogRecord({"msg": "failed", "fields": {"error": EVIL}})
    for form in (log._Text(), log._Json()):
        assert not EFFECT.search(form.format(record))


def test_print_is_called_only_in_wording() -> None:
    """Other code that printed would have to neutralize hostile text itself."""
    allowed = {ROOT / "flows" / "cli" / "output.py", ROOT / "src" / "stackrank" / "wording.py"}
    # A script that prints a path for the set-up scripts, and scripts that run in sandboxes and in Harbor's containers.
    allowed |= {ROOT / "env" / "sandbox" / "python_env.py", ROOT / "extensions" / "fix" / "finding" / "reproduces.py"}
    allowed |= {ROOT / "extensions" / "harbor" / "harbor_verifier" / "stackrank_outcomes.py"}
    allowed |= {ROOT / "extensions" / "cards" / "program" / "derive.py"}  # goes with a card, and neutralizes itself
    assert all(path.is_file() for path in allowed)
    prints = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for room in ("agents", "db", "env", "extensions", "flows", "dashboard", "src")
        for path in sources(ROOT / room)
        if "guest" not in path.parts and path not in allowed
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert not prints


def test_dashboard_tables_use_the_safe_helper() -> None:
    files = [path for room in ("dashboard", "extensions") for path in sources(ROOT / room)]
    callers = {path.name for path in files if "st.dataframe(" in path.read_text(encoding="utf-8")}
    assert callers == {"show.py"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (percent(0.125), "12.5%"),
        (percent(None), "–"),
        (wording.interval(0.354, 0.646), "35.4–64.6%"),
        (wording.points(-0.0421), "-4.2"),
        (wording.points(-0.0001), "0.0"),
        (wording.whole(12_000.4), "12,000"),
        (wording.mean(1234.56), "1,234.6"),
        (wording.part_of(5000, 5000), "5,000 of 5,000"),
        (wording.allowance(50.0, "steps"), "50"),
        (wording.point_interval(-0.1, 0.05), "-10.0 to +5.0"),
        (wording.uplift(0.5, 0.1, None), "+50% (+10% to no upper end)"),
        (wording.p_value(0.00012), "< 0.001"),
        (wording.usd(0.01234), "$0.0123"),
        (wording.usd(1234.5), "$1,234.50"),
        (wording.usd(None), "–"),
        (wording.total_usd(0.5741), "$0.57"),
        (wording.total_usd(1.234), "$1.23"),
        (wording.total_usd(0.0047), "< $0.01"),
        (wording.total_usd(0.0), "$0.00"),
        (wording.total_usd(None), "–"),
        (wording.amount(0.00003, "cost_usd", signed=True), "$0.0000"),
        (wording.amount(-0.00007, "cost_usd", signed=True), "-$0.0001"),
        (wording.run_name("nightly", 3), "nightly #3"),
        (wording.duration(3.21), "3.2 s"),
        (wording.duration(0.2024), "202 ms"),
        (wording.duration(0.9996), "1.0 s"),
        (wording.duration(9.97), "10 s"),
        (wording.duration(59.7), "1 min 00 s"),
        (wording.duration(0), "0 s"),
        (wording.duration(125), "2 min 05 s"),
        (wording.duration(7260), "2 h 01 min"),
        (wording.short_count(1_250_000), "1.2M"),
        (wording.ranks(2, 4), "2–4"),
        (wording.ranks(3, 3), "3"),
        (wording.one_of(["a", "b", "c"]), "a, b or c"),
        (wording.one_of(["a"]), "a"),
        (wording.words("never_reproduced"), "never reproduced"),
    ],
)
def test_number_formats(text: str, expected: str) -> None:
    assert text == expected


@pytest.mark.parametrize(
    ("verdict", "sealed", "unverified", "reason", "expected"),
    [
        ("resolved", 12, False, "", "sealed (1 in 4,096 chance of a lucky forgery)"),
        ("resolved", 0, False, "its tests are visible", "not sealed: its tests are visible"),
        ("resolved", 0, True, "no expectation can be changed", "unverified: no expectation can be changed"),
        ("resolved", 0, False, "", "not sealed"),
        ("unresolved", 0, False, "its tests are visible", ""),
    ],
)
def test_seal_wording(verdict: str, sealed: int, unverified: bool, reason: str, expected: str) -> None:
    episode = {"verdict": verdict, "sealed": sealed, "unverified": unverified, "score": {"unsealed": reason}}
    assert wording.seal(episode) == expected


def test_a_rate_says_how_much_of_it_is_unverified() -> None:
    row = {"rate": 0.5, "resolved": 12, "unverified": 0}
    assert (wording.resolved_rate(row), wording.unverified(row)) == ("50.0%", "")
    assert wording.resolved_rate({**row, "unverified": 3}) == "50.0% (unverified: 3 of 12)"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.013, "0.013"),
        (0.0496, "0.0496"),
        (0.05004, "0.05004"),
        (0.05, "0.050"),
        (0.3, "0.300"),
        (1.0, "1.000"),
        (3.94e-7, "< 0.001"),
        (None, wording.NOTHING),
    ],
)
def test_p_value_rounding_keeps_its_side_of_the_threshold(value: float | None, text: str) -> None:
    assert wording.p_value(value) == text


def test_p_values_are_never_shown_as_zero() -> None:
    assert (wording.p_is(0.0), wording.p_is(3.94e-7), wording.p_is(0.0496)) == ("p < 0.001", "p < 0.001", "p = 0.0496")


_NOUNS = "tasks|episodes|entrants|attempts|steps|files|workers|rows|problems|proposals|pairs|errors|nights|bugs"


def _disagreeing(source: str) -> list[str]:
    """The numbers in f-strings of `source` whose noun is a plural whatever the number; constants are no numbers."""
    return [
        f"line {value.lineno}: {{{ast.unparse(value.value)}}}{text.value[:40]}"
        for string in ast.walk(ast.parse(source))
        if isinstance(string, ast.JoinedStr)
        for value, text in itertools.pairwise(string.values)
        if isinstance(value, ast.FormattedValue) and isinstance(text, ast.Constant)
        if re.match(rf" (?:more |other |earlier )?(?:{_NOUNS})\b", text.value)
        if not (value.format_spec and "." in ast.unparse(value.format_spec))
        and not ast.unparse(value.value).startswith("mean(")
        if not re.match(r"[A-Z_]+$|.*\bone_of\(|.*url$", ast.unparse(value.value))
    ]


def test_counts_agree_with_their_nouns() -> None:
    assert [count_of(number, "task") for number in (0, 1, 2, 1200)] == ["0 tasks", "1 task", "2 tasks", "1,200 tasks"]
    assert [count_of(number, "category") for number in (1, 3)] == ["1 category", "3 categories"]
    assert [count_of(number, "day") for number in (1, 2)] == ["1 day", "2 days"]
    assert [count_of(number, "fix is", "fixes are") for number in (1, 2)] == ["1 fix is", "2 fixes are"]
    assert _disagreeing('f"{len(x)} tasks"') and not _disagreeing('f"{MOST} tasks in {path}"')
    files = [
        path
        for room in ("agents", "db", "env", "extensions", "flows", "dashboard", "src")
        for path in sources(ROOT / room)
        if "guest" not in path.parts
    ]
    found = {str(file.relative_to(ROOT)): _disagreeing(file.read_text(encoding="utf-8")) for file in files}
    assert {file: counts for file, counts in found.items() if counts} == {}
