"""Print the requirements that hold for the Python of an image: `requirements_for.py FILE ENVIRONMENT_JSON`.

`pip download` chooses wheels for another Python, but reads the conditions behind `;` for its own.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from pip._vendor.packaging.markers import Marker

environment = json.loads(sys.argv[2])
for pin in re.split(r"\n(?=\S)", Path(sys.argv[1]).read_text(encoding="utf-8").strip()):
    first, _, hashes = pin.partition("\\\n")
    requirement, _, condition = first.partition(";")
    if not condition.strip() or Marker(condition.strip()).evaluate(environment):
        print(f"{requirement.strip()} \\\n{hashes}")
