"""The stages of a study, one module each; `swaymeter.flows.study_graph` connects them. No stage imports Prefect."""
