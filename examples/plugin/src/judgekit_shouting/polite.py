"""A metric without options, as a function."""

from judgekit import Case, metric


@metric("polite")
def polite(case: Case) -> bool:
    """Does the answer say please or thank you?"""
    text = (case.output or "").lower()
    return "please" in text or "thank" in text
