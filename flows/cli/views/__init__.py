"""Output of commands: status, differences, audits, comparisons and lists."""
