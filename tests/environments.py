"""Environments of a spec stepped together against single ones that Gymnasium steps one by one."""
import hopscotch
import numpy
from gymnasium.vector import AutoresetMode, SyncVectorEnv


def same(a, b, what):
    assert numpy.array_equal(a, b, equal_nan=True), (what, a, b)


def compare(spec, mode, lanes, steps, settings, least, change=lambda step, actions: None):
    """More than `least` episodes end in these steps. change: of the actions before a step."""
    ours = hopscotch.VectorEnv(spec, lanes, "cpu", autoreset=mode, settings=settings)
    theirs = SyncVectorEnv([lambda: hopscotch.Env(spec, settings=settings)] * lanes,
                           autoreset_mode=AutoresetMode[mode.upper()])
    same(ours.reset(seed=40)[0], theirs.reset(seed=40)[0], "reset")
    ours.action_space.seed(3)
    ended = 0
    for step in range(steps):
        actions = ours.action_space.sample()
        change(step, actions)
        mine, other = ours.step(actions), theirs.step(actions)
        for k, what in enumerate(("observation", "reward", "terminated", "truncated")):
            same(mine[k], other[k], (mode, step, what))
        over = mine[2] | mine[3]
        ended += over.sum()
        if mode == "same_step" and over.any():
            same(mine[4]["_final_obs"], other[4]["_final_obs"], "mask")
            for lane in numpy.flatnonzero(over):
                same(mine[4]["final_obs"][lane], other[4]["final_obs"][lane], "last observation")
        if mode == "disabled" and over.any():
            options = {"reset_mask": over}
            same(ours.reset(options=dict(options))[0], theirs.reset(options=dict(options))[0], "mask of a reset")
    assert ended > least, ended
    ours.close()
    theirs.close()
