"""Episodes labelled by a person: `labels.yaml` lists the actions, `recorded.json` what happened."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from stackrank.agents.episode.step import Step
from stackrank.env.actions import Action, Observation
from stackrank.env.patches import find_faults
from stackrank.env.patterns import globs
from stackrank.env.scoring.judge import Score
from stackrank.env.task import Task

FOLDER = Path(__file__).parent
RECORDED = FOLDER / "recorded.json"


def labelled() -> list[dict[str, Any]]:
    """The episodes as they are to be played: name, task, budget, actions, label (failure point, step), because."""
    episodes: list[dict[str, Any]] = yaml.safe_load((FOLDER / "labels.yaml").read_text())
    return episodes


def recorded() -> dict[str, dict[str, Any]]:
    """`tasks`: id -> see `task_as_json`. `episodes`: name -> what happened: task, reason, score, steps."""
    recording: dict[str, dict[str, Any]] = json.loads(RECORDED.read_text())
    return recording


def write_recorded(tasks: dict[str, Any], episodes: dict[str, Any]) -> None:
    """One line for each task and episode, so that changes can be read."""

    def rows(of: dict[str, Any]) -> str:
        return ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in of.items())

    RECORDED.write_text(f'{{"tasks": {{\n{rows(tasks)}\n}}, "episodes": {{\n{rows(episodes)}\n}}}}\n')


def task_as_json(task: Task) -> dict[str, Any]:
    """The part of a task that a diagnosis reads. Recorded, because the bug suite may change."""
    files = {path: content.decode() for path, content in task.files.items()}
    return {
        "files": files,
        "fix": task.fix,
        "readonly": [pattern.text for pattern in task.readonly],
        "shows_bug": task.shows_bug,
    }


def task_of(episode: dict[str, Any], tasks: dict[str, dict[str, Any]]) -> Task:
    """The task of a recorded episode, as it was then."""
    fields = tasks[episode["task"]]
    files = {path: text.encode() for path, text in fields["files"].items()}
    return Task(
        episode["task"],
        "bugs",
        "",
        files,
        fix=fields["fix"],
        faults=find_faults(files, fields["fix"]),
        readonly=globs(fields["readonly"]),
        shows_bug=fields["shows_bug"],
    )


def step_as_json(step: Step) -> dict[str, Any]:
    """The part of a step that a diagnosis reads."""
    action = step.action and {"tool": step.action.tool, "arguments": step.action.arguments}
    observation = step.observation
    state = {name: value for name, value in observation.state.items() if name not in ("locals", "stack", "source")}
    return {"action": action, "text": observation.text, "ok": observation.ok, "state": state}


def steps_of(episode: dict[str, Any]) -> list[Step]:
    """The steps of a recorded episode."""
    return [
        Step(
            index,
            Action(**fields["action"]) if fields["action"] else None,
            Observation(fields["text"], fields["ok"], fields["state"]),
        )
        for index, fields in enumerate(episode["steps"])
    ]


def score_as_json(score: Score) -> dict[str, Any]:
    """The part of a score that a diagnosis reads."""
    names = ("resolved", "unfixed", "regressions", "tampered", "diff")
    return {name: value for name, value in asdict(score).items() if name in names}
