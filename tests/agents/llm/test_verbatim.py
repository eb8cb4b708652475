"""Answers are sent back verbatim, in each of the three APIs, whole and streamed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stackrank.agents.episode.protocol import AccessError, Briefing, Decision, GaveUp, MalformedAction, SetupError
from stackrank.agents.llm import LlmAgent
from stackrank.env.actions import Observation
from stackrank.env.tools import tool_set
from tests.agents.llm.test_llm_recall import stored
from tests.support.openai_server import Fault, OpenAIServer, ScriptedReply, call, calls, says

pytestmark = pytest.mark.slow  # by its time

APIS = ("chat", "responses", "messages")
KEYS = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "AZURE_OPENAI_ENDPOINT")
BRIEFING = Briefing("t", "Mend it.", "pytest", tool_set("debug"), 50)
SCRIPT = [
    call("view", path="a.py").with_(content="Let me look.", reasoning="First, what is there? é 😀"),
    calls(call("grep", pattern="x"), call("eval")).with_(reasoning="Two at once."),
    says("Now what?", reasoning="No call."),
    ScriptedReply(calls=(("view", "{"),), reasoning="Bad JSON."),
    call("listdir"),
    call("pdb", command="c").with_(content="Run it.", reasoning="See values.\n" * 50),
    *[call("view", path=f"{n}.py").with_(reasoning=f"Thought {n}.") for n in range(20)],
]


def serve(monkeypatch: pytest.MonkeyPatch, script: Any, **options: Any) -> OpenAIServer:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    server = OpenAIServer(script, key="k-12345678", **options)
    root = server.url.removesuffix("/v1")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", root)
    monkeypatch.setenv("OPENAI_API_KEY", "k-12345678")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k-12345678")
    return server


def agent(**config: Any) -> LlmAgent:
    return LlmAgent(model="scripted", config={"retry_s": 1.0, **config})


def play_steps(player: LlmAgent, steps: int) -> list[Decision | MalformedAction]:
    observation = Observation("observation 0")
    player.begin(BRIEFING, observation)
    decided: list[Decision | MalformedAction] = []
    for number in range(1, steps + 1):
        try:
            decided.append(player.act(observation))
            observation = Observation(f"observation {number} " + "x" * 2000)
        except MalformedAction as error:
            decided.append(error)
            observation = Observation(str(error), False)
    return decided


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", APIS)
def test_a_server_that_requires_answers_back_verbatim(monkeypatch: pytest.MonkeyPatch, api: str, stream: bool) -> None:
    with serve(monkeypatch, SCRIPT, verbatim=True, stream_only=stream) as server:
        decided = play_steps(agent(api=api, stream=stream), 24)
        assert server.asked == 23, "nothing had to be asked twice"
    first = decided[0]
    assert isinstance(first, Decision) and first.thought == "Let me look."
    assert first.exchanges[0].reasoning == "First, what is there? é 😀"
    assert first.usage.tokens_in == 100 and not first.usage.estimated


@pytest.mark.parametrize("api", APIS)
def test_a_stream_is_the_same_answer(monkeypatch: pytest.MonkeyPatch, api: str) -> None:
    outcomes = []
    for stream in (False, True):
        with serve(monkeypatch, SCRIPT) as server:
            decided = play_steps(agent(api=api, stream=stream), 12)
            last = dict(server.requests[-1])
        last.pop("stream", None)
        last.pop("stream_options", None)
        actions = [
            (decision.action, decision.thought) if isinstance(decision, Decision) else str(decision)
            for decision in decided
        ]
        outcomes.append((actions, last))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("cut_off", [1, 2, 3, 5, 7, 11])
@pytest.mark.parametrize("api", APIS)
def test_verbatim_after_an_interruption(monkeypatch: pytest.MonkeyPatch, api: str, cut_off: int) -> None:
    with serve(monkeypatch, SCRIPT, verbatim=True) as server:
        past = stored(play_steps(agent(api=api), cut_off))
        request_count = server.asked
        resumed = agent(api=api)
        resumed.recall(past)
        decided = play_steps(resumed, 20)
        assert server.asked == 19 and request_count < 19, "what was answered is not asked again"
    assert all(isinstance(decision, Decision) for decision in decided[6:])


@pytest.mark.parametrize("api", APIS)
def test_verbatim_in_a_conversation_that_is_cut(monkeypatch: pytest.MonkeyPatch, api: str) -> None:
    with serve(monkeypatch, SCRIPT, verbatim=True) as server:
        play_steps(agent(api=api, context_tokens=6000), 24)
        assert "omitted" in json.dumps(server.requests[-1])


def test_text_and_thoughts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models without tool calls: text after an action is dropped, thoughts are kept."""
    action_text = "```action\nview a.py\n```"
    script = [
        says(f"{action_text}\nok: true", reasoning="Hm."),
        says(f"<think>inline\n```action\nno\n```</think>\n{action_text}"),
    ]
    for api in APIS:
        with serve(monkeypatch, script) as server:
            decided = play_steps(agent(api=api, syntax="text"), 3)
            assert all(isinstance(decision, Decision) and decision.action.tool == "view" for decision in decided), api
            sent = json.dumps(server.requests[-1])
            assert "ok: true" not in sent and "Hm." in sent and "<think>inline" in sent


