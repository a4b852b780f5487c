"""The stages of a study, a module each: which steps of each kind a study has, what they are made from, and their names.

`study_graph` lists the kinds of steps and is the place to begin reading; `resolve` puts the stages together. Nothing
here runs a step or imports Prefect.
"""
