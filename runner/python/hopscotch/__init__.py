"""Hopscotch in Python: run a spec, and read what a campaign holds as numpy arrays.

    import hopscotch

    campaign = hopscotch.run("experiments/smoke.yaml")     # or hopscotch.open("results/smoke")
    trials = campaign.trials()                             # {"k_fp": array, ..., "fitness": array}
    best = campaign.best(3)                                # a list of dicts, the best first
    motion = campaign.trajectory(best[0]["id"])            # {"time": array, "z_foot": array, ...}
    campaign.verify()["success"]                           # fresh seeds, changed parameters
    hopscotch.list()                                       # all campaigns in results
    hopscotch.run(spec, function=f)                        # f(parameters) -> metrics is the simulator

    lab = hopscotch.by_hand("experiments/manual_gripper.yaml")   # trials that you run yourself
    trials = lab.ask(4)                                    # [{"trial": 0, "grip": 5.8, ...}, ...]
    lab.tell({"trial": 0, "slip": 0.4, "lift_time": 2.9})

    env = hopscotch.VectorEnv("experiments/hopper_env.yaml", lanes=4096)   # needs the package gymnasium

The package calls the program `hopscotch`, so every number is the one that the program prints. program.find() says where
it looks for it.
"""

import importlib

from .program import Error


class _Missing(Error, AttributeError):
    """A package is missing. help(hopscotch) and hasattr look for an AttributeError."""


_HOME = {"Campaign": ".results", "compare": ".results", "open": ".results", "units": ".results", "verify": ".results",
         "list": ".results", "run": ".runs", "by_hand": ".runs", "Failure": ".worker", "Env": ".environment", "VectorEnv": ".environment"}
_OTHER = {"list": "list_campaigns"}  # a module that needs Python's own can't call it so


def __getattr__(name):
    """Loads a module with the first name that needs it: a worker needs no numpy, and only environments gymnasium."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(_HOME[name], __name__), _OTHER.get(name, name))
    except ModuleNotFoundError as error:
        raise _Missing(f"hopscotch.{name} needs the package {error.name}: pip install {error.name}") from error


def __dir__():
    """For completion: also the names that are not loaded yet."""
    return sorted({*globals(), *_HOME})


__all__ = ["Campaign", "Env", "Error", "Failure", "VectorEnv", "by_hand", "compare", "list", "open", "run", "units", "verify"]
__version__ = "0.1.0"
