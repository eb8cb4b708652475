"""README.md of a card: the board for people, what it leaves out, and how to derive it again."""

from __future__ import annotations

import re
from collections import defaultdict

import pandas as pd

from stackrank.extensions.cards.program.facts import shown

DERIVED = dict[str, dict[tuple[str, ...], dict[str, str]]]
TABLES = """\
Facts: `rules.csv` (what was asked for, and the seed of drawn sets), `runs.csv` (every run that was asked for, and why
one is not pooled), `conditions.csv`, `versions.csv`, `tasks.csv`, `entrants.csv`, `labels.csv`, and `episodes.csv`
(every episode of these runs: errors, repeated tries and episodes without a verdict too). Of runs of other benchmarks,
only the number is listed. People, hosts, texts of tasks and what agents did are not part of a card.

Derived: `board.csv`, `pairs.csv` (the paired differences behind the ranks), `reliability.csv`, `abilities.csv`,
`difficulties.csv`, `levels.csv` and `calibration.csv` (the model), `costs.csv`, `left_out.csv`, `scope.csv`, and this
page.

`pip install pandas scipy && python3 derive.py` derives all of these again from the facts, and says what differs.
The program needs neither stackrank nor its database. With stackrank: `stackrank check-card FOLDER`.
"""


def statement(facts: dict[str, pd.DataFrame], derived: DERIVED) -> str:
    """Return README.md."""
    rules = facts["rules"].set_index("rule").value
    scope = {quantity: row["value"] for (quantity,), row in derived["scope"].items()}
    lines = [f"# {_plain(rules['benchmark'])}: a board (entrants: {scope['entrants']})", ""]
    errors = "count as failures" if rules["errors"] == "as-failures" else "left out"
    lines.append(
        f"Version {rules['version'][:8]}; runs pooled: {scope['runs']}; tasks: {scope['tasks']}, of which all entrants "
        f"played {scope['common_tasks']}; errors {errors}: {scope['errors']}. {_provisional(facts)}Intervals: 95 %."
    )
    lines += ["", "| rank | entrant | resolved | interval | tasks | episodes | errors | $ total |", "|" + " --- |" * 8]
    ordered = sorted(derived["board"].items(), key=lambda item: _place(item[1]))
    for _, row in ordered:
        ranks = "–".join(dict.fromkeys([row["rank_low"], row["rank_high"]])) or (
            "reference" if row["reference"] == "true" else "none"
        )
        interval = f"{_percent(row['ci_low'])} to {_percent(row['ci_high'])}" if row["rate"] else ""
        cost = shown(float(row["cost_usd"]), 2) if row["cost_usd"] else "unknown"
        cells = (
            ranks,
            _plain(row["name"]),
            _percent(row["rate"]),
            interval,
            f"{row['tasks']} of {row['tasks_total']}",
            row["episodes"],
            row["errors"],
            cost,
        )
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "## What was left out", "", *_omissions(facts, derived), "", "## Tables", "", TABLES]
    return "\n".join(lines)


def _provisional(facts: dict[str, pd.DataFrame]) -> str:
    runs = facts["runs"]
    unfinished = runs[(runs.pooled == "true") & (runs.status != "finished")]
    return f"Provisional: {len(unfinished)} of these runs have not finished. " if len(unfinished) else ""


def _omissions(facts: dict[str, pd.DataFrame], derived: DERIVED) -> list[str]:
    """Return a line for each kind and reason, with the numbers of its rows added up."""
    names = {"task": facts["tasks"].set_index("task").name, "entrant": facts["entrants"].set_index("entrant").name}
    groups = defaultdict(list)
    for (what, number), row in derived["left_out"].items():
        groups[what, row["why"]].append((number, row))
    lines = []
    for (what, why), members in groups.items():
        of = next((kind for kind in names if kind in what), "")
        named = ", ".join(_plain(names[of][number]) if of else number for number, _ in members[:10])
        more = f" and {len(members) - 10} more" if len(members) > 10 else ""
        episodes = sum(int(row["episodes"]) for _, row in members)
        usd = shown(sum(float(row["cost_usd"]) for _, row in members), 2)
        lines.append(f"- {what}: {_plain(why)}: {named}{more} (episodes: {episodes}; ${usd})")
    return lines or ["Nothing."]


def _place(row: dict[str, str]) -> tuple[bool, bool, int, int, float, float, str]:
    low, high = int(row["rank_low"] or 0), int(row["rank_high"] or 0)
    lead, rate = float(row["lead"] or 0), float(row["rate"] or -1)
    return row["reference"] == "true", not low, low, high, -lead, -rate, row["name"]


def _percent(share: str) -> str:
    return f"{shown(100 * float(share), 1)} %" if share else ""


def _plain(text: str) -> str:
    """Return a name as one line of Markdown that is only text."""
    return re.sub(r"([\\`*_{}\[\]<>|#!])", r"\\\1", " ".join(text.split()))
