"""Learns a policy for an environment by proximal policy optimisation, and writes it as a table of weights.

    python3 ppo.py hopper_env.yaml --device cuda --steps 80000000 -o policy.csv

The table is what `control: policy` reads, and `policies` of a control law: `hopscotch run hopper_policy.yaml` runs the
policy in the kernel. Needs torch.

Sources: Schulman et al., Proximal policy optimization algorithms, arXiv:1707.06347, 2017, equation 7; Schulman et al.,
High-dimensional continuous control using generalized advantage estimation, arXiv:1506.02438, 2016, equation 16.
"""

import argparse
import csv
import math
import time

import torch

import hopscotch


class Normal(torch.nn.Module):
    """Running mean and standard deviation of observations (Chan, Golub & LeVeque, Am. Stat. 37, 1983)."""

    def __init__(self, width):
        super().__init__()
        self.register_buffer("count", torch.tensor(1e-4, dtype=torch.float64))
        self.register_buffer("mean", torch.zeros(width, dtype=torch.float64))
        self.register_buffer("square", torch.ones(width, dtype=torch.float64) * 1e-4)

    def see(self, rows):
        mean, n = rows.mean(0), rows.shape[0]
        apart, total = mean - self.mean, self.count + n
        self.square += ((rows - mean) ** 2).sum(0) + apart**2 * self.count * n / total
        self.mean += apart * n / total
        self.count.copy_(total)

    def scale(self):
        return (self.square / self.count).sqrt().clamp(min=1e-6)

    def forward(self, rows):  # not cut, as the table has it; tanh bounds what follows
        return ((rows - self.mean) / self.scale()).float()


def network(widths, gain):
    """Linear layers with tanh between them; the last one begins with weights times `gain`."""
    layers = []
    for k, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
        last = k + 2 == len(widths)
        linear = torch.nn.Linear(inputs, outputs)
        torch.nn.init.orthogonal_(linear.weight, gain if last else math.sqrt(2))
        torch.nn.init.zeros_(linear.bias)
        layers += [linear] if last else [linear, torch.nn.Tanh()]
    return torch.nn.Sequential(*layers)


class Agent(torch.nn.Module):
    """A Gaussian policy in units of the actions' ranges, -1 to 1, and the value of a state."""

    def __init__(self, observations, actions, hidden):
        super().__init__()
        self.seen = Normal(observations)
        self.actor = network([observations, *hidden, actions], 0.01)
        self.critic = network([observations, 64, 64, 1], 1.0)
        self.log_deviation = torch.nn.Parameter(torch.full((actions,), -0.5))

    def policy(self, rows):
        return torch.distributions.Normal(self.actor(rows), self.log_deviation.exp())

    def value(self, rows):
        return self.critic(rows).squeeze(-1)


def collect(env, agent, scale, observation, steps):
    """[steps][lanes] of what a policy does; returns it with the last observation."""
    rows = {name: [] for name in ("observation", "action", "likelihood", "value", "reward", "over", "cut", "after")}
    with torch.no_grad():
        for _ in range(steps):
            seen = agent.seen(observation)
            policy = agent.policy(seen)
            action = policy.sample()
            value = agent.value(seen)
            low, high = scale
            centred = action.clamp(-1, 1).to(low.dtype)
            raw = observation.clone()
            observation, reward, terminated, truncated, info = env.step(low + (high - low) * (centred + 1) / 2)
            ended = (terminated | truncated).bool().unsqueeze(-1)
            final = torch.where(ended, info["final_obs"], observation)  # elsewhere it is of an earlier episode
            for name, row in (("observation", raw), ("action", action), ("value", value), ("reward", reward.float()),
                              ("likelihood", policy.log_prob(action).sum(-1)), ("over", terminated.bool()),
                              ("cut", truncated.bool()), ("after", agent.value(agent.seen(final)))):
                rows[name].append(row.clone())
    return {name: torch.stack(row) for name, row in rows.items()}, observation


def advantages(rows, discount, trace):
    """Generalised advantages: a terminated state is worth nothing, a truncated one what the critic says."""
    advantage = torch.zeros_like(rows["reward"])
    later = torch.zeros_like(rows["reward"][0])
    for t in reversed(range(len(advantage))):
        ended = rows["over"][t] | rows["cut"][t]
        target = rows["reward"][t] + discount * rows["after"][t] * ~rows["over"][t]
        later = target - rows["value"][t] + discount * trace * later * ~ended
        advantage[t] = later
    return advantage


