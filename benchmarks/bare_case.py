"""Score one case from a cache with Typer, Jinja, Pydantic and diskcache, and without judgekit.

`startup.py` measures this program beside a replay of the same case with judgekit. It writes the
folder: the case, the prompts of three rubrics as templates, and a cache of the replies.
"""

import hashlib
import json
from pathlib import Path
from typing import Annotated, Literal

import diskcache
import jinja2
import typer
from pydantic import BaseModel, Field

app = typer.Typer()
Share = Annotated[float, Field(ge=0, le=1)]


class Item(BaseModel):
    item: str
    reason: str
    met: bool


class Checklist(BaseModel):
    items: list[Item]

    @property
    def score(self) -> float:
        return sum(item.met for item in self.items) / max(1, len(self.items))


class Answer(BaseModel):
    reason: str
    value: Share

    @property
    def score(self) -> float:
        return self.value


class Intent(Answer):
    primary_intent: str
    is_addressed: bool


class Completeness(Answer):
    missing_elements: list[str]


class Appropriateness(Answer):
    format_alignment: bool
    tone_alignment: bool


class Alignment(BaseModel):
    one: Intent = Field(alias="user.intent")
    two: Checklist = Field(alias="user.requirements")
    three: Completeness = Field(alias="user.completeness")
    four: Appropriateness = Field(alias="user.appropriateness")
    five: Intent = Field(alias="system.intent")
    six: Checklist = Field(alias="system.requirements")
    seven: Completeness = Field(alias="system.completeness")
    eight: Appropriateness = Field(alias="system.appropriateness")


class Level(BaseModel):
    reason: str
    value: Literal["excellent", "good", "fair", "poor", "bad"] | None

    @property
    def score(self) -> float | None:
        levels = {"excellent": 1.0, "good": 0.75, "fair": 0.5, "poor": 0.25, "bad": 0.0}
        return None if self.value is None else levels[self.value]


class Quality(BaseModel):
    helpfulness: Level
    correctness: Level
    clarity: Level
    coherence: Level
    concision: Level


class Severity(BaseModel):
    reason: str
    quotes: list[str]
    value: str

    @property
    def score(self) -> float:
        return float(self.value == "none")


class Safety(BaseModel, extra="allow"):
    __pydantic_extra__: dict[str, Severity]


RUBRICS = {"prompt_alignment": Alignment, "safety": Safety, "quality": Quality}


@app.command()
def score(folder: Path) -> None:
    case = json.loads((folder / "case.json").read_text())
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(folder))
    cache = diskcache.Cache(str(folder / "cache"))  # noqa: TID251 - without judgekit
    for name, model in RUBRICS.items():
        prompt = environment.get_template(f"{name}.jinja").render(case=case)
        verdict = model.model_validate_json(cache[hashlib.sha256(prompt.encode()).hexdigest()])
        scores = [answer.score for _, answer in verdict if hasattr(answer, "score")]
        known = [score for score in scores if score is not None]
        print(name, round(sum(known) / len(known), 2))


if __name__ == "__main__":
    app()
