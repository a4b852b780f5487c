import pickle
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from swaymeter.data import catalog
from swaymeter.data.errors import StudyFileError
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.registry import FACT_SOURCES
from swaymeter.data.sources.source import FactsOptions, FactSource, FetchedFacts
from swaymeter.flows.stages import refusals
from swaymeter.tasks.measures import MEASURES
from tests.extensions import measure
from tests.flows.small_study import changed_study, error_message
from tests.registries import added

WIKIDATA = {"source": "wikidata"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        # ---- keys
        ({"measurs": {}}, "unknown key measurs (did you mean 'measures'?)"),
        ({"contexts": {"assertiv": 1}}, "unknown key contexts.assertiv (did you mean 'assertive'?)"),
        ({"questions": {**WIKIDATA, "disputes": {"page": []}}}, "questions.disputes.page (did you mean 'pages'?)"),
        ({"models": [{"name": "m", "dtpe": "auto"}]}, "unknown key models.0.dtpe (did you mean 'dtype'?)"),
        ({"measures": {"answers": {"samplez": 3}}}, "unknown key measures.answers.samplez (did you mean 'samples'?)"),
        ({"measures": {"persuasion": {"samples": 3}}}, "unknown key measures.persuasion.samples (known: none)"),
        (
            {"measures": {"memorization_ratio": {"max_new_tokens": 3}}},
            "memorization_ratio.max_new_tokens (is a parameter of greedy_answers; write it there)",
        ),
        ({"services": {"yago": {"tries": 100}}}, "unknown key services.yago.tries"),
        # ---- values
        ({"name": "../up"}, 'name: "../up" is not possible. Name of the study: lower-case letters, digits and dashes'),
        ({"seed": 2**63}, "seed: must be less than 9,223,372,036,854,775,808, not 9223372036854775808"),
        ({"seed": "one"}, 'seed: expected a whole number, not "one"'),
        ({"seeds": [0, 1], "seed": 0}, "seeds: `seed` is also set; leave it out, because the first of `seeds`"),
        ({"seeds": [1]}, "seeds: "),
        ({"seeds": [1, "x"]}, 'seeds.1: expected a whole number, not "x"'),
        ({"seeds": [7.0, 8]}, "seeds.0: "),
        ({"seeds": [1, 2, 1]}, "seeds: a seed is named twice"),
        ({"seeds": [1, 2], "measures": ["greedy_answers"]}, "seeds: only persuasion and susceptibility are compared"),
        ({"asks": ["why"]}, 'asks: expected a text in quotes, not ["why"]'),
        ({"models": "gpt2"}, 'models: expected a list, such as [a, b], not "gpt2"'),
        ({"contexts": {"base": 0, "assertive": 0, "negation": 0}}, "contexts: base, assertive and negation are all 0"),
        ({"services": {"yago": {"address": "file:///etc/passwd"}}}, "services.yago.address: "),
        # ---- facts
        ({"facts": 3}, "facts: expected keys with values, such as `source: sample`"),
        ({"facts": {"source": "web"}}, "facts.source: no source of facts is named 'web'; choose one of sample, yago"),
        (
            {"facts": {"relations": ["capitol"]}},
            "facts.relations: no relation is named 'capitol'; did you mean 'capital'?",
        ),
        ({"facts": {"relations": "capital"}}, "facts.relations: expected a list of relations, or `all`"),
        ({"facts": {"relations": ["capital", "capital"]}}, "facts.relations: a relation is named twice"),
        ({"facts": {"source": "yago", "relations": ["father"]}}, "facts.relations: relation father is not in YAGO"),
        (
            {"facts": {"relations": ["capital"], "real_entities": 0, "invented_entities": 0}},
            "facts: real_entities and invented_entities are both 0",
        ),
        ({"facts": {"dump": ["facts.nt"]}}, "facts.dump: is a key of source yago, not of sample; leave it out"),
        ({"facts": {"choice": "degree"}}, "facts.choice: the bundled sample has no degrees"),
        (
            {"facts": {"source": "yago", "pairs": 3}},
            "facts: `pairs` is 3, but must be at least `real_entities`, which is 4",
        ),
        ({"facts": {"invented": "model"}}, "facts: `invented: model` and `invented_model`"),
        ({"facts": {"absent_from": ["dbpedia"]}}, "facts.absent_from.0: "),
        # ---- questions
        ({"questions": {"partitions": ["static", "static"]}}, "questions.partitions: a partition is named twice"),
        ({"questions": {"partitions": []}}, "questions.partitions: no partition is named"),
        ({"questions": {"folder": "here"}}, "questions.folder: is a key of source dynamicqa, not of sample"),
        ({"questions": {**WIKIDATA, "triples": {"source": "file"}}}, "questions.triples: `source: file` needs the key"),
        ({"questions": {**WIKIDATA, "triples": {"source": "wikidata"}}}, "triples: `source: wikidata` needs"),
        ({"questions": {**WIKIDATA, "triples": {"source": "wikidata", "file": "x"}}}, "triples: `file` cannot be used"),
        ({"questions": {**WIKIDATA, "triples": {"properties": ["P1", "P1"]}}}, "properties: a property is named twice"),
        ({"questions": {**WIKIDATA, "disputes": {"pages": ["A", "A"]}}}, "disputes.pages: a page is named twice"),
        # ---- prompt
        ({"prompt": {"with_contxt": ""}}, "unknown key prompt.with_contxt (did you mean 'with_context'?)"),
        ({"prompt": {"with_context": "{question}"}}, "with_context: neither this nor system_with_context has the slot"),
        ({"prompt": {"system_with_context": "{context}"}}, "with_context: both this and system_with_context have the"),
        ({"prompt": {"without_context": "{question} {question}"}}, "prompt.without_context: must have the slot {que"),
        ({"prompt": {"plain_without_context": "{context} {question}"}}, "may not have the slot {context}"),
        ({"prompt": {"system": "{question}"}}, "prompt.system: may not have the slot {question}"),
        ({"prompt": {"plain_with_context": " "}}, 'prompt.plain_with_context: " " is not possible. The prompt with a'),
        ({"prompt": {"chat_template": "always"}}, "prompt.chat_template: expected 'auto' or 'never', not \"always\""),
        (
            {"prompt": {"template_options": {"tokenize": False}}},
            "prompt.template_options: has keywords that only Swaymeter sets (tokenize)",
        ),
        ({"prompt": {"template_options": {"style": {"a": 1}}}}, "prompt.template_options.style"),
        ({"prompt": {"about": "{context}"}}, "prompt.about: "),
        ({"prompt": {"without_context": "{about} {about} {question}"}}, "may have the slot {about} only once"),
        ({"decodings": ["beam"]}, "decodings.beam: expected 'greedy', 'cad', 'adacad' or 'coiecd', not \"beam\""),
        ({"prompt": {"file": "nowhere.yaml"}}, "/nowhere.yaml cannot be read as YAML"),
        # ---- models
        ({"models": []}, "models: may not be empty; name at least 1"),
        ({"models": ["gpt2"]}, "models.0: expected keys with values"),
        ({"models": [{"name": "gpt2", "dtype": "float8"}]}, "models.0.dtype: expected 'auto', 'float32'"),
        ({"models": [{"name": "gpt2", "dtype": "8bit", "device": "cpu"}]}, "models.0.device: dtype 8bit is for GPUs"),
        ({"models": [{"name": "gpt2", "dtype": "4bit"}] * 2}, "models: a model is named twice in the same dtype"),
        ({"models": [{"name": "a", "label": "x"}, {"name": "b", "label": "x"}]}, "models.0.label: another model has"),
        ({"models": [{"name": "a", "label": "b"}, {"name": "b"}]}, "models.0.label: another model has this label"),
        ({"models": [{"name": "a", "label": " "}]}, "models.0.label: may not be empty"),
        ({"models": [{"name": "a", "label": "x" * 61}]}, "models.0.label: may have at most 60 characters"),
        ({"models": [{"name": "a", "label": "x\ny"}]}, "models.0.label: has a character that cannot be printed"),
        # ---- endpoints
        ({"models": [{"name": "a", "endpoint": "http://127.0.0.1:1/v1", "dtype": "float32"}]}, "models.0.dtype"),
        ({"models": [{"name": "a", "endpoint": "http://user@127.0.0.1/v1"}]}, "models.0.endpoint"),
        ({"models": [{"name": "a", "api": "vllm"}]}, "models.0.api"),
        # ---- measures
        ({"measures": {}}, "measures: may not be empty; name at least 1 measure"),
        ({"measures": "persuasion"}, "measures: expected measures with their parameters"),
        ({"measures": {"persuation": {}}}, "no measure is named 'persuation'; did you mean 'persuasion'?"),
        ({"measures": {"persuasion": 3}}, "measures.persuasion: expected keys with values"),
        ({"measures": {"answers": {"temperature": float("nan")}}}, "measures.answers.temperature: must be at most 10"),
        ({"contexts": {"per_query": {"contexts": 4, "relevant": 5}}}, "relevant is 5, more than the 4 contexts"),
        (
            {"contexts": {"per_query": {"contexts": 4, "relevant": 2}}, "measures": ["entity_independent_persuasion"]},
            "measures.entity_independent_persuasion: needs every context before every query; leave out either",
        ),
        # ---- entropy_classes
        ({"entropy_classes": {"bounds": [5, 1]}}, "entropy_classes.bounds: [5.0, 1.0] does not ascend; write"),
        ({"entropy_classes": {"bounds": [1, 1]}}, "entropy_classes.bounds: [1.0, 1.0] does not ascend"),
        ({"entropy_classes": {"bounds": [1, float("inf")]}}, "bounds.1: expected a finite number, not Infinity"),
        ({"entropy_classes": {"bounds": [1, 2, 3]}}, "entropy_classes.bounds: has 3 bounds; write 2 bounds (upper"),
        ({"entropy_classes": {"bounds": [1, 2, 4, 3]}}, "entropy_classes.bounds: [1.0, 2.0, 4.0, 3.0] does"),
        # ---- sections that others need
        ({"facts": None, "measures": ["persuasion"]}, "measures.persuasion: needs facts; name relations under `facts`"),
        ({"questions": None, "measures": ["accuracy"]}, "needs questions; name a source under `questions`"),
    ],
)
def test_error_of_an_impossible_study_names_its_key(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    assert message in error_message(tmp_path, **changes)


def test_a_control_character_in_asks_is_refused(tmp_path: Path) -> None:
    assert r"asks: has a character that cannot be printed" in error_message(tmp_path, asks="Does it\x1b[2J follow?")


def test_sections_are_validated_by_their_source(tmp_path: Path) -> None:
    study = changed_study(tmp_path, facts={"source": "yago", "relations": "all"}, questions=WIKIDATA)
    assert study.facts is not None
    assert study.questions is not None
    assert study.facts.relations == catalog.relations_of_yago()
    sample = changed_study(tmp_path, facts={"relations": "all"}).facts
    assert sample is not None
    assert set(sample.relations) == {fact.relation for fact in catalog.facts()}
    # The next two values are defaults of the sources.
    assert study.facts.model_dump()["pairs"] == 200
    assert study.questions.model_dump()["disputes"]["max_pages"] == 50
    assert pickle.loads(pickle.dumps(study)) == study


def test_a_registered_source_validates_its_section(tmp_path: Path) -> None:
    class AtlasFacts(FactsOptions):
        display_name = "the atlas"
        source: Literal["atlas"] = "atlas"
        edition: int = 1

        @classmethod
        def available_relations(cls) -> tuple[str, ...]:
            return ("capital",)

    def key(options: AtlasFacts, relation: str, seed: int, access: Access) -> Mapping[str, Any]:
        return {"edition": options.edition}

    def fetch(options: AtlasFacts, relation: str, seed: int, access: Access) -> FetchedFacts:
        return FetchedFacts([], {}, 0)

    with added(FACT_SOURCES, FactSource("atlas", AtlasFacts, key, fetch)) as atlas:
        study = changed_study(tmp_path, facts={"source": "atlas", "relations": "all", "edition": 3})
        assert study.facts is not None
        assert study.facts.relations == atlas.options.available_relations()
        assert atlas.key(study.facts, "capital", 0, study.access(tmp_path)) == {"edition": 3}
        assert "relation father is not in the atlas" in error_message(
            tmp_path, facts={"source": "atlas", "relations": ["father"]}
        )
        assert "facts.edition: is a key of source atlas" in error_message(tmp_path, facts={"edition": 3})


def test_listed_measures_take_their_defaults(tmp_path: Path) -> None:
    study = changed_study(tmp_path, measures=["persuasion", "answers"])
    assert study.parameters("answers") == MEASURES["answers"].parameters().model_dump()
    assert changed_study(tmp_path).parameters("answers")["samples"] == 2


def test_the_study_chooses_the_templates_of_contexts(tmp_path: Path) -> None:
    capital = catalog.relations()["capital"]
    assert changed_study(tmp_path).contexts.with_study_templates(capital) is capital
    published = changed_study(tmp_path, contexts={"templates": "published-form"}).contexts.with_study_templates(capital)
    assert published.contexts == catalog.published_form(capital)
    assert (published.open, published.closed) == (capital.open, capital.closed)


def test_prompts_come_from_study_then_file_then_form(tmp_path: Path) -> None:
    (tmp_path / "texts.yaml").write_text('about: "On {page}:"\nsystem: "Be brief."\nchat_template: never\n')
    section = {"form": "published", "file": "texts.yaml", "system": ""}
    prompts = changed_study(tmp_path, prompt=section).prompt.answer_prompts()
    published = catalog.prompts("published")
    own_system = replace(published, system="", system_with_context=None)  # `system` alone replaces both system texts
    assert prompts == replace(own_system, about="On {page}:", chat_template="never")
    assert (prompts.about_without_context, prompts.about_with_context) == ("all", "all")
    context_in_system = {"system_with_context": "Read: {context}", "with_context": "{question}"}
    assert changed_study(tmp_path, prompt=context_in_system).prompt.answer_prompts().with_context == "{question}"
    both_systems = {"form": "published", "system": "Be brief.", "system_with_context": "Read."}
    assert changed_study(tmp_path, prompt=both_systems).prompt.answer_prompts().system_with_context == "Read."
    (tmp_path / "texts.yaml").write_text("- about\n")
    assert "prompt.file: " in error_message(tmp_path, prompt=section)
    (tmp_path / "texts.yaml").write_text("with_context: '{question}'\n")
    assert re.search(r"prompt\.with_context: neither .* \(in .*texts\.yaml\)", error_message(tmp_path, prompt=section))


def test_needed_measures_are_requested_transitively(tmp_path: Path) -> None:
    persuasion_range = replace(measure.MEASURE, needs=("memorization_ratio",))
    with added(MEASURES, persuasion_range):
        requested = list(changed_study(tmp_path, measures=["persuasion_range"]).requested())
    assert requested == ["greedy_answers", "memorization_ratio", "persuasion_range"]


def test_a_model_without_a_needed_capability_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "capabilities", lambda name: frozenset({"samples"}))
    study = changed_study(tmp_path, models=[{"name": "org/model"}])
    with pytest.raises(
        StudyFileError, match=r"measures\.persuasion: needs next_token_logits, which model org/model can"
    ) as error:
        refusals.check_models(study)
    assert "answers" not in str(error.value)
