"""The story of an episode in two or three sentences, worked out from its milestones and its end, without its steps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from stackrank.terms import FailurePoint, StopReason, Verdict

_ENDS: dict[str, str] = {
    StopReason.SUBMITTED: "submitted",
    StopReason.SOLVED: "ended with the visible tests passing",
    StopReason.STEP_LIMIT: "ran out of steps",
    StopReason.TOKEN_LIMIT: "ran out of tokens",
    StopReason.COST_LIMIT: "ran out of money",
    StopReason.TIME_LIMIT: "ran out of time",
    StopReason.CONTEXT_LIMIT: "outgrew the model's context",
    StopReason.AGENT_GAVE_UP: "gave up",
    StopReason.REFUSED: "was refused by the model's endpoint",
    StopReason.MALFORMED_ACTIONS: "sent malformed actions until it was stopped",
    StopReason.SANDBOX_LOST: "broke its sandbox",
    StopReason.CANCELLED: "was cancelled",
    StopReason.DECIDED: "was not needed any more",
    StopReason.ERROR: "was ended by an error of the infrastructure",
}
_FAILURES: dict[str, str] = {
    FailurePoint.WRONG_LOCATION: "changed other places than the fault",
    FailurePoint.WRONG_FIX: "changed the fault in a wrong way",
    FailurePoint.REGRESSION: "broke what had worked",
    FailurePoint.BROKE_SYNTAX: "left code that does not parse",
    FailurePoint.LOOPED: "repeated itself",
    FailurePoint.TAMPERED: "tampered with the tests",
}
"""The failure points that milestones and the end do not tell."""
_VERDICTS: dict[str, str] = {Verdict.RESOLVED: "The task is resolved", Verdict.UNRESOLVED: "The task is not resolved"}


_STAGES = ("reproduced", "localized", "edited")
"""The milestones of which a story says that they were never reached."""
_LAST_CLAUSES = 3
"""So many clauses of a story a list tells."""


class Clause(NamedTuple):
    """A part of a sentence, and the step that shows it; None if no step does."""

    text: str
    step: int | None


def story(episode: Mapping[str, Any]) -> list[list[Clause]]:
    """Return the sentences of an episode, each as its clauses. `episode`: a row as `episodes` returns it.

    Steps are named in the texts. Of what one step reached, only the furthest is told. An episode that is still played
    has no last sentence.
    """
    return _first_named([_capitalized(clauses) for clauses in _parts(episode) if clauses])


def story_text(episode: Mapping[str, Any]) -> str:
    """Return the story as plain text."""
    return " ".join(f"{', '.join(clause.text for clause in sentence)}." for sentence in story(episode))


def story_summary(episode: Mapping[str, Any]) -> str:
    """Return how the story ends, for a list: its rows would begin alike if they told all. The verdict is not told."""
    search, repair, end = _parts(episode)
    clauses = [*search, *repair, *end[:1]][-_LAST_CLAUSES:]
    if not clauses:
        return ""
    (sentence,) = _first_named([_capitalized(clauses)])
    return ", ".join(clause.text for clause in sentence)


def _parts(episode: Mapping[str, Any]) -> tuple[list[Clause], list[Clause], list[Clause]]:
    """Return the clauses about the search, the repair and the end, in the order of their steps.

    The repair begins with the first edit, even one that was made before the fault was seen.
    """
    ended, failure = bool(episode["verdict"]), episode["failure_point"]
    missed = _missed(episode) if ended else ()
    search = [
        *_reached(episode, "reproduced", "saw the failure", "never saw the failure", missed),
        *_reached(episode, "localized", "saw the fault", "never saw the fault", missed),
        *_reached(episode, "breakpoint", "set a breakpoint at the fault"),
        *_reached(episode, "inspected", "stopped at the fault with the debugger"),
    ]
    repair = [
        *_reached(episode, "edited", "edited the fault", "never edited the fault", missed),
        *_reached(episode, "improved", "made more tests pass"),
        *_reached(episode, "solved", "made the visible tests pass"),
    ]
    if ended and (text := _FAILURES.get(failure)):
        repair.append(_at(text, episode["failure_step"]))
    if episode["stop_reason"] == StopReason.SOLVED:  # The end tells what its last step reached.
        repair = [clause for clause in repair if clause.step != episode["steps"]]
    search, repair = _furthest(search), _furthest(repair)
    first_edit = min((clause.step for clause in repair if clause.step is not None), default=None)
    early = [clause for clause in search if first_edit is None or clause.step is None or clause.step <= first_edit]
    late = [clause for clause in search if clause not in early]
    return _ordered(early), _ordered([*late, *repair]), _end(episode) if ended else []


def _missed(episode: Mapping[str, Any]) -> list[str]:
    """Return the milestones to tell as never reached: not those that follow from the one before, missed as well."""
    reached = [episode[f"at_{name}"] is not None for name in _STAGES]
    return [name for place, name in enumerate(_STAGES) if not reached[place] and (not place or reached[place - 1])]


def _ordered(clauses: Sequence[Clause]) -> list[Clause]:
    """Order clauses by step; one without a step stays behind the one that it follows."""
    steps: list[int] = []
    for clause in clauses:
        steps.append(clause.step if clause.step is not None else steps[-1] if steps else 0)
    return [clause for _, clause in sorted(zip(steps, clauses, strict=True), key=lambda pair: pair[0])]


def _furthest(clauses: Sequence[Clause]) -> list[Clause]:
    """Leave out a clause if a later one is about the same step."""
    by_step = {clause.step: clause for clause in clauses}
    return [clause for clause in clauses if clause.step is None or by_step[clause.step] == clause]


def _reached(
    episode: Mapping[str, Any], milestone: str, text: str, never: str = "", missed: Collection[str] = ()
) -> Iterable[Clause]:
    step = episode[f"at_{milestone}"]
    if step is not None:
        yield _at(text, step)
    elif milestone in missed:
        yield Clause(never, None)


def _at(text: str, step: int | None) -> Clause:
    return Clause(text if step is None else f"{text} at {step}", step)


def _end(episode: Mapping[str, Any]) -> list[Clause]:
    last = episode["steps"] or None
    clauses = [_at(_ENDS.get(episode["stop_reason"], "ended"), last)]
    if text := _VERDICTS.get(episode["verdict"]):
        clauses.append(Clause(text[0].lower() + text[1:], None))
    return clauses


def _first_named(sentences: list[list[Clause]]) -> list[list[Clause]]:
    """Call the first step that is told a step; the numbers that follow are then understood."""
    for sentence in sentences:
        for place, (text, step) in enumerate(sentence):
            if step is not None:
                sentence[place] = Clause(f"{text.removesuffix(str(step))}step {step}", step)
                return sentences
    return sentences


def _capitalized(clauses: list[Clause]) -> list[Clause]:
    first, *others = clauses
    return [Clause(first.text[0].upper() + first.text[1:], first.step), *others]
