"""Two made-up devices: their tensors lie in the CPU's memory, but have the device "cpu:0" or "cpu:1".

As with CUDA, operations on tensors of different devices raise an error, and so does numpy without `.cpu()`. Indices and
tensors without dimensions may come from the CPU.
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


class DeviceTensor(torch.Tensor):
    """A tensor on one of the two devices, with a CPU tensor that has its values."""

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
    """A mode that gives the results of torch.tensor and torch.as_tensor, which ignore dispatch modes, their device."""

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
    """Return the device of every layer, and of every module outside the layers without children."""
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
