"""HTTP servers on 127.0.0.1 that play public services."""
