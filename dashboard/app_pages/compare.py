"""Two entrants on the same tasks."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from stackrank import wording
from stackrank.dashboard import address, charts
from stackrank.dashboard.charts import paper
from stackrank.dashboard.data import ask
from stackrank.dashboard.parts import cards, columns, effort, show
from stackrank.dashboard.parts.scope import nothing, shown
from stackrank.dashboard.parts.tables import DIVERGE_PAGE, EPISODE_PAGE, MOST_COMPARED, TASK_PAGE, pick
from stackrank.db import queries
from stackrank.db.queries.comparisons.across import AcrossComparison
from stackrank.db.queries.comparisons.claims import direction
from stackrank.db.queries.comparisons.compare import Comparison
from stackrank.db.queries.comparisons.effort import EffortComparison
from stackrank.db.writes import conditions
from stackrank.terms import ErrorsAre
from stackrank.wording import count_of, words

_PAIRED: dict[str, Any] = {
    "Points": columns.points(),
    "95% interval": columns.corrected_interval(),
    "p": columns.p_value(),
    "p (Holm)": columns.p_value(),
}

_ENDS = ("ci_low", "ci_high", "holm_low", "holm_high")

st.title("Compare")
scope = shown()
varying = ask(queries.varying_conditions, scope)
across = (
    address.selectbox("Across a condition", list(varying), "cmp_across", placeholder="Entrants", width=260)
    if varying
    else None
)


def remember() -> None:
    """Put the chosen entrants into the address."""
    address.put(cmp_pick=",".join(map(str, st.session_state.cmp_entrants)), cmp_pair=None)


def between_entrants() -> list[Comparison]:
    """Let the reader choose entrants, and compare every two of them."""
    board = ask(queries.leaderboard, scope)
    if len(board) < 2:
        nothing("A comparison needs two entrants with verdicts on the same tasks.")
    names = {row["entrant_id"]: row["entrant"] for row in board}
    picked = address.picked("cmp_pick", list(names))[:MOST_COMPARED]
    if len(picked) < 2:
        # Fill up with the best entrants that are not picked yet.
        picked = [*picked, *(entrant for entrant in names if entrant not in picked)][:2]
    st.session_state.cmp_entrants = picked
    st.multiselect(
        "Entrants, two to four",
        list(names),
        key="cmp_entrants",
        format_func=lambda entrant: names[entrant],
        max_selections=MOST_COMPARED,
        on_change=remember,
    )
    by_rate = sorted(picked, key=list(names).index, reverse=True)  # sentences are about the better of two
    return ask(queries.compare_all, by_rate, scope)


def between_values(condition: str) -> AcrossComparison:
    """Compare each entrant with itself under two values of a condition, the reader's choice of more than two."""
    texts = [conditions.value_text(value) for value in varying[condition]]
    first = address.selectbox("From", texts, "cmp_from", default=texts[0], width=160) or texts[0]
    others = [text for text in texts if text != first]
    second = address.selectbox("To", others, "cmp_to", default=others[0], width=160) or others[0]
    compared = ask(queries.compare_across, condition, scope, values=(first, second))
    for scoped in compared["scopes"]:
        show.scope(scoped)
    if not compared["pairs"]:
        nothing(f"No entrant has played under both values of {condition}.")
    return compared


def between_two(question: Callable[..., list[EffortComparison]]) -> dict[str, EffortComparison]:
    """Compare what the two entrants take, in steps, tokens and dollars."""
    ids = [(row["first"]["entrant_id"], row["second"]["entrant_id"]) for row in pairs]
    return {by: ask(question, ids, scope, by=by)[pairs.index(pair)] for by in effort.UNITS}


compared = between_values(across) if across else None
pairs = compared["pairs"] if compared else between_entrants()
labels = [f"{row['second']['entrant']} against {row['first']['entrant']}" for row in pairs]
if len(pairs) > 1:
    overview = [
        {
            "Pair": label,
            "Points": row["difference"],
            "95% interval": wording.point_interval(row["holm_low"], row["holm_high"]),
            "Relative uplift": wording.uplift(row["uplift"], row["uplift_low"], row["uplift_high"]),
            "p (Holm)": row["p_holm"],
            "Tasks": row["tasks"],
            "Detectable": row["detectable"],
        }
        for label, row in zip(labels, pairs, strict=True)
    ]
    of_pair = [",".join(str(row[side]["entrant_id"]) for side in ("first", "second")) for row in pairs]
    show.grid(
        overview,
        links={} if across else {"Pair": [address.to("compare", cmp_pick=ids) for ids in of_pair]},
        column_config={
            **_PAIRED,
            "Detectable": columns.spread(
                help="The smallest true difference, in points, that this many tasks detect with 80% power.",
            ),
        },
        alt="Every pair of the chosen entrants",
    )
    show.csv_button([show.flat_pair(row) for row in pairs], name="compare", key="cmp_pairs")
    pair_label = address.selectbox("Pair", labels, "cmp_pair", default=labels[0])
    pair = pairs[labels.index(pair_label or labels[0])]
