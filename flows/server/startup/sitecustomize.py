"""Imported by Python at the start of every process below ours, since `flows.server.process` puts it on PYTHONPATH.

Prefect puts the working directory before everything else, on PYTHONPATH and on sys.path while it imports a flow. By
then our packages are imported, so one of the user's with the same name is not.
"""

import os
import sys
from importlib import import_module

root = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
sys.path.insert(0, root)
for package in ("data", "flows", "reports", "tasks"):
    import_module(package)
if os.environ.get("SWAYMETER_LEADER") == str(os.getppid()):  # a flow run ends with the worker that started it
    from threading import Thread

    from flows.server.child import end_with

    Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
sys.path.remove(root)
