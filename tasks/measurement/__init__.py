"""From prompts in the workspace to score files: what a Prefect task run does for a model, a relation and a family."""
