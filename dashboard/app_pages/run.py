"""One run, live while it is in progress."""

import os
import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
import yaml

from stackrank import wording
from stackrank.dashboard import address
from stackrank.dashboard.charts import paper
from stackrank.dashboard.data import ask
from stackrank.dashboard.parts import columns, failing, operate, people, show
from stackrank.dashboard.parts.scope import query
from stackrank.dashboard.parts.tables import (
    AGAINST_PAGE,
    COMPARE_PAGE,
    EPISODES_PAGE,
    RUNS_PAGE,
    episode_table,
    leaderboard_table,
)
from stackrank.dashboard.trace.steps import brief, tool_of
from stackrank.db import queries
from stackrank.db.queries import Scope
from stackrank.db.queries.boards.standings import RankedStanding
from stackrank.db.writes import conditions
from stackrank.settings import settings
from stackrank.terms import RunStatus
from stackrank.wording import count_of

# Seconds without a heartbeat after which a run counts as stalled.
_SILENT_S = settings().run_silent_s
# The most episodes being played of which the newest action is read.
_MOST_DETAILED = 10

ref = st.query_params.get("id", "latest")
run = ask(queries.run, ref)
run_id = run["id"]
live = not RunStatus(run["status"]).ended
of_run = query(Scope(run=run_id))

show.titled(run["name"], f"run {run_id}")
show.breadcrumb((RUNS_PAGE, "Runs", {}))
with st.container(horizontal=True, vertical_alignment="center"):
    st.title(f"Run {show.escaped(wording.run_name(run['name'], run_id))}", width="content", anchor=False)
    show.badge(run["status"])
    server = os.environ.get("PREFECT_UI_URL") or os.environ.get("PREFECT_API_URL", "").removesuffix("/api")
    if server and run["prefect_flow_run_id"]:
        link = f"{server.rstrip('/')}/runs/flow-run/{run['prefect_flow_run_id']}"
        st.link_button("Open in Prefect", link, icon=":material/open_in_new:", type="tertiary")
facts = [f"benchmark {run['benchmark']}", f"seed {run['seed']}"]
facts += [f"{name} {run[name]}" for name in ("owner", "project", "host", "leaderboard", "schedule") if run[name]]
facts += [f"tag {tag}" for tag in run["tags"]]
st.caption(" · ".join(map(show.escaped, facts)))
if not live and (before := ask(queries.night_before, run_id)) is not None:
    earlier = show.escaped(wording.run_name(ask(queries.run, before)["name"], before))
    show.link(AGAINST_PAGE, f"What changed since {earlier}, and why", "compare_arrows", a=before, b=run_id)


def resolved(current: Mapping[str, Any]) -> None:
    """Draw how many episodes of a run were resolved, and how many of these verdicts are sealed."""
    explanation = "Sealed: only luck could have forged the verdict. A trace says how strongly, or why it is not. "
    explanation += "Unverified: it rests on a run of the tests alone, which a forger can pass too."
    sealed = ", ".join(filter(None, [f"{current['sealed']:,} sealed", wording.unverified(current)]))
    show.metric("Resolved", f"{current['resolved']:,}", sealed, help=explanation)


def result(current: Mapping[str, Any], rows: Sequence[RankedStanding]) -> None:
    """Say how many of the episodes with a verdict were resolved, and who leads."""
    if counted := current["resolved"] + current["unresolved"]:
        rate = wording.percent(current["resolved"] / counted)
        resolved_share = f"Resolved {rate} of {count_of(counted, 'episode')} with a verdict."
        leader = queries.leader_sentence(rows) if len(rows) > 1 else ""
        st.markdown(f"**{show.escaped(resolved_share)}** {show.escaped(leader)}")


