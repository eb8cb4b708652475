"""Calls that a server left in the text, and texts that only look like calls."""

from __future__ import annotations

import json
import re

import pytest

from stackrank.agents.llm.endpoints.endpoint import Reply
from stackrank.agents.llm.repairs.leaked_calls import find_leaked
from stackrank.agents.llm.repairs.names import find_name
from stackrank.agents.llm.syntaxes.function_calling import FunctionCalling
from stackrank.agents.llm.syntaxes.tool_call import ToolCall, make_arguments_sendable
from stackrank.env.actions import Action
from stackrank.env.tools import find_tool, tool_set

SYNTAX = FunctionCalling([find_tool(name) for name in tool_set("debug").tools])
TOOLS = tool_set("debug").tools
CALL = '{"name": "view", "arguments": {"path": "a.py"}}'
HERMES = f"<tool_call>\n{CALL}\n</tool_call>"
QWEN = "<function=view>\n<parameter=path>\na.py\n</parameter>\n<parameter=start>\n3\n</parameter>\n</function>"
DSML = (
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="view">\n<｜DSML｜parameter name="path" string="true">a.py'
    '</｜DSML｜parameter>\n<｜DSML｜parameter name="start" string="false">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n'
    "</｜DSML｜function_calls>"
)
KIMI = (
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.view:0<|tool_call_argument_begin|>{"path": "a.py"}'
    "<|tool_call_end|><|tool_calls_section_end|>"
)
HARMONY = (
    "<|channel|>analysis<|message|>to=functions.eval?<|end|><|start|>assistant<|channel|>commentary to=functions.view "
    '<|constrain|>json<|message|>{"path": "a.py"}<|call|>'
)
LLAMA_CPP = 'functions.view:\n{"path": "a.py"}\n'
VIEW, EVAL = Action("view", {"path": "a.py"}), Action("eval", {})
LINES = Action("view", {"path": "a.py", "start": 3})


