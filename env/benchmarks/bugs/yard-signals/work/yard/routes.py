# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The routes of the yard, from the signal book: the sections that a route keeps free for its train, and its points.

Sections have letters from the west to the east and numbers from the north to the south. A point that is not named
lies straight.
"""
from __future__ import annotations

ROUTES = """
W1-E1
    sections A1 B1 C1 D1
    sections E1 F1 G1 H1
W1-E2
    sections A1 B2 C2 D2
    sections E2 F2 G2 H2
    point A1 down
W1-E3
    sections A1 B1 C2 D3
    sections E3 F3 G3 H3
    point B1 down
    point C2 down
W1-E4
    sections A1 B2 C3 D4
    sections E4 F4 G4 H4
    point A1 down
    point B2 down
    point C3 down
W1-E5
    sections A1 B1 C2 D3
    sections E4 F5 G5 H5
    point B1 down
    point C2 down
    point D3 down
    point E4 down
W1-E6
    sections A1 B2 C3 D4
    sections E5 F6 G6 H6
    point A1 down
    point B2 down
    point C3 down
    point D4 down
    point E5 down
W2-E1
    sections A2 B2 C1 D1
    sections E1 F1 G1 H1
    point B2 up
W2-E2
    sections A2 B2 C2 D2
    sections E2 F2 G2 H2
W2-E3
    sections A2 B2 C3 D3
    sections E3 F3 G3 H3
    point B2 down
W2-E4
    sections A2 B3 C4 D4
    sections E4 F4 G4 H4
    point A2 down
    point B3 down
W2-E5
    sections A2 B2 C3
    sections E5 F5 G5 H5
    point B2 down
    point C3 down
    point D4 down
W2-E6
    sections A2 B3 C4 D5
    sections E6 F6 G6 H6
    point A2 down
    point B3 down
    point C4 down
    point D5 down
W3-E1
    sections A3 B3 C2 D1
    sections E1 F1 G1 H1
    point B3 up
    point C2 up
W3-E2
    sections A3 B2 C2 D2
    sections E2 F2 G2 H2
    point A3 up
W3-E3
    sections A3 B3 C3 D3
    sections E3 F3 G3 H3
W3-E4
    sections A3 B4 C4 D4
    sections E4 F4 G4 H4
    point A3 down
W3-E5
    sections A3 B3 C4 D5
    sections E5 F5 G5 H5
    point B3 down
    point C4 down
W3-E6
    sections A3 B4 C5 D6
    sections E6 F6 G6 H6
    point A3 down
    point B4 down
    point C5 down
W4-E1
    sections A4 B4 C3 D2
    sections E1 F1 G1 H1
    point B4 up
    point C3 up
    point D2 up
W4-E2
    sections A4 B3 C2 D2
    sections E2 F2 G2 H2
    point A4 up
    point B3 up
W4-E3
    sections A4 B4 C3 D3
    sections E3 F3 G3 H3
    point B4 up
W4-E4
    sections A4 B4 C4 D4
    sections E4 F4 G4 H4
W4-E5
    sections A4 B4 C5 D5
    sections E5 F5 G5 H5
    point B4 down
W4-E6
    sections A4 B5 C6 D6
    sections E6 F6 G6 H6
    point A4 down
    point B5 down
W5-E1
    sections A5 B5 C4 D3
    sections E2 F1 G1 H1
    point B5 up
    point C4 up
    point D3 up
    point E2 up
W5-E2
    sections A5 B4 C3 D2
    sections E2 F2 G2 H2
    point A5 up
    point B4 up
    point C3 up
W5-E3
    sections A5 B5 C4 D3
    sections E3 F3 G3 H3
    point B5 up
    point C4 up
W5-E4
    sections A5 B4 C4 D4
    sections E4 F4 G4 H4
    point A5 up
W5-E5
    sections A5 B5 C5 D5
    sections E5 F5 G5 H5
W5-E6
    sections A5 B6 C6 D6
    sections E6 F6 G6 H6
    point A5 down
W6-E1
    sections A6 B6 C5 D4
    sections E3 F2 G1 H1
    point B6 up
    point C5 up
    point D4 up
    point E3 up
    point F2 up
W6-E2
    sections A6 B5 C4 D3
    sections E2 F2 G2 H2
    point A6 up
    point B5 up
    point C4 up
    point D3 up
W6-E3
    sections A6 B6 C5 D4
    sections E3 F3 G3 H3
    point B6 up
    point C5 up
    point D4 up
W6-E4
    sections A6 B5 C4 D4
    sections E4 F4 G4 H4
    point A6 up
    point B5 up
W6-E5
    sections A6 B6 C5 D5
    sections E5 F5 G5 H5
    point B6 up
W6-E6
    sections A6 B6 C6 D6
    sections E6 F6 G6 H6
"""