else:
    pair = pairs[0]
first, second = pair["first"], pair["second"]
if compared:
    efforts = dict(zip(effort.UNITS, compared["effort"][pairs.index(pair)], strict=True))
    spending: dict[str, EffortComparison] = {}
else:
    efforts, spending = between_two(queries.effort), between_two(queries.spending)
side_runs: list[list[Any]] = [[scope.run], [scope.run]]
if compared:
    side_runs = [[run["run"] for run in reversed(scoped["runs"])] for scoped in compared["scopes"]]


with st.container(border=True):
    test = "exact McNemar test" if pair["test"] == "mcnemar" else "permutation test within tasks"
    paired = f"Paired by task, each with the same weight; {test}." if pair["tasks"] else ""
    show.comparison(pair, paired)
    if pair["cluster_sentence"]:
        st.caption(show.escaped(pair["cluster_sentence"]))
if not pair["tasks"]:
    st.stop()

sides = [(first, pair["only_first"]), (second, pair["only_second"])]
for column, (row, better) in zip(st.columns(2), sides if across else reversed(sides), strict=True):
    with column, st.container(border=True):
        st.markdown(f"**{show.escaped(row['entrant'])}**")
        with st.container(horizontal=True, key=f"side_of_{'second' if row is second else 'first'}"):
            interval = wording.interval(row["ci_low"], row["ci_high"])
            st.metric("Resolved", wording.percent(row["rate"]), interval, delta_color="off", delta_arrow="off")
            if row["unverified"]:
                st.metric("Unverified", f"{row['unverified']} of {row['resolved']}")
            st.metric("Better on", count_of(len(better), "task"))
            st.metric("Cost per resolved", wording.usd(row["cost_per_resolved"]))
            st.metric("Steps an episode", wording.mean(row["steps_mean"]))
        counted = row["resolved"] + row["unresolved"]
        error_rule = "counted as failures" if scope.errors == ErrorsAre.AS_FAILURES else "left out of rates"
        errors = count_of(row["errors"], "error")
        st.caption(
            f"{count_of(counted, 'episode')} with a verdict on {count_of(row['tasks'], 'task')}; {errors}, {error_rule}"
        )


def traces(task: Mapping[str, Any]) -> None:
    """Draw links to a task and to the newest trace of either entrant."""
    with st.container(horizontal=True):
        show.link(TASK_PAGE, "Task", "task", id=task["task_id"])
        newest = []
        for side, runs in zip((first, second), side_runs, strict=True):
            for run in runs:
                episode_filters = {"entrant_id": side["entrant_id"], "task": task["task"], "run": run}
                rows = ask(
                    queries.episodes, **episode_filters, verdict=["resolved", "unresolved"], newest_first=True, limit=1
                )
                newest += rows
                if rows:
                    break
        if len(newest) == 2:
            a, b = (episode["id"] for episode in newest)
            show.link(DIVERGE_PAGE, "The two traces side by side", "fork_right", a=a, b=b)
        for episode in newest:
            show.link(EPISODE_PAGE, f"Trace of {show.escaped(episode['entrant'])}", id=episode["id"])


def tasks() -> None:
    """Draw every task that both played; a ticked task links to its traces."""
    kinds = {
        "second": (f"{second['entrant']} better", set(pair["only_second"])),
        "first": (f"{first['entrant']} better", set(pair["only_first"])),
        "flaky": ("Flaky", set(pair["flaky"])),
        "all": ("All", {row["task"] for row in pair["by_task"]}),
    }
    texts = {name: f"{show.escaped(label)} ({len(members)})" for name, (label, members) in kinds.items()}
    kind = address.segmented(
        "Show",
        list(kinds),
        "cmp_show",
        default="all",
        format_func=lambda name: texts[name],
        help="Flaky: resolved in only some attempts of an entrant.",
    )
    task_rows = [row for row in pair["by_task"] if row["task"] in kinds[kind][1]]
    task_rows.sort(key=lambda row: (-abs(row["difference"]), -row["difference"]))
    frame = pd.DataFrame(
        {
            "Task": [row["task"] for row in task_rows],
            "Category": [row["category"] for row in task_rows],
            "Difficulty": [row["difficulty"] for row in task_rows],
            second["entrant"]: [f"{row['second_resolved']} of {row['second_counted']}" for row in task_rows],
            first["entrant"]: [f"{row['first_resolved']} of {row['first_counted']}" for row in task_rows],
            "Points": [row["difference"] for row in task_rows],
        }
    )
    frame = show.telling(frame, "Category", "Difficulty")
    hint = "Tick a task to open its two traces here. Its name opens the task in a new tab."
    alt = "Tasks that both played"
    pick(task_rows, frame, _PAIRED, key="cmp_tasks", name="compare_tasks", alt=alt, hint=hint, opened=traces)