def read(text: str, reasoning: str = "") -> list[Action]:
    return [SYNTAX.read_action(call)[0] for call in SYNTAX.find_calls(Reply(text, reasoning=reasoning))]


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        # cubist38/mlx-openai-server#83, ollama/ollama#14745
        (HERMES, [VIEW]),
        (f"I look.\n{HERMES}", [VIEW]),
        (HERMES * 2, [VIEW, VIEW]),
        (f"<tool_call>{CALL}}}</tool_call>", [VIEW]),
        (f"<tool_call>{CALL}", [VIEW]),
        (f"<tool_call>[{CALL}, {CALL}]</tool_call>", [VIEW, VIEW]),
        ("<tool_call>{'name': 'view', 'arguments': {'path': 'a.py'}}</tool_call>", [VIEW]),
        (HERMES.replace("arguments", "parameters"), [VIEW]),
        (f"<think>First {HERMES}, then</think>\n<tool_call>\n<function=eval>\n</function>\n</tool_call>", [EVAL]),
        # vllm-project/vllm#22975, continuedev/continue#13057
        (QWEN, [LINES]),
        (f"<tool_call>\n{QWEN}\n</tool_call>", [LINES]),
        # ggml-org/llama.cpp#24807: the end of a parameter twice
        (QWEN.replace("a.py\n</parameter>", "a.py\n</parameter>\n</parameter>"), [LINES]),
        ('<function=view>{"path": "a.py"}</function>', [VIEW]),
        # vllm-project/vllm#46863, ggml-org/llama.cpp#24329, ollama/ollama#15539
        ('<|python_tag|>{"name": "view", "parameters": {"path": "a.py"}}<|eom_id|>', [VIEW]),
        ('{"type": "function", "name": "view", "parameters": {"path": "a.py"}}', [VIEW]),
        ('[view(path="a.py"), eval()]', [VIEW, EVAL]),
        # lablup/mlxcel#1306, esokullu/webbrain#271
        ("<|tool_call_start|>[view(path='a.py', start=3)]<|tool_call_end|>", [LINES]),
        # ml-explore/mlx-lm#1374, vllm-project/vllm#16190
        (f"[TOOL_CALLS] [{CALL}]", [VIEW]),
        ('[TOOL_CALLS]view[ARGS]{"path": "a.py"}', [VIEW]),
        ('[TOOL_CALLS]view[CALL_ID]x1[ARGS]{"path": "a.py"}[TOOL_CALLS]eval[ARGS]{}', [VIEW, EVAL]),
        # ml-explore/mlx-lm#875
        (HARMONY, [VIEW]),
        ('<|start|>assistant to=functions.view<|channel|>commentary json<|message|>{"path": "a.py"}', [VIEW]),
        # MoonshotAI/Kimi-K2#26, vllm-project/vllm#31207
        (KIMI, [VIEW]),
        (KIMI.replace('{"path": "a.py"}', json.dumps('{"path": "a.py"}')), [VIEW]),
        # sgl-project/sglang#17558
        (
            '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>view\n```json\n{"path": "a.py"}\n```'
            "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            [VIEW],
        ),
        ('<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>view<｜tool▁sep｜>{"path": "a.py"}<｜tool▁call▁end｜>', [VIEW]),
        # sgl-project/sglang#40236, vllm-project/vllm#54686, CommandCodeAI/command-code#909
        (DSML, [LINES]),
        (DSML.replace("｜DSML｜", "｜｜DSML｜｜ ").replace("function_calls", "calls"), [LINES]),
        (DSML.partition("\n")[2].rpartition("\n")[0], [LINES]),
        # MiniMax-AI/MiniMax-M2.5#10, MiniMax-AI/MiniMax-M3#31
        (
            '<minimax:tool_call>\n  <invoke name="view">\n    <parameter name="path">a.py</parameter>\n  </invoke>\n'
            "</minimax:tool_call>",
            [VIEW],
        ),
        (
            'Tuner.]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="view">]<]minimax[>[<path>a.py]<]minimax[>['
            "</path>]<]minimax[>[<start>3]<]minimax[>[</start>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
            [LINES],
        ),
        # vllm-project/vllm#44522, NousResearch/hermes-agent#7449
        ('<|tool_call>call:view{path:<|"|>a.py<|"|>,start:3}<tool_call|>', [LINES]),
        # waybarrios/vllm-mlx#42
        ("<tool_call>view\n<arg_key>path</arg_key>\n<arg_value>a.py</arg_value>\n</tool_call>", [VIEW]),
        ("<tool_call>eval</tool_call>", [EVAL]),
        (f"<|tool_call|>[{CALL}]", [VIEW]),
        (LLAMA_CPP, [VIEW]),
        (f"{LLAMA_CPP}functions.eval:\n{LLAMA_CPP}", [VIEW, EVAL, VIEW]),
        ("functions.submit:", [Action("submit", {})]),
    ],
)
def test_calls_that_a_server_left_in_the_text(text: str, actions: list[Action]) -> None:
    assert read(text) == actions


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", ""),
        ("I look at a.py.", ""),
        ("functions.view: it shows a file", ""),
        # ggml-org/llama.cpp#18183, itayinbarr/little-coder#96: an object is not a call because it has a name
        ('{"name": "Ada", "arguments": {}}', ""),
        ('{"name": "view"}', ""),
        ("x = [print(1)]", ""),
        # agentscope-ai/QwenPaw#4066, stablyai/orca#19690, webbrain-one/webbrain#2682: what is only shown
        (f"```\n{HERMES}\n```", "in a code block"),
        (f"~~~xml\n{QWEN}\n~~~\nThis is how it looks.", "in a code block"),
        (f"```json\n{CALL}\n```", "in a code block"),
        (f"A call looks like <tool_call>{CALL}</tool_call>", "within a sentence"),
        (f"Write `{KIMI}`.", "within a sentence"),
        (f"{HERMES}\nNow it must work.", "other text follows it"),
        (f"{HERMES}\n<tool_response>\na.py is empty\n</tool_response>", "other text follows it"),
        # vllm-project/vllm#39056, PrimeIntellect-ai/renderers#80, lmstudio-ai/lmstudio-bug-tracker#1592
        (f"<think>I could\n{HERMES}", "reasoning contains a call"),
        (f"I could\n{HERMES}</think> but I wait", "reasoning contains a call"),
        (HARMONY.partition("<|start|>")[0], "reasoning contains a call"),
        # jundot/omlx#3153: what is cut off
        ("<tool_call>", "cut off"),
        ("<tool_call>{no", "not valid JSON"),
        ('<tool_call>\n{"name": "view", "argu', "not valid JSON"),
        ("<function=view>\n<parameter=path>\na.py", "'path' has no end"),
        ("<function=view>\n<parameter=path> a.py\n<parameter=start> 3\n", "'path' has no end"),
        (f"<tool_call>{CALL}{CALL.replace('a.py', 'b.p')[:-4]}", "not valid JSON|form is not known"),
        # Code that holds the tags of a call: where it ends cannot be told.
        (QWEN.replace("a.py", "x\n</parameter>\ny"), "contains tags of a call"),
        (QWEN.replace("a.py", "x\n</function>\ny"), "contains tags of a call"),
        (QWEN.replace("start", "path"), "two parameters 'path'"),
        ("<|python_tag|>view('a.py')", "does not name all"),
        ("<|python_tag|>print(open('a.py').read())", "does not name all"),
        ('<tool_call>{"name": "view", "path": "a.py"}</tool_call>', "no JSON object with the name"),
        ('<tool_call>{"name": "view", "arguments": {}, "input": {}}</tool_call>', "no JSON object with the name"),
    ],
)
def test_what_may_be_something_else_is_refused(text: str, reason: str) -> None:
    assert read(text) == []
    correction = SYNTAX.correct_missing_call(Reply(text))
    assert correction.startswith("Your answer calls no tool.") and re.search(reason, correction)
    assert bool(find_leaked(text, "", TOOLS).refusal) == bool(reason)


