"""What was sent to models, from the record: an exchange holds what was new in a request, this is the whole of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stackrank.agents.llm.chat import ChatCompletions
from stackrank.agents.llm.conversation import CUT, PASSED_ON
from stackrank.agents.llm.endpoint import Endpoint
from stackrank.agents.llm.messages import Messages, cached
from stackrank.agents.llm.responses import Responses

APIS: Mapping[str, type[Endpoint]] = {"chat": ChatCompletions, "responses": Responses, "messages": Messages}
"""The APIs by the names that the setting `api` has for them."""
MAIN = "main"
"""What the one conversation of an agent is called, which has no name in the record."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question to a model as it went over the wire, and the answer to it."""

    step: int
    """The step that it was asked for."""
    conversation: str
    """`main`, or its name in the record: `seeker`, `coder`, `investigator 1`, ..."""
    api: str
    model: str
    parameters: dict[str, Any]
    """What the request says besides the conversation. In the place of a secret stands its name."""
    messages: list[dict[str, Any]]
    """The conversation in the API's own form."""
    cut: bool
    """Whether the history was cut before, so that this does not begin with the question before."""
    answer: dict[str, Any]
    reasoning: str
    usage: Mapping[str, Any]
    foreign: Mapping[str, Any] | None = None
    """`headers` and `cached` (see `conversation.PASSED_ON`) of one that a program of the entrant's wrote, and that went
    over the wire as it was."""

    @property
    def body(self) -> dict[str, Any]:
        """The request, but for `stream` and `stream_options`."""
        if self.foreign is not None:
            return {**self.parameters, APIS[self.api].conversation_name: sent(self.messages, self.foreign)}
        return APIS[self.api].body(self.parameters, self.messages)

    @property
    def spoken(self) -> list[dict[str, Any]]:
        """The conversation with the system's message, which programs put beside it."""
        beside = self.parameters.get("system" if self.api == "messages" else "instructions")
        return (
            [{"role": "system", "content": beside}, *self.messages]
            if self.foreign is not None and beside
            else self.messages
        )

    def answered(self) -> list[dict[str, Any]]:
        """The answer in the API's own form, as it would have gone back."""
        endpoint = APIS[self.api]
        return endpoint.wire([endpoint.reply(self.answer).message])


def api_of(answer: Mapping[str, Any]) -> str | None:
    """The API that an answer is of; None where it is none that this version speaks."""
    return next((name for name, endpoint in APIS.items() if endpoint.answer_name in answer), None)


def questions(steps: Iterable[Mapping[str, Any]]) -> Iterator[Question]:
    """Every question of an episode that was answered, in the order of the steps.

    `steps`: rows with `index` and `exchanges`. What others recorded in a form of their own is left out.
    """
    before: dict[str, Question] = {}
    for step in steps:
        for exchange in step["exchanges"]:
            request = dict(exchange["request"])
            new, cut = request.pop("messages", None), request.pop(CUT, None) is not None
            foreign = request.pop(PASSED_ON, None)
            api = api_of(exchange["answer"])
            if api is None or not isinstance(new, list):
                continue
            name = exchange.get("conversation") or MAIN
            last = before.get(name)
            question = before[name] = Question(
                step=step["index"],
                conversation=name,
                api=api,
                model=exchange["model"],
                # Tools are recorded when they change; the others stay in their places.
                parameters=request if last is None else {**last.parameters, **request},
                messages=new if cut or last is None else _joint(api, foreign, last.messages, new),
                cut=cut,
                answer=exchange["answer"],
                reasoning=exchange.get("reasoning") or "",
                usage=exchange["usage"],
                foreign=foreign,
            )
            yield question


def sent(messages: list[dict[str, Any]], foreign: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages of a program's question as they go over the wire."""
    return cached(messages) if foreign.get("cached") else messages


def _joint(api: str, foreign: object, wire: list[dict[str, Any]], more: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [*wire, *more] if foreign is not None else APIS[api].joint(wire, more)


def token_ids(answer: Mapping[str, Any]) -> dict[str, Any]:
    """`prompt_token_ids`, `completion_token_ids` and `logprobs` of an answer, as far as the endpoint gave them.

    vLLM gives ids where the request says `return_token_ids`, and in the names of the tokens where it says
    `return_tokens_as_token_ids`.
    """
    choice = (answer.get("choices") or [{}])[0]
    priced = choice.get("logprobs")
    content = priced.get("content") if isinstance(priced, dict) else None
    tokens = [each for each in content or () if isinstance(each, dict)]
    names = [str(each.get("token")) for each in tokens]
    named = [int(name[9:]) for name in names if name.startswith("token_id:") and name[9:].isdigit()]
    found: dict[str, Any] = {
        "prompt_token_ids": answer.get("prompt_token_ids") or choice.get("prompt_token_ids"),
        "completion_token_ids": choice.get("token_ids") or (named if len(named) == len(names) else None),
        "logprobs": [each.get("logprob") for each in tokens],
    }
    if any(not isinstance(each, int | float) for each in found["logprobs"] or ()):
        found["logprobs"] = None
    return {name: value for name, value in found.items() if value}
