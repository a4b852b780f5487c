"""Annotators judge questions: their sheets, the import of their judgements, and the questions that result."""
