"""Play the episodes of a run: the session, the driver, one episode, claims, errors.

Nothing here knows Prefect or checks a specification.
"""
