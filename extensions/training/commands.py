"""Commands for training programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stackrank.flows.cli.options import DataPath, Environments, FailingTest, FailureState, Repos, Sandbox, port_option
from stackrank.wording import as_json, count_of, print_err, print_out


def serve_env(
    served: Annotated[
        list[str] | None,
        typer.Argument(metavar="[BENCHMARK|TASK]...", help="What to serve, for instance `bugs` or `bugs/vat-table`."),
    ] = None,
    tools: Annotated[str, typer.Option(help="A tool set, or tools separated by commas.")] = "debug",
    reward: Annotated[list[str] | None, typer.Option(help="A reward term, or TERM=WEIGHT. Repeat for several.")] = None,
    steps: Annotated[int, typer.Option(min=1, help="Most actions in one episode.")] = 50,
    shows_failing_test: FailingTest = None,
    shows_failure_state: FailureState = None,
    sessions: Annotated[int, typer.Option(min=1, help="Most concurrent clients.")] = 64,
    idle: Annotated[float, typer.Option(min=1, help="Seconds after which a session without messages ends.")] = 1800,
    sandbox: Sandbox = None,
    path: DataPath = None,
    repos: Repos = None,
    environments: Environments = None,
    port: Annotated[int, port_option("Port to listen on; 0 for any free port.")] = 8765,
    host: Annotated[
        str, typer.Option(help="Address to listen on. Anyone who reaches it can use this machine.")
    ] = "127.0.0.1",
) -> None:
    """Serve episodes to trainers over OpenEnv's WebSocket protocol, until interrupted."""
    from stackrank.extensions.training.env_maker import EnvMaker, every_task
    from stackrank.extensions.training.serve import Sessions, serve
    from stackrank.host.listening import listen, shown

    names = every_task(served or ["bugs"], path=path, repos=repos, environments=environments)
    weights = _weights(reward or ["verdict"])
    maker = EnvMaker(
        count=sessions,
        tools=tools,
        rewards=weights,
        steps=steps,
        shows_failing_test=shows_failing_test is not False,
        shows_failure_state=bool(shows_failure_state),
        sandbox=sandbox,
        path=path,
        repos=repos,
        environments=environments,
    )
    description = count_of(len(names), "task") if len(names) > 1 else names[0]
    listening = listen(host, port)
    address, port = listening.getsockname()[:2]
    print_err(f"serving {description} at ws://{shown(address)}:{port}/ws (Ctrl-C stops it)")
    serve(Sessions(maker, names, sessions, idle), listening, {host, address})


def tokenize(
    file: Annotated[Path, typer.Argument(help="What `stackrank export RUN --format chat` wrote.")],
    tokenizer: Annotated[Path, typer.Option(help="A folder with tokenizer.json and a chat template.")],
) -> None:
    """Add tokens to exported conversations whose endpoint reported none, and write them to standard output."""
    from stackrank.extensions.training.exports.tokenizer import add_tokens

    for record in add_tokens(file, tokenizer):
        print_out(as_json(record))


def _weights(terms: list[str]) -> dict[str, float]:
    from stackrank.extensions.training.rewards import TrainingError

    weights: dict[str, float] = {}
    for option in terms:
        term, _, weight = option.partition("=")
        try:
            weights[term] = float(weight or 1)
        except ValueError:
            raise TrainingError(f"--reward {option}: {weight!r} is not a number; write {term}=0.5") from None
    return weights