def improve(agent, optimiser, rows, advantage, options):
    """Several passes over what was collected, in shuffled parts."""
    flat = {name: row.flatten(0, 1) for name, row in rows.items()}
    gain, target = advantage.flatten(), (advantage + rows["value"]).flatten()
    seen = agent.seen(flat["observation"])
    for _ in range(options.passes):
        for part in torch.randperm(len(gain), device=gain.device).chunk(options.parts):
            policy = agent.policy(seen[part])
            ratio = (policy.log_prob(flat["action"][part]).sum(-1) - flat["likelihood"][part]).exp()
            better = (gain[part] - gain[part].mean()) / (gain[part].std() + 1e-8)
            clipped = ratio.clamp(1 - options.clip, 1 + options.clip)
            loss = -torch.min(ratio * better, clipped * better).mean()
            loss = loss + 0.5 * (agent.value(seen[part]) - target[part]).square().mean()
            loss = loss - options.entropy * policy.entropy().sum(-1).mean()
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimiser.step()


def write(agent, path):
    """The table of `control: policy`: layer, output, input (0: the constant), weight. Observations are scaled in it."""
    linear = [layer for layer in agent.actor if isinstance(layer, torch.nn.Linear)]
    mean, scale = agent.seen.mean.cpu(), agent.seen.scale().cpu()
    with open(path, "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["layer", "output", "input", "weight"])
        for number, layer in enumerate(linear, 1):
            weight, constant = layer.weight.detach().double().cpu(), layer.bias.detach().double().cpu()
            if number == 1:
                weight = weight / scale
                constant = constant - weight @ mean
            for output in range(weight.shape[0]):
                rows.writerow([number, output + 1, 0, repr(float(constant[output]))])
                for k in range(weight.shape[1]):
                    rows.writerow([number, output + 1, k + 1, repr(float(weight[output, k]))])


def learn(options):
    torch.manual_seed(options.seed)
    env = hopscotch.VectorEnv(options.spec, lanes=options.lanes, device=options.device, seed=options.seed,
                              autoreset="same_step", arrays=torch.from_dlpack, action_bounds=options.bounds)
    observation, _ = env.reset()
    device = observation.device
    scale = tuple(torch.as_tensor(bound, dtype=observation.dtype, device=device)
                  for bound in (env.single_action_space.low, env.single_action_space.high))
    agent = Agent(observation.shape[1], len(scale[0]), options.hidden).to(device)
    optimiser = torch.optim.Adam(agent.parameters(), lr=options.rate)
    rounds = max(1, options.steps // (options.lanes * options.horizon))
    begun = time.monotonic()
    for number in range(rounds):
        rows, observation = collect(env, agent, scale, observation, options.horizon)
        improve(agent, optimiser, rows, advantages(rows, options.discount, options.trace), options)
        agent.seen.see(rows["observation"].flatten(0, 1).double())
        for group in optimiser.param_groups:
            group["lr"] = options.rate * (1 - number / rounds)
        if number % max(1, rounds // 20) == 0 or number + 1 == rounds:
            ended = (rows["over"] | rows["cut"]).float().mean().item()
            print(f"{(number + 1) * options.lanes * options.horizon:>11,} steps {time.monotonic() - begun:7.1f} s  "
                  f"reward {rows['reward'].mean().item():9.4f}  episodes of {1 / max(ended, 1e-9):8.1f} steps  "
                  f"falls {rows['over'].float().mean().item() / max(ended, 1e-9):.2f}", flush=True)
    write(agent, options.output)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("spec")
    parser.add_argument("-o", "--output", default="policy.csv", help="the table of weights")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    parser.add_argument("--bounds", type=float, nargs=2, help="of every action, such as -0.3 0.3; see control.bounds")
    parser.add_argument("--lanes", type=int, default=4096, help="environments at once")
    parser.add_argument("--steps", type=int, default=20_000_000, help="environment steps in all")
    parser.add_argument("--horizon", type=int, default=64, help="steps between two improvements")
    parser.add_argument("--hidden", type=int, nargs="*", default=[16, 16], help="widths of the policy's layers")
    parser.add_argument("--passes", type=int, default=4)
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--discount", type=float, default=0.99)
    parser.add_argument("--trace", type=float, default=0.95)
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--entropy", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=1)
    learn(parser.parse_args())


if __name__ == "__main__":
    main()
