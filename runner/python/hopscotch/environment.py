"""Environments for learning, as Gymnasium has them, over the library: many lanes of one spec, on the CPU or a GPU."""

import ctypes
import operator

import gymnasium
import numpy
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from . import library
from .program import Error
from .runs import setting_words, spec_file

LEGACY_STREAM = 1  # cudaStreamLegacy: where packages work that were told of no stream


class _Handle:
    """An open environment of the library. Closing it twice does nothing; using it afterwards is an Error."""

    def __init__(self, spec, options, settings):
        words = [library.text(word) for word in setting_words(settings)]
        options.size, options.n_set = ctypes.sizeof(library.Options), len(words)
        options.set = (ctypes.c_char_p * len(words))(*words) if words else None
        self.pointer = ctypes.c_void_p()
        with spec_file(spec) as (path, readable):
            status = library.load().hopscotch_env_open(library.text(path), ctypes.byref(options),
                                                       ctypes.byref(self.pointer))
            with readable:
                library.check(status)

    def open(self):
        if not self.pointer:
            raise Error("the environment is closed", library.CLOSED, "closed")
        return self.pointer

    def call(self, name, *arguments):
        pointer = self.open()
        library.check(getattr(library.load(), name)(pointer, *arguments), pointer)

    def close(self):
        """Error: a call of another thread is inside; the environment stays open then."""
        if self.pointer:
            status = library.load().hopscotch_env_close(self.pointer)
            if status != library.CLOSED:
                library.check(status)
            self.pointer = None

    def info(self):
        info = library.Info(size=ctypes.sizeof(library.Info))
        self.call("hopscotch_env_get_info", ctypes.byref(info))
        return info

    def fields(self, table, count):
        """Name, unit, low and high of each row."""
        field, rows = library.Field(), []
        for k in range(count):
            self.call("hopscotch_env_field", table, k, ctypes.byref(field))
            rows.append((field.name.decode(), field.unit.decode(), field.low, field.high))
        return rows

    def view(self, name):
        """The array in this machine's memory, for numpy; only the actions can be written."""
        return numpy.asarray(library.Memory(self, name, name == library.ACTIONS))


def _narrowed(rows, bounds):
    """The rows of actions within bounds: (low, high) of all, or of each by its name."""
    if bounds is None:
        return rows
    names = [row[0] for row in rows]
    given = bounds if isinstance(bounds, dict) else dict.fromkeys(names, bounds)
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ValueError(f"action_bounds: there is no action {unknown[0]!r}, but {', '.join(names)}")
    narrowed = []
    for name, unit, low, high in rows:
        least, most = map(float, given.get(name, (low, high)))
        if not max(least, low) < min(most, high):
            raise ValueError(f"action_bounds: {name} has no room from {least} to {most} within {low} to {high}")
        narrowed.append((name, unit, max(least, low), min(most, high)))
    return narrowed


def _box(rows, dtype):
    return gymnasium.spaces.Box(numpy.array([row[2] for row in rows], dtype),
                                numpy.array([row[3] for row in rows], dtype), dtype=dtype)


