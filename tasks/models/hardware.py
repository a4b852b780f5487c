"""What a processor or GPU is called."""

import platform
import re
from pathlib import Path


def processor() -> str:
    """The name of this machine's processor, or its kind where the system does not say more."""
    file = Path("/proc/cpuinfo")
    named = re.search(r"^model name\s*: (.*)$", file.read_text("utf-8") if file.is_file() else "", re.MULTILINE)
    return named[1] if named else platform.machine()


def hardware_of(placement: str) -> str:
    """The names of the devices of a placement such as "cpu" or "cuda:0+cuda:1", each once."""
    import torch

    devices = map(torch.device, placement.split("+"))
    names = (torch.cuda.get_device_name(one) if one.type == "cuda" else processor() for one in devices)
    return ", ".join(dict.fromkeys(names))
