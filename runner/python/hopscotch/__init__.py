"""Hopscotch in Python: run a spec, and read what a campaign holds as numpy arrays.

    import hopscotch

    campaign = hopscotch.run("experiments/smoke.yaml")     # or hopscotch.open("results/smoke")
    trials = campaign.trials()                             # {"k_fp": array, ..., "fitness": array}
    best = campaign.best(3)                                # a list of dicts, the best first
    motion = campaign.trajectory(best[0]["id"])            # {"time": array, "z_foot": array, ...}

    env = hopscotch.VectorEnv("experiments/hopper_env.yaml", lanes=4096)   # needs the package gymnasium

The package calls the program `hopscotch`, so every number is the one that the program prints. program.find() says where
it looks for it.
"""

import importlib

from .program import Error

_HOME = {"Campaign": ".results", "open": ".results", "run": ".runs", "Env": ".environment", "VectorEnv": ".environment"}


def __getattr__(name):
    """Loads a module with the first name that needs it: a worker needs no numpy, and only environments gymnasium."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(_HOME[name], __name__), name)
    except ModuleNotFoundError as error:
        raise Error(f"hopscotch.{name} needs the package {error.name}: pip install {error.name}") from error


__all__ = ["Campaign", "Env", "Error", "VectorEnv", "open", "run"]
__version__ = "0.1.0"
