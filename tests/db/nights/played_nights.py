"""Nights of a leaderboard as a database holds them: simulated episodes with steps, requests, answers and verdicts.

What goes wrong in a night changes what happens in its episodes, or what is on record. Nothing says what it was.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from zlib import crc32

from sqlalchemy import insert

from stackrank.db.connection.transactions import STEP
from stackrank.db.writes.store import Store
from stackrank.host.wall_clock import now
from stackrank.terms import ErrorClass
from tests.support.episodes import create_episodes, start

TASKS = 30
EARLIER = 6
CONDITIONS: dict[str, Any] = {
    "steps": 40, "tokens": None, "cost_usd": None, "wall_s": 90.0, "malformed": 5, "repeats": 8,
    "sandbox": "docker", "scorer": "3f2a91c07b5d4e68", "ends_when_solved": True, "shows_failing_test": True,
    "shows_failure_state": False,
}  # fmt: skip
PROMPT = "You debug Python programs. Find the cause of the failing test, and fix it. Use the debugger when in doubt."
TOOLS = ("view", "grep", "pdb", "rewrite", "eval")


@dataclass(frozen=True)
class Player:
    """An entrant in one night: what is on record of it, and what happens to it."""

    name: str
    model: str = "qwen3-coder"
    tool_list: tuple[str, ...] = TOOLS
    tool_versions: Mapping[str, str] = field(default_factory=lambda: dict.fromkeys(TOOLS, "1"))
    config: Mapping[str, Any] = field(default_factory=lambda: {"temperature": 0.2, "context_tokens": 100_000})
    agent_version: str = "4"
    prompt: str = PROMPT
    snapshot: str = "qwen3-coder-2026-08-01"
    fingerprint: str = "fp_a1"
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"temperature": 0.2, "max_tokens": 4096})
    skill: float = 1.0
    """Factor of the chance to resolve a task."""
    broken_tool: str = ""
    latency: float = 1.0
    words: float = 1.0
    """Factor of the length of answers, which also take longer."""
    cut_to: int | None = None
    window: int | None = None
    """The endpoint itself drops what is older than so many tokens."""
    longest_answer: bool = False
    """Whether answers reach the limit of their length."""
    malformed: float = 0.0
    error_share: float = 0.0
    error: tuple[str, str] = ("endpoint", "the endpoint answered 529: overloaded")


@dataclass(frozen=True)
class Night:
    """What is on record of a run, and what happens on its machine."""

    players: tuple[Player, ...]
    conditions: Mapping[str, Any] = field(default_factory=lambda: CONDITIONS)
    versions: Mapping[str, str] = field(
        default_factory=lambda: {"stackrank": "0.1.0", "python": "3.11.9", "pytest": "8.4.1", "docker": "28.1"}
    )
    host: str = "worker-1"
    busy: float = 1.0
    """Factor of the time that tools and verdicts take."""
    load: float | None = 0.9
    strict: float = 0.0
    """The chance that the scorer refuses work that solves the task."""


class Series:
    """A series of nights on one benchmark, whose tasks have chances of their own."""

    def __init__(self, store: Store, chances: list[float], dice: random.Random) -> None:
        self._store = store
        self._dice = dice
        self._chances = chances
        tasks = [{"name": f"task-{number:02}", "digest": f"d{number}"} for number in range(len(chances))]
        saved = store.save_benchmark(name="bugs", digest="b1", license="", source="", tasks=tasks)
        self._benchmark, self._task_ids = saved.id, list(saved.task_ids.values())

    def play(self, night: Night, accept: Callable[[list[list[bool]]], bool] = lambda _: True) -> tuple[int, Any]:
        """Store a night whose results, entrant by entrant, are acceptable. Returns the run and the results."""
        for _ in range(2000):
            played = [[self._simulate(player, night, chance) for chance in self._chances] for player in night.players]
            results = [[bool(episode["resolved"]) for episode in episodes] for episodes in played]
            if accept(results):
                break
        else:
            raise AssertionError("no such night comes up")
        return self._write(night, played), results

    def _simulate(self, player: Player, night: Night, chance: float) -> dict[str, Any]:
        """Play an episode in thought."""
        dice = self._dice
        if dice.random() < player.error_share:
            return {"resolved": False, "error": player.error, "steps": []}
        length = max(4, round(dice.gauss(12, 3)))
        sent, clock, steps = 900, 0.0, []
        limit = min(length, night.conditions["steps"] or length)
        lost = length > limit
        stop = "step_limit" if lost else ""
        forgets = broken = 0
        bad_answers = dice.random() < player.malformed
        for index in range(1, limit + 1):
            tool = {length - 1: "rewrite", length: "eval"}.get(index) or dice.choice(player.tool_list[:3])
            seen = sent
            cut = player.cut_to if player.cut_to is not None and sent > player.cut_to else None
            seen = min(seen, player.cut_to or seen, player.window or seen)
            forgets += seen < sent
            ok = dice.random() > (0.9 if tool == player.broken_tool else 0.04)
            broken += tool == player.broken_tool and not ok
            words = dice.uniform(80, 240) * player.words
            model_ms = (600 + 8 * words) * player.latency * dice.uniform(0.7, 1.4)
            env_ms = {"eval": 900, "pdb": 350}.get(tool, 120) * night.busy * dice.uniform(0.6, 1.6)
            clock += (model_ms + env_ms) / 1000
            finish = "length" if player.longest_answer and dice.random() < 0.6 else "tool_calls"
            steps.append(
                {"tool": "" if bad_answers and index > 2 else tool, "ok": ok, "tokens_in": seen, "cut": cut,
                 "tokens_out": round(words), "model_ms": model_ms, "env_ms": env_ms, "finish": finish}
            )  # fmt: skip
            sent += round(dice.uniform(300, 700))
            if bad_answers and index == 2 + night.conditions["malformed"]:
                stop, lost = "malformed_actions", True
                break
            if clock > night.conditions["wall_s"]:
                stop, lost = "time_limit", True
                break
        able = chance * player.skill
        able *= 0.75 ** (forgets / 2) * 0.6 ** (player.longest_answer) * (0.6**broken)
        if "pdb" not in player.tool_list:
            able *= 0.5
        solved = not lost and dice.random() < able
        resolved = solved and dice.random() >= night.strict
        return {"resolved": resolved, "solved": solved, "stop": stop, "steps": steps, "error": None}

    def _write(self, night: Night, played: list[list[dict[str, Any]]]) -> int:
        store = self._store
        run = store.create_run(
            name="nightly", benchmark_id=self._benchmark, spec={"name": "nightly"}, schedule="nightly",
            seed=self._dice.randrange(1000), conditions=night.conditions, versions=night.versions, host=night.host,
        )  # fmt: skip
        entrants = [self._save(player) for player in night.players]
        cells = [(task, entrant, 1) for entrant in entrants for task in self._task_ids]
        ids = create_episodes(store, run, cells, "docker")
        store.start_run(run)
        rows = []
        for player, entrant, episodes in zip(night.players, entrants, played, strict=True):
            for task, episode in zip(self._task_ids, episodes, strict=True):
                rows += self._steps(ids[task, entrant, 1], player, episode, task)
        with store.engine.connect().execution_options(write=True) as connection, connection.begin():
            connection.execute(insert(STEP), rows)
        for entrant, episodes in zip(entrants, played, strict=True):
            for task, episode in zip(self._task_ids, episodes, strict=True):
                self._finish(ids[task, entrant, 1], episode, night)
        store.end_run(run, "finished")
        return run

    def _save(self, player: Player) -> int:
        identity = (player.model, player.tool_list, player.tool_versions, player.config, player.agent_version)
        return self._store.save_entrant(
            digest=f"{player.name} {crc32(repr(identity).encode()):x}", name=player.name, agent="llm",
            agent_version=player.agent_version, model=player.model, tools="debug", tool_list=player.tool_list,
            tool_versions=player.tool_versions, config=player.config,
        )  # fmt: skip

    def _steps(self, episode_id: int, player: Player, episode: dict[str, Any], task: int) -> list[dict[str, Any]]:
        rows = []
        for index, step in enumerate(episode["steps"], 1):
            request: dict[str, Any] = {"model": player.model, **player.parameters, "messages": []}
            if index == 1:
                request["tools"] = [{"name": name} for name in player.tool_list]
                request["messages"] = [
                    {"role": "system", "content": player.prompt}, {"role": "user", "content": f"Fix task {task}."}
                ]  # fmt: skip
            if step["cut"]:
                request["history_cut_to_tokens"] = step["cut"]
            answer = {
                "model": player.snapshot, "system_fingerprint": player.fingerprint, "id": f"c{self._dice.random()}",
                "choices": [{"message": {"role": "assistant", "content": "..."}, "finish_reason": step["finish"]}],
            }  # fmt: skip
            exchange = {"model": player.model, "request": request, "answer": answer, "usage": {}}
            names = ("tool", "ok", "tokens_in", "tokens_out", "model_ms", "env_ms")
            rows.append(
                {"episode_id": episode_id, "index": index, "exchanges": [exchange], "created_at": now()}
                | {name: step[name] for name in names}
            )
        return rows

    def _finish(self, episode_id: int, episode: dict[str, Any], night: Night) -> None:
        start(self._store, episode_id)
        if episode["error"]:
            error_class, text = episode["error"]
            self._store.fail_episode(episode_id, stop_reason="error", error=text, error_class=ErrorClass(error_class))
            return
        steps, dice = episode["steps"], self._dice
        length = len(steps)
        reached = 4 if episode["solved"] else dice.randint(0, 3)
        names = ("reproduced", "localized", "edited", "solved")[:reached]
        stop = episode["stop"] or ("solved" if episode["solved"] else dice.choice(["submitted", "agent_gave_up"]))
        self._store.finish_episode(
            episode_id, verdict="resolved" if episode["resolved"] else "unresolved", stop_reason=stop, steps=length,
            failure_point="" if episode["resolved"] else "out_of_budget" if "limit" in stop else "wrong_fix",
            milestones={name: min(length, 1 + position) for position, name in enumerate(names)},  # type: ignore[misc]
            tokens_in=sum(step["tokens_in"] for step in steps), tokens_out=sum(step["tokens_out"] for step in steps),
            model_ms=sum(step["model_ms"] for step in steps), env_ms=sum(step["env_ms"] for step in steps),
            score_ms=1500 * night.busy * dice.uniform(0.8, 1.3), machine_load=night.load,
        )  # fmt: skip


def usual_chances(dice: random.Random) -> list[float]:
    """Return how likely each task is resolved: many are easy, some are hard, and some come out either way."""
    easy = [dice.uniform(0.9, 1.0) for _ in range(TASKS // 2)]
    either = [dice.uniform(0.3, 0.8) for _ in range(TASKS // 4)]
    return [*easy, *either, *(dice.uniform(0.0, 0.1) for _ in range(TASKS - len(easy) - len(either)))]


def calm_chances(dice: random.Random, flaky: int) -> list[float]:
    """Return the chances of tasks that always come out the same, but for a few."""
    return [0.5] * flaky + [dice.choice([0.0, 1.0, 1.0]) for _ in range(TASKS - flaky)]


def usual_night() -> Night:
    """Return a night of two entrants in which nothing happens."""
    return Night((Player("qwen / debug"), Player("llama / debug", model="llama-3.3", snapshot="llama-3.3-q8")))


def with_first(night: Night, **fields: Any) -> Night:
    """Return the night with another first entrant."""
    first, *others = night.players
    return replace(night, players=(replace(first, **fields), *others))


def with_all(night: Night, **fields: Any) -> Night:
    """Return the night with the same change of all entrants."""
    return replace(night, players=tuple(replace(player, **fields) for player in night.players))
