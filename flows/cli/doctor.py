"""Commands about this machine: doctor, gc."""

from __future__ import annotations

import typer

from stackrank.flows.cli.options import Json
from stackrank.flows.cli.output import print_json, print_table
from stackrank.wording import print_out

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
    """Remove sandboxes that dead workers left behind, and copies in memory that no process uses."""
    from stackrank.env.sandbox.bubblewrap.memory import remove_unused
    from stackrank.env.sandbox.registry import reap

    removed = reap() + remove_unused()
    if as_json:
        print_json({"removed": removed})
    else:
        print_out(f"removed {len(removed)}: {', '.join(removed)}" if removed else "nothing was left behind")
