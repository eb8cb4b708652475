"""How an endpoint is asked: the providers' APIs, clients, retries, limits, prices and the record of what was sent.

Nothing here knows tools or episodes.
"""
