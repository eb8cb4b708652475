"""A circuit breaker for each endpoint of a run: while it does not answer, its entrants wait, and the others play on.

If an endpoint answers, but one of its models is overloaded or over its limit, only the entrants that use that model
wait. All workers of the run share the state, which is in the run's row (`db.writes.outages`). One episode at a time,
the probe, asks the endpoint again, after growing pauses. The first answer ends the outage.
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
from stackrank.wording import count_of

FIRST_PAUSE_S = 15.0
LONGEST_PAUSE_S = 300.0


class Outages:
    """The endpoints of a run that do not answer, as this process knows them. Used by one thread."""

    def __init__(self, session: Session, *, at_once: bool = False) -> None:
        """`at_once`: the caller has already waited for the pause between probes."""
        self._store = session.store
        self._session = session
        self._at_once = at_once
        self._outages: dict[str, Outage] = {}
        self._down_since: dict[str, float] = {}
        """When this process first saw that an endpoint is down. Pauses and patience are measured by its own clock."""
        self._last_probe: dict[str, tuple[int, float]] = {}
        """Endpoint -> number of its probes, and when this process first saw that number or last saw a probe in play."""
        self._probes: dict[int, tuple[str, int]] = {}
        """The probes that this process plays: episode -> its endpoint, and the number of its answered steps before."""

    def refresh(self, claimed: Collection[int] = ()) -> None:
        """Read the state of the endpoints, and end the outages of those that have answered a probe.

        `claimed`: the claimed episodes, because the pause after a probe begins when the probe has ended.
        """
        for episode, (endpoint, steps) in list(self._probes.items()):
            if self._is_alone(endpoint) and queries.count_model_steps(self._store.engine, episode) > steps:
                self._end(episode)
        self._outages = queries.outages(self._store.engine, self._session.run_id)
        clock = time.monotonic()
        self._down_since = {endpoint: self._down_since.get(endpoint, clock) for endpoint in self._outages}
        for endpoint, outage in self._outages.items():
            last_probes, _ = self._last_probe.get(endpoint, (-1, 0.0))
            if last_probes != outage["probes"] or outage["probe"] in claimed:
                self._last_probe[endpoint] = (outage["probes"], clock)

    def _is_alone(self, endpoint: str) -> bool:
        """Whether an answer must come from this endpoint, because its entrants use no other."""
        entrant_ids = self._outages[endpoint]["entrants"] if endpoint in self._outages else []
        return all(len(self._session.entrants[entrant_id].setup.endpoints) <= 1 for entrant_id in entrant_ids)

    @property
    def waiting(self) -> frozenset[int]:
        """The entrants that wait: no episode of theirs starts."""
        return frozenset(entrant for outage in self._outages.values() for entrant in outage["entrants"])

    def claim_probe(self) -> ClaimedEpisode | None:
        """Claim an episode that asks an endpoint again, if it is time for a probe."""
        token, store = self._session.claims.token, self._store
        for endpoint, outage in self._outages.items():
            if not self.is_due(endpoint):
                continue
            self._last_probe[endpoint] = (outage["probes"], time.monotonic())
            claim = store.claim_probe(self._session.run_id, endpoint, token, probes=outage["probes"])
            if claim is not None:
                self._probes[claim["id"]] = (endpoint, queries.count_model_steps(store.engine, claim["id"]))
                return claim
        return None

    def is_due(self, endpoint: str) -> bool:
        """Whether the pause since the last probe is over."""
        probes, since = self._last_probe[endpoint]
        pause_s = min(FIRST_PAUSE_S * 2.0 ** min(probes, 16), LONGEST_PAUSE_S)
        return self._at_once or time.monotonic() - since >= pause_s

    def any_due(self) -> bool:
        """Whether it is time to ask one of the endpoints again."""
        return any(map(self.is_due, self._outages))

    def is_probe(self, claim: ClaimedEpisode) -> bool:
        """Whether this episode was started to ask an endpoint again."""
        return claim["id"] in self._probes

    def note_failure(self, claim: ClaimedEpisode, error: EpisodeFailed) -> None:
        """Note that an episode's endpoint did not answer. The episode and the endpoint's entrants wait from now on."""
        run_id, endpoint = self._session.run_id, error.endpoint
        if self._probes.pop(claim["id"], None) is None:
            log.warning("an endpoint does not answer, so its entrants wait", run=run_id, endpoint=endpoint, error=error)
        self._store.open_outage(run_id, endpoint, self._entrants_of(endpoint, claim["entrant_id"]), str(error))
        self._store.postpone(claim["id"], error.by)
        self.refresh()
        if endpoint in self._outages:
            self._last_probe[endpoint] = (self._outages[endpoint]["probes"], time.monotonic())

    def _entrants_of(self, endpoint: str, entrant_id: int) -> set[int]:
        asking = self._session.entrants.items()
        return {entrant_id, *(row_id for row_id, entrant in asking if endpoint in entrant.setup.sources)}

    def note_end(self, claim: ClaimedEpisode) -> None:
        """Note that an episode ended without an endpoint failure. If it was a probe, the endpoint has answered."""
        if self.is_probe(claim):
            self._end(claim["id"])

    def _end(self, probe: int) -> None:
        endpoint, _ = self._probes.pop(probe)
        if self._store.end_outage(self._session.run_id, endpoint):
            log.info("an endpoint answers again", run=self._session.run_id, endpoint=endpoint)
        self._outages.pop(endpoint, None)

    def is_hopeless(self, patience_s: float) -> bool:
        """Whether all endpoints that are down have been down for at least `patience_s`."""
        return all(time.monotonic() - since >= patience_s for since in self._down_since.values())

    def restart_patience(self) -> None:
        """Let patience begin anew: nobody has asked since the run was paused."""
        self._down_since = dict.fromkeys(self._down_since, time.monotonic())

    def has_waiting_episodes(self) -> bool:
        """Whether episodes wait for an endpoint."""
        return bool(self.waiting and self._store.count_waiting(self._session.run_id, self.waiting, limit=1))

    def describe(self) -> str:
        """Say in one line which endpoints do not answer, and how many episodes wait."""
        waiting = self._store.count_waiting(self._session.run_id, self.waiting)
        return (
            f"{count_of(waiting, 'episode waits', 'episodes wait')}: {queries.describe_outages(self._outages)}; "
            "once it answers again, continue with "
            f"`stackrank resume {self._session.run_id}`"
        )
