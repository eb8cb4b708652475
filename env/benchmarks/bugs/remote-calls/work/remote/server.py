# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The server."""
from __future__ import annotations

from .accounts import Accounts
from .errors import BankError
from .wire import Answer, pack, unpack

METHODS = ("open", "balance", "deposit", "withdraw", "transfer", "freeze")


class Server:
    """Answers requests."""

    def __init__(self) -> None:
        self.accounts = Accounts()

    def handle(self, data: bytes) -> bytes:
        """The answer to a request. What the bank refuses travels as it is; other errors as BankError."""
        request = unpack(data)
        try:
            if request.method not in METHODS:
                raise BankError(f"unknown method {request.method}")
            answer = Answer(getattr(self.accounts, request.method)(*request.arguments))
        except BankError as error:
            answer = Answer(error=error)
        except Exception as error:
            answer = Answer(error=BankError(f"{type(error).__name__}: {error}"))
        return pack(answer)
