"""Hopscotch in Python: run a spec, and read what a campaign holds as numpy arrays.

    import hopscotch

    campaign = hopscotch.run("experiments/smoke.yaml")     # or hopscotch.open("results/smoke")
    trials = campaign.trials()                             # {"k_fp": array, ..., "fitness": array}
    best = campaign.best(3)                                # a list of dicts, the best first
    motion = campaign.trajectory(best[0]["id"])            # {"time": array, "z_foot": array, ...}

The package calls the program `hopscotch`, so every number is the one that the program prints. program.find() says where
it looks for it.
"""

import importlib

from .program import Error

_HOME = {"Campaign": ".results", "open": ".results", "run": ".runs"}


def __getattr__(name):
    """Loads numpy with the first name that needs it: workers (hopscotch.worker) do without."""
    if name not in _HOME:
        raise AttributeError(f"module 'hopscotch' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOME[name], __name__), name)


__all__ = ["Campaign", "Error", "open", "run"]
__version__ = "0.1.0"
