"""The benchmarks made with this extension: `deep`, `releases` and `fresh`."""