def figures(current: Mapping[str, Any]) -> None:
    """Draw how the run went or how far it has come, and its totals."""
    rows = ask(queries.leaderboard, Scope(run=run_id))
    result(current, rows)
    total, played = current["episodes_total"] - current["not_played"], current["done"]
    is_running = current["status"] == "running"
    silent_s = show.age_s(current["heartbeat_at"]) if is_running else 0.0
    waits_s = [row["waiting_s"] for row in ask(queries.in_progress, run_id)] if is_running else []
    still_s = min(waits_s, default=0.0)
    text = f"{played:,} of {count_of(total, 'episode')}"
    if is_running and played and current["wall_s"] and max(silent_s, still_s) <= _SILENT_S:
        left_s = (current["wall_s"] - still_s) / played * (total - played)
        text += f", about {wording.duration(left_s)} left"
    if not RunStatus(current["status"]).ended or played < total:
        st.progress(min(1.0, played / total) if total else 0.0, text=text)
    with st.container(horizontal=True):
        resolved(current)
        show.metric("Unresolved", f"{current['unresolved']:,}")
        by_class = ", ".join(f"{name} {count}" for name, count in sorted(current["errors_by_class"].items()))
        show.metric("Errors", f"{current['errors']:,}", help=f"Excluded from all rates. {by_class}")
        if current["running"]:
            show.metric("Running", f"{current['running']:,}")
        if current["retried"]:
            retried = f"{current['retried']:,}"
            show.metric("Retried", retried, help="Tries that ended in an error and were repeated.")
        unpriced = sum(row["cost_usd"] is None for row in rows)
        without = f"and {count_of(unpriced, 'entrant')} without a price" if unpriced and current["cost_usd"] else None
        cost = wording.total_usd(current["cost_usd"])
        show.metric("Cost", cost, without, help="Where prices are known; errors included.")
        show.metric("Duration", wording.duration(current["wall_s"]))
    if is_running and (out := queries.describe_outages(current["outages"])):
        st.warning(show.escaped(f"Paused: {out}. Its entrants wait; the others continue."))
    acts = ask(queries.acts, run_id)
    if current["paused"] and not RunStatus(current["status"]).ended:
        st.warning(show.escaped(ask(queries.describe_pause, run_id)), icon=":material/pause:")
    if acts:
        with st.expander(f"What operators did: {count_of(len(acts), 'act')}", key=f"acts_{run_id}"):
            for act in acts:
                st.text(queries.describe_act(act))
    if silent_s > _SILENT_S:
        silence = wording.duration(silent_s)
        st.warning(f"The run has sent no heartbeat for {silence}. To continue it: `stackrank resume {run_id}`.")
    elif still_s > _SILENT_S:
        stillness = wording.duration(still_s)
        st.warning(f"No episode has taken a step for {stillness}. `stackrank why {run_id}` says what each waits for.")
    if is_running:
        running_now()


def running_now() -> None:
    """Draw the episodes that are being played."""
    running = ask(queries.episodes, run_id, status="running", limit=50)
    silent = [row for row in running if show.age_s(row["alive_at"]) > _SILENT_S]
    if silent:
        numbers = ("episode " if len(silent) == 1 else "episodes ") + ", ".join(str(row["id"]) for row in silent)
        limit = wording.duration(_SILENT_S)
        st.warning(f"No heartbeat for more than {limit}: {numbers}.", icon=":material/hourglass_disabled:")
    if running:
        # The key keeps it open when its label changes.
        with st.expander(f"Running now: {len(running)}", key=f"running_{run_id}", expanded=True):
            steps = {row["episode"]: row for row in ask(queries.in_progress, run_id)}
            lines = [
                {"Task": row["task"], "Entrant": row["entrant"], "Attempt": row["attempt"], "Episode": row["id"]}
                | newest_step(steps.get(row["id"]), is_detailed=place < _MOST_DETAILED)
                for place, row in enumerate(running)
            ]
            kinds = {
                "Newest step": columns.count(help="None: the sandbox is being prepared."),
                "Since then": st.column_config.TextColumn(help="Time since that step ended, or the episode began."),
            }
            traces = {"Episode": [address.to("episode", id=row["id"]) for row in running]}
            show.grid(lines, about=running, links=traces, column_config=kinds, alt="Episodes that are being played")