@pytest.mark.parametrize("api", ["chat", "messages"])
def test_without_verbatim_only_common_fields_are_sent_back(monkeypatch: pytest.MonkeyPatch, api: str) -> None:
    with serve(monkeypatch, SCRIPT) as server:
        play_steps(agent(api=api, verbatim=False), 8)
        sent = json.dumps(server.requests[-1])
    assert "reasoning" not in sent and "signed" not in sent and "Let me look." in sent


def test_a_server_that_refuses_its_own_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is distinguished from a refusal of the conversation, and the message names the remedy."""
    with serve(monkeypatch, SCRIPT, verbatim=True), pytest.raises(SetupError, match="verbatim: true"):
        play_steps(agent(verbatim=False), 3)
    form = Fault.status(400, "'messages.2': property 'reasoning_content' is unsupported")
    with serve(monkeypatch, [SCRIPT[0], form]), pytest.raises(SetupError, match="verbatim: false"):
        play_steps(agent(), 3)
    with serve(monkeypatch, [call("eval")], refuses_null=True) as server:
        with pytest.raises(SetupError, match="verbatim: false"):
            play_steps(agent(retry_s=30.0), 3)
        assert server.asked == 2, "it answers 500, which would be asked again"
        assert len(play_steps(agent(verbatim=False), 3)) == 3
    with serve(monkeypatch, [SCRIPT[0], SCRIPT[1], form]), pytest.raises(GaveUp):
        play_steps(agent(), 6)
    with serve(monkeypatch, SCRIPT, stream_only=True), pytest.raises(SetupError, match="stream"):
        play_steps(agent(), 1)


def test_messages_mark_what_to_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(monkeypatch, SCRIPT) as server:
        play_steps(agent(api="messages", reasoning_effort="high", parallel_tool_calls=False), 4)
        request = server.requests[-1]
        assert server.paths[-1] == "/v1/messages"
    assert request["system"][-1]["cache_control"] == {"type": "ephemeral"}
    marked = [block for message in request["messages"] for block in message["content"] if "cache_control" in block]
    assert marked == [request["messages"][-1]["content"][-1]] and marked[0]["type"] == "tool_result"
    assert [message["role"] for message in request["messages"]] == ["user", "assistant"] * 2 + ["user"]
    assert len(request["messages"][-1]["content"]) == 2, "results of one answer's calls come together"
    assert request["thinking"] == {"type": "adaptive"} and request["output_config"] == {"effort": "high"}
    assert request["tool_choice"]["disable_parallel_tool_use"] and request["max_tokens"] == 32_000
    assert {tool["name"] for tool in request["tools"]} >= {"view", "pdb"} and "input_schema" in request["tools"][0]


def test_messages_count_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    body = {"content": [{"type": "tool_use", "id": "t", "name": "eval", "input": {}}], "stop_reason": "tool_use"}
    usage = {"input_tokens": 10, "cache_creation_input_tokens": 200, "cache_read_input_tokens": 1000}
    answer = Fault(200, json.dumps({**body, "usage": {**usage, "output_tokens": 7}}).encode())
    price = {"input": 3.0, "cached_input": 0.3, "cache_write": 3.75, "output": 15.0}
    with serve(monkeypatch, [answer]):
        decision = play_steps(agent(api="messages", price=price), 1)[0]
    assert isinstance(decision, Decision)
    assert (decision.usage.tokens_in, decision.usage.tokens_cached) == (1210, 1000)
    assert decision.usage.cost_usd == pytest.approx((10 * 3 + 200 * 3.75 + 1000 * 0.3 + 7 * 15) / 1e6)


def test_claude_needs_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(monkeypatch, SCRIPT, models=["claude-x"]) as server:
        for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
            monkeypatch.delenv(name)
        setup = LlmAgent.configure(model="claude-x", config={})
        setup.check()
        assert server.listed == 1 and not server.asked
        assert setup.endpoints[0].shown_url == server.url.removesuffix("/v1")


@pytest.mark.parametrize(
    ("fault", "raised"),
    [
        (Fault.status(401, "invalid x-api-key"), "ANTHROPIC_API_KEY"),
        (Fault.status(404, "model: nope"), "ANTHROPIC_BASE_URL"),
        (Fault.status(400, "max_tokens: 99 > 9"), "config"),
    ],
)
def test_messages_that_are_refused(monkeypatch: pytest.MonkeyPatch, fault: Fault, raised: str) -> None:
    with serve(monkeypatch, [fault]), pytest.raises(SetupError, match=raised):
        play_steps(agent(api="messages"), 1)


def test_messages_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SetupError, match="ANTHROPIC_API_KEY is not set"):
        LlmAgent(model="claude", config={"api": "messages"})


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", APIS)
def test_an_answer_that_is_cut_off(monkeypatch: pytest.MonkeyPatch, api: str, stream: bool) -> None:
    """The request is retried for every fault in place of an answer."""
    events = b'event: message_start\ndata: {"type": "message_start", "message": {}}\n\nevent: error\ndata: {"no\n\n'
    faults = [Fault.broken_body(), Fault(200, events, {"Content-Type": "text/event-stream"}), Fault(200, b"[]")]
    with serve(monkeypatch, [*faults, call("eval")]) as server:
        decided = play_steps(agent(api=api, stream=stream, retry_s=30.0), 1)
        assert isinstance(decided[0], Decision) and decided[0].action.tool == "eval" and server.asked == 4


def test_a_request_with_an_invalid_form_is_not_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    """llama-cpp-python's server answers 500 to it."""
    fault = Fault.status(500, "3 validation errors: {'loc': ('body', 'temperature')}")
    with serve(monkeypatch, [fault]) as server, pytest.raises(SetupError, match="check the entrant's config"):
        play_steps(agent(retry_s=30.0), 1)
    assert server.asked == 1


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault.status(400, "No connected db.", type="no_db_connection", code="400"), "rejected the key"),
        (
            Fault.status(400, "Invalid model name passed in model=x.", code="400"),
            "does not know this model: check its name",
        ),
        (Fault.status(400, "x is not a valid model ID", code=400), "does not know this model: check its name"),
    ],
)
def test_refusals_with_400(monkeypatch: pytest.MonkeyPatch, fault: Fault, message: str) -> None:
    with serve(monkeypatch, [fault], models=404), pytest.raises(AccessError, match=message):
        LlmAgent.configure(model="x", config={}).check()


