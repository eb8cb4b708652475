# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Programs that everybody gets to start with."""
from __future__ import annotations

POWERS = """
// the powers of two up to a hundred
n = 1;
while n < 100 {
    print n;
    n = n << 1;
}
"""

FIBONACCI = """
a = 0; b = 1;
while a < 50 {
    print a;   /* one after the other */
    c = a + b;
    a = b;
    b = c;
}
"""

ROOT = """
/* The root of two, by halves. */
low = 1.; high = 2.;
while high - low > 1e-6 {
    middle = (low + high) / 2;
    small = middle * middle < 2;
    high = high - (1 - small) * (high - middle);
    low = low + small * (middle - low);
}
print low;
"""
