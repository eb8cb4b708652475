"""One task: every entrant and attempt."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from stackrank import wording
from stackrank.dashboard import address
from stackrank.dashboard.data import ask
from stackrank.dashboard.parts import cards, columns, labels, show
from stackrank.dashboard.parts.scope import current
from stackrank.dashboard.parts.tables import DIVERGE_PAGE, EPISODE_PAGE, TASKS_PAGE
from stackrank.dashboard.trace.header import known_fix
from stackrank.db import queries

task_id = address.number("id")
if task_id is None:
    show.which("Task", "Which task? Select one in the list of tasks.", TASKS_PAGE, "Tasks", "task")

show.breadcrumb((TASKS_PAGE, "Tasks", {}))
# The scope's benchmark may be another one than the task's.
scope = replace(current(), benchmark=None, version=None)
task = ask(queries.task_board, task_id, scope)
show.titled(task["name"], f"task {task_id}")
with st.container(horizontal=True, vertical_alignment="center"):
    st.title(show.escaped(task["name"]), width="content", anchor=False)
    valid = {True: ("green", "valid"), False: ("red", "defective"), None: ("gray", "not validated")}
    color, word = valid[task["valid"]]
    meaning = "Validated: its known fix passes its tests, and the faulty program fails them, time after time."
    st.badge(word, color=color, help=meaning)  # type: ignore[arg-type]
facts = [f"benchmark {task['benchmark']}", *filter(None, (task["category"], task["difficulty"]))]
if task["validated_rounds"]:
    facts.append(f"validated {wording.times_in_a_row(task['validated_rounds'])}")
if task["measured"] and not task["measured"]["unmeasured"]:
    facts.append(wording.difficulty(task["measured"]))
st.caption(" · ".join(map(show.escaped, facts)))
show.scope(task["scope"])
if task["suspect"]:
    st.warning(show.escaped(task["suspect"]), icon=":material/report:")
    st.code(f"stackrank validate {task['benchmark']} --tasks {task['name']}", language=None)


def program(episode_id: int) -> None:
    """Draw the files of the task as an agent first sees them, and its known fix when a reader asks for it."""
    files = ask(queries.task_files, episode_id)
    if files:
        name = st.selectbox("File", sorted(files), key="task_file", format_func=wording.visible)
        st.code(wording.visible(files[name]), language="python" if name.endswith(".py") else None, line_numbers=True)
    known_fix(ask(queries.episode, episode_id))


def about() -> None:
    """Draw what the task asks for, its program, and what people say of it."""
    if task["statement"]:
        st.subheader("Statement")
        st.code(task["statement"], language=None, wrap_lines=True)
    if task["episodes"]:
        with st.expander("Program and known fix", icon=":material/code:", type="compact", on_change="rerun") as box:
            if box.open:
                program(task["episodes"][0]["id"])
    label = f"Labels ({len(task['labels'])})"
    is_open = bool(task["labels"])
    with st.expander(label, key=f"labels_{task_id}", icon=":material/label:", expanded=is_open, type="compact"):
        labels.given(task["labels"], task_id=task_id)


def entrants() -> None:
    """Draw who resolves the task."""
    st.subheader("Who resolves it")
    counted = wording.count_of(task["resolved"] + task["unresolved"], "episode")
    facts = [f"{wording.percent(task['rate'])} of {counted} resolved, over all entrants"]
    facts += [f"{wording.count_of(task['flaky'], 'entrant')} in only some attempts"] if task["flaky"] else []
    facts += [f"{wording.count_of(task['errors'], 'error')}, which no rate counts"] if task["errors"] else []
    st.markdown(f"**{show.escaped('; '.join(facts))}.**")
    marks = {"resolved": "✓", "unresolved": "✗", "error": "!"}
    sides = task["entrants"]
    frame = pd.DataFrame(
        {
            "Entrant": [side["entrant"] for side in sides],
            "Attempts": ["".join(marks[attempt["verdict"]] for attempt in side["attempts"][-40:]) for side in sides],
            "Rate": [side["rate"] for side in sides],
            "Resolved": [
                wording.part_of(side["resolved"], played) if (played := side["resolved"] + side["unresolved"]) else ""
                for side in sides
            ],
            "Errors": [side["errors"] for side in sides],
        }
    )
    oldest = st.column_config.TextColumn(help="Oldest first, the last 40: ✓ resolved, ✗ unresolved, ! error.")
    resolved = st.column_config.TextColumn(help="Of the attempts with a verdict.")
    show.grid(
        show.telling(frame, "Errors"),
        about=sides,
        column_config={"Attempts": oldest, "Rate": columns.share(), "Resolved": resolved},
        alt="Entrants on this task, best first",
    )
    flat = [{name: value for name, value in side.items() if name != "attempts"} for side in sides]
    show.csv_button(flat, name=f"task_{task_id}_entrants", key="task_entrants")


def episodes() -> None:
    """Draw the episodes on the task, those that count above first."""
    show.begin()
    st.subheader("Episodes")
    opener = st.container()
    rows = sorted(task["episodes"], key=lambda row: not row["in_scope"])
    frame = pd.DataFrame(
        {
            "Verdict": [show.VERDICTS[row["verdict"]] for row in rows],
            "Entrant": [row["entrant"] for row in rows],
            "Run": [wording.run_name(row["run"], row["run_id"]) for row in rows],
            "Counts above": ["yes" if row["in_scope"] else "no" for row in rows],
            "Attempt": [row["attempt"] for row in rows],
            "Failure point": [wording.words(row["failure_point"]) for row in rows],
            "Steps": [row["steps"] for row in rows],
            "Cost": [row["cost_usd"] for row in rows],
            "Episode": [row["id"] for row in rows],
        }
    )
    event = show.grid(
        show.telling(frame, "Counts above"),
        about=rows,
        links={"Episode": [address.to("episode", id=row["id"]) for row in rows]},
        hidden=("Attempt",),
        key="task_episodes",
        on_select="rerun",
        selection_mode="multi-row",
        column_config={
            "Counts above": st.column_config.TextColumn(
                help="Whether the episode counts in the numbers above, which are about the runs named below the title."
            ),
            "Steps": columns.count(),
            "Cost": columns.dollars(),
        },
        alt="Episodes on this task, those that count above first",
    )
    picked = [rows[index] for index in event.selection.rows if index < len(rows)]
    with opener:
        if len(picked) == 1:
            label = f"Open episode {picked[0]['id']}: {show.escaped(picked[0]['entrant'])}"
            show.link(EPISODE_PAGE, label, id=picked[0]["id"])
        elif len(picked) == 2:
            a, b = (episode["id"] for episode in picked)
            show.link(DIVERGE_PAGE, f"Episodes {a} and {b} side by side", "fork_right", a=a, b=b)
        elif not cards.are_needed():
            st.caption(
                "Tick a row to open its trace, or two to see them side by side. Names and numbers open in a new tab."
            )
    show.csv_button(rows, name=f"task_{task_id}_episodes", key="task_episodes")


results, aside = cards.beside((5, 3), gap="medium")
with aside:
    about()
with results:
    if task["entrants"]:
        entrants()
    if task["episodes"]:
        episodes()
    else:
        show.empty(
            "No episode on this task has ended yet.", f"stackrank run --benchmark {task['benchmark']} --agent repair"
        )
