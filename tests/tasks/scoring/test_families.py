"""Scores of model families against prompts read alone; scores on two devices and on a GPU against the CPU.

tests/tasks/models/families.yaml has all families that can be built small.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from typing import Any

import numpy as np
import pytest
import torch
from accelerate import dispatch_model  # type: ignore[import-untyped]
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.generation.sample import sample_answers
from swaymeter.tasks.models.next_token.plain import ALONE, EQUAL, PADDED, read_plain
from swaymeter.tasks.models.prompts.answer_prompts import answer_prompt
from swaymeter.tasks.models.prompts.tokens import tokenize_prompts
from swaymeter.tasks.scoring.answer_set import answer_set_persuasion
from swaymeter.tasks.scoring.first_token import next_tokens
from swaymeter.tasks.scoring.fisher import fisher_susceptibility
from swaymeter.tasks.scoring.memorization import greedy_answers
from swaymeter.tasks.scoring.persuasion import persuasion
from tests.tasks.models.reference_values import all_answers, check_probabilities, log_probs, step_log_probs, tokens_of
from tests.tasks.models.tiny import family_model, tiny_language_model

DEVICES = "cpu:0", "cpu:1"
_ATEN = torch.ops.aten
_COPIES = {_ATEN._to_copy.default, _ATEN.copy_.default}
_INDEXED = {_ATEN.index.Tensor, _ATEN.index_put.default, _ATEN.index_put_.default, _ATEN._index_put_impl_.default}


class DeviceTensor(torch.Tensor):
    """A tensor on one of two made-up devices, "cpu:0" and "cpu:1", whose values lie in a CPU tensor.

    As with CUDA, operations on tensors of different devices raise an error, and so does numpy without `.cpu()`. Indices
    and tensors without dimensions may come from the CPU.
    """

    on_cpu: torch.Tensor

    @staticmethod
    def __new__(cls, on_cpu: torch.Tensor, device: torch.device) -> "DeviceTensor":
        tensor: DeviceTensor = torch.Tensor._make_wrapper_subclass(
            cls,
            on_cpu.size(),
            strides=on_cpu.stride(),
            storage_offset=on_cpu.storage_offset(),
            dtype=on_cpu.dtype,
            device=device,
        )
        tensor.on_cpu = on_cpu
        return tensor

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function is torch.Tensor.tolist:
            return args[0].on_cpu.tolist()
        if function in (torch.Tensor.numpy, torch.Tensor.__array__):
            raise TypeError(f"can't convert {args[0].device} device type tensor to numpy")
        with torch._C.DisableTorchFunctionSubclass():
            return function(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return _run(func, args, kwargs or {})


class _TwoDevices(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A mode that runs operations without tensor arguments, such as torch.zeros, on the two devices, too."""

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(operation, args, kwargs or {})


