"""Estimate an ability for each entrant and a difficulty for each task, on one scale, even if not all played the same.

The Rasch model with random tasks: the logit of the chance that an entrant resolves a task is its ability less the
task's difficulty, and difficulties are normal around 0 (a logistic regression with a random effect of the task). It is
fitted by marginal maximum likelihood (Bock and Aitkin 1981, Psychometrika 46:443), with the difficulties integrated out
on a grid; statsmodels fits this model by variational Bayes only, whose intervals are too narrow. Which tasks an entrant
plays may depend on how hard they are, so tasks that the same entrants played have a mean difficulty of their own
(Mundlak 1978, Econometrica 46:69).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stackrank.db.stats.rates import ALPHA, NORMAL, t_quantile

_GRID, _REACH = 81, 5.0
_PRIOR = 4.0
"""Standard deviation, in logits, of a normal prior that keeps abilities finite if all or nothing is resolved."""
_MIN_CLUSTERS, _MIN_GROUP = 10, 10
_BINS = 5


@dataclass(frozen=True, slots=True)
class AbilityEstimate:
    """An entrant's ability, in logits above a task of mean difficulty; `rate`: its expected rate over all tasks."""

    linked: bool
    """Whether common tasks link it, directly or through others, with the largest group of entrants."""
    ability: float
    low: float
    high: float
    rate: float
    rate_low: float
    rate_high: float
    infit: float
    """Mean square of its residuals, weighted by their information, over its expected value: near 1 if it fits."""
    outfit: float
    """The same unweighted: above 1 if its results are surprising on tasks that are far from its ability."""


@dataclass(frozen=True, slots=True)
class DifficultyEstimate:
    """A task's difficulty, in logits."""

    difficulty: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class AbilityModel:
    """The abilities and the difficulties, and how well the model fits."""

    entrants: list[AbilityEstimate]
    tasks: list[DifficultyEstimate]
    spread: float
    """Standard deviation of the estimated difficulties, in logits."""
    clusters: int
    """How many clusters of tasks the intervals of abilities are for; the number of tasks if each is its own cluster."""
    calibration: list[tuple[float, float, int]]
    """For each fifth of the chances: predicted chance (from the other entrants' episodes), observed share, episodes."""


def fit_abilities(
    resolved: Any, counted: Any, clusters: Sequence[str] = (), rated: Sequence[bool] | None = None
) -> AbilityModel:
    """Fit the model to `resolved[e, i]` of `counted[e, i]` episodes of entrant e on task i; no row or column is empty.

    `clusters[i]`: what task i has in common with others (its category, its repository). With ten or more clusters, the
    intervals allow for similar tasks in a cluster (sandwich; Liang and Zeger 1986), otherwise for similar attempts at a
    task. `rated[i]`: whether rates are over task i; None means all tasks. Tasks that are not rated are anchors: they
    only link entrants.
    """
    import numpy
    from scipy.optimize import minimize
    from scipy.special import expit, logit

    resolved, counted = numpy.asarray(resolved, float), numpy.asarray(counted, float)
    overall = (resolved.sum(axis=1) + 0.5) / (counted.sum(axis=1) + 1)
    model = _Rasch(resolved, counted)
    start = numpy.concatenate([1.5 * logit(overall), numpy.zeros(model.groups - 1), [0.5]])
    parameters = model.polished(minimize(model.loss, start, jac=True, method="BFGS").x)
    groups = list(clusters)
    if not _MIN_CLUSTERS <= len(set(groups)) < counted.shape[1]:
        groups = [str(place) for place in range(counted.shape[1])]
    weights, difficulties = model.weights(parameters), model.difficulties(parameters)
    # Abilities are relative to the mean task, so the uncertainty of the groups' means carries over to them.
    to_mean = numpy.zeros((len(counted), len(parameters)))
    to_mean[:, : len(counted)] = numpy.eye(len(counted))
    to_mean[:, len(counted) : -1] = -(model.group[:, None] == numpy.arange(1, model.groups)).mean(axis=0)
    errors = numpy.sqrt(
        numpy.max(
            [numpy.diag(to_mean @ covariance @ to_mean.T) for covariance in model.covariance(parameters, groups)],
            axis=0,
        )
    )
    reach = errors * (t_quantile(1 - ALPHA / 2, len(set(groups)) - 1) if len(set(groups)) > 1 else NORMAL)
    means = (weights * difficulties).sum(axis=1)
    spreads = numpy.sqrt(numpy.maximum(0.0, (weights * difficulties**2).sum(axis=1) - means**2))
    middle, theta = float(means.mean()), parameters[: len(counted)]

    def rate(abilities: Any) -> Any:
        chances = (weights[:, None, :] * expit(abilities[:, None] - difficulties[:, None, :])).sum(axis=2)
        return chances[numpy.ones(len(chances), bool) if rated is None else list(rated)].mean(axis=0)

    infit, outfit, calibration = model.fit(parameters)
    above = theta - middle
    columns = [
        above,
        above - reach,
        above + reach,
        rate(theta),
        rate(theta - reach),
        rate(theta + reach),
        infit,
        outfit,
    ]
    rows = numpy.column_stack(columns).tolist()
    return AbilityModel(
        entrants=[AbilityEstimate(is_in, *row) for row, is_in in zip(rows, _linked(counted > 0), strict=True)],
        tasks=[
            DifficultyEstimate(
                float(mean - middle), float(mean - middle - NORMAL * sd), float(mean - middle + NORMAL * sd)
            )
            for mean, sd in zip(means, spreads, strict=True)
        ],
        spread=float(means.std()),
        clusters=len(set(groups)),
        calibration=calibration,
    )


