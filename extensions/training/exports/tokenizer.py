"""Makes tokens of exported conversations with a tokenizer of the user's choice, where the endpoint gave none."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import TemplateError, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from stackrank.extensions.training.exports.tokens import Piece, TokenSequence, join_pieces
from stackrank.extensions.training.rewards import TrainingError

Messages = Sequence[Mapping[str, Any]]


def add_tokens(file: Path, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of `chat` in a file, with tokens where the endpoint reported none. Raises TrainingError."""
    tokenizer = ChatTokenizer(folder)
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                record = json.loads(line)
                is_known = bool(record.get("tokens"))
                made = [] if is_known else tokenizer.sequences(record)
            except (ValueError, TypeError, KeyError, AttributeError, IndexError):
                raise TrainingError(f"{file}:{number} is not a record of `chat`: export it again") from None
            yield record if is_known else {**record, "tokens": made}


class _Generation(Extension):
    """The block `generation` of chat templates for training, which changes nothing in the text."""

    tags = {"generation"}  # noqa: RUF012  as Jinja has it

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """Return what is in the block."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class ChatTokenizer:
    """A tokenizer with its chat template, as models of Hugging Face bring them in a folder."""

    def __init__(self, folder: Path) -> None:
        """Read `tokenizer.json`, `tokenizer_config.json` and, if there is one, `chat_template.jinja`.

        Raises TrainingError, also if the package `tokenizers` is not installed.
        """
        try:
            from tokenizers import Tokenizer
        except ModuleNotFoundError:
            raise TrainingError("tokenize needs the package tokenizers: run pip install 'stackrank[tokens]'") from None
        self.name = folder.name
        try:
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
            template = folder / "chat_template.jinja"
            text = template.read_text(encoding="utf-8") if template.exists() else config["chat_template"]
        except Exception as error:  # the package has no class of its own for its errors
            raise TrainingError(f"{folder} has no tokenizer with a chat template: {error}") from None
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[_Generation])
        environment.filters["tojson"] = lambda value, **options: json.dumps(value, ensure_ascii=False, **options)
        environment.globals["raise_exception"] = self._refuse
        self._end = _text_of(config.get("eos_token"))
        tokens = {name: _text_of(config.get(name)) for name in ("bos_token", "eos_token", "unk_token", "pad_token")}
        self._template = environment.from_string(text, globals=tokens)

    def sequences(self, record: Mapping[str, Any]) -> list[TokenSequence]:
        """Return the tokens of a record of `chat`, with the mask 1 for what the model wrote. Raises TrainingError."""
        messages = [_with_parsed_arguments(message) for message in record["messages"]]
        pieces = list(self._pieces(messages, record.get("tools"), [answer["message"] for answer in record["answers"]]))
        return join_pieces(pieces, f"tokenizer {self.name}")

    def _pieces(self, messages: Messages, tools: Any, answers: Sequence[int]) -> Iterator[Piece]:
        text, ids = "", list[int]()
        for place in answers:
            prompt = self._render(messages[:place], tools, is_prompt=True)
            whole = self._render(messages[: place + 1], tools, is_prompt=False)
            if not whole.startswith(prompt):
                raise TrainingError(
                    f"the chat template of {self.name} does not write the answer at message {place} after its prompt: "
                    "choose a template for training, which keeps what was before a message"
                )
            end = whole.rfind(self._end, len(prompt)) + len(self._end) if self._end in whole[len(prompt) :] else None
            # What was tokenized before stays, as a server with a cache of prefixes keeps it.
            before, rest = (ids, prompt[len(text) :]) if text and prompt.startswith(text) else ([], prompt)
            prompt_ids = [*before, *self._encode(rest)]
            answer = self._encode(whole[len(prompt) : end])
            yield {"prompt": prompt_ids, "answer": answer, "logprobs": None}
            text, ids = whole[:end], [*prompt_ids, *answer]

    def _encode(self, text: str) -> list[int]:
        encoded: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return encoded

    def _render(self, messages: Messages, tools: Any, *, is_prompt: bool) -> str:
        try:
            return self._template.render(messages=messages, tools=tools, add_generation_prompt=is_prompt)
        except TemplateError as error:
            raise TrainingError(f"the chat template of {self.name} refuses a conversation: {error}") from None

    def _refuse(self, message: str) -> None:
        raise TemplateError(message)


def _text_of(token: Any) -> str:
    return str(token.get("content") or "") if isinstance(token, dict) else str(token or "")


def _with_parsed_arguments(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message whose calls have arguments as objects, which most templates expect."""
    fields = {**message, "content": message.get("content") or ""}
    if "tool_calls" in fields:
        fields["tool_calls"] = [
            {**call, "function": {**call["function"], "arguments": _parsed(call["function"]["arguments"])}}
            for call in fields["tool_calls"]
        ]
    return fields


def _parsed(arguments: str) -> Any:
    try:
        value = json.loads(arguments)
    except ValueError:
        return arguments
    return value if isinstance(value, dict) else arguments