class _TensorConstructors(TorchFunctionMode):
    """A mode that puts results of torch.tensor and torch.as_tensor, which ignore dispatch modes, on their device."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if function not in (torch.tensor, torch.as_tensor) or kwargs.get("device") is None:
            return function(*args, **kwargs)
        device = kwargs["device"]
        return function(*args, **{**kwargs, "device": None}).to(device)


def _run(operation: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    with _TwoDevices():  # type: ignore[no-untyped-call] # inference mode does not decompose operations such as Tensor.to
        parts = operation.decompose(*args, **kwargs)
    if parts is not NotImplemented:
        return parts
    tensors = [value for value in tree_flatten((args, kwargs))[0] if isinstance(value, torch.Tensor)]
    device = _device(operation, args, kwargs, tensors)
    if kwargs.get("device") is not None:
        kwargs = {**kwargs, "device": torch.device("cpu")}
    # Inference mode refuses views of tensors that were created outside inference mode.
    with torch.inference_mode(False), torch.no_grad():
        result = operation(*tree_map(_to_cpu, args), **tree_map(_to_cpu, kwargs))
        if device is None or device.index is None:
            return result
        device_tensors = {id(tensor.on_cpu): tensor for tensor in tensors if isinstance(tensor, DeviceTensor)}
        return tree_map(lambda value: _to_device(value, device, device_tensors), result)


def _device(operation: Any, args: Any, kwargs: dict[str, Any], tensors: list[torch.Tensor]) -> torch.device | None:
    """Return the device of the result, or None if no argument determines it.

    Raises:
        RuntimeError: the tensors are on different devices.
    """
    if operation not in _COPIES:
        if operation in _INDEXED:
            tensors = [args[0], *(tensor for tensor in tensors[1:] if isinstance(tensor, DeviceTensor))]
        devices = {tensor.device for tensor in tensors if isinstance(tensor, DeviceTensor) or tensor.dim()}
        if len(devices) > 1:
            raise RuntimeError(f"{operation}: expected all tensors to be on the same device, not {devices}")
    if kwargs.get("device") is not None:
        return torch.device(kwargs["device"])
    if operation in _COPIES:
        return torch.device(args[0].device)
    return next((tensor.device for tensor in tensors if isinstance(tensor, DeviceTensor)), None)


def _to_cpu(value: Any) -> Any:
    return value.on_cpu if isinstance(value, DeviceTensor) else value


def _to_device(value: Any, device: torch.device, device_tensors: dict[int, DeviceTensor]) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    tensor = device_tensors[id(value)] if id(value) in device_tensors else DeviceTensor(value, device)
    assert tensor.shape == value.shape  # operations that change a shape in place are not supported
    return tensor


@contextmanager
def spread(model: LanguageModel) -> Iterator[LanguageModel]:
    """Yield the model with its first layer on the first device, and its other layers on the second device.

    accelerate dispatches the layers, as for a model with the device `balanced`.
    """
    network = model.model
    with _TensorConstructors(), _TwoDevices():  # type: ignore[no-untyped-call]
        dispatch_model(network, _module_devices(network), main_device=DEVICES[0])
        inputs = str(network.get_input_embeddings().weight.device)
        yield LanguageModel(network, model.tokenizer, model.name, model.revision, model.dtype, inputs)


def _module_devices(network: Any) -> dict[str, str]:
    """Return the device of every layer. Outside the layers, return the device of every module without children."""
    layers, devices = list[str](), dict[str, str]()
    for name, module in network.named_modules():
        if name.startswith(tuple(f"{layer}." for layer in layers)):
            continue
        is_layer = type(module).__name__ in network._no_split_modules
        if is_layer or not any(module.children()):
            tied = getattr(module, "weight", None) is network.get_input_embeddings().weight
            devices[name] = DEVICES[bool(layers) and not tied]
        if is_layer:
            layers.append(name)
    return devices


CONTEXTS = [
    "Oslo is big.\n",
    "x",
    "Lima is small, and it lies by the sea, as everybody in Peru will tell you.\n",
]
QUERIES = ["Q: Who?\nA:", "The capital of Peru is"]
# The engine of each family, and the method by which it reads complete prompts.
EXPECTED = {
    "llama": ("prefix tree", PADDED),
    "gemma3": ("prefix tree", PADDED),
    "gemma4": ("prefix tree", PADDED),
    "gpt_oss": ("prefix tree", PADDED),
    "deepseek_v3": ("prefix tree", PADDED),
    "qwen3_next": ("plain", PADDED),
    "falcon with ALiBi": ("plain", PADDED),
    "mamba": ("plain", PADDED),
    "phi3 with LongRoPE": ("plain", PADDED),
    "rwkv": ("plain", EQUAL),
    "xlstm": ("plain", EQUAL),
    "recurrent_gemma": ("plain", EQUAL),
    "bart": ("plain", EQUAL),
    "roberta": ("plain", EQUAL),
    "llama4": ("plain", EQUAL),
}


@pytest.fixture(scope="module", params=EXPECTED)
def family(request: pytest.FixtureRequest) -> tuple[str, LanguageModel]:
    return request.param, family_model(request.param)


def _alone(model: LanguageModel) -> torch.Tensor:
    """Return the log-distributions after each query and context, each prompt read alone, (queries, contexts, V)."""
    prompts = tokenize_prompts(model, CONTEXTS, QUERIES)
    return torch.stack([log_probs(model, [row[query] for row in prompts]) for query in (0, 1)])


def test_persuasion_matches_prompts_read_alone(family: tuple[str, LanguageModel]) -> None:
    name, model = family
    result = persuasion(model, CONTEXTS, QUERIES)
    p = _alone(model).double().exp()
    expected = (p * (p / p.mean(dim=1, keepdim=True)).log()).sum(dim=2)
    np.testing.assert_allclose(result.scores, expected, atol=1e-5)
    assert result.scores.max() > 1e-3
    assert result.engine == EXPECTED[name][0]


def test_batches_match_prompts_read_alone(family: tuple[str, LanguageModel]) -> None:
    name, model = family
    prompts = [prompt for row in tokenize_prompts(model, CONTEXTS, QUERIES) for prompt in row]
    result = torch.log_softmax(read_plain(model, prompts).float(), dim=1)
    torch.testing.assert_close(result, log_probs(model, prompts), atol=1e-4, rtol=0)
    rejected = {method for (method, _), decision in model.traits.method_decisions.items() if decision.reason}
    assert next(method for method in (PADDED, EQUAL, ALONE) if method not in rejected) == EXPECTED[name][1]


def test_log_probabilities_match_texts_read_alone(family: tuple[str, LanguageModel]) -> None:
    _, model = family
    prompts = [tokens_of(model, context + QUERIES[0]) for context in CONTEXTS]
    result = sample_answers(model, prompts, [(context,) for context in CONTEXTS], samples=2, max_new_tokens=3)
    for prompt, sampled in zip(prompts, result, strict=True):
        for answer in all_answers([sampled]):
            check_probabilities(model, prompt, answer)
        greedy = sampled.greedy.token_ids
        assert greedy == tuple(step_log_probs(model, prompt, greedy).argmax(dim=1).tolist())


def test_answers_match_prompts_read_alone(family: tuple[str, LanguageModel]) -> None:
    name, model = family
    result = answer_set_persuasion(model, CONTEXTS, QUERIES[:1], [["Oslo"], ["Lima"]])
    (lines,), engine = greedy_answers(model, CONTEXTS, QUERIES[:1], max_new_tokens=3)
    ends = [1, *(token for token in range(len(model.tokenizer)) if model.tokenizer.decode([token])[:1] in ("\n", "."))]
    for number, context in enumerate(CONTEXTS):
        prompt = tokens_of(model, context + QUERIES[0])
        mass = 0.0
        for answer in (" Oslo", " Lima"):
            tokens = tokens_of(model, answer)
            steps = step_log_probs(model, prompt, [*tokens, 0]).double()  # the last step is the end after the answer
            mass += float((steps[range(len(tokens)), tokens].sum() + steps[-1, ends].logsumexp(dim=0)).exp())
        assert result.mass[0, number] == pytest.approx(mass, rel=1e-3)
        greedy = list(prompt)
        for _ in range(3):
            greedy.append(int(log_probs(model, [greedy])[0].argmax()))
        text = model.tokenizer.decode(greedy[len(prompt) :], skip_special_tokens=True)
        assert text.lstrip().startswith(lines[number])
    assert result.engine == engine == EXPECTED[name][0]


def test_long_prompts_have_an_engine_of_their_own() -> None:
    model = family_model("phi3 with LongRoPE")
    assert persuasion(model, CONTEXTS[:2], QUERIES).engine == "prefix tree"
    result = persuasion(model, CONTEXTS, QUERIES)
    p = _alone(model).double().exp()
    np.testing.assert_allclose(result.scores, (p * (p / p.mean(dim=1, keepdim=True)).log()).sum(dim=2), atol=1e-5)
    assert result.engine == "plain"
    assert persuasion(model, CONTEXTS[:2], QUERIES).engine == "prefix tree"


def _first_tokens(model: LanguageModel) -> Any:
    tokens = next_tokens(model, [answer_prompt(model, query).tokens for query in QUERIES])
    return [(tokens.likeliest(number), tokens.probability(number, [7, 19])) for number in range(len(QUERIES))]


def _samples(model: LanguageModel) -> Any:
    prompts = [answer_prompt(model, query).tokens for query in QUERIES]
    settings: dict[str, Any] = {"samples": 2, "max_new_tokens": 4, "seed": 3, "temperature": 1.0}
    answers = sample_answers(model, prompts, [(query,) for query in QUERIES], **settings)
    return [(answer.token_ids, answer.token_log_probs) for answer in all_answers(answers)]


SCORES: dict[str, Callable[[LanguageModel], Any]] = {
    "persuasion": lambda model: persuasion(model, CONTEXTS, QUERIES),
    "answer set": lambda model: answer_set_persuasion(model, CONTEXTS, QUERIES, [["O", "Os"], ["N"], ["S. L", "S."]]),
    "greedy": lambda model: greedy_answers(model, CONTEXTS, QUERIES, max_new_tokens=3),
    "fisher": lambda model: fisher_susceptibility(model, QUERIES, top_k=None, exact=5, draws=32),
    "first token": _first_tokens,
    "samples": _samples,
}


def _leaves(value: Any) -> list[Any]:
    """Return the texts of a nested value, and its numbers for an approximate comparison."""
    value = list(vars(value).values()) if is_dataclass(value) else value
    if isinstance(value, list | tuple | np.ndarray):
        return [leaf for part in value for leaf in _leaves(part)]
    return [value if isinstance(value, str) else pytest.approx(value, rel=1e-3, abs=1e-5)]


# gpt2's first and last weights are one tensor, mistral is llama with a window, and bloom has the plain engine.
@pytest.mark.parametrize("family", ["gpt2", "gpt_neox", "mistral", "bloom"])
def test_scores_do_not_depend_on_the_device(family: str) -> None:
    model = tiny_language_model(family)
    on_cpu = {name: score(model) for name, score in SCORES.items()}
    with spread(tiny_language_model(family)) as model:
        on_two_devices = {name: score(model) for name, score in SCORES.items()}
    for name in SCORES:
        assert _leaves(on_two_devices[name]) == _leaves(on_cpu[name]), name


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("score", SCORES.values(), ids=list(SCORES))
@pytest.mark.parametrize("family", ["gpt2", "bloom", *EXPECTED])
def test_scores_on_gpu_match_the_cpu(family: str, score: Callable[[LanguageModel], Any]) -> None:
    make = family_model if family in EXPECTED else tiny_language_model
    expected, model = score(make(family)), make(family)
    on_gpu = LanguageModel(model.model.to("cuda:0"), model.tokenizer, model.name, model.revision, model.dtype, "cuda:0")
    assert _leaves(score(on_gpu)) == _leaves(expected)
