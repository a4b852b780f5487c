"""The stages of a study, a module each; `resolve` puts them together and is the place to begin reading.

Nothing here imports Prefect.
"""