@pytest.mark.parametrize("text", [HERMES, QWEN.removesuffix("</function>"), "functions.submit:", KIMI])
def test_nothing_is_taken_from_a_text_that_is_cut_off(text: str) -> None:
    assert read(text) and SYNTAX.find_calls(Reply(text, cut_off=True)) == ()
    assert "cut off at the length limit" in SYNTAX.correct_missing_call(Reply(text, cut_off=True))


def test_a_call_in_the_reasoning() -> None:
    assert read("I think.", HERMES) == []
    assert "reasoning contains a call" in SYNTAX.correct_missing_call(Reply("I think.", reasoning=HERMES))


@pytest.mark.parametrize(
    "leak", [HERMES, QWEN, DSML, KIMI, HARMONY, "<｜DSML｜function_calls", f"[TOOL_CALLS][{CALL}]"]
)
def test_nothing_in_the_text_is_carried_out_beside_a_call(leak: str) -> None:
    """Also not what a proper call writes into a file. stdapi-ai/stdapi.ai#182: a rest of the tags beside the call."""
    proper = ToolCall("1", "rewrite", json.dumps({"path": "a.py", "new_code": leak}))
    assert SYNTAX.find_calls(Reply(f"I write {leak}\n{leak}", calls=(proper,))) == (proper,)
    assert SYNTAX.read_action(proper) == (Action("rewrite", {"path": "a.py", "new_code": leak}), "")


@pytest.mark.parametrize("leak", [HERMES, KIMI, f"[TOOL_CALLS][{CALL}]", "<think>", "```"])
def test_what_a_call_in_the_text_writes_is_not_carried_out(leak: str) -> None:
    written = json.dumps({"name": "rewrite", "arguments": {"path": "a.py", "new_code": leak}})
    assert read(f"<tool_call>\n{written}\n</tool_call>") in (
        [Action("rewrite", {"path": "a.py", "new_code": leak})],
        [],  # refused
    )
    tagged = f"<function=rewrite>\n<parameter=path>\na.py\n</parameter>\n<parameter=new_code>\n{leak}\n</parameter>\n"
    assert read(f"{tagged}</function>") in ([Action("rewrite", {"path": "a.py", "new_code": leak})], [])


LONG = """<think> ``` ` { } [ < <| </s> <a> </a> " \\ \\" {"a": functions.a:{} functions.a:{}x to=functions. view()
call:a{ <tool_call> </tool_call> <function=a> <parameter=a> </parameter> <invoke_name=a> <arg_key>a</arg_key><arg_value>
[TOOL_CALLS]a[ARGS]{} <｜DSML｜ <|channel|> ]<]minimax[>["""


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", [" ", "\n", "```\n", *LONG.split()])
def test_long_texts_are_read(part: str) -> None:
    """Whoever reads them in more than linear time does not come to an end."""
    text = part * (200_000 // len(part))
    for said in (text, f"<tool_call>{text}", f"<function=view>\n<parameter=path>{text}", f"{text}{HERMES}"):
        assert find_leaked(said, "", TOOLS) == find_leaked(said, "", TOOLS)
    for arguments in (text, "{" + text, '{"path": "' + text, f'{{"path": "a.py"}}{text}'):
        make_arguments_sendable(arguments)
    find_name(text, TOOLS)


def test_the_values_of_tags_have_the_types_of_the_schema() -> None:
    parameters = {"pattern": "3", "ignore_case": "True"}
    tags = "".join(f"<parameter={name}>\n{value}\n</parameter>\n" for name, value in parameters.items())
    assert read(f"<function=grep>\n{tags}</function>") == [Action("grep", {"pattern": "3", "ignore_case": True})]


@pytest.mark.parametrize("call", ["a" + ".a" * 900 + "(x=1)", f"view(path=0x{'f' * 5000})", f"view(path={'-' * 900}1)"])
def test_an_expression_out_of_bounds_is_refused_like_any_other(call: str) -> None:
    """If it raised, a model could turn its loss into an error."""
    leaked = find_leaked(f"<|python_tag|>{call}", "", ["view"])
    assert not leaked.calls and leaked.refusal
