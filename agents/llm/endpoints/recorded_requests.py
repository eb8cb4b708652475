"""Rebuilds whole requests to models from the record, whose exchanges hold only what was new in a request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stackrank.agents.llm.conversation import PASSED_ON
from stackrank.agents.llm.endpoints.chat import ChatCompletions
from stackrank.agents.llm.endpoints.endpoint import Endpoint
from stackrank.agents.llm.endpoints.messages import Messages, mark_cache_end
from stackrank.agents.llm.endpoints.responses import Responses
from stackrank.terms import HISTORY_CUT

APIS: Mapping[str, type[Endpoint]] = {"chat": ChatCompletions, "responses": Responses, "messages": Messages}
"""The APIs by their names in the setting `api`."""
MAIN = "main"
"""The name of an agent's main conversation, which has no name in the record."""


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """One request to a model as it was sent, and the answer to it."""

    step: int
    """The step for which it was asked."""
    conversation: str
    """`main`, or the conversation's name in the record: `seeker`, `coder`, `investigator 1`, ..."""
    api: str
    model: str
    parameters: dict[str, Any]
    """The fields of the request other than the conversation. A secret is replaced by its name."""
    messages: list[dict[str, Any]]
    """The conversation in the API's own form."""
    cut: bool
    """Whether the history was cut before, so that this request does not begin with the previous one."""
    answer: dict[str, Any]
    reasoning: str
    usage: Mapping[str, Any]
    foreign: Mapping[str, Any] | None = None
    """`headers` and `cached` (see `conversation.PASSED_ON`) of a request that the entrant's own program wrote and that
    was sent unchanged."""

    @property
    def body(self) -> dict[str, Any]:
        """The request without `stream` and `stream_options`."""
        if self.foreign is not None:
            return {**self.parameters, APIS[self.api].conversation_name: sent_messages(self.messages, self.foreign)}
        return APIS[self.api].body(self.parameters, self.messages)

    @property
    def full_messages(self) -> list[dict[str, Any]]:
        """The conversation with the system message, which programs send in a separate field."""
        system = self.parameters.get("system" if self.api == "messages" else "instructions")
        return (
            [{"role": "system", "content": system}, *self.messages]
            if self.foreign is not None and system
            else self.messages
        )

    def answer_messages(self) -> list[dict[str, Any]]:
        """Return the answer in the API's own form, as it would have been sent back."""
        endpoint = APIS[self.api]
        return endpoint.wire([endpoint.reply(self.answer).message])


def api_of(answer: Mapping[str, Any]) -> str | None:
    """Return the API of an answer; None if this version does not know it."""
    return next((name for name, endpoint in APIS.items() if endpoint.answer_name in answer), None)


def recorded_requests(steps: Iterable[Mapping[str, Any]]) -> Iterator[RecordedRequest]:
    """Yield every answered request of an episode, in the order of the steps.

    `steps`: rows with `index` and `exchanges`. Exchanges that others recorded in their own form are left out.
    """
    last_requests: dict[str, RecordedRequest] = {}
    for step in steps:
        for exchange in step["exchanges"]:
            request = dict(exchange["request"])
            new, cut = request.pop("messages", None), request.pop(HISTORY_CUT, None) is not None
            foreign = request.pop(PASSED_ON, None)
            api = api_of(exchange["answer"])
            if api is None or not isinstance(new, list):
                continue
            name = exchange.get("conversation") or MAIN
            last = last_requests.get(name)
            recorded = last_requests[name] = RecordedRequest(
                step=step["index"],
                conversation=name,
                api=api,
                model=exchange["model"],
                # Tools are recorded only when they change; the other parameters keep their places.
                parameters=request if last is None else {**last.parameters, **request},
                messages=new if cut or last is None else _extend(api, foreign, last.messages, new),
                cut=cut,
                answer=exchange["answer"],
                reasoning=exchange.get("reasoning") or "",
                usage=exchange["usage"],
                foreign=foreign,
            )
            yield recorded


def sent_messages(messages: list[dict[str, Any]], foreign: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the messages of a program's request as they are sent."""
    return mark_cache_end(messages) if foreign.get("cached") else messages


def _extend(
    api: str, foreign: object, wire: list[dict[str, Any]], addition: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    return [*wire, *addition] if foreign is not None else APIS[api].extend_wire(wire, addition)


def token_ids(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return `prompt_token_ids`, `completion_token_ids` and `logprobs` of an answer, if the endpoint gave them.

    vLLM and SGLang give ids if the request says `return_token_ids`. With `logprobs`, llama.cpp gives ids too, SGLang
    does if the request also says `return_meta_info`, and vLLM gives them as the names of the tokens if it says
    `return_tokens_as_token_ids`. Log-probabilities of only some of the tokens are left out.
    """
    choice = (answer.get("choices") or [{}])[0]
    named, logprobs = _priced_tokens(choice)
    completion = choice.get("token_ids") or named
    ids = {
        "prompt_token_ids": answer.get("prompt_token_ids") or choice.get("prompt_token_ids"),
        "completion_token_ids": completion,
    }
    is_complete = not isinstance(completion, list) or len(completion) == len(logprobs)
    return {
        **{name: value for name, value in ids.items() if value and _all_of(value, int)},
        **({"logprobs": logprobs} if logprobs and is_complete and _all_of(logprobs, int, float) else {}),
    }


def _priced_tokens(choice: Mapping[str, Any]) -> tuple[list[Any] | None, list[Any]]:
    """Return the ids of the tokens that have log-probabilities, None if they are not said, and these."""
    meta, priced = choice.get("meta_info"), choice.get("logprobs")
    if isinstance(meta, dict) and isinstance(meta.get("output_token_logprobs"), list):
        rows = [row for row in meta["output_token_logprobs"] if isinstance(row, list) and len(row) >= 2]
        return [row[1] for row in rows], [row[0] for row in rows]
    content = priced.get("content") if isinstance(priced, dict) else None
    tokens = [token for token in content or () if isinstance(token, dict)]
    ids = [_id_of(token) for token in tokens]
    return None if not ids or None in ids else ids, [token.get("logprob") for token in tokens]


def _id_of(token: Mapping[str, Any]) -> int | None:
    name = str(token.get("token"))
    named = int(name[9:]) if name.startswith("token_id:") and name[9:].isdigit() else None
    return token["id"] if type(token.get("id")) is int else named


def _all_of(values: Any, *types: type) -> bool:
    return isinstance(values, list) and all(type(value) in types for value in values)
