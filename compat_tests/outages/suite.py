"""Every kind of outage once, on a broker under load (loop.py); `./dev outages` runs hundreds."""

from harness import paths
from harness.context import Context
from harness.looped import run_loop


def run(context: Context):
    run_loop(context, "each_outage_ends_as_its_message_says_and_loses_nothing", paths.COMPAT / "outages" / "loop.py", "--each",
                "--work-seconds", "0.2")