def test_fields_that_a_router_adds_are_not_sent_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """LiteLLM's proxy moves unknown fields into its own, and adds empty ones."""
    details = [{"type": "reasoning.text", "text": "Hm."}]
    call = {"id": "c", "type": "function", "function": {"name": "eval", "arguments": "{}"}}
    message = {
        "content": None,
        "tool_calls": [call],
        "provider_specific_fields": {"reasoning_details": details, "refusal": None},
    }
    body = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    with serve(monkeypatch, [Fault(200, json.dumps(body).encode())]) as server:
        decided = play_steps(agent(), 2)
        sent = server.requests[1]["messages"][2]
    assert isinstance(decided[0], Decision) and decided[0].exchanges[0].reasoning == "Hm."
    assert sent == {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_details": details}
    item = {"type": "function_call", "call_id": "c", "name": "eval", "arguments": "{}"}
    body = {"output": [{**item, "namespace": None, "caller": None}]}
    with serve(monkeypatch, [Fault(200, json.dumps(body).encode())]) as server:
        play_steps(agent(api="responses"), 2)
        assert server.requests[1]["input"][2] == item


def test_thoughts_and_texts_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thought without an index continues until it is signed; content may change from parts to text."""

    def thought(text: str, **fields: str) -> dict[str, Any]:
        return {"thinking_blocks": [{"type": "thinking", "thinking": text, **fields}]}

    deltas = [
        *(
            thought("One, "),
            thought("two."),
            thought("", signature="s1"),
            thought("Three."),
            thought("", signature="s2"),
        ),
        *({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": piece}]}]} for piece in ("A", "B")),
        *({"content": "Well, "}, {"content": "so."}),
    ]
    choices = [*({"delta": event} for event in deltas), {"delta": {}, "finish_reason": "stop"}]
    events = "".join(f"data: {json.dumps({'choices': [event]})}\n\n" for event in choices) + "data: [DONE]\n\n"
    with serve(monkeypatch, [Fault(200, events.encode(), {"Content-Type": "text/event-stream"})]) as server:
        play_steps(agent(stream=True), 2)
        sent = server.requests[1]["messages"][2]
    assert sent["thinking_blocks"] == [
        {"type": "thinking", "thinking": "One, two.", "signature": "s1"},
        {"type": "thinking", "thinking": "Three.", "signature": "s2"},
    ]
    assert sent["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "AB"}]},
        {"type": "text", "text": "Well, so."},
    ]


def test_the_order_of_fields_and_empty_texts_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some servers cache a conversation by its exact text."""
    call = {"id": "c", "type": "function", "function": {"arguments": "{}", "name": "eval"}, "new": {"b": [None, 1.0]}}
    for content in (None, ""):
        message = {"content": content, "reasoning": "", "tool_calls": [call], "role": "assistant", "new": 2**70}
        body = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
        with serve(monkeypatch, [Fault(200, json.dumps(body).encode())]) as server:
            play_steps(agent(), 2)
            assert json.dumps(server.requests[1]["messages"][2]) == json.dumps(message)


def test_pieces_of_unknown_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    cited = [{"type": "char_location", "cited_text": part} for part in ("one", "two")]
    blocks = [{"type": "text", "text": "So.", "citations": cited}, {"type": "new", "said": "Hm, well.", "list": [1, 2]}]
    call = {"type": "tool_use", "id": "t", "name": "eval", "input": {}}
    pieces = [
        *({"type": "citations_delta", "citation": part} for part in cited),
        *({"type": "text_delta", "text": part} for part in ("S", "o.")),
        *({"type": "new_delta", "said": text, "list": [n]} for n, text in ((1, "Hm, "), (2, "well."))),
    ]
    empty = [{"type": "text", "text": "", "citations": []}, {"type": "new", "said": ""}, call]
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {"usage": {}}}]
    events += [{"type": "content_block_start", "index": n, "content_block": part} for n, part in enumerate(empty)]
    events += [{"type": "content_block_delta", "index": n // 4, "delta": part} for n, part in enumerate(pieces)]
    events += [{"type": "message_delta", "delta": {"stop_reason": "tool_use"}}]
    text = "".join(f"event: {part['type']}\ndata: {json.dumps(part)}\n\n" for part in events)
    with serve(monkeypatch, [Fault(200, text.encode(), {"Content-Type": "text/event-stream"})]) as server:
        play_steps(agent(api="messages", stream=True), 2)
        assert server.requests[1]["messages"][1]["content"] == [*blocks, call]


def test_a_stream_whose_end_holds_no_items(monkeypatch: pytest.MonkeyPatch) -> None:
    item = {"type": "function_call", "call_id": "c", "name": "eval", "arguments": "{}"}
    stream_events = [{"type": "response.output_item.done", "item": item}]
    stream_events += [{"type": "response.completed", "response": {"status": "completed", "output": []}}]
    events = "".join(f"data: {json.dumps(event)}\n\n" for event in stream_events)
    with serve(monkeypatch, [Fault(200, events.encode(), {"Content-Type": "text/event-stream"})]):
        decided = play_steps(agent(api="responses", stream=True), 1)
    assert isinstance(decided[0], Decision) and decided[0].action.tool == "eval"
