"""A circuit breaker for each endpoint of a run: while it does not answer, its entrants wait, and the others go on.

If an endpoint answers, but one of its models is overloaded or over its limit, only the entrants that use that model
wait. The state is in the run's row (`db.outages`), so all workers of the run share it. One episode at a time, the
probe, asks the endpoint again, after growing pauses. The first answer ends the outage.
"""

from __future__ import annotations

import time
from collections.abc import Collection

from stackrank import log
from stackrank.db import queries
from stackrank.db.queries.runs import Outage
from stackrank.db.writes.claims import ClaimedEpisode
from stackrank.flows.runs.playing.error_policy import EpisodeFailed
from stackrank.flows.runs.playing.session import Session

FIRST_PAUSE_S = 15.0
LONGEST_PAUSE_S = 300.0


class Outages:
    """What this process knows of the endpoints that do not answer. Used by one thread."""

    def __init__(self, session: Session, *, at_once: bool = False) -> None:
        """`at_once`: the caller has already waited for the pause between probes."""
        self._store = session.store
        self._session = session
        self._at_once = at_once
        self._known: dict[str, Outage] = {}
        self._out: dict[str, float] = {}
        """When this process first saw that an endpoint is down. Pauses and patience are measured by its own clock."""
        self._still: dict[str, tuple[int, float]] = {}
        """Endpoint -> number of its probes, and when this process first saw that number or last saw a probe in play."""
        self._probes: dict[int, tuple[str, int]] = {}
        """The probes that this process plays: episode -> its endpoint, and the number of its answered steps before."""

    def look(self, played: Collection[int] = ()) -> None:
        """Read the state of the endpoints, and end the outages of those that have answered a probe.

        `played`: the claimed episodes, because the pause after a probe begins when the probe has ended.
        """
        for episode, (endpoint, steps) in list(self._probes.items()):
            if self._is_alone(endpoint) and queries.count_model_steps(self._store.engine, episode) > steps:
                self._end(episode)
        self._known = queries.outages(self._store.engine, self._session.run_id)
        now = time.monotonic()
        self._out = {endpoint: self._out.get(endpoint, now) for endpoint in self._known}
        for endpoint, outage in self._known.items():
            before, _ = self._still.get(endpoint, (-1, 0.0))
            if before != outage["probes"] or outage["probe"] in played:
                self._still[endpoint] = (outage["probes"], now)

    def _is_alone(self, endpoint: str) -> bool:
        """Whether an answer must come from this endpoint, because its entrants use no other."""
        who = self._known[endpoint]["entrants"] if endpoint in self._known else []
        return all(len(self._session.entrants[each].setup.endpoints) <= 1 for each in who)

    @property
    def waiting(self) -> frozenset[int]:
        """The entrants that wait: no episode of theirs starts."""
        return frozenset(entrant for outage in self._known.values() for entrant in outage["entrants"])

    def probe(self) -> ClaimedEpisode | None:
        """Claim an episode that asks an endpoint again, if it is time for a probe."""
        token, store = self._session.claims.token, self._store
        for endpoint, outage in self._known.items():
            if not self.is_due(endpoint):
                continue
            self._still[endpoint] = (outage["probes"], time.monotonic())
            claim = store.claim_probe(self._session.run_id, endpoint, token, probes=outage["probes"])
            if claim is not None:
                self._probes[claim["id"]] = (endpoint, queries.count_model_steps(store.engine, claim["id"]))
                return claim
        return None

    def is_due(self, endpoint: str) -> bool:
        """Whether the pause since the last probe is over."""
        probes, since = self._still[endpoint]
        pause_s = min(FIRST_PAUSE_S * 2.0 ** min(probes, 16), LONGEST_PAUSE_S)
        return self._at_once or time.monotonic() - since >= pause_s

    def any_due(self) -> bool:
        """Whether it is time to ask one of the endpoints again."""
        return any(map(self.is_due, self._known))

    def is_probe(self, claim: ClaimedEpisode) -> bool:
        """Whether this episode was started to ask an endpoint again."""
        return claim["id"] in self._probes

    def down(self, claim: ClaimedEpisode, error: EpisodeFailed) -> None:
        """Note that an episode's endpoint did not answer. The episode and the endpoint's entrants wait from now on."""
        run_id, endpoint = self._session.run_id, error.endpoint
        if self._probes.pop(claim["id"], None) is None:
            log.warning("an endpoint does not answer: its entrants wait", run=run_id, endpoint=endpoint, error=error)
        self._store.open_outage(run_id, endpoint, self._entrants_of(endpoint, claim["entrant_id"]), str(error))
        self._store.postpone(claim["id"], error.by)
        self.look()
        if endpoint in self._known:
            self._still[endpoint] = (self._known[endpoint]["probes"], time.monotonic())

    def _entrants_of(self, endpoint: str, entrant: int) -> set[int]:
        asking = self._session.entrants.items()
        return {entrant, *(key for key, each in asking if endpoint in each.setup.sources)}

    def over(self, claim: ClaimedEpisode) -> None:
        """Note that an episode ended without an endpoint failure. If it was a probe, the endpoint has answered."""
        if self.is_probe(claim):
            self._end(claim["id"])

    def _end(self, probe: int) -> None:
        endpoint, _ = self._probes.pop(probe)
        if self._store.end_outage(self._session.run_id, endpoint):
            log.info("an endpoint answers again", run=self._session.run_id, endpoint=endpoint)
        self._known.pop(endpoint, None)

    def hopeless(self, patience_s: float) -> bool:
        """Whether all endpoints that are down have been down for at least `patience_s`."""
        return all(time.monotonic() - since >= patience_s for since in self._out.values())

    def holds_back(self) -> bool:
        """Whether episodes wait for an endpoint."""
        return bool(self.waiting and self._store.count_waiting(self._session.run_id, self.waiting, limit=1))

    def why(self) -> str:
        """Say in one line which endpoints do not answer, and how many episodes wait."""
        left = self._store.count_waiting(self._session.run_id, self.waiting)
        go_on = f"`stackrank resume {self._session.run_id}` goes on when it does"
        return f"{left} episodes wait: {queries.describe_outages(self._known)}: {go_on}"
