"""The provenance of scores: columns that every row of scores has, variants, and a row for each file of scores."""

from dataclasses import dataclass
from typing import Annotated

from swaymeter.data.records.row import Meaning, table


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The columns that all measures share; a measure's row type adds further columns."""

    relation: Annotated[str, Meaning("the relation's name")]
    variant: Annotated[str, Meaning("key of the variant in `variants`: a model in a dtype, with a prompt and decoding")]
    model: Annotated[
        str,
        Meaning(
            "the model's name: a catalog alias, a hub id or a folder's name; if the study asks it with several prompts "
            "or decodings, followed by ' · ' and their names"
        ),
    ]
    model_revision: Annotated[str, Meaning("the version of the weights: a digest or a commit")]
    dtype: Annotated[str, Meaning("the precision that the model computed in")]
    device: Annotated[str, Meaning("the model's device: cpu, cuda:0, or cuda:0+cuda:1 for a model on two GPUs")]
    engine: Annotated[str, Meaning("the engine that computed the score")]
    dataset_version: Annotated[str, Meaning("the digest of the queries and contexts, or of the questions")]
    stand_in: Annotated[str | None, Meaning("the stand-in model and the model that it replaced; NULL without one")]


@table("variants", "a variant: a model in a dtype, with a prompt and decoding", key=("variant",))
class Variant:
    """A variant: a model with its dtype, prompt and decoding."""

    variant: Annotated[str, Meaning("key of the variant")]
    model: Annotated[
        str,
        Meaning("the model's name in tables of scores; the names of prompt and decoding follow if there are several"),
    ]
    asked_model: Annotated[str, Meaning("the model's name in the study, without prompt and decoding")]
    prompt_name: Annotated[str | None, Meaning("the name of the prompt; NULL if the study names none")]
    decoding: Annotated[str | None, Meaning("the name of the decoding; NULL if the study names none")]
    decoding_parameters: Annotated[
        str | None, Meaning("the parameters of the decoding, as JSON; NULL for the model's own distribution")
    ]
    dtype: Annotated[str, Meaning("the precision that the model computed in")]
    label: Annotated[str | None, Meaning("the study's label of the model; NULL without a label")]
    prompt: Annotated[str | None, Meaning("the prompt of questions, as JSON; NULL for a study without questions")]


@table("runs", "one stored file of scores: what was computed, when, with which versions", key=("file",))
class Run:
    """The origin of a file of scores: its model, versions, times and costs."""

    relation: Annotated[str, Meaning("the relation's name")]
    model: Annotated[str, Meaning("the model's name")]
    variant: Annotated[str, Meaning("key of the variant in `variants`")]
    measure: Annotated[str, Meaning("the measure's name")]
    measure_version: Annotated[int, Meaning("the measure's own version")]
    key: Annotated[str, Meaning("digest of everything the file was made from")]
    file: Annotated[str, Meaning("path of the file in the workspace")]
    rows: Annotated[int, Meaning("rows in the file")]
    dtype: Annotated[str, Meaning("the precision that the model computed in")]
    parameters: Annotated[int | None, Meaning("number of the model's parameters; NULL for a derived measure")]
    hardware: Annotated[str | None, Meaning("the processor or GPUs; NULL for a derived measure")]
    reading: Annotated[
        str | None,
        Meaning("optimisations that were switched off, because they change the model's answers; NULL: none"),
    ]
    seed: Annotated[int, Meaning("the study's seed")]
    started_at: Annotated[str, Meaning("time at which the first chunk began (UTC, ISO 8601)")]
    finished_at: Annotated[str, Meaning("time at which the last chunk was written (UTC, ISO 8601)")]
    seconds: Annotated[
        float,
        Meaning("time spent computing; of the measures of one pass, the first has all the time, and the others 0", "s"),
    ]
    forward_passes: Annotated[
        int, Meaning("calls of the model; of the measures of one pass, the first has all calls, and the others 0")
    ]
    prompts: Annotated[
        int,
        Meaning("prompts scored or answered; of the measures of one pass, the first has all prompts, and the others 0"),
    ]
    swaymeter_version: Annotated[str, Meaning("version of this package")]
    torch_version: Annotated[str, Meaning("version of torch")]
    transformers_version: Annotated[str, Meaning("version of transformers")]
