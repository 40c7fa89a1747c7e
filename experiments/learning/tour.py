# %% [markdown]
# A tour of Hopscotch in Python. Run it in the repository's folder, as a script or cell by cell (VS Code, Spyder,
# Jupyter by jupytext):
#
#     python3 experiments/learning/tour.py
#
# It needs numpy. The plot needs matplotlib, the environments need gymnasium; without them these cells are left out.

# %% A spec is run. The line of progress also shows in a notebook. A dict with the keys of a spec does as well.
import hopscotch
import numpy

campaign = hopscotch.run("experiments/smoke.yaml", name="tour", settings={
    "search.over.k_fp": [50, 100, 200], "search.over.thrust": [25, 35, 45]})
print(campaign.status()["state"], "with", campaign.status()["trials"], "trials")

# %% What it found: arrays by the names of their columns; `campaign.frame()` is the same as a pandas.DataFrame.
trials = campaign.trials(where="failure = 'none'", order="fitness")
print("columns:", ", ".join(trials))
for thrust in numpy.unique(trials["thrust"]):
    print(f"thrust {thrust:g} N: best fitness {trials['fitness'][trials['thrust'] == thrust].min():.4f}")
best = campaign.best(1)[0]
print(f"best: trial {best['id']}, k_fp {best['k_fp']:g} N m/rad, {best['mean_speed']:.2f} m/s")

# %% A motion. Trials are simulated again, and every number is compared with the stored one, to the bit.
motion = campaign.trajectory("best", sample=0.005)
again = hopscotch.open("results/tour").trajectory(best["id"], sample=0.005)
assert all(numpy.array_equal(motion[name], again[name]) for name in motion)
print(f"{motion['time'][-1]:.1f} s of motion, the foot rises to {motion['z_foot'].max():.3f} m")

# %% A plot of it
try:
    import matplotlib.pyplot as plot
except ImportError:
    print("no plot: matplotlib is not installed")
else:
    plot.plot(motion["time"], motion["z_foot"])
    plot.xlabel("time (s)")
    plot.ylabel("height of the foot (m)")
    plot.savefig("results/tour/foot.png")

# %% Environments: 16 hoppers are stepped together, and every tenth of a second each gets another torque.
short = {"replicates": {}, "simulation.duration": 1, "simulation.settle": 0}  # s; the same start in each episode
try:
    env = hopscotch.VectorEnv("experiments/hopper_env.yaml", lanes=16, device="cpu", autoreset="disabled",
                              settings=short)
except hopscotch.Error as error:
    raise SystemExit(f"no environments: {error}")
random = numpy.random.default_rng(1)
actions = numpy.empty((env.episode_steps, 16, 2))
observed = numpy.empty((env.episode_steps, 16, len(env.observations)))
env.reset(seed=1)
for step in range(env.episode_steps):
    torque = random.uniform(-20, 20, 16) if step % 10 == 0 else torque
    actions[step] = numpy.column_stack([numpy.full(16, 40.0), torque])
    observed[step], reward, terminated, truncated, _ = env.step(actions[step])
episodes = env.episodes()
print(f"{int(terminated.sum())} of 16 fell; the best return is {episodes['return'].max():.3f}")

# %% The same actions in a table move a hopper of `run` in the same way, to the bit.
lane = int(episodes["steps"].argmax())
steps = int(episodes["steps"][lane])
table = hopscotch.run("experiments/hopper_env.yaml", name="tour_table", progress=False, settings={
    **short, "simulation.control.actions": actions[:, lane].ravel()})
motion = table.trajectory(0, sample=env.control_period)
foot = [row[0] for row in env.observations].index("z_foot")
assert numpy.array_equal(motion["z_foot"][1:steps], observed[:steps - 1, lane, foot])
print(f"lane {lane}: {steps} steps of the environment are those of a run, to the bit")
env.close()
