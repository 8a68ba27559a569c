"""Criteria as people write them: what English wording is named, and what is left alone."""

from __future__ import annotations

import json

import pytest

from judgekit.authoring.lint.lint import lint_rubrics
from judgekit.authoring.lint.words import english

FRONT = """\
---
name: mine
extends: base
description: Judges answers of an assistant.
requires: [input, output, context, history]
criteria:
  thing: {kind: boolean, text: %s}
tests: [{case: {input: a, output: a, context: [a]}, expect: {thing: true}}]
---
"""
CLEAN = """\
Does the response contradict any statement in the conversation so far?
Is every number in the answer copied correctly from the invoice?
Does the answer follow the instruction to reply in French?
Does the summary mention the main cause of the outage?
Does the response stay on the topic the user raised?
Would a new employee be able to carry out the steps without asking anyone?
Does the code compile and pass the tests that were given?
Does the reply acknowledge the customer's frustration before it offers a fix?
Does the answer avoid medical jargon that a patient would not know?
Does the bot hand over to a person when the user asks for one?
Is the tone warm without being familiar?
Does the agent confirm the date, time and place before it books?
Does the response include a disclaimer when it gives legal advice?
Are all quotations attributed to the person who said them?
Is the SQL valid for PostgreSQL 15?
Does the text use gender-neutral language throughout?
Does the essay state a thesis in its first paragraph?
Does the answer cite at least one source for each claim?
Does the response refuse, in whatever words?
Does the translation keep the register of the source?
Would a reasonable reader take this for advice?
Is the ending better than that of the first draft?
Does the poem rhyme in couplets?
Does the email name the next step and who takes it?
Does the email name a good time to call?
Does the answer explain why the previous question was wrong?
Does the caption describe what is in the picture and where it was taken?
Does the answer state the score of the match and the names of the scorers?
Does the reply apologise for the delay?
Is the argument in the second paragraph supported by the table above it?
Does the assistant say what it cannot do?
Is the price, and not only the discount, shown?
Does it mention the well-known side effects?
Does the answer mention how well the battery performs?
Does the reply tell the user which menu is the right one to open?
Is the answer free of personal data such as names and addresses?
Does the function handle an empty list as well as a list of one?
Does the recipe work for someone who is vegan or gluten-free?
Does the story have a clear beginning and a clear end?
Does the itinerary leave enough time between trains?
Does the product text say how the strap is adjusted?
Does the assistant explain its reasoning before it gives the final answer?
Did the assistant use the calculator tool for the sum?
Is the name spelled the same way everywhere?
Does the response quote the policy word for word?
Is each bullet a full sentence?
Is the greeting in the language of the user?
Does the answer help the user decide between the two plans?
Does the summary leave out what the meeting decided?
Is the air quality index shown?
Is the best-before date shown?
Does the answer state the fine for late payment?
Does the reply name a better-known alternative?
Is the word "good" avoided?
Does the text say which quality seal the product carries?
Does the caption say OK or Cancel?
Is the patient told when they may feel better again?
Does the report name the appropriate authority to call?
Does the letter reach a reasonable person?
Does the review say what the phone does well?
""".splitlines()
NAMED = """\
double-barrelled: Is the response clear, concise and accurate?
double-barrelled: Is the response helpful and safe?
double-barrelled: Is the writing engaging and grammatically correct?
vague-criterion: Is the output of good quality?
vague-criterion: Is the summary appropriate?
vague-criterion: Does the model respond well?
vague-criterion: How good is the answer overall?
double-barrelled: Does the response answer the question? Does it cite a source?
double-barrelled: Is the translation fluent and accurate?
double-barrelled: The answer is correct and complete.
double-barrelled: Response is relevant and well-written.
asks-opinion: Do you think this is a helpful response?
asks-opinion: Would you say, in your opinion, that this answer works?
leading-wording: Isn't this response obviously wrong?
negated-question: Is the answer not misleading?
leading-wording: Doesn't the response ignore the user?
double-barrelled: Is the reply both polite and helpful?
double-barrelled: Is the code efficient and readable?
vague-criterion: The response should be of high quality.
vague-criterion: Quality of the answer.
vague-criterion: Is it a good summary?
vague-criterion: Does it have proper formatting?
vague-criterion: Is the level of detail adequate?
vague-criterion: How well does the assistant answer?
terse-criterion vague-criterion: Overall quality
""".splitlines()


def rules_of(text, folder):
    path = folder / "mine.jinja"
    path.write_text(FRONT % json.dumps(text), "utf-8")
    return " ".join(sorted({found.rule for found in lint_rubrics([path]).open}))


@pytest.mark.parametrize("text", CLEAN)
def test_a_question_with_one_plain_answer_is_left_alone(text, tmp_path):
    assert rules_of(text, tmp_path) == ""


@pytest.mark.parametrize("line", NAMED)
def test_a_text_that_leaves_the_judge_to_guess_is_named(line, tmp_path):
    rules, _, text = line.partition(": ")

    assert rules_of(text, tmp_path) == rules


@pytest.mark.parametrize(
    "text",
    [
        "Ist die Antwort gut und richtig?",
        "La réponse est-elle claire et concise ?",
        "¿Es la respuesta clara y correcta?",
        "Is het antwoord goed en kort?",
        "La risposta è chiara e corretta?",
        "A resposta é boa?",
        "Är svaret bra och kort?",
        "Czy odpowiedź jest dobra i krótka?",
        "答案好吗？",
        "Хороший ли ответ?",
    ],
)
def test_other_languages_are_not_taken_for_english(text):
    assert not english(text)
    assert not english(text, around="Does the answer do what the user asked for?")


@pytest.mark.parametrize(
    "text", ["Is it good?", "The résumé is on the naïve side.", "Is Zürich named?"]
)
def test_english_with_a_foreign_word_is_english(text):
    assert english(text)


def test_a_text_without_small_words_goes_by_those_around_it():
    assert english("Tone, pace.", around="Does the answer do what the user asked for?")
    assert not english("Tone, pace.", around="Was will der Kunde, und wird ihm geholfen?")
