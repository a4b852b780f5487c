"""Graph of steps: steps with ids, artifacts with states, reruns and selections.

The steps of a study are in swaymeter.flows.stages. No module here runs a step or imports Prefect.
"""