def _integer(value, name, low, high):
    """ctypes would cut a number that is too large."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or not low <= operator.index(value) <= high:
        raise ValueError(f"{name} is an integer from {low} to {high}, not {value!r}")
    return operator.index(value)


def _is_seed(seed):
    return isinstance(seed, (int, numpy.integer)) and not isinstance(seed, bool) and 0 <= seed < 2**64


def _is_real(array):
    """Is it of integers or floats, not of bool, complex numbers or objects? Packages name their types alike."""
    kind = getattr(array.dtype, "kind", "V")  # of numpy; V: a type that numpy has no letter for
    if kind != "V":
        return kind in "fiu"
    return str(array.dtype).split(".")[-1].startswith(("float", "int", "uint", "bfloat"))


def _lane_seeds(seed, lanes):
    """(which lanes have a seed, their seeds): of one integer, that of lane i is the i-th after it."""
    if _is_seed(seed) and seed + lanes <= 2**64:
        return numpy.ones(lanes, bool), numpy.arange(lanes, dtype=numpy.uint64) + numpy.uint64(seed)
    given = [None] * lanes if seed is None else list(seed) if hasattr(seed, "__iter__") else []
    if len(given) != lanes or not all(one is None or _is_seed(one) for one in given):
        raise ValueError(f"seed is an integer from 0 to 2^64 - {lanes}, or a list of {lanes} of them or None, one for "
                         "each environment")
    return numpy.array([one is not None for one in given]), numpy.array([one or 0 for one in given], numpy.uint64)


class VectorEnv(gymnasium.vector.VectorEnv):
    """Environments of one spec that are stepped together. The spec has `control: external`, or equations or a control
    law with inputs that have a range, and `environment:`.

    spec: a path, or a dict with the keys of a spec. lanes: environments. device: "auto", "cpu", "cuda" or "cuda:1".
    autoreset: "next_step", "same_step" or "disabled", as gymnasium.vector.AutoresetMode. dtype: of actions,
    observations and rewards, "float64" or "float32". seed: of lanes that are reset without one (default: that of the
    spec). settings: values that override keys of the spec, {"simulation.duration": 2}. threads: of the CPU; 0: all.

    action_bounds: (low, high), or a dict of these by the actions' names, which narrows the action space. The positions
    of a robot have no bounds unless its file gives the motors a range, and learners that sample or squash actions need
    some. An action outside of them is taken as it is.

    arrays: None gives numpy arrays, a copy each step; on the CPU only. A function that takes DLPack tensors, such as
    torch.from_dlpack, gives what it makes, without a copy: the same arrays each step, with other contents. On a GPU
    they stay in its memory, and no step waits for the device. Work is put on `stream` (an integer, as
    torch.cuda.current_stream().cuda_stream); None: on the stream that torch uses by itself.

    The bits are those of `hopscotch run` with the same actions, on any device, for any number of lanes."""

    def __init__(self, spec, lanes=1, device="auto", autoreset="next_step", dtype="float64", seed=None, settings=None,
                 threads=0, arrays=None, stream=None, action_bounds=None):
        self._handle = None
        if autoreset not in library.AUTORESETS:
            raise ValueError(f"autoreset is one of {', '.join(library.AUTORESETS)}, not {autoreset!r}")
        if dtype not in library.FLOATS:
            raise ValueError(f"dtype is one of {', '.join(library.FLOATS)}, not {dtype!r}")
        if not isinstance(device, str):
            raise ValueError(f"device is auto, cpu, cuda or cuda:N, not {device!r}")
        seed = None if seed is None else _integer(seed, "seed", 0, 2**64 - 1)
        self._stream = _integer(stream or LEGACY_STREAM, "stream", 0, 2**64 - 1)
        self._handle = _Handle(spec, library.Options(
            lanes=_integer(lanes, "lanes", 1, library.LANES), device=library.text(device),
            autoreset=library.AUTORESETS[autoreset], type=library.FLOATS[dtype],
            threads=_integer(threads, "threads", 0, library.THREADS), has_seed=seed is not None,
            seed=seed or 0), settings)
        info = self._handle.info()
        self.num_envs, self.device = info.lanes, info.device.decode()
        self.control_period, self.episode_steps = info.control_period, info.episode_steps
        self.metadata = {"autoreset_mode": AutoresetMode[autoreset.upper()], "render_modes": []}
        self._same_step = autoreset == "same_step"
        self._set_spaces(info, dtype, action_bounds)
        self._set_arrays((info.device_type, info.device_id), arrays)

    def _set_spaces(self, info, dtype, action_bounds):
        self.actions = self._handle.fields(library.TABLE_ACTIONS, info.n_actions)  # name, unit, low, high
        # an action that is observed is 0 at first, which its range may lack; each episode may draw ranges of its own
        given = {row[0] for row in self.actions}
        self.observations = [row if row[0] not in given else (*row[:2], -numpy.inf, numpy.inf) for row in
                             self._handle.fields(library.TABLE_OBSERVATIONS, info.n_observations)]
        self.metrics = self._handle.fields(library.TABLE_METRICS, info.n_metrics)
        self.failures = [row[0] for row in self._handle.fields(library.TABLE_FAILURES, info.n_failures)]
        self.single_action_space = _box(_narrowed(self.actions, action_bounds), dtype)
        self.single_observation_space = _box(self.observations, dtype)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    def _set_arrays(self, device, arrays):
        self._device, self._make = device, arrays
        self._on_cpu = device[0] == library.CPU
        if arrays is None and not self._on_cpu:
            self._handle.close()
            raise ValueError("on a GPU `arrays` must be a function that takes DLPack tensors, as torch.from_dlpack")
        if not self._on_cpu:
            self._handle.call("hopscotch_env_set_stream", self._stream)
        self._array, self._begun, self._mask = {}, False, None
        self._written = self._handle.view(library.ACTIONS) if self._on_cpu else self.array(library.ACTIONS)

    def array(self, name):
        """An array of the environment, not copied: library.EPISODE_METRICS and the like, as runner/hopscotch.h has
        them. It may be kept after the environment was closed. Numpy's are read only, but for the actions."""
        self._handle.open()
        name = _integer(name, "name", library.ACTIONS, library.EPISODE_FAILURE)
        if name not in self._array:
            if self._make is None:
                self._array[name] = self._handle.view(name)
            else:
                self._array[name] = self._make(library.Tensor(self._handle, name, self._device))
        return self._array[name]

    def _given(self, name):
        """What step and reset return."""
        array = self.array(name)
        return array if self._make is not None else array.copy("C")

    def _flags(self, name):
        return self._given(name) if self._make is not None else self.array(name).astype(bool)

    def _taken_mask(self, options):
        """options["reset_mask"]: None, an array of numpy, or a library.Mask in the memory of the device."""
        mask, lanes = (options or {}).get("reset_mask"), self.num_envs
        if mask is None:
            return None
        if hasattr(mask, "__dlpack_device__") and not isinstance(mask, numpy.ndarray):
            taken = library.Mask(mask, lanes, self._stream)
            if taken.device[0] != library.CPU and taken.device != self._device:
                raise ValueError("options['reset_mask'] is on another device than the environment")
            if taken.device[0] != library.CPU:
                return taken
            mask = numpy.asarray(taken).astype(bool)
        if not isinstance(mask, numpy.ndarray) or mask.dtype != bool or mask.shape != (lanes,) or not mask.any():
            raise ValueError(f"options['reset_mask'] is an array of {lanes} bool with a True")
        return mask

    def reset(self, *, seed=None, options=None):
        """seed: an integer, or a list with an integer or None for each environment. options["reset_mask"]: which of
        them begin again; on a GPU an array in its memory is taken without a copy."""
        mask = self._taken_mask(options)
        given, seeds = _lane_seeds(seed, self.num_envs)
        super().reset(seed=int(seed) if _is_seed(seed) else None)
        if isinstance(mask, library.Mask):
            self._reset_on_device(mask, given, seeds)
        else:
            self._reset_lanes(mask if mask is not None else numpy.ones(self.num_envs, bool), given, seeds)
        return self._given(library.OBSERVATIONS), {}

    def _reset_on_device(self, mask, given, seeds):
        if given.any() and not given.all():
            raise ValueError("with a mask on a GPU, `seed` is None, an integer or a list without None")
        self._handle.call("hopscotch_env_reset", mask.address, seeds.ctypes.data if given.all() else None)
        self._mask = mask  # which the device has yet to read

    def _reset_lanes(self, mask, given, seeds):
        parts = [(mask & given, seeds), (mask & ~given, None)]
        if not self._begun and mask.all() and not given.all():  # the first reset is of all lanes
            parts = [(mask, None), (given, seeds)]
        for which, values in parts:
            if which.any():
                chosen = None if which.all() else which.astype(numpy.uint8)
                self._handle.call("hopscotch_env_reset", None if chosen is None else chosen.ctypes.data,
                                  None if values is None else values.ctypes.data)
        self._begun = True

    def step(self, actions):
        self._write(actions)
        self._handle.call("hopscotch_env_step")
        over, cut = self._flags(library.TERMINATED), self._flags(library.TRUNCATED)
        return (self._given(library.OBSERVATIONS), self._given(library.REWARDS), over, cut, self._infos(over, cut))

    def _infos(self, over, cut):
        """With arrays of a function: the last observations of lanes that ended stand in all of final_obs, and
        _final_obs says which ended in this step."""
        if not self._same_step:
            return {}
        ended = over | cut
        if self._make is not None:
            return {"final_obs": self._given(library.FINAL_OBSERVATIONS), "_final_obs": ended}
        if not ended.any():
            return {}
        final, rows = numpy.full(self.num_envs, None, object), self._given(library.FINAL_OBSERVATIONS)
        for lane in numpy.flatnonzero(ended):
            final[lane] = rows[lane]
        return {"final_obs": final, "_final_obs": ended, "final_info": {}, "_final_info": ended}

    def _write(self, actions):
        """Copies the actions to where the next step finds them; on a GPU within its memory."""
        self._handle.open()
        if self._make is None:
            actions = numpy.asarray(actions)
        elif not hasattr(actions, "__dlpack_device__"):
            raise TypeError(f"actions are an array on the environment's device, not {type(actions).__name__}")
        elif tuple(map(int, actions.__dlpack_device__())) != self._device:
            raise ValueError("actions are on another device than the environment")
        if not _is_real(actions):
            raise TypeError(f"actions are real numbers, not {actions.dtype}")
        to = self._written
        if tuple(actions.shape) != tuple(to.shape):
            raise ValueError(f"actions have the shape {tuple(to.shape)}, not {tuple(actions.shape)}")
        if hasattr(actions, "detach"):  # of torch: no gradient goes through a step
            actions = actions.detach()
        if self._on_cpu and not isinstance(actions, numpy.ndarray):
            actions = numpy.from_dlpack(actions)
        to[...] = actions

    def wait(self):
        """Until the device has done all that was asked of it. Error: an action was NaN in a step since the last wait;
        on the CPU the step itself says so."""
        self._handle.call("hopscotch_env_wait")

    def episodes(self):
        """What is known of each lane's last episode that ended: its return, steps, failure, and all metrics that a
        trial has. NaN before the first."""
        known = {"return": self._given(library.EPISODE_RETURNS), "steps": self._given(library.EPISODE_STEPS),
                 "failure": self._given(library.EPISODE_FAILURE)}
        table = self._given(library.EPISODE_METRICS)
        return {**known, **{row[0]: table[:, k] for k, row in enumerate(self.metrics)}}

    def parameters(self):
        """[lanes][parameters] of the present episodes, with their random draws."""
        return self._given(library.PARAMETERS)

    def close_extras(self, **_):
        if self._handle is not None:
            self._handle.close()
        self._array, self._mask, self._written = {}, None, None

    def __del__(self):
        if getattr(self, "_handle", None) is not None and not self.closed:
            self.close()


class Env(gymnasium.Env):
    """One environment of a spec, with numpy arrays; see VectorEnv."""

    metadata = {"render_modes": []}

    def __init__(self, spec, dtype="float64", seed=None, settings=None, action_bounds=None):
        self.lane = VectorEnv(spec, 1, "cpu", "disabled", dtype, seed, settings, threads=1, action_bounds=action_bounds)
        self.action_space, self.observation_space = self.lane.single_action_space, self.lane.single_observation_space

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        observation, info = self.lane.reset(seed=seed)
        return observation[0], info

    def step(self, action):
        action = numpy.asarray(action)
        if action.shape != self.action_space.shape:
            raise ValueError(f"an action has the shape {self.action_space.shape}, not {action.shape}")
        observation, reward, over, cut, info = self.lane.step(action[None])
        return observation[0], float(reward[0]), bool(over[0]), bool(cut[0]), info

    def close(self):
        self.lane.close()
