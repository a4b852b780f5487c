"""The stages of a study, a module each: which steps a stage has, what each needs and makes, and what it does.

`study_graph` puts them together and is the place to begin reading. Nothing here runs a step or imports Prefect.
"""
