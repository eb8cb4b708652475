# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Pages and mails."""
from __future__ import annotations

from typing import List

from .formats import day, money
from .orders import Order
from .translator import Translator

REFUND_DAYS = 14


def order_page(order: Order, say: Translator) -> List[str]:
    language = say.language
    lines = [say("order.thanks", name=order.name), say("order.number", number=order.number)]
    lines += [f"{item}: {money(price, language)}" for item, price in order.lines]
    lines.append(say("cart.total", amount=money(order.total, language)) if order.lines else say("cart.empty"))
    arrival = order.arrival()
    if order.cancelled:
        lines.append(say("order.cancelled", number=order.number))
    elif order.sent is not None and arrival is not None:
        lines.append(say("order.sent", day=day(order.sent, language)))
        lines.append(say("order.arrives", first=day(arrival[0], language), last=day(arrival[1], language)))
    return lines


def refund_mail(order: Order, say: Translator) -> str:
    """The mail after an order was cancelled."""
    amount = money(order.total, say.language)
    return "\n".join(
        [
            say("mail.subject", number=order.number),
            "",
            say("login.hello", name=order.name),
            say("order.cancelled", number=order.number),
            say("order.refund", amount=amount, days=REFUND_DAYS),
            "",
            say("mail.reply", address="help@shop.example"),
        ]
    )
