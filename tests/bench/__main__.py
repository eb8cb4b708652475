"""`python -m tests.bench`: every benchmark of speed."""

from __future__ import annotations

import sys

from tests.bench.bench_env import main

sys.exit(main())
