"""The replication studies are as their papers say."""

from flows.study.reading import read_study

PYTHIA = ("70m", "410m", "1.4b", "2.8b", "6.9b", "12b")


def models(*studies: str) -> dict[str, str]:
    """The models of studies, with their dtypes."""
    return {model.name: model.dtype for name in studies for model in read_study(name).models}


def test_liu_asks_the_models_of_its_tables() -> None:
    pythia = (f"pythia-{size}-deduped" for size in ("160m", *PYTHIA[:-1]))
    single = [*pythia, "gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl"]
    llama = ["llama-2-7b", "llama-2-7b-chat", "llama-3-8b", "llama-3-8b-instruct"]
    assert models("replicate-liu") == dict.fromkeys(single, "float32")
    assert models("replicate-liu-llama") == dict.fromkeys(llama, "bfloat16")


def test_every_figure_of_du_has_its_model() -> None:
    six = {f"pythia-{size}-deduped": "auto" for size in PYTHIA} | {"pythia-12b-deduped": "8bit"}
    assert models("replicate-du") == models("training-data") == six
    assert [*models("friends-and-enemies", "gender")] == ["pythia-6.9b-deduped"]


def test_entities_of_replications_are_drawn_at_random() -> None:
    for name in ("replicate-du", "training-data", "replicate-liu", "replicate-liu-llama"):
        assert read_study(name).facts.model_dump()["choice"] == "random"


def test_frequencies_are_of_the_replicated_scores() -> None:
    du, counted = read_study("replicate-du"), read_study("training-data")
    assert counted.workspace == f"workspaces/{du.name}"
    assert (counted.facts, counted.contexts, counted.seed) == (du.facts, du.contexts, du.seed)
    assert counted.models == du.models


def test_marjanovic_has_chat_templates_for_two_models() -> None:
    study = read_study("replicate-marjanovic")
    prompts = {model.name: study.answer_prompts(model) for model in study.models}
    assert {name: one.chat_template for name, one in prompts.items()} == {
        "mistral-7b-instruct-v0.1": "auto", "llama-2-7b-chat": "auto", "qwen2-7b-instruct": "never",
    }  # fmt: skip
    for one in prompts.values():
        assert one.system_with_context is None
        assert one.plain_with_context.startswith(one.system)
        assert one.plain_without_context.startswith(one.system)
        assert (one.about_without_context, one.about_with_context) == ("all", "all")
        assert "[" not in "".join(str(text) for text in one.content.values())
