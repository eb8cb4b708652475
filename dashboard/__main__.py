"""`python -m dashboard`: serve it, in this process."""

from __future__ import annotations

import argparse
import sys

from stackrank.dashboard.launch import command
from stackrank.db.connection.engine import default_url
from stackrank.errors import UsageError
from stackrank.host import programs
from stackrank.wording import masked, print_err

parser = argparse.ArgumentParser(prog="dashboard")
parser.add_argument("--port", type=int, default=8501)
parser.add_argument("--host", default="127.0.0.1")
arguments = parser.parse_args()
try:
    argv, environment = command(port=arguments.port, host=arguments.host)
except UsageError as error:
    print_err(f"error: {error}")
    sys.exit(2)
address_line = (
    f"the dashboard shows {masked(default_url())} at http://{arguments.host}:{arguments.port} (Ctrl-C stops it)"
)
print_err(address_line)
programs.become(argv, env=environment)
