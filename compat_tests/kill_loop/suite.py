"""A few rounds of the kill loop (loop.py); `./dev kills` runs hundreds."""

from harness import paths
from harness.context import Context
from harness.looped import run_loop

KILLS = 4


def run(context: Context):
    run_loop(context, "nothing_answered_is_lost_by_kills", paths.COMPAT / "kill_loop" / "loop.py", "--kills", str(KILLS))