def categories() -> None:
    """Draw the difference in each category of tasks."""
    by_category = queries.compare_categories(pair["by_task"])
    rows = [{"label": row["category"] or "none", **row} for row in by_category]
    total = {
        name: value for name, value in pair.items() if name in ("difference", *_ENDS, "p_value", "p_holm", "tasks")
    }
    total_row = {"label": "all tasks", "category": "all tasks", **total}
    flat = [{name: value for name, value in row.items() if name != "label"} for row in (*rows, total_row)]
    lines = [
        {
            "Category": row["category"] or "none",
            "Tasks": row["tasks"],
            "Points": row["difference"],
            "95% interval": wording.point_interval(row["holm_low"], row["holm_high"]),
            "p": row["p_value"],
            "p (Holm)": row["p_holm"],
        }
        for row in flat
    ]
    st.markdown(f"**{show.escaped(clear_categories(rows))}**")
    numbers, drawing = cards.beside()
    with numbers:
        show.grid(lines, column_config=_PAIRED, alt="Difference by category")
        show.csv_button(flat, name="compare_categories", key="cmp_categories")
        st.caption(
            "Intervals and p (Holm) are corrected for the number of categories; those over all tasks, as in the "
            "sentence above. An interval that includes 0 is at least as wide as if no task showed a difference."
        )
    with drawing:
        figure = charts.forest([*rows, total_row], first["entrant"], second["entrant"])
        charts.draw(figure, key="cmp_forest", alt="Difference in each category with its 95% interval")
        of_paper = partial(paper.differences, [*rows, total_row], first["entrant"])
        show.paper_button(of_paper, name="compare_categories", key="cmp_categories")


def clear_categories(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say in which categories the better of the two is clearly ahead, and clearly behind."""
    named = {
        word: [row["label"] for row in rows if direction(row["difference"], row["p_holm"]) == sign]
        for word, sign in (("ahead", 1), ("behind", -1))
    }
    parts = [f"clearly {word} in {', '.join(labels)}" for word, labels in named.items() if labels]
    return f"{second['entrant']} is {' and '.join(parts)}." if parts else "No category by itself differs clearly."


def effort_of_both() -> None:
    """Draw what an episode of either of the two takes, and what it takes to resolve a task, where that is limited."""
    if efforts["steps"]["is_limited"] and (
        sentence := queries.effort_sentence(first["entrant"], second["entrant"], efforts["steps"])
    ):
        st.markdown(f":material/sprint: {show.escaped(sentence)}")
    effort.draw((first["entrant"], second["entrant"]), spending, efforts)
    rows = [{"what": what, **row} for what, rows in (("episode", spending), ("task", efforts)) for row in rows.values()]
    show.csv_button(rows, name="compare_effort", key="cmp_effort")
    corrected = f" Intervals are corrected (Holm) for {count_of(len(pairs), 'pair')}." if len(pairs) > 1 else ""
    st.caption(
        f"Over the tasks that both played, each with the same weight, paired by task.{corrected} The effort tells two "
        "entrants apart also where both resolve nearly all."
    )


def told(setting: object) -> str:
    """Return the value of a setting as people write it."""
    if isinstance(setting, list):
        return ", ".join(map(str, setting))
    return wording.NOTHING if setting is None else str(setting)


def settings() -> None:
    """Draw the settings in which the two differ."""
    differs = pair["differs"]
    if differs:
        lines = [{"Setting": words(name), "1": told(a), "2": told(b)} for name, (a, b) in differs.items()]
        heads = {number: st.column_config.Column(side["entrant"]) for number, side in (("1", first), ("2", second))}
        show.grid(lines, column_config=heads, alt="Settings in which the two differ")
        flat = [{"setting": name, "first": a, "second": b} for name, (a, b) in differs.items()]
        show.csv_button(flat, name="compare_settings", key="cmp_settings")
    else:
        st.caption("Agent, version, model, tools and configuration are the same.")


address.tabs("cmp_tab", {"Tasks": tasks, "By category": categories, "Effort": effort_of_both, "What differs": settings})
