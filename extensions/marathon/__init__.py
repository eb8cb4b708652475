"""`marathon`: releases in which 20, 40 or 80 faults are open at once, under a budget; the outcome is the share mended.

The outcome itself, a verdict for each fault, belongs to the core (`env.scoring.by_fault.parts`).
"""