def newest_step(progress: Mapping[str, Any] | None, *, is_detailed: bool) -> dict[str, Any]:
    """Return the newest step of an episode that is being played, and what it did, for the table of these."""
    if progress is None:  # it has just ended
        return {"Newest step": None, "Action": "", "Since then": ""}
    index = progress["next_step"] - 1
    rows = ask(queries.step_outline, progress["episode"], first=index, limit=1) if is_detailed and index >= 0 else []
    did = " ".join(f"{tool_of(row)}: {brief(row['arguments'])}".split())[:80] if (row := next(iter(rows), None)) else ""
    since = wording.duration(progress["waiting_s"])
    return {"Newest step": index if index >= 0 else None, "Action": wording.visible(did), "Since then": since}


@st.fragment(run_every="5s")
def live_figures() -> None:
    """Draw the figures of a run in progress. When it ends, the whole page is drawn again, without its timers."""
    with show.guarded():
        current = ask(queries.run, run_id)
        if RunStatus(current["status"]).ended:
            st.rerun(scope="app")
        figures(current)


@st.fragment(run_every="5s" if live else None)
def when_it_ends() -> None:
    """Draw the state of the comparisons that end the run once all are decided."""
    with show.guarded():
        if stop := ask(queries.stopping, run_id):
            label = show.escaped(f"Ends when decided: {stop['sentence']}")
            with st.expander(label, key=f"ends_{run_id}", icon=":material/flag:"):
                for pair in stop["pairs"]:
                    st.text(pair["sentence"])


@st.fragment(run_every="5s" if live else None)
def numbers_are_about() -> None:
    """Say what the numbers are about, which changes with the first verdict and with every error."""
    with show.guarded():
        show.scope(ask(queries.describe_scope, Scope(run=run_id)))


def repeating(text: str, file: str) -> str:
    """Return a shell command that writes the specification and runs it."""
    end = "SPEC"
    while end in text.splitlines():
        end += "_"
    return f"cat > {shlex.quote(file)} <<'{end}'\n{text.rstrip()}\n{end}\nstackrank run {shlex.quote(file)}"


if live:
    live_figures()
else:
    figures(run)
operate.buttons(run)
if run["reason"]:
    st.text(run["reason"])

when_it_ends()
for regression in run["regressions"]:
    text = regression.get("sentence") or regression.get("what") or ""
    st.warning(show.escaped(text), icon=":material/trending_down:", title=show.escaped(regression.get("entrant", "")))
numbers_are_about()
people.notes_and_tags(run_id, run["tags"])


def entrants() -> None:
    """Draw the leaderboard of this run."""
    rows = ask(queries.leaderboard, Scope(run=run_id))
    if rows:
        of_entrants = [address.to("episodes", run=run_id, ep_entrant=row["entrant"]) for row in rows]
        alt = "Entrants of the run, best rate first"
        leaderboard_table(rows, key="run_board", alt=alt, links={"Entrant": of_entrants})
        with st.container(horizontal=True, vertical_alignment="center"):
            if len(rows) > 1:
                show.link(COMPARE_PAGE, "Compare entrants in this run", "compare_arrows", **of_run)
            show.csv_button(rows, name=f"entrants_{run_id}", key="run_board")
            show.paper_button(partial(paper.ranking, rows), name=f"entrants_{run_id}", key="run")
    else:
        st.caption("No episode has a verdict yet.")


def failures() -> None:
    """Draw how episodes ended."""
    points = ask(queries.failure_points, Scope(run=run_id))
    if points:
        failing.note_other_versions(Scope(run=run_id))
        failing.bars("run", points, Scope(run=run_id))
    else:
        st.caption("No episode has a verdict yet.")


def episodes() -> None:
    """Draw the first episodes of this run."""
    first = ask(queries.episodes, run_id, limit=100)
    if first:
        episode_table(first, key="run_episodes", with_run=False)
    else:
        st.caption("The run has no episodes.")
    show.link(EPISODES_PAGE, "All episodes of this run, with filters", "filter_alt", **of_run)


