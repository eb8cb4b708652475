"""Abilities of entrants and difficulties of tasks."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize, special, stats

from stackrank.extensions.cards.program.formulas import ALPHA, NORMAL


class Fit:
    """The Rasch model with random tasks, by marginal maximum likelihood on a grid (Bock and Aitkin 1981).

    Tasks that the same entrants played have a mean difficulty of their own (Mundlak 1978); a weak normal prior keeps
    all finite. Parameters: abilities, mean difficulties of later groups of tasks, and the logarithm of the spread.
    """

    def __init__(self, resolved: Any, counted: Any, clusters: list[str]) -> None:
        self.r, self.n, self.people, self.tasks = resolved.T, counted.T, len(resolved), counted.shape[1]
        self.grid = np.linspace(-5.0, 5.0, 81)
        self.prior = -(self.grid**2) / 2 - np.log(np.exp(-(self.grid**2) / 2).sum())
        _, pattern, sizes = np.unique(self.n > 0, axis=0, return_inverse=True, return_counts=True)
        large = np.flatnonzero(sizes >= 10)
        order = large[np.argsort(-sizes[large])]
        self.group = (pattern.reshape(-1)[:, None] == np.append(order, -1)).argmax(axis=1)
        self.groups = max(1, len(order))
        self.member = (self.group[:, None] == np.arange(1, self.groups)).astype(float)
        self.clusters = clusters if 10 <= len(set(clusters)) < self.tasks else [str(i) for i in range(self.tasks)]
        rates = (resolved.sum(axis=1) + 0.5) / (counted.sum(axis=1) + 1)
        start = np.concatenate([1.5 * special.logit(rates), np.zeros(self.groups - 1), [0.5]])
        self.best = optimize.minimize(self.loss, start, jac=True, method="BFGS").x
        for _ in range(3):  # Newton's method, to the last digits
            gradient = self.loss(self.best)[1]
            closer = self.best - np.linalg.solve(self.hessian(), gradient)
            if np.abs(self.loss(closer)[1]).max() >= np.abs(gradient).max():
                break
            self.best = closer

    def logits(self, x: Any) -> Any:
        """Return the logits of success: tasks x entrants x grid."""
        means = np.concatenate([[0.0], x[self.people : -1]])
        return (x[: self.people, None] - means[:, None, None] - np.exp(x[-1]) * self.grid)[self.group]

    def likelihoods(self, logits: Any) -> Any:
        """Return the log-likelihood of each entrant's results on each task, for each difficulty on the grid."""
        return self.r[:, :, None] * logits + self.n[:, :, None] * special.log_expit(-logits)

    def scores(self, x: Any) -> tuple[Any, Any]:
        """Return the log-likelihood of each task, and its gradient."""
        logits = self.logits(x)
        joint = self.likelihoods(logits).sum(axis=1) + self.prior
        value = special.logsumexp(joint, axis=1)
        surplus, weights = (
            self.r[:, :, None] - self.n[:, :, None] * special.expit(logits),
            np.exp(joint - value[:, None]),
        )
        of_task = weights * surplus.sum(axis=1)
        of_spread = -(of_task * self.grid).sum(axis=1) * np.exp(x[-1])
        of_means = -of_task.sum(axis=1)[:, None] * self.member
        return value, np.column_stack([(weights[:, None, :] * surplus).sum(axis=2), of_means, of_spread])

    def loss(self, x: Any) -> tuple[float, Any]:
        """Return minus the penalised log-likelihood, and its gradient."""
        value, scores = self.scores(x)
        return float(x @ x) / 32 - float(value.sum()), x / 16 - scores.sum(axis=0)

    def hessian(self) -> Any:
        """Return the second derivatives of the loss."""
        shifts = 1e-4 * np.eye(len(self.best))
        rows = np.array([(self.loss(self.best + s)[1] - self.loss(self.best - s)[1]) / 2e-4 for s in shifts])
        return (rows + rows.T) / 2

    def estimates(self) -> tuple[list[Any], list[Any], list[Any]]:
        """Return rows of abilities, of difficulties, and of the calibration."""
        x, bread = self.best, np.linalg.inv(self.hessian())
        names, place = np.unique(self.clusters, return_inverse=True)
        sums = np.zeros((len(names), len(x)))
        np.add.at(sums, place, self.scores(x)[1])
        robust = bread @ (sums.T @ sums) @ bread * len(names) / max(1, len(names) - 1)
        mean = np.zeros((self.people, len(x)))
        mean[:, : self.people], mean[:, self.people : -1] = np.eye(self.people), -self.member.mean(axis=0)
        errors = np.sqrt(np.max([np.diag(mean @ c @ mean.T) for c in (bread, robust)], axis=0))
        reach = errors * (stats.t.ppf(1 - ALPHA / 2, len(names) - 1) if len(names) > 1 else NORMAL)
        likelihoods = self.likelihoods(self.logits(x))
        weights = special.softmax(likelihoods.sum(axis=1) + self.prior, axis=1)
        means = np.concatenate([[0.0], x[self.people : -1]])
        points = (means[:, None] + np.exp(x[-1]) * self.grid)[self.group]
        hard = (weights * points).sum(axis=1)
        sds = np.sqrt(np.maximum(0.0, (weights * points**2).sum(axis=1) - hard**2))
        middle, theta = hard.mean(), x[: self.people]

        def rate(level: Any) -> Any:
            return (weights[:, None] * special.expit(level[:, None] - points[:, None])).sum(axis=2).mean(axis=0)

        others = likelihoods.sum(axis=1)[:, None, :] - likelihoods + self.prior
        by_others, chances = special.softmax(others, axis=2), special.expit(self.logits(x))
        p, square, n, played = (
            (by_others * chances).sum(axis=2),
            (by_others * chances**2).sum(axis=2),
            self.n,
            self.n > 0,
        )
        variance = np.where(played, n * (p - square) + n**2 * (square - p**2), 0.0)
        residual = np.where(played, (self.r - n * p) ** 2, 0.0)
        outfit = np.divide(residual, variance, out=np.zeros(n.shape), where=played).sum(axis=0) / played.sum(axis=0)
        linked = played.T.astype(int) @ played.astype(int) > 0
        for _ in range(self.people.bit_length()):
            linked = linked.astype(int) @ linked.astype(int) > 0
        fifths, fit = np.array_split(np.argsort(p[played].round(9), kind="stable"), 5), []
        for part in fifths:
            if tries := n[played][part].sum():
                fit.append(
                    [(p[played][part] * n[played][part]).sum() / tries, self.r[played][part].sum() / tries, tries]
                )
        above = theta - middle
        levels = [above, above - reach, above + reach, rate(theta), rate(theta - reach), rate(theta + reach)]
        quality = [residual.sum(axis=0) / variance.sum(axis=0), outfit, linked[linked.sum(axis=1).argmax()]]
        sides = [hard - middle, hard - middle - NORMAL * sds, hard - middle + NORMAL * sds]
        return list(zip(*levels, *quality, strict=True)), list(zip(*sides, strict=True)), fit
