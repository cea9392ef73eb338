"""The benchmarks are scripts in one folder: their modules are found there and nowhere else."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
