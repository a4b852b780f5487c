"""The bundled studies."""
