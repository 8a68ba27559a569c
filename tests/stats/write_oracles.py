"""Write what other libraries give for the answers of `tests.stats.ratings`.

Run `python -m tests.stats.write_oracles` with numpy, scipy, scikit-learn, statsmodels and
krippendorff installed. The file was written with scipy 1.17.1, scikit-learn 1.9.1,
statsmodels 0.15.0 and krippendorff 0.9.0.
"""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path
from typing import Any

from tests.stats.ratings import COUNT, Ratings, ratings

FILE = Path(__file__).parents[1] / "data" / "agreement_oracles.json"


def figures(given: Ratings) -> dict[str, float | None]:
    """Return the figures of one input; `None` where a library has none."""
    import krippendorff  # type: ignore[import-not-found]
    import numpy as np
    from scipy import stats  # type: ignore[import-untyped]
    from sklearn import metrics  # type: ignore[import-not-found]
    from statsmodels.stats.inter_rater import cohens_kappa  # type: ignore[import-not-found]
    from statsmodels.stats.weightstats import DescrStatsW  # type: ignore[import-not-found]

    first, second, size = given.first, given.second, len(given.values)
    labels = list(range(size))
    x, y = (np.array(given.values)[side] for side in (first, second))
    table = np.zeros((size, size))
    for a, b in zip(first, second, strict=True):
        table[a, b] += 1
    found: dict[str, Any] = {
        "pearson": stats.pearsonr(x, y)[0],
        "spearman": stats.spearmanr(x, y)[0],
        "kendall": stats.kendalltau(x, y)[0],
        "weighted pearson": DescrStatsW(np.stack([x, y], 1), given.weights).corrcoef[0, 1],
        "statsmodels kappa": cohens_kappa(table, return_results=False),
        "statsmodels quadratic": cohens_kappa(table, wt="quadratic", return_results=False),
    }
    for kind in (None, "linear", "quadratic"):
        for name, weights in (("", None), ("weighted ", given.weights)):
            found[f"{name}kappa {kind or 'none'}"] = metrics.cohen_kappa_score(
                first, second, labels=labels, weights=kind, sample_weight=weights
            )
    for name, weights in (("", None), ("weighted ", given.weights)):
        found[f"{name}macro_f1"] = metrics.f1_score(
            second, first, average="macro", sample_weight=weights, zero_division=math.nan
        )
        found[f"{name}same"] = metrics.accuracy_score(second, first, sample_weight=weights)
        found[f"{name}mae"] = metrics.mean_absolute_error(y, x, sample_weight=weights)
        found[f"{name}rmse"] = metrics.root_mean_squared_error(y, x, sample_weight=weights)
    judge, truth = given.yes
    for name, weights in (("", None), ("weighted ", given.weights)):
        both = {"sample_weight": weights, "zero_division": math.nan}
        found |= {
            f"{name}precision": metrics.precision_score(truth, judge, **both),
            f"{name}recall": metrics.recall_score(truth, judge, **both),
            f"{name}specificity": metrics.recall_score(truth, judge, pos_label=0, **both),
            f"{name}f1": metrics.f1_score(truth, judge, **both),
            f"{name}balanced_f1": np.mean(
                metrics.f1_score(truth, judge, labels=[0, 1], average=None, **both)
            ),
        }
    for level in ("nominal", "ordinal", "interval"):
        scale = given.values if level == "interval" else labels
        data = [[math.nan if a is None else scale[a] for a in one] for one in given.raters]
        try:
            alpha = krippendorff.alpha(data, level_of_measurement=level)
        except ValueError:  # one value alone
            alpha = math.nan
        found[f"alpha {level}"] = alpha
    if not math.isfinite(found["pearson"]):  # of a constant column statsmodels divides noise
        found["weighted pearson"] = math.nan
    return {
        name: round(float(value), 13) if math.isfinite(value) else None
        for name, value in found.items()
    }


def main() -> None:
    """Write the file."""
    warnings.simplefilter("ignore")
    rows = [figures(ratings(seed)) for seed in range(COUNT)]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(c)}" for name, c in columns.items())
    FILE.write_text(f"{{\n{lines}\n}}\n", "utf-8")


if __name__ == "__main__":
    main()
