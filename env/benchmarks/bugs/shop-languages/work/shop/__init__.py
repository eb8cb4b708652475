# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The texts of a shop, in several languages."""
from .pages import order_page, refund_mail
from .translator import LANGUAGES, Translator

__all__ = ["LANGUAGES", "Translator", "order_page", "refund_mail"]
