"""`judgekit correct`: correct the means of a judge with labels of people."""

from functools import partial
from pathlib import Path


def correct(
    folder: Path,
    labels_file: Path,
    by: str = "ppi",
    labels: str = "mean",
    cluster: str | None = None,
    json: bool = False,
    markdown: bool = False,
) -> None:
    """Correct the means of a judge with labels of people, with intervals that contain its errors.

    A judge scores every case, people label some of them. Print for each labelled metric and
    criterion the mean of the judge, of the labels, and the corrected one. Never call a judge.

    Exit codes: 0 corrected, 2 the run or the labels are wrong.
    """
    from judgekit.analysis.correction.correct import correct as correct_means
    from judgekit.cli.output import print_document

    corrected = correct_means(folder, labels_file, by=by, combine=labels, cluster=cluster)  # type: ignore[arg-type]
    data = partial(corrected.model_dump, mode="json")
    print_document(corrected, data, as_json=json, markdown=markdown)
