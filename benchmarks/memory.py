"""Peak memory of the engine under a budget, against the number of contexts and of queries.

Each setting has a process of its own. On a CPU its peak is the most that was resident (Linux, VmHWM), on CUDA the most
that torch allocated; the baseline is what was there before, with the model loaded and a few prompts read.
"""

import argparse
import json
import subprocess
import sys
from typing import Any

import torch

from benchmarks import workload
from benchmarks.machine import forget_peak, memory_in_use, peak_memory, this_machine
from benchmarks.measuring import MODEL, Table, arguments, publish
from swaymeter.tasks.models import load_language_model
from swaymeter.tasks.scoring.persuasion import persuasion

MIB = 1 << 20
FORMS = len(workload.FORMS)
AN_ENTITY = sum(workload.PER_KIND.values())
COLUMNS = (
    "contexts", "queries", "baseline, MiB", "peak", "above baseline", "budget", "within",
    "contexts x queries x vocabulary",
)  # fmt: skip


def main() -> None:
    """Measures each setting in a process of its own, prints and writes."""
    asked = _asked()
    if asked.child:
        print(json.dumps(_measured(asked, *asked.child)))
        return
    fewest_contexts, fewest_queries = min(asked.contexts), min(asked.queries)
    pairs = [(contexts, fewest_queries) for contexts in asked.contexts]
    pairs += [(fewest_contexts, queries) for queries in asked.queries if queries != fewest_queries]
    settings = []
    for contexts, queries in pairs:
        settings.append(_of_child(contexts, queries))
        print(f"  {contexts} contexts, {queries} queries: {settings[-1]['above_baseline'] / MIB:.0f} MiB", flush=True)
    machine = this_machine(asked.device)
    table = Table(
        f"{asked.model} in {asked.dtype}, {machine.name}",
        COLUMNS,
        [_cells(one) for one in settings],
        ["The last column is what all log-distributions at once would take."],
    )
    measured = {"model": asked.model, "dtype": asked.dtype, "device": asked.device, "settings": settings}
    publish(f"memory-{asked.dtype}", machine, [table], measured, asked)


def _asked() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument(
        "--contexts", type=int, nargs="+", default=[60, 120, 240, 480, 960], help="before the fewest queries"
    )
    parser.add_argument("--queries", type=int, nargs="+", default=[20, 80, 400], help="after the fewest contexts")
    parser.add_argument("--budget", type=int, default=1024, help="MiB; by default 1024")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("--model", default=MODEL, help="an alias of the catalog, a folder or a hub id")
    parser.add_argument("--child", type=int, nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.quick:
        asked.contexts, asked.queries, asked.budget = [12], [4, 8], 64
    return asked


def _of_child(contexts: int, queries: int) -> dict[str, Any]:
    command = [sys.executable, *sys.argv, "--child", str(contexts), str(queries)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _measured(asked: argparse.Namespace, contexts: int, queries: int) -> dict[str, Any]:
    model = load_language_model(asked.model, dtype=asked.dtype, device=asked.device)
    prompts = workload.texts()
    texts = prompts.contexts(-(-contexts // AN_ENTITY), workload.PER_KIND)[:contexts]
    asking = prompts.queries(-(-queries // FORMS))[:queries]
    budget = asked.budget * MIB
    persuasion(model, texts[:2], asking[:2], memory=budget)
    forget_peak(model.device)
    baseline = memory_in_use(model.device)
    persuasion(model, texts, asking, memory=budget)
    peak = peak_memory(model.device)
    vocabulary = int(model.model.config.get_text_config().vocab_size)
    return {
        "contexts": contexts,
        "queries": queries,
        "baseline": baseline,
        "peak": peak,
        "above_baseline": peak - baseline,
        "budget": budget,
        "within_budget": peak - baseline <= budget,
        "all_at_once": contexts * queries * vocabulary * torch.finfo(model.model.dtype).bits // 8,
    }


def _cells(setting: dict[str, Any]) -> list[str]:
    sizes = (setting[key] for key in ("baseline", "peak", "above_baseline", "budget"))
    return [
        str(setting["contexts"]),
        str(setting["queries"]),
        *(f"{size / MIB:.0f}" for size in sizes),
        "yes" if setting["within_budget"] else "no",
        f"{setting['all_at_once'] / MIB:.0f}",
    ]


if __name__ == "__main__":
    main()
