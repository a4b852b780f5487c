"""Real HTTP servers on 127.0.0.1 for tests of what asks public services."""
