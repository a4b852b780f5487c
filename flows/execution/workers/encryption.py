"""TLS between the processes of a Dask cluster: who reaches a scheduler without its key cannot have anybody compute.

Dask's configuration says what key and certificate are; where it names none, a cluster that we start for one run gets a
file with both, which all of its processes read and nobody else may.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from swaymeter.data.errors import WorkspaceError

ROLES = ("client", "scheduler", "worker")
VALID = timedelta(days=365)
SKEW = timedelta(days=1)
"""By how much the clock of a worker may be behind: Dask's own temporary certificates are refused by one that is."""


def configuration(file: Path) -> dict[str, Any]:
    """Dask's configuration for connections with the key and certificate in a file; the user's where there is one."""
    import dask

    if dask.config.get("distributed.comm.tls.ca-file", None):
        return {}
    names = ("ca-file", *(f"{role}.{part}" for role in ROLES for part in ("cert", "key")))
    tls = {f"distributed.comm.tls.{name}": str(file) for name in names}
    return {"distributed.comm.require-encryption": True, **tls}


@contextmanager
def written(file: Path) -> Iterator[None]:
    """The file with a key and its certificate is there meanwhile; also one that a killed run left is replaced."""
    try:
        file.unlink(missing_ok=True)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
            opened.write(_key_and_certificate())
    except OSError as error:
        raise WorkspaceError(f"{file} cannot be written: {error.strerror}; choose another --workspace") from None
    try:
        yield
    finally:
        with suppress(OSError):  # the folder may be away
            file.unlink()


def _key_and_certificate() -> bytes:
    """A new key, and the certificate by which its holders recognise each other, as PEM."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "swaymeter")])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now - SKEW, now + VALID)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    return key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain) + certificate.public_bytes(pem)