class _Rasch:
    """The likelihood. Its parameters: abilities, mean difficulties of the second and later groups, and the logarithm of
    the standard deviation of difficulties within groups."""

    def __init__(self, resolved: Any, counted: Any) -> None:
        import numpy

        self.resolved, self.counted = resolved.T, counted.T
        self.grid = numpy.linspace(-_REACH, _REACH, _GRID)
        self.prior = -(self.grid**2) / 2 - numpy.log(numpy.exp(-(self.grid**2) / 2).sum())
        _, pattern, tasks = numpy.unique(self.counted > 0, axis=0, return_inverse=True, return_counts=True)
        large = numpy.flatnonzero(tasks >= _MIN_GROUP)
        # The largest group comes first; tasks that are in no large group count as part of it.
        order = large[numpy.argsort(-tasks[large])]
        is_of = pattern.reshape(-1)[:, None] == numpy.append(order, -1)
        self.group = is_of.argmax(axis=1)
        self.groups = max(1, len(order))

    def split(self, parameters: Any) -> tuple[Any, Any, float]:
        """Return abilities, the mean difficulty of each group, and the standard deviation within groups."""
        import numpy

        entrants = self.counted.shape[1]
        means = numpy.concatenate([[0.0], parameters[entrants:-1]])
        return parameters[:entrants], means, float(numpy.exp(parameters[-1]))

    def logits(self, parameters: Any) -> Any:
        """Logits of each entrant's chance on each task, for each difficulty on the grid: tasks x entrants x grid."""
        theta, means, spread = self.split(parameters)
        return (theta[:, None] - means[:, None, None] - spread * self.grid)[self.group]

    def episodes(self, logits: Any) -> Any:
        """The log-likelihood of each entrant's results on each task, for each difficulty on the grid."""
        from scipy.special import log_expit

        return self.resolved[:, :, None] * logits + self.counted[:, :, None] * log_expit(-logits)

    def weights(self, parameters: Any) -> Any:
        """The posterior distribution of the difficulty of each task: tasks x grid, each row summing to 1."""
        from scipy.special import softmax

        return softmax(self.episodes(self.logits(parameters)).sum(axis=1) + self.prior, axis=1)

    def difficulties(self, parameters: Any) -> Any:
        """The difficulties that the points of the grid stand for: tasks x grid."""
        _, means, spread = self.split(parameters)
        return (means[:, None] + spread * self.grid)[self.group]

    def value_and_scores(self, parameters: Any) -> tuple[Any, Any]:
        """The log-likelihood of each task, and its gradient: tasks x parameters."""
        import numpy
        from scipy.special import expit, logsumexp

        logits = self.logits(parameters)
        joint = self.episodes(logits).sum(axis=1) + self.prior
        value = logsumexp(joint, axis=1)
        surplus = self.resolved[:, :, None] - self.counted[:, :, None] * expit(logits)
        weights = numpy.exp(joint - value[:, None])
        of_abilities = (weights[:, None, :] * surplus).sum(axis=2)
        of_task = weights * surplus.sum(axis=1)
        of_means = -of_task.sum(axis=1)[:, None] * (self.group[:, None] == numpy.arange(1, self.groups))
        of_spread = -(of_task * self.grid).sum(axis=1) * self.split(parameters)[2]
        return value, numpy.column_stack([of_abilities, of_means, of_spread])

    def loss(self, parameters: Any) -> tuple[float, Any]:
        """Minus the penalised log-likelihood, and its gradient."""
        value, scores = self.value_and_scores(parameters)
        penalty = parameters / _PRIOR**2
        return float(parameters @ penalty) / 2 - float(value.sum()), penalty - scores.sum(axis=0)

    def hessian(self, parameters: Any) -> Any:
        """The second derivatives of `loss`, from differences of its gradient."""
        import numpy

        step = 1e-4
        shifts = step * numpy.eye(len(parameters))
        rows = [(self.loss(parameters + shift)[1] - self.loss(parameters - shift)[1]) / (2 * step) for shift in shifts]
        return (numpy.array(rows) + numpy.array(rows).T) / 2

    def polished(self, parameters: Any) -> Any:
        """Return the parameters after a few steps of Newton's method, so that every machine finds the same digits."""
        import numpy

        for _ in range(3):
            gradient = self.loss(parameters)[1]
            closer = parameters - numpy.linalg.solve(self.hessian(parameters), gradient)
            if numpy.abs(self.loss(closer)[1]).max() >= numpy.abs(gradient).max():
                break
            parameters = closer
        return parameters

    def covariance(self, parameters: Any, clusters: Sequence[str]) -> tuple[Any, Any]:
        """The covariance of the parameters: the model's, and one that is robust to similar tasks in a cluster."""
        import numpy

        bread, size = numpy.linalg.inv(self.hessian(parameters)), len(parameters)
        names, place_of = numpy.unique(clusters, return_inverse=True)
        sums = numpy.zeros((len(names), size))
        numpy.add.at(sums, place_of, self.value_and_scores(parameters)[1])
        return bread, bread @ (sums.T @ sums) @ bread * len(names) / max(1, len(names) - 1)

    def fit(self, parameters: Any) -> tuple[Any, Any, list[tuple[float, float, int]]]:
        """Infit and outfit of each entrant, and the calibration: predictions of its results from those of others."""
        import numpy
        from scipy.special import expit, softmax

        logits = self.logits(parameters)
        likelihoods = self.episodes(logits)
        weights = softmax(likelihoods.sum(axis=1)[:, None, :] - likelihoods + self.prior, axis=2)
        mean, square = ((weights * expit(logits) ** power).sum(axis=2) for power in (1, 2))
        n, r = self.counted, self.resolved
        variance = numpy.where(n > 0, n * (mean - square) + n**2 * (square - mean**2), 0.0)
        residual = numpy.where(n > 0, (r - n * mean) ** 2, 0.0)
        outfit = numpy.divide(residual, variance, out=numpy.zeros_like(n), where=n > 0).sum(axis=0) / (n > 0).sum(
            axis=0
        )
        means, hits, tries = mean[n > 0], r[n > 0], n[n > 0]
        table = []
        for part in numpy.array_split(numpy.argsort(means.round(9), kind="stable"), _BINS):
            if total := tries[part].sum():
                predicted = float((means[part] * tries[part]).sum() / total)
                table.append((predicted, float(hits[part].sum() / total), int(total)))
        return residual.sum(axis=0) / variance.sum(axis=0), outfit, table


def _linked(played: Any) -> list[bool]:
    """Which entrants belong to the largest group that is connected by common tasks."""

    connected = (played.astype(int) @ played.T.astype(int)) > 0
    for _ in range(len(played).bit_length()):
        connected = (connected.astype(int) @ connected.astype(int)) > 0
    return [bool(is_linked) for is_linked in connected[connected.sum(axis=1).argmax()]]
