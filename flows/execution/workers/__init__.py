"""Where steps are computed: in the process that walks the graph, in processes beside it, or in a Dask cluster.

Without Prefect: a worker needs neither Prefect nor a way to its API.
"""
