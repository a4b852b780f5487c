"""Imported by Python at the start of every process below ours, since `swaymeter.flows.server.process` puts it on
PYTHONPATH: a flow run ends with the worker that started it.
"""

import os

if os.environ.get("SWAYMETER_LEADER") == str(os.getppid()):
    from threading import Thread

    from swaymeter.flows.server.child import end_with

    Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
