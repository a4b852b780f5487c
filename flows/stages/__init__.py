"""The stages of a study, a module each; `swaymeter.flows.study_graph` puts them together.

Nothing here imports Prefect.
"""
