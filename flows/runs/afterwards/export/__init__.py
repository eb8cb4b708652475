"""Export the episodes of a run for other programs: formats, their records, and how files are written.

Exports for trainers belong in `extensions/training/exports/`.
"""
