"""What a lasting server does by itself about runs: those of killed processes become Crashed, and a webhook is called.

    python -m swaymeter.flows.server.automations

registers this on the configured server, in place of what it registered before. The webhook is that of the variable
SWAYMETER_WEBHOOK; without it nobody is notified. It is called of runs that failed, and of headline numbers that left
the bounds of the study's section `watch`. `prefect.yaml` runs failed relations once more.
"""

import os
from datetime import timedelta
from typing import Any

from swaymeter.flows.server.settings import HEARTBEAT_SECONDS, keep_quiet

MISSED = 4
"""Heartbeats that have to be missing before a run counts as killed."""

OURS: dict[str, str | list[str]] = {"prefect.resource.role": "flow", "prefect.resource.name": ["study", "report"]}
ENDED = ("Completed", "Failed", "Crashed", "Cancelled", "Paused", "Suspended")
CRASHED = "swaymeter: runs of killed processes"
NOTIFIED = "swaymeter: notification of failed runs"
UNMET = "swaymeter.watch.unmet"
"""The event of a run one of whose numbers is not within its bounds; its message says which."""
WATCHED = "swaymeter.study"
"""What the id of the event's resource begins with; the study's name follows."""
OUT_OF_BOUNDS = "swaymeter: notification of numbers out of their bounds"
PAYLOAD_OF_NUMBERS = (
    '{"text": {{ ("swaymeter: " ~ event.resource["prefect.resource.name"] ~ ": " ~ event.payload.message) | tojson }}}'
)
PAYLOAD = (
    '{"text": {{ ("swaymeter: " ~ flow_run.name ~ " has ended as " ~ flow_run.state.name ~ ": " '
    "~ (flow_run.state.message or '')) | tojson }}}"
)


def register() -> None:
    """Registers the automations."""
    from prefect.blocks.webhook import Webhook
    from prefect.client.schemas.objects import StateType
    from prefect.events.actions import CallWebhook, ChangeFlowRunState
    from prefect.events.schemas.automations import EventTrigger, Posture

    runs: dict[str, str | list[str]] = {"prefect.resource.id": "prefect.flow-run.*"}
    killed = EventTrigger(
        posture=Posture.Proactive,
        match=runs,
        match_related=OURS,
        for_each={"prefect.resource.id"},
        after={"prefect.flow-run.heartbeat"},
        expect={"prefect.flow-run.heartbeat", *(f"prefect.flow-run.{state}" for state in ENDED)},
        threshold=1,
        within=timedelta(seconds=MISSED * HEARTBEAT_SECONDS),
    )
    message = f"no heartbeat for {MISSED * HEARTBEAT_SECONDS} s: its process was killed, or its machine is away"
    _replace(CRASHED, killed, ChangeFlowRunState(name=None, state=StateType.CRASHED, message=message, force=False))

    if url := os.environ.get("SWAYMETER_WEBHOOK"):
        failed = EventTrigger(
            match=runs, match_related=OURS, threshold=1, expect={"prefect.flow-run.Failed", "prefect.flow-run.Crashed"}
        )
        block: Any = Webhook.model_validate({"url": url, "headers": {"Content-Type": "application/json"}})
        webhook = block.save("swaymeter", overwrite=True)
        _replace(NOTIFIED, failed, CallWebhook(block_document_id=webhook, payload=PAYLOAD))
        unmet = EventTrigger(match={"prefect.resource.id": f"{WATCHED}.*"}, expect={UNMET}, threshold=1)
        _replace(OUT_OF_BOUNDS, unmet, CallWebhook(block_document_id=webhook, payload=PAYLOAD_OF_NUMBERS))


def _replace(name: str, trigger: Any, action: Any) -> None:
    from prefect.client.orchestration import get_client
    from prefect.events.schemas.automations import AutomationCore

    with get_client(sync_client=True) as client:
        for other in client.read_automations_by_name(name):
            client.delete_automation(other.id)
        client.create_automation(AutomationCore(name=name, trigger=trigger, actions=[action]))


if __name__ == "__main__":
    keep_quiet()
    register()
