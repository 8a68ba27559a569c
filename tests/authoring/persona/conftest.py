from __future__ import annotations

import json
import math
import random

import pytest

from judgekit.authoring.persona.calibrate import CalibratePlan, calibrate, write_calibration
from judgekit.authoring.persona.labels import VoiceLabel
from tests.cli.conftest import judgekit

__all__ = ["judgekit"]

PERSONA = """\
id: acme_v1
name: Acme
exemplars: ["{0}", "{1}", "{2}"]
lexicon: {{preferred: [word1, word2], avoid: [word3]}}
"""


def labelled(texts, labels, sessions=()):
    return [
        VoiceLabel(text, label, str(at), sessions[at] if sessions else None, ())
        for at, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]


class Simulated:
    """Labels of replies whose words have known weights."""

    def __init__(self, folder, *, count=400, words=20, length=8, seed=7):
        draw = random.Random(seed)
        names = [f"word{n}" for n in range(words)]
        self.weights = {name: draw.gauss(0, 1.2) for name in names}
        self.texts = [" ".join(draw.sample(names, length)) for _ in range(count)]
        middle = sorted(map(self.logit, self.texts))[count // 2]
        self.persona = folder / "acme.yaml"
        self.labels = folder / "labels.jsonl"
        self.file = folder / "acme.calibration.yaml"
        exemplars = [" ".join(draw.sample(names, length)) for _ in range(3)]
        self.persona.write_text(PERSONA.format(*exemplars), "utf-8")
        self.rows = [
            {
                "text": text,
                "label": int(draw.random() < 1 / (1 + math.exp(middle - self.logit(text)))),
                "session_id": f"s{n // 2}",
                "turn_index": n % 2,
            }
            for n, text in enumerate(self.texts)
        ]
        self.write(self.rows)

    def logit(self, text):
        """Return the logarithm of the odds that a reply is on brand, up to a constant."""
        return sum(self.weights[word] for word in text.split())

    def write(self, rows):
        """Write the labels."""
        self.labels.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def written(simulated, **settings):
    """Calibrate, write the file, and return the outcome."""
    plan = CalibratePlan(simulated.persona, simulated.labels, **settings)
    outcome = calibrate(plan)
    write_calibration(plan, outcome.calibration)
    return outcome


@pytest.fixture
def simulated(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Simulated(tmp_path)


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """The outcome for the simulated labels, and the bytes of its file."""
    simulated = Simulated(tmp_path_factory.mktemp("simulated"))
    return written(simulated), simulated.file.read_bytes()


@pytest.fixture
def calibrated(simulated, made):
    """Simulated labels with their calibration."""
    outcome, text = made
    simulated.file.write_bytes(text)
    simulated.outcome = outcome
    return simulated
