"""Exports for trainers: conversations, steps, pairs, briefs and ATIF.

Exports of plain results belong in `flows/runs/afterwards/export/`.
"""
