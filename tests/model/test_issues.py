from __future__ import annotations

import json

import pytest

from phexplore.files.scenario_json import decode_scenario, encode_scenario
from phexplore.model.issues import InputProblemsError, Issue
from phexplore.systems.registry import preset


@pytest.mark.parametrize(
    ("words", "sentence"), [("it is 0", "it is 0."), ("It is 0.", "It is 0."), ("Is it?", "Is it?"), ("", "")]
)
def test_that_a_sentence_ends_before_its_remedy(words, sentence):
    assert Issue(("a",), words, "Do this.").sentence == sentence


@pytest.mark.defect("D11")
def test_that_the_words_of_a_damaged_scenario_end():
    content = json.loads(json.dumps(encode_scenario(preset("group-sizes-census-2010").scenario)))
    content["method"]["total"] = "0"
    with pytest.raises(InputProblemsError) as caught:
        decode_scenario(content, "a.phx")
    assert caught.value.issues
    assert all(issue.sentence.endswith(".") for issue in caught.value.issues)
