"""`python -m tests.bench`: the speed of the environment. The other benchmarks are modules of their own."""

from __future__ import annotations

import sys

from tests.bench.bench_env import main

sys.exit(main())
