"""Agreement of two rankings of the same models."""

from __future__ import annotations

from typing import Any

from judgekit.analysis.ranking.ranking import OrderAgreement
from judgekit.analysis.ranking.standings import Standings
from judgekit.analysis.ranking.strengths import SMALLEST
from judgekit.core.display.parts import counted

LEVEL = 0.975
"""The level of each of two rankings, so that both together have at least .95 (Bonferroni)."""


def order_agreement(one: Standings, other: Standings, name: str) -> OrderAgreement:
    """Return how well two rankings agree about the order of the models that both have.

    The interval takes the models as given and the prompts as drawn. With 95 % confidence, all pairs
    that are clear by max-t in both rankings are ordered as they seem. The pairs in the same order
    are then at least those that are clear in both and agree, and at most all but those that are
    clear in both and disagree. That holds however the two sets of prompts depend on each other.

    Args:
        one: the ranking.
        other: the ranking with which it is compared.
        name: the name of the other one.
    """
    models = [model for model in one.names if model in set(other.names)]
    known: dict[str, Any] = {"name": name, "models": len(models)}
    known["only_here"] = len(one.names) - len(models)
    known["only_there"] = len(other.names) - len(models)
    if len(models) < 2:
        return OrderAgreement(too_few=f"{counted(len(models), 'model')} in both rankings", **known)
    for standings, whose in ((one, "the ranked"), (other, "its")):
        if len(standings.groups) > 1:
            return OrderAgreement(too_few=f"{whose} comparisons do not connect all models", **known)
    import numpy as np

    upper = np.triu_indices(len(models), 1)
    signs, clear, few = [], [], None
    for standings in (one, other):
        places = [standings.names.index(model) for model in models]
        (fit,) = standings.fits
        assert fit is not None  # noqa: S101 - two models that are connected have wins
        own = fit.centre[places]
        steps = own[:, None] - own[None, :]
        signs.append((np.sign(steps) * (np.abs(steps) > SMALLEST))[upper])
        few = few or fit.too_few
        if few is None:
            clear.append(fit.clear(LEVEL)[np.ix_(places, places)][upper])
    pairs, products = len(upper[0]), signs[0] * signs[1]
    same, opposite = int((products > 0).sum()), int((products < 0).sum())
    varied = float(np.prod([np.abs(side).sum() for side in signs]))
    tau = (same - opposite) / varied**0.5 if varied else None
    known |= {"pairs": pairs, "same": same, "opposite": opposite, "share": same / pairs, "tau": tau}
    if few is not None:
        return OrderAgreement(too_few=few, **known)
    sure = clear[0] * clear[1]
    low, high = float((sure > 0).mean()), 1 - float((sure < 0).mean())
    known |= {"share_low": low, "share_high": high}
    if tau is not None:  # without ties in the truth, tau-b is 2 * share - 1
        known |= {"tau_low": min(tau, 2 * low - 1), "tau_high": max(tau, 2 * high - 1)}
    return OrderAgreement(**known)
