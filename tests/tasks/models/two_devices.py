"""Two devices that no machine has: their tensors lie in the CPU's memory and say that they are on "cpu:0" or "cpu:1".

What CUDA refuses is refused: an operation on tensors of different devices, and numpy without `.cpu()`. As with CUDA, a
tensor without dimensions may come from the CPU, and so may an index.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from accelerate import dispatch_model  # type: ignore[import-untyped]
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

from swaymeter.tasks.models import LanguageModel

DEVICES = "cpu:0", "cpu:1"
_ATEN = torch.ops.aten
_COPIES = {_ATEN._to_copy.default, _ATEN.copy_.default}
_INDEXED = {_ATEN.index.Tensor, _ATEN.index_put.default, _ATEN.index_put_.default, _ATEN._index_put_impl_.default}


class Placed(torch.Tensor):
    """A tensor on one of the two devices. held: the one on the CPU that it stands for."""

    held: torch.Tensor

    @staticmethod
    def __new__(cls, held: torch.Tensor, device: torch.device) -> "Placed":
        placed: Placed = torch.Tensor._make_wrapper_subclass(
            cls,
            held.size(),
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=device,
        )
        placed.held = held
        return placed

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function is torch.Tensor.tolist:
            return args[0].held.tolist()
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
    """What is made on one of the two devices, without a tensor that says so, is made there, too."""

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(operation, args, kwargs or {})


class _Tensors(TorchFunctionMode):
    """torch.tensor looks at no dispatch mode."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if function not in (torch.tensor, torch.as_tensor) or kwargs.get("device") is None:
            return function(*args, **kwargs)
        device = kwargs["device"]
        return function(*args, **{**kwargs, "device": None}).to(device)


def _run(operation: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    with _TwoDevices():  # type: ignore[no-untyped-call] # in inference mode an operation such as Tensor.to comes whole
        parts = operation.decompose(*args, **kwargs)
    if parts is not NotImplemented:
        return parts
    tensors = [one for one in tree_flatten((args, kwargs))[0] if isinstance(one, torch.Tensor)]
    device = _device(operation, args, kwargs, tensors)
    if kwargs.get("device") is not None:
        kwargs = {**kwargs, "device": torch.device("cpu")}
    # In inference mode, a view of a tensor that was made outside of it is refused.
    with torch.inference_mode(False), torch.no_grad():
        result = operation(*tree_map(_held, args), **tree_map(_held, kwargs))
        if device is None or device.index is None:
            return result
        known = {id(one.held): one for one in tensors if isinstance(one, Placed)}
        return tree_map(lambda one: _placed(one, device, known), result)


def _device(operation: Any, args: Any, kwargs: dict[str, Any], tensors: list[torch.Tensor]) -> torch.device | None:
    """Where the result lies; RuntimeError if the tensors are on different devices."""
    if operation not in _COPIES:
        if operation in _INDEXED:
            tensors = [args[0], *(one for one in tensors[1:] if isinstance(one, Placed))]
        devices = {one.device for one in tensors if isinstance(one, Placed) or one.dim()}
        if len(devices) > 1:
            raise RuntimeError(f"{operation}: expected all tensors to be on the same device, not {devices}")
    if kwargs.get("device") is not None:
        return torch.device(kwargs["device"])
    if operation in _COPIES:
        return torch.device(args[0].device)
    return next((one.device for one in tensors if isinstance(one, Placed)), None)


def _held(value: Any) -> Any:
    return value.held if isinstance(value, Placed) else value


def _placed(value: Any, device: torch.device, known: dict[int, Placed]) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    placed = known[id(value)] if id(value) in known else Placed(value, device)
    assert placed.shape == value.shape  # an operation that changes a shape in place is not known here
    return placed


@contextmanager
def spread(model: LanguageModel) -> Iterator[LanguageModel]:
    """The model, its first layer on one device and the others on the other, by accelerate as `balanced` ones are."""
    network = model.model
    with _Tensors(), _TwoDevices():  # type: ignore[no-untyped-call]
        dispatch_model(network, dict(_places(network, network)), main_device=DEVICES[0])
        inputs = str(network.get_input_embeddings().weight.device)
        yield LanguageModel(network, model.tokenizer, model.name, model.revision, model.dtype, inputs)


def _places(network: Any, module: Any, name: str = "", layers: int = 0) -> Iterator[tuple[str, str]]:
    """Every layer and what else has no parts, and where it goes; `layers` come before it."""
    for part, child in module.named_children():
        whole = f"{name}.{part}".lstrip(".")
        is_layer = type(child).__name__ in network._no_split_modules
        if is_layer or not any(child.children()):
            tied = getattr(child, "weight", None) is network.get_input_embeddings().weight
            yield whole, DEVICES[layers > 0 and not tied]
            layers += is_layer
        else:
            yield from _places(network, child, whole, layers)
            layers += sum(type(one).__name__ in network._no_split_modules for one in child.modules())
