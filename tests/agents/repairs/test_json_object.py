"""Arguments as servers send them: what has one meaning is read, and anything else is refused with the reason."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from stackrank.agents.llm.repairs.json_object import MAX_CALL, Unclear, read_object
from stackrank.agents.llm.syntaxes.tool_call import make_arguments_sendable

A = '{"path": "a.py"}'
CODE = json.dumps({"path": "a.py", "new_code": 'if x:\n    y = {"a": {"b": [1]}}  # "}"\n'})


def snapshots(text: str, count: int) -> str:
    """A text as a server sends it that repeats everything with each piece."""
    return "".join(text[: len(text) * number // count] for number in range(1, count + 1))


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (A, ""),
        ('{"path":\n"a.py"}', ""),
        (json.dumps(A), "decoded its arguments twice"),
        # HKUDS/DeepTutor#668, tya5/reyn#1057, OpenHands/software-agent-sdk#2753, mangiucugna/json_repair#213
        (A + "}", "ignored '}' after"),
        (A + "\n}]", "after its JSON object"),
        (A + "</tool_call>", "ignored the marks"),
        (A + "}</tool_call>", "ignored '}"),
        (A + "\nI look at the file first.", "ignored 'I look"),
        # livekit/agents#5840, vllm-project/vllm#32587
        (A + "<|im_end|>", "ignored the marks"),
        (A + "<|call|>\n", "ignored the marks"),
        (A + "<｜tool▁call▁end｜>", "ignored the marks"),
        ("<|tool_call_argument_begin|>" + A, "ignored the marks"),
        (f"```json\n{A}\n```", "ignored the marks"),
        # NousResearch/hermes-agent#35718, vercel/ai#15888, langchain-ai/langgraphjs#2697: each piece repeats the text
        ('{"path' + A, "repeat"),
        (snapshots(A, 5), "repeat"),
        (snapshots(A, len(A)), "repeat"),
        # anomalyco/opencode#17339, elizaOS/eliza#16973, lidge-jun/opencodex#361: all of it once more at the end
        (A + A, "repeat"),
        (A + '{"path":"a.py"}' + A, "repeat"),
        ('{"path": "a' + A, "repeat"),
        ("{}" + A, "repeat"),
        (A + "{}", "repeat"),
        (A + A + "<|im_end|>", "ignored the marks"),
        # lablup/mlxcel#1306: Python's notation
        ("{'path': 'a.py'}", "Python's notation"),
        ('{"path": "a.py",}', "Python's notation"),
        ('{"path": "a.py", "path": \'a.py\'}', "Python's notation"),
        # ollama/ollama#15315 and vllm-project/vllm#44522: Gemma's notation
        ('{path:<|"|>a.py<|"|>}', "names that have no quotes"),
        ('{path: "a.py"}', "names that have no quotes"),
    ],
)
def test_one_meaning(text: str, note: str) -> None:
    value, said = read_object(text)
    assert value == {"path": "a.py"} and note in said and bool(note) == bool(said)
    assert json.loads(make_arguments_sendable(text)) == value


@pytest.mark.parametrize("count", [2, 3, 7, 40, len(CODE)])
def test_code_that_grows_with_each_piece(count: int) -> None:
    assert read_object(snapshots(CODE, count))[0] == json.loads(CODE)


def test_long_code_that_grows_with_each_piece() -> None:
    text = json.dumps({"new_code": "".join(f"def f_{n}():\n    return {{'a': {n}}}\n" for n in range(200))})
    repeated = snapshots(text, 400)
    assert len(repeated) > MAX_CALL and read_object(repeated)[0] == json.loads(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (A + '{"path": "b.py"}', "several JSON objects, which differ"),
        # BerriAI/litellm#33678: two calls that a client joined, of which the second is cut off
        (A + '{"path": "b', "followed by what may belong"),
        (A + "{", "followed by what may belong"),
        (A + ', "start": 3}', "followed by what may belong"),
        (A + ' and "b.py"', "followed by what may belong"),
        (A + "<|tool_call_begin|>functions.eval:1", "followed by what may belong"),
        (A + "</tool_call><tool_call>eval</tool_call>", "followed by what may belong"),
        # ggml-org/llama.cpp#22072, vllm-project/vllm#22885, livekit/agents#4974: what is cut off may have gone on
        ('{"path": "a.py"', "not valid JSON"),
        ('{"path": "a', "not valid JSON"),
        ('{"command": "echo "hi""}', "not valid JSON"),
        ('{"command": "a"} b"}', "followed by what may belong"),
        # Either the second text, or an object within the first that lacks its last brace.
        ('{"a": {"a": 1}', "cut off or one that is said again"),
        ('{"b": {"a": 1}', "not valid JSON"),
        ('{"path": "a.py", "path": "b.py"}', "'path' occurs twice"),
        ("{'path': 'a.py', 'path': 'b.py'}", "'path' occurs twice"),
        ("{'path': b'a.py'}", "not valid JSON"),
        ("{'path': open('a.py')}", "not valid JSON"),
        (r"{'pattern': '\d+'}", "not valid JSON"),  # JSON and Python read it differently
        (f"{{'line': 0x{'f' * 5000}}}", "not valid JSON"),
        ("path: a.py", "not valid JSON"),
        ("[1]", "not a JSON object"),
        ('"[1]"', "not a JSON object"),
        ("7", "not a JSON object"),
        ("{" * 50_000, "not valid JSON|nested"),
        ('{"a":' * 50_000, "not valid JSON|nested"),
        (json.dumps({"path": "x" * MAX_CALL}), "too long"),
    ],
)
def test_no_meaning_or_several(text: str, reason: str) -> None:
    with pytest.raises(Unclear, match=reason):
        read_object(text)


def test_a_value_that_cannot_be_an_object_is_said_again() -> None:
    text = '{"path": ' + A
    with pytest.raises(Unclear, match="cut off or one that is said again"):
        read_object(text, ["path"])
    assert read_object(text, ["other"])[0] == {"path": "a.py"}


def test_an_object_is_never_read_as_another_one() -> None:
    """Whatever follows, precedes or repeats an object: it is read as that object, or refused."""
    dice = random.Random(41)
    words = [*"\"{}[]\\:,a'\n", "<|x|>", "</tool_call>", "```", "null", '{"a": 1}']

    def value(depth: int) -> Any:
        kind = dice.randrange(4 if depth else 3)
        if kind == 0:
            return dice.choice([1, True, None, 2.5])
        if kind < 3:
            return "".join(dice.choices(words, k=dice.randrange(6)))
        return {"a": value(depth - 1)}

    read = 0
    for _ in range(1000):
        meant = {name: value(2) for name in dice.sample("abc", dice.randrange(1, 4))}
        text = json.dumps(meant)
        pieces = dice.randrange(1, 6)
        for said in (text + dice.choice(words), dice.choice(words) + text, snapshots(text, pieces), text + text):
            try:
                assert read_object(said)[0] == meant, said
                read += 1
            except Unclear:
                continue
    assert read > 2000
