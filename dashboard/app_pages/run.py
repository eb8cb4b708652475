"""One run, live while it goes on."""

import os
import shlex
from datetime import UTC, datetime
from typing import Any

import streamlit as st
import yaml

from dashboard import address, charts, failing, people, show
from dashboard.data import ask
from dashboard.tables import BOARD_COLUMNS, COMPARE_PAGE, EPISODES_PAGE, board_frame, episode_table

# Seconds without a sign of life after which a run counts as stalled.
_SILENT_S = 60

ref = st.query_params.get("id", "latest")
run: dict[str, Any] = ask("run", ref)
run_id = run["id"]
live = run["status"] in ("running", "pending")

with st.container(horizontal=True, vertical_alignment="center"):
    st.title(f"Run {show.escaped(run['name'])}", width="content")
    show.badge(run["status"])
    server = os.environ.get("PREFECT_UI_URL") or os.environ.get("PREFECT_API_URL", "").removesuffix("/api")
    if server and run["prefect_flow_run_id"]:
        link = f"{server.rstrip('/')}/runs/flow-run/{run['prefect_flow_run_id']}"
        st.link_button("Open in Prefect", link, icon=":material/open_in_new:", type="tertiary")
about = [f"benchmark {run['benchmark']}", f"id {run_id}", f"seed {run['seed']}"]
about += [f"{name} {run[name]}" for name in ("owner", "project", "host", "leaderboard", "schedule") if run[name]]
about += [f"tag {tag}" for tag in run["tags"]]
st.caption(" · ".join(map(show.escaped, about)))


def figures(now: dict[str, Any]) -> None:
    """Where the run stands."""
    total, done = now["episodes_total"], now["done"]
    heard = show.moment(now["heartbeat_at"])
    silent_s = (datetime.now(UTC) - heard).total_seconds() if now["status"] == "running" and heard else 0.0
    left = None
    if now["status"] == "running" and done and now["wall_s"] and silent_s <= _SILENT_S:
        left = now["wall_s"] / done * (total - done)
    text = f"{done} of {total} episodes" + (f", about {show.duration(left)} left" if left else "")
    st.progress(min(1.0, done / total) if total else 0.0, text=text)
    with st.container(horizontal=True):
        st.metric("Resolved", now["resolved"], border=True)
        st.metric("Unresolved", now["unresolved"], border=True)
        st.metric("Errors", now["errors"], border=True, help="The infrastructure failed. In no rate.")
        st.metric("Running", now["running"], border=True)
        st.metric("Tried again", now["retried"], border=True, help="Tries that ended in an error and were repeated.")
        st.metric("Cost", show.usd(now["cost_usd"]), border=True, help="Where prices are known; errors included.")
        st.metric("Duration", show.duration(now["wall_s"]), border=True)
    if silent_s > _SILENT_S:
        silence = show.duration(silent_s)
        st.warning(f"No sign of life for {silence}. `stackrank resume {run_id}` goes on with it.")


@st.fragment(run_every="5s")
def live_figures() -> None:
    """The figures of a run that goes on. When it ends, the whole page is made anew, without this timer."""
    with show.guarded():
        now = ask("run", run_id)
        if now["status"] not in ("running", "pending"):
            st.rerun(scope="app")
        figures(now)


def repeating(text: str, file: str) -> str:
    """A command of the shell that writes the specification and runs it."""
    end = "SPEC"
    while end in text.splitlines():
        end += "_"
    return f"cat > {shlex.quote(file)} <<'{end}'\n{text.rstrip()}\n{end}\nstackrank run {shlex.quote(file)}"


if live:
    live_figures()
else:
    figures(run)
if run["reason"]:
    st.text(run["reason"])

if run["status"] == "running":
    running = ask("episodes", run_id, status="running", limit=50)
    silent = [row for row in running if show.age_s(row["alive_at"]) > _SILENT_S]
    if silent:
        numbers = ", ".join(str(row["id"]) for row in silent)
        st.warning(f"Not heard of for a minute: episode {numbers}.", icon=":material/hourglass_disabled:")
    if running:
        with st.expander(f"Running now: {len(running)}"):
            episode_table(running, key="run_running", with_run=False)

for one in run["regressions"]:
    text = one.get("sentence") or one.get("what") or ""
    st.warning(show.escaped(text), icon=":material/trending_down:", title=show.escaped(one.get("entrant", "")))
people.notes_and_tags(run_id, run["tags"])


def entrants() -> None:
    """The leaderboard of this run."""
    rows = ask("leaderboard", run=run_id)
    if rows:
        st.dataframe(
            board_frame(rows),
            hide_index=True,
            column_config=BOARD_COLUMNS,
            placeholder=show.NOTHING,
            height="content",
            key="run_board",
            alt="Entrants of the run, best rate first",
        )
        show.csv_button(rows, name=f"run_{run_id}", key="run_board")
        st.plotly_chart(charts.ranking(rows), key="run_ranking", alt="Rate of each entrant with its 95% interval")
        if len(rows) > 1:
            label, icon = "Compare entrants in this run", ":material/compare_arrows:"
            st.page_link(COMPARE_PAGE, label=label, icon=icon, query_params={"cmp_run": str(run_id)})
    else:
        st.caption("No episode has a verdict yet.")


def failures() -> None:
    """How episodes ended."""
    points = ask("failure_points", run=run_id)
    if points:
        failing.bars("run", points, {"run": run_id})
    else:
        st.caption("No episode has a verdict yet.")


def episodes() -> None:
    """The first episodes."""
    first = ask("episodes", run_id, limit=100)
    if first:
        episode_table(first, key="run_episodes", with_run=False)
    else:
        st.caption("The run has no episodes.")
    st.page_link(
        EPISODES_PAGE,
        label="All episodes of this run, with filters",
        icon=":material/filter_alt:",
        query_params={"ep_run": str(run_id)},
    )


def errors() -> None:
    """Every try in which the infrastructure failed."""
    failed = ask("episodes", run_id, verdict="error", counted=None, limit=100)
    if failed:
        st.dataframe(
            [
                {"Episode": row["id"], "Try": row["try_number"], "Counted": row["counted"], "Task": row["task"]}
                | {"Entrant": row["entrant"], "What failed": row["error"], "Trace": f"episode?id={row['id']}"}
                for row in failed
            ],
            hide_index=True,
            column_config={"Trace": st.column_config.LinkColumn(display_text=r"id=(\d+)$")},
            alt="Episodes in which the infrastructure failed",
        )
        show.csv_button(failed, name=f"errors_{run_id}", key="run_errors")
    else:
        st.caption("The infrastructure has not failed.")


def specification() -> None:
    """What repeats the run, and with which versions it was played."""
    text = yaml.safe_dump(run["spec"], sort_keys=False, allow_unicode=True)
    file = f"run-{run_id}.yaml"
    st.markdown("This repeats the run:")
    st.code(repeating(text, file), language="bash")
    st.download_button("Download", text.encode(), file_name=file, icon=":material/download:", on_click="ignore")
    st.markdown("Versions")
    st.json(run["versions"])


address.tabs(
    "run_tab",
    {
        "Entrants": entrants,
        "Failure points": failures,
        "Episodes": episodes,
        "Errors": errors,
        "Specification": specification,
    },
)
