"""Commands about this machine: doctor, gc, backup, restore."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stackrank.flows.cli.options import Json
from stackrank.flows.cli.output import print_json, print_table
from stackrank.wording import count_of, print_err, print_out

if TYPE_CHECKING:
    from stackrank.db.maintenance.backup import Manifest

app = typer.Typer()


@app.command()
def doctor(as_json: Json = False) -> None:
    """Check what works on this machine, and say how to fix what does not."""
    from stackrank.flows.services.doctor import examine

    checks, ready = examine()
    if as_json:
        print_json({"ready": ready, "checks": checks})
    else:
        rows = [{**check, "ok": "ok" if check["ok"] else "-"} for check in checks]
        print_table(rows, {"check": "check", "ok": "", "detail": "detail"}, "")
        print_out("\nReady to play runs." if ready else "\nNot ready: see above.")
    raise typer.Exit(0 if ready else 1)


@app.command()
def gc(as_json: Json = False) -> None:
    """Remove sandboxes and folders that dead workers left behind, and copies in memory that no process uses."""
    from stackrank.env.sandbox.bubblewrap.memory import remove_unused
    from stackrank.env.sandbox.registry import reap
    from stackrank.host.scratch import remove_abandoned

    removed = reap() + remove_unused() + remove_abandoned()
    if as_json:
        print_json({"removed": removed})
    else:
        print_out(f"removed {len(removed)}: {', '.join(removed)}" if removed else "nothing was left behind")


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="A new file, such as stackrank.tar.gz.")], as_json: Json = False
) -> None:
    """Write results, keys and schedules to one file, while runs go on.

    It contains everything that cannot be made again, also from PostgreSQL. Keep it as safe as the keys in it.
    """
    from stackrank.db.connection.engine import connect
    from stackrank.db.maintenance.backup import back_up

    manifest = back_up(connect(), file, _report)
    if as_json:
        print_json(_document(file, manifest))
    else:
        command = shlex.join(["stackrank", "restore", str(file)])
        print_out(f"{file}: {_describe(manifest)}. Bring it back with `{command}`.")


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="A file that `stackrank backup` wrote.")], as_json: Json = False
) -> None:
    """Bring a backup into an empty database and home folder, on this or another machine.

    STACKRANK_DATABASE_URL and STACKRANK_HOME name them. Nothing is overwritten.
    """
    from stackrank.db.connection.engine import default_url
    from stackrank.db.maintenance.backup import restore as restore_backup

    manifest = restore_backup(file, default_url(), _report)
    if as_json:
        print_json(_document(file, manifest))
    else:
        print_out(f"restored {_describe(manifest)}, written on {manifest.created} by stackrank {manifest.stackrank}.")


def _report(table: str, rows: int) -> None:
    print_err(f"{table}: {count_of(rows, 'row')}")


def _document(file: Path, manifest: Manifest) -> dict[str, Any]:
    from dataclasses import asdict

    return {"file": str(file), **asdict(manifest)}


def _describe(manifest: Manifest) -> str:
    runs, episodes = count_of(manifest.rows["run"], "run"), count_of(manifest.rows["episode"], "episode")
    return f"{runs}, {episodes} and {count_of(len(manifest.files) - 1, 'file')} of the home folder"
