"""Tables that more than one page shows, and where a click on their rows leads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from stackrank import wording
from stackrank.dashboard import address, charts
from stackrank.dashboard.data import ask
from stackrank.dashboard.parts import cards, show
from stackrank.dashboard.parts import columns as kinds
from stackrank.db import queries
from stackrank.terms import RunStatus

RUN_PAGE, EPISODE_PAGE, DIVERGE_PAGE = "app_pages/run.py", "app_pages/episode.py", "app_pages/diverge.py"
COMPARE_PAGE, EPISODES_PAGE, TASK_PAGE = "app_pages/compare.py", "app_pages/episodes.py", "app_pages/task.py"
LEADERBOARD_PAGE, RUNS_PAGE = "app_pages/leaderboard.py", "app_pages/runs.py"
TOOL_SETS_PAGE = "app_pages/tool_sets.py"
TASKS_PAGE, AGAINST_PAGE = "app_pages/tasks.py", "app_pages/against.py"
MOST_COMPARED = 4
"""The most entrants that are compared side by side."""
_STORY = 612
"""Pixels that nearly every summary of a story needs."""
_FEWEST_RUNS = 3
"""A line of fewer runs shows no course."""
_LEAST_DRAWN = 0.1
"""The least share of the verdicts of the largest run with which a run is drawn: the rate of a few is mostly chance."""
_Column = st.column_config


def _bounds(row: Mapping[str, Any]) -> str:
    return (
        wording.interval(row["rate_errors_fail"], row["rate_errors_pass"])
        if row["errors"]
        else wording.percent(row["rate"])
    )


def board_frame(rows: Sequence[Mapping[str, Any]], history: dict[int, list[float]] | None = None) -> pd.DataFrame:
    """Return the rows of a leaderboard as its table shows them."""
    frame = pd.DataFrame(
        {
            "Rank": [wording.rank(row) for row in rows],
            "Entrant": [row["entrant"] for row in rows],
            "Rate": [show.in_percent(row["rate"]) for row in rows],
            "95% interval": [wording.interval(row["ci_low"], row["ci_high"]) for row in rows],
            "Faults": [wording.part_of(row["faults_mended"], row["faults"]) for row in rows],
            "Sealed": [wording.part_of(row["sealed"], row["resolved"]) for row in rows],
            "Unverified": [wording.part_of(row["unverified"], row["resolved"]) for row in rows],
            "Every attempt": [row["all_attempts_rate"] for row in rows],
            "Tasks": [wording.part_of(row["tasks"], row["tasks_total"]) for row in rows],
            "Episodes": [row["resolved"] + row["unresolved"] for row in rows],
            "Errors": [row["errors"] for row in rows],
            "With errors": [_bounds(row) for row in rows],
            "Cost per episode": [row["cost_per_episode"] for row in rows],
            "Spent": [row["cost_usd"] for row in rows],
            "Cost per resolved": [row["cost_per_resolved"] for row in rows],
            "95% of that cost": [
                wording.usd_interval(row["cost_per_resolved_low"], row["cost_per_resolved_high"]) for row in rows
            ],
            "Steps": [row["steps_mean"] for row in rows],
            "Tokens": [row["tokens_in"] + row["tokens_out"] for row in rows],
            "Duration": [row["wall_mean_s"] for row in rows],
            "Model": [row["model"] for row in rows],
            "Tools": [row["tools"] for row in rows],
        }
    )
    if history is not None and any(len(rates) >= _FEWEST_RUNS for rates in history.values()):
        frame.insert(list(frame).index("Tasks"), "Last runs", [history.get(row["entrant_id"], []) for row in rows])
    return frame.drop(columns=[column for column, is_told in _silent_columns(rows).items() if is_told])


def _silent_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, bool]:
    """Return the columns of a leaderboard that may say nothing, and whether they do."""
    return {
        "Faults": not any(map(queries.has_several_faults, rows)),
        "Unverified": not any(row["unverified"] for row in rows),
        "With errors": not any(row["errors"] for row in rows),
        "Sealed": not any(row["sealed"] for row in rows),
        # Every task was attempted once.
        "Every attempt": all(row["all_attempts_rate"] == row["rate"] for row in rows),
        # The scope above the table has their number.
        "Tasks": all(row["tasks"] == row["tasks_total"] for row in rows),
        "Model": all(row["model"] in row["entrant"] for row in rows),
        "Tools": all(row["tools"] in row["entrant"] for row in rows),
    }


_BOARD_COLUMNS = {
    "Rank": _Column.TextColumn(
        width=56,
        help="Entrants share ranks if their paired difference may be chance. Empty: see the note below the table.",
    ),
    "Rate": kinds.rate_bar(
        width=112,  # With rank and name, it fits on a phone.
        help="Resolved / (resolved + unresolved). Errors are shown separately.",
    ),
    "95% interval": _Column.TextColumn(help="Wilson interval; with several attempts per task, clustered by task."),
    "Faults": _Column.TextColumn(help="Mended faults, out of all in the episodes. The rate is their mean share."),
    "Sealed": _Column.TextColumn(help="Resolved episodes whose verdict could only have been forged by luck."),
    "Unverified": _Column.TextColumn(
        help="Resolved episodes whose verdict rests on a run of the tests alone, which a forger can pass too."
    ),
    "Every attempt": kinds.share(
        help="Share of tasks on which every attempt with a verdict was resolved, however many those were. Reliability "
        "has the share of those with k attempts."
    ),
    "Last runs": _Column.LineChartColumn(
        y_min=0, y_max=1, help="The rate in each of the last 10 runs, leaving out runs with few tasks."
    ),
    "Tasks": _Column.TextColumn(help="Tasks with a counted episode, out of all tasks in scope."),
    "Episodes": kinds.count(help="Resolved and unresolved episodes."),
    "Errors": kinds.count(help="Infrastructure failures. Rates leave them out, unless they count as failures."),
    "With errors": _Column.TextColumn(help="The rate if all errors were failures, and if all were successes."),
    "Cost per episode": kinds.dollars(help="Mean over counted episodes. –: unknown price."),
    "Spent": kinds.total_dollars(help="Total cost, including errors and retries."),
    "Cost per resolved": kinds.dollars(help="–: unknown price of the model."),
    "95% of that cost": _Column.TextColumn(
        help="95% interval of the cost per resolved episode, clustered by task (Fieller)."
    ),
    "Steps": kinds.mean(help="Mean per episode."),
    "Tokens": kinds.count("Tokens spent", help="Total, in and out."),
    "Duration": kinds.duration(help="Mean per episode."),
}


_RARELY_NEEDED = ("Sealed", "With errors", "Cost per episode", "Spent", "95% of that cost", "Tokens")
_ON_A_PHONE = ["Rank", "Entrant", "Rate"]


def leaderboard_table(
    rows: Sequence[Mapping[str, Any]],
    *,
    key: str,
    alt: str,
    history: dict[int, list[float]] | None = None,
    columns: Sequence[str] | None = None,
    **options: Any,
) -> None:
    """Draw a leaderboard, or only some of its columns; a reader can add those that are rarely needed.

    `history`: the rates of each entrant in its last runs. A phone has ranks and rates, and a button for all columns.
    """
    frame = board_frame(rows, history)
    looks: dict[str, Any] = {"about": rows, "column_config": _BOARD_COLUMNS, "height": "content"}
    if cards.are_needed():
        show.grid(frame[_ON_A_PHONE], alt=alt, key=f"{key}_ranks", links=options.get("links"), **looks)
    if columns is None:
        looks["hidden"] = _RARELY_NEEDED
    else:
        frame = frame[[column for column in columns if column in frame]]
    with cards.folded("All numbers"):
        show.grid(frame, alt=alt, key=key, **{**looks, **options})
    for row in rows:
        for text in filter(None, (row["apart"], row["partial"])):
            st.caption(show.escaped(f"{row['entrant']}: {text}"))
        if row["warning"]:
            st.warning(show.escaped(f"{row['entrant']}: {row['warning']}"), icon=":material/warning:")


def pick(
    rows: Sequence[Mapping[str, Any]],
    frame: pd.DataFrame,
    columns: dict[str, Any],
    *,
    key: str,
    name: str,
    alt: str,
    hint: str,
    links: Mapping[str, Sequence[str | None]] | None = None,
    opened: Callable[[Mapping[str, Any]], None],
    two: Callable[[Mapping[str, Any], Mapping[str, Any]], None] | None = None,
    everything: Callable[[], Sequence[Mapping[str, Any]]] | None = None,
    hidden: Collection[str] = (),
) -> None:
    """Draw a table with its CSV. Above it, `opened` draws the row that is ticked; without a tick the hint is shown.

    With `two`, several rows can be ticked, and `two` draws a pair of ticked rows. What is above the table stays in view
    while the page scrolls. `everything` returns the rows of the CSV if these are not all.
    """
    opener = st.container(key=f"opened_{key}")
    event = show.grid(
        frame,
        about=rows,
        links=links,
        hidden=hidden,
        key=key,
        on_select="rerun",
        selection_mode="multi-row" if two else "single-row",
        column_config=columns,
        alt=alt,
    )
    show.csv_button(everything or rows, name=name, key=key)
    picked = [rows[index] for index in event.selection.rows if index < len(rows)]
    with opener:
        if len(picked) == 1:
            opened(picked[0])
        elif two and len(picked) == 2:
            two(*picked)
        elif not cards.are_needed():
            st.caption(hint)


def episode_table(
    rows: Sequence[Mapping[str, Any]],
    *,
    key: str,
    with_run: bool = True,
    hits: Mapping[int, Mapping[str, Any]] | None = None,
    everything: Callable[[], Sequence[Mapping[str, Any]]] | None = None,
    name: str = "episodes",
) -> None:
    """Draw episodes, one of which can be opened. `hits`: episode -> `step` and `excerpt` that a search found.

    `everything` returns the rows of the CSV, which has this name, if these are only one page of them.
    """
    steps = {episode: hit["step"] for episode, hit in (hits or {}).items()}
    frame = pd.DataFrame(
        {
            "Verdict": [show.verdict(row) for row in rows],
            "Task": [row["task"] for row in rows],
            "Entrant": [row["entrant"] for row in rows],
            "Story": [queries.story_summary(row) for row in rows],
            "Failure point": [wording.words(row["failure_point"]) for row in rows],
            # Known when an episode has ended.
            "Steps": [row["steps"] if row["verdict"] else None for row in rows],
            "Tokens": [row["tokens_in"] + row["tokens_out"] if row["verdict"] else None for row in rows],
            "Cost": [row["cost_usd"] for row in rows],
            "Duration": [row["wall_s"] if row["verdict"] else None for row in rows],
            "Attempt": [row["attempt"] for row in rows],
            "Run": [wording.run_name(row["run"], row["run_id"]) for row in rows],
            "Episode": [row["id"] for row in rows],
        }
    )
    labels: dict[int, list[str]] = {}
    for label in ask(queries.labels):
        if label["episode_id"] is not None:
            labels.setdefault(label["episode_id"], []).append(wording.words(label["label"]))
    if any(row["id"] in labels for row in rows):
        frame["Labels"] = [labels.get(row["id"], []) for row in rows]
    if hits:
        matches = [hits.get(row["id"]) for row in rows]
        place = list(frame).index("Entrant") + 1
        frame.insert(place, "At step", [hit["step"] if hit else None for hit in matches])
        frame.insert(place + 1, "Found", [hit["excerpt"] if hit else "" for hit in matches])
    if not with_run:
        frame = frame.drop(columns="Run")
    frame = show.telling(frame, "Attempt", "Failure point")
    columns = {
        "Steps": kinds.count(),
        "Story": _Column.TextColumn(width=_STORY, help="How it ended. Tick the row for the whole story."),
        "Tokens": kinds.count(help="In and out."),
        "Cost": kinds.dollars(help="–: unknown price of the model."),
        "Duration": kinds.duration(),
        "Labels": _Column.ListColumn(help="Labels that people gave it."),
        "At step": kinds.count(help="The first step with the text, or the requested step."),
        "Found": _Column.TextColumn(help="The line with the text, which is between « and »."),
        "Episode": _Column.TextColumn(help="Opens the trace in a new tab."),
    }
    links = {"Episode": [address.to("episode", id=row["id"], step=steps.get(row["id"])) for row in rows]}

    def opened(row: Mapping[str, Any]) -> None:
        label = f"Open episode {row['id']}: {show.escaped(row['task'])}, {show.escaped(row['entrant'])}"
        show.link(EPISODE_PAGE, label, id=row["id"], step=(hits or {}).get(row["id"], {}).get("step"))
        show.story(EPISODE_PAGE, row)

    # The story tells what the failure point says; of a search, the text that was found matters more.
    hidden = ("Failure point", "Tokens", "Duration", "Attempt", *(["Story"] if hits else []))
    hint = "Tick a row to open its trace here. Names and numbers open in a new tab."
    pick(
        rows, frame, columns, key=key, name=name, alt="Episodes", hint=hint,
        links=links, opened=opened, everything=everything, hidden=hidden,
    )  # fmt: skip


def _rate(run: Mapping[str, Any]) -> float | None:
    counted = run["resolved"] + run["unresolved"]
    return run["resolved"] / counted if counted else None


_RUN_SIGNS = {"running": "▶", "finished": "✓", "failed": "✗"}


def _against(change: queries.Change | None) -> str:
    """Say which entrants are clearly better or worse than in the run before, and how far the rate of all of them is."""
    if change is None:
        return ""
    told = [
        f"{sign} {names[0] if len(names) == 1 else wording.count_of(len(names), 'entrant')} {word}"
        for sign, names, word in (("▼", change.worse, "worse"), ("▲", change.better, "better"))
        if names
    ]
    return f"{', '.join(told) or 'no clear difference'}, {wording.points(change.difference)} points"


def run_table(rows: Sequence[Mapping[str, Any]], *, key: str) -> None:
    """Draw how the rate went from run to run, and the runs, one of which can be opened, or two compared."""
    known = ask(queries.against_previous, [row["id"] for row in rows])
    _course(rows, known)
    changes = [known.get(row["id"]) for row in rows]
    frame = pd.DataFrame(
        {
            "Run": [wording.run_name(row["name"], row["id"]) for row in rows],
            "Status": [f"{_RUN_SIGNS.get(row['status'], wording.NOTHING)} {row['status']}" for row in rows],
            "Rate": [_rate(row) for row in rows],
            "Episodes": [wording.part_of(row["done"], row["episodes_total"] - row["not_played"]) for row in rows],
            "Resolved": [row["resolved"] for row in rows],
            "Unresolved": [row["unresolved"] for row in rows],
            "Errors": [row["errors"] for row in rows],
            "Cost": [row["cost_usd"] for row in rows],
            "Duration": [row["wall_s"] for row in rows],
            "Started": [show.moment(row["started_at"]) for row in rows],
            "Benchmark": [row["benchmark"] for row in rows],
            "Tags": [row["tags"] for row in rows],
            "Owner": [row["owner"] for row in rows],
            "Reported": [
                wording.count_of(len(row["regressions"]), "regression") if row["regressions"] else "" for row in rows
            ],
            "Against previous": [_against(change) for change in changes],
        }
    )
    frame = show.telling(frame, "Benchmark", "Tags", "Owner", "Errors", "Reported", "Against previous")
    columns = {
        "Rate": kinds.share(help="Resolved / (resolved + unresolved), over the episodes of all entrants."),
        "Against previous": _Column.TextColumn(
            help="Rate less the rate in the finished run before it in its series, over the entrants of both; and who "
            "is clearly better or worse than there: paired by task, with Holm's correction. Opens both runs side by "
            "side, and what may be the cause."
        ),
        "Reported": _Column.TextColumn(help="What was reported as worse than in up to 10 earlier runs of the series."),
        "Cost": kinds.total_dollars(help="Cost so far, as far as prices are known, including errors."),
        "Duration": kinds.duration(),
        "Started": kinds.moment(),
        "Tags": _Column.ListColumn(),
    }
    addresses = [address.to("run", id=row["id"]) for row in rows]
    against = [
        address.to("against", a=change.previous, b=row["id"]) if change else None
        for row, change in zip(rows, changes, strict=True)
    ]
    links: dict[str, Sequence[str | None]] = {"Run": addresses}
    if "Against previous" in frame:
        links["Against previous"] = against

    def opened(row: Mapping[str, Any]) -> None:
        show.link(RUN_PAGE, f"Open run {show.escaped(wording.run_name(row['name'], row['id']))}", id=row["id"])

    def two(first: Mapping[str, Any], second: Mapping[str, Any]) -> None:
        older, newer = sorted((first, second), key=lambda row: int(row["id"]))
        names = (show.escaped(wording.run_name(row["name"], row["id"])) for row in (newer, older))
        label = f"{' against '.join(names)}: what changed, and on which tasks"
        show.link(AGAINST_PAGE, label, "compare_arrows", a=older["id"], b=newer["id"])

    hint = "Tick a row to open the run here, two to compare them. A name opens its run in a new tab."
    pick(
        rows, frame, columns, key=key, name="runs", alt="Runs", hint=hint, links=links, opened=opened, two=two,
        hidden=("Resolved", "Unresolved"),
    )  # fmt: skip


def _course(rows: Sequence[Mapping[str, Any]], known: Mapping[int, queries.Change]) -> None:
    """Draw how the rate went from run to run, if there are several with a verdict."""
    lines = []
    for row in reversed(rows):
        if counted := row["resolved"] + row["unresolved"]:
            change = known.get(row["id"])
            sign = bool(change and change.better) - bool(change and change.worse)
            run, goes_on = wording.run_name(row["name"], row["id"]), not RunStatus(row["status"]).ended
            line = {"run": run, "series": row["series"] or run, "rate": _rate(row), "counted": counted}
            lines.append({**line, "sign": sign, "told": _against(change), "goes_on": goes_on})
    if len(lines) < 2:
        return
    st.markdown(f"**{show.escaped(_newest_change(lines))}**")
    enough = _LEAST_DRAWN * max(line["counted"] for line in lines)
    drawn = [line for line in lines if line["counted"] >= enough]
    marks = [{**line, "told": line["told"] or "nothing to compare with"} for line in drawn]
    if len(marks) > 1:
        charts.draw(charts.course(marks), key="runs_course", alt="Rate of each run over all its entrants, oldest first")
        few = len(lines) - len(drawn)
        left_out = f"Not drawn: {wording.count_of(few, 'run')} with few verdicts. " if few else ""
        st.caption(
            f"Over the episodes of all entrants so far; hollow: the run goes on. {left_out}Runs of other entrants, "
            "benchmarks or conditions have other rates for that reason alone; a line joins the runs of one series."
        )


def _newest_change(lines: Sequence[Mapping[str, Any]]) -> str:
    """Say what the newest run that has ended resolved, and how that compares; else what all lines are about."""
    newest = next((line for line in reversed(lines) if not line["goes_on"]), None)
    if newest is None:
        return "The rate of each run."
    episodes = f"{wording.percent(newest['rate'])} of {wording.count_of(newest['counted'], 'episode')} with a verdict"
    against = f"; against the run before: {newest['told']}" if newest["told"] else ""
    return f"{newest['run']} resolved {episodes}{against}."
