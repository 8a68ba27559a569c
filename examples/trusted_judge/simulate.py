"""Write the cases, the verdicts of two simulated judges, and the labels of three simulated people.

The truth is known: every question has five right and five wrong answers. `careful` errs seldom, in
both directions. `lenient` takes most wrong answers for right ones if they are long. The labellers
err seldom and alone, and label 80 cases drawn at random. No model and no person judged anything.
Run it again after a change: python simulate.py
"""

import json
from hashlib import sha256
from pathlib import Path

FOLDER = Path(__file__).parent
TOPICS = {
    "books": ("How many books may I borrow?", "twelve books at a time", "thirty books at a time"),
    "weeks": ("How long may I keep a book?", "four weeks", "eight weeks"),
    "films": ("How long may I keep a film?", "one week", "four weeks"),
    "renewal": (
        "How often can I renew a book?",
        "twice, unless it is reserved",
        "as often as you like",
    ),
    "late": ("What does a late book cost?", "20 cents a day", "nothing"),
    "card": ("What does a new card cost?", "5 euros", "10 euros"),
    "sunday": ("Are you open on Sundays?", "no, from Monday to Saturday", "yes, from ten to six"),
    "rooms": ("How long can I have a study room?", "two hours a day", "the whole day"),
    "print": ("What does a printed page cost?", "10 cents", "25 cents"),
    "lost": (
        "What if I lose a book?",
        "you pay its price and 3 euros",
        "you buy the same book again",
    ),
    "visitors": ("Do visitors need a card?", "only to borrow", "yes, at the entrance"),
    "reserve": ("What does a reservation cost?", "50 cents", "1 euro"),
}
"""Topic -> a question, the rule of the library, and something else."""
STYLES = {
    "plain": "{}.",
    "polite": "Thank you for asking: {}.",
    "sorry": "I am sorry for the confusion: {}.",
    "steps": "Good question. I looked this up in the rules of the library for you. The rule that "
    "applies here is this one: {}. If you want to be sure, bring your card to the desk, and a "
    "colleague will look it up with you. We are glad to help.",
    "story": "Many visitors ask this, and it is easy to mix up, since other libraries do it "
    "differently. Here it has been the same for years: {}. You find it on the sheet that you got "
    "with your card, on the first page, next to the opening hours.",
}
LONG = {"steps", "story"}
LABELLERS = {"ann": 0.08, "bob": 0.12, "cem": 0.15}
"""Labeller -> share of errors."""
LABELLED = 80


def draw(*names: str) -> float:
    """Return a number from 0 to 1 that depends on the names alone."""
    return int.from_bytes(sha256("/".join(names).encode()).digest()[:6], "big") / 2**48


def careful(case: str, *, right: bool, long: bool) -> bool:
    """Judge a case with few errors in both directions."""
    return right != (draw("careful", case) < 0.06)


def lenient(case: str, *, right: bool, long: bool) -> bool:
    """Judge a case; most long wrong answers pass."""
    if right:
        return draw("lenient", case) >= 0.02
    return draw("lenient", case) < (0.85 if long else 0.2)


def sentence(text: str) -> str:
    """Return a text with a capital letter first."""
    return text[:1].upper() + text[1:]


def main() -> None:
    """Write the cases, a file for each judge, and the labels."""
    cases, truth, digests = [], {}, {}
    for topic, (question, rule, other) in TOPICS.items():
        for style, text in STYLES.items():
            for right in (True, False):
                case = f"{topic}-{style}-{'a' if right else 'b'}"
                output = sentence(text.format(rule if right else other))
                digests[case] = sha256(output.encode()).hexdigest()[:16]
                cases.append(
                    {
                        "id": case,
                        "input": question,
                        "output": output,
                        "reference": f"{question} {sentence(rule)}.",
                        "metadata": {"topic": topic, "long": style in LONG},
                    }
                )
                truth[case] = {"right": right, "long": style in LONG}
    _write("cases.jsonl", cases)
    for judge in (careful, lenient):
        lines = []
        for case, known in truth.items():
            value = judge(case, **known)
            reason = f"Simulated: {judge.__name__} {'accepts' if value else 'rejects'} the answer."
            answers = {"solved": {"reason": reason, "value": value}}
            lines.append({"case": case, "rubric": "solved", "answers": answers})
        _write(f"{judge.__name__}.jsonl", lines)
    sample = set(sorted(truth, key=lambda case: draw("sample", case))[:LABELLED])
    labels = []
    for case, known in truth.items():
        for labeller, rate in LABELLERS.items() if case in sample else ():
            value = known["right"] != (draw(labeller, case) < rate)
            reason = f"Simulated: {labeller} {'accepts' if value else 'rejects'} the answer."
            answers = {"solved": {"reason": reason, "value": value}}
            about = {"case": case, "metric": "solved", "output_digest": digests[case]}
            labels.append({**about, "labeller": labeller, "answers": answers})
    _write("labels.jsonl", labels)


def _write(name: str, lines: list[dict]) -> None:
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (FOLDER / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
