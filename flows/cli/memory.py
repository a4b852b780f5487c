"""A limit of the memory of this process: libraries that meet it print tracebacks, or end it without a word."""

import sys

from swaymeter.data.errors import SwaymeterError, first_line

LEAST = 1.5
"""GiB of addresses, without which the libraries cannot even be loaded with their threads."""


SIGNS = ("failed to map segment", "allocate", "allocation", "can't start new thread", "memory")
"""What libraries and the system say then."""


def check_memory() -> None:
    """SwaymeterError where the limit is below what every command needs but those that only explain."""
    if limited_to() < LEAST and not {"--help", "--version"} & {*sys.argv}:
        raise SwaymeterError(_sentence())


def short_of_memory(error: Exception) -> str:
    """What to do, as a sentence, where an error comes of the limit; else empty."""
    is_sign = isinstance(error, MemoryError) or any(sign in str(error).lower() for sign in SIGNS)
    return f"{_sentence()} ({first_line(error)})" if is_sign and limited_to() < float("inf") else ""


def _sentence() -> str:
    return (
        f"the memory of this process is limited to {limited_to():.1f} GiB of addresses (ulimit -v), which is not "
        "enough; raise it or remove it (ulimit -v unlimited), and run the same command again"
    )


def limited_to() -> float:
    """The limit in GiB; infinite where there is none."""
    try:
        import resource
    except ImportError:  # not on Windows
        return float("inf")
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return float("inf") if limit == resource.RLIM_INFINITY else limit / 2**30