def errors() -> None:
    """Draw every try in which the infrastructure failed."""
    failed = ask(queries.episodes, run_id, verdict="error", counted=None, limit=100)
    if failed:
        operate.retry([row["id"] for row in failed if row["counted"]], run_id)
        lines = [
            {"Episode": row["id"], "Try": row["try_number"], "Counted": row["counted"], "Task": row["task"]}
            | {"Entrant": row["entrant"], "Class": row["error_class"], "What failed": row["error"]}
            for row in failed
        ]
        show.grid(
            show.telling(pd.DataFrame(lines), "Try", "Counted", "Class"),
            about=failed,
            links={"Episode": [address.to("episode", id=row["id"]) for row in failed]},
            alt="Episodes in which the infrastructure failed",
        )
        show.csv_button(failed, name=f"errors_{run_id}", key="run_errors")
    else:
        st.caption("There were no infrastructure errors.")


def verdicts() -> None:
    """Draw what other scorers, or other tests, said about the same work."""
    rescored = ask(queries.rescored_verdicts, run_id)
    if not rescored:
        st.caption("The run has not been rescored.")
        st.code(f"stackrank rescore {run_id}", language=None)
        return
    st.caption("Leaderboards count the original verdict of an episode. Verdicts of other scorers are shown next to it.")
    show.grid(
        [
            {
                "Episode": verdict["episode_id"],
                "Task": verdict["task"],
                "Entrant": verdict["entrant"],
                "Played": verdict["played"],
                "Rescored": "resolved" if verdict["resolved"] else "unresolved",
                "Mended": f"{sum(faults.values())} of {len(faults)}" if (faults := verdict["faults"]) else "",
                "Sealed": verdict["sealed"],
            }
            | {"Scorer": verdict["scorer"], "When": show.moment(verdict["created_at"])}
            for verdict in rescored
        ],
        about=rescored,
        column_config={"When": columns.moment()},
        alt="Verdicts of other scorers",
    )


def specification() -> None:
    """Draw the command that repeats the run; who played, under which limits, and with which versions."""
    text = yaml.safe_dump(run["spec"], sort_keys=False, allow_unicode=True)
    file = f"run-{run_id}.yaml"
    command, facts = st.columns((5, 3), gap="medium")
    with command:
        st.subheader("To repeat the run", anchor=False)
        st.code(repeating(text, file), language=None)
        st.download_button("Download", text.encode(), file_name=file, icon=":material/download:", on_click="ignore")
    with facts:
        st.subheader("Limits and conditions", anchor=False)
        lines = [{"Condition": name, "Value": value} for name, value in conditions.lines(run["conditions"])]
        show.grid(lines, alt="Conditions under which every episode was played")
        st.subheader("Versions", anchor=False)
        lines = [{"What": _ANALYSIS.get(name, name), "Version": str(text)} for name, text in run["versions"].items()]
        show.grid(lines, alt="Versions that the results depend on")
    played = {row["entrant_id"] for row in ask(queries.leaderboard, Scope(run=run_id))}
    rows = [row for row in ask(queries.entrants) if row["id"] in played]
    if rows:
        st.subheader("Entrants", anchor=False)
        show.grid([entrant_as_played(row) for row in rows], alt="Agent, model, tools and settings of each entrant")


# What is called otherwise than it is stored.
_ANALYSIS = {"failure_points": "analysis of failure points"}


def entrant_as_played(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row about an entrant: its agent, which has the prompt, its model, tools, and their versions."""
    versions = row["tool_versions"]
    tools = [f"{tool} {versions[tool]}" if tool in versions else tool for tool in row["tool_list"]]
    settings = [f"{wording.words(name)} {value}" for name, value in row["config"].items()]
    return {
        "Entrant": row["name"],
        "Agent and prompt": " ".join(filter(None, [row["agent"], row["agent_version"]])),
        "Model": row["model"] or "none",
        "Settings": ", ".join(settings) or "defaults",
        "Tools": ", ".join(tools),
    }


@st.fragment(run_every="5s" if live else None)
def tabs() -> None:
    """Draw the details of the run, which grow while it is in progress."""
    parts = {
        "Entrants": entrants,
        "Failure points": failures,
        "Episodes": episodes,
        "Errors": errors,
        "Rescored": verdicts,
        "Specification": specification,
    }
    with show.guarded():
        address.tabs("run_tab", parts)


tabs()
