"""Workers that compute steps: the process of the study, processes beside it, or a Dask cluster.

A worker needs neither Prefect nor access to its API.
"""
