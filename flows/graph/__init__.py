"""What a graph of steps is: steps with their ids, artifacts with their states, reruns and selections.

Nothing here knows which steps a study has (swaymeter.flows.stages does), runs a step, or imports Prefect.
"""
