"""What counts as done: a file with the wanted key in the workspace, and nothing that Prefect remembers.

Prefect's own caching would answer for work whose files were removed, damaged or made from something else: a retried
flow takes a persisted result past the workspace, and a cache hit is one whatever lies on the disk. So no result is
persisted, nothing is cached, and every task asks the workspace first; a retry in the UI, `prefect flow-run retry` and
running the study again then all do the same: what is not done.
"""

from typing import Any

from prefect.cache_policies import NO_CACHE

ASK_THE_WORKSPACE: dict[str, Any] = {"cache_policy": NO_CACHE, "persist_result": False}
