"""Environments for learning, as Gymnasium has them, over the library: many lanes of one spec, on the CPU or a GPU."""

import ctypes
import os

import gymnasium
import numpy
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from . import library
from .program import Error
from .runs import setting_words

LEGACY_STREAM = 1  # cudaStreamLegacy: where packages work that were told of no stream


class _Handle:
    """An open environment of the library. Closing it twice does nothing; using it afterwards is an Error."""

    def __init__(self, spec, options, settings):
        words = [word.encode() for word in setting_words(settings)]
        options.size, options.n_set = ctypes.sizeof(library.Options), len(words)
        options.set = (ctypes.c_char_p * len(words))(*words) if words else None
        self.pointer = ctypes.c_void_p()
        library.check(library.load().hopscotch_env_open(os.fspath(spec).encode(), ctypes.byref(options),
                                                        ctypes.byref(self.pointer)))

    def open(self):
        if not self.pointer:
            raise Error("the environment is closed", library.CLOSED)
        return self.pointer

    def call(self, name, *arguments):
        pointer = self.open()
        library.check(getattr(library.load(), name)(pointer, *arguments), pointer)

    def close(self):
        pointer, self.pointer = self.pointer, None
        if pointer:
            library.check(library.load().hopscotch_env_close(pointer))

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
        """The array in this machine's memory, as long as the handle is open."""
        array = library.Array()
        self.call("hopscotch_env_array", name, ctypes.byref(array))
        kind, n = numpy.dtype(library.NUMPY_TYPES[array.type]), array.n_dimensions
        strides = [kind.itemsize * array.strides[k] for k in range(n)]
        size = kind.itemsize + sum(stride * max(array.shape[k] - 1, 0) for k, stride in enumerate(strides))
        memory = (ctypes.c_char * size).from_address(array.data)
        return numpy.ndarray(array.shape[:n], kind, memory, strides=strides)


def _box(rows, dtype):
    return gymnasium.spaces.Box(numpy.array([row[2] for row in rows], dtype),
                                numpy.array([row[3] for row in rows], dtype), dtype=dtype)


def _is_seed(seed):
    return isinstance(seed, (int, numpy.integer)) and not isinstance(seed, bool) and 0 <= seed < 2**64


def _lane_seeds(seed, lanes):
    """(which lanes have a seed, their seeds): of one integer, that of lane i is the i-th after it."""
    if _is_seed(seed):
        return numpy.ones(lanes, bool), numpy.arange(lanes, dtype=numpy.uint64) + numpy.uint64(seed)
    given = [None] * lanes if seed is None else list(seed)
    if len(given) != lanes or not all(one is None or _is_seed(one) for one in given):
        raise ValueError(f"seed is an integer from 0, or a list of {lanes} of them, one for each environment")
    return numpy.array([one is not None for one in given]), numpy.array([one or 0 for one in given], numpy.uint64)


def _checked_mask(options, lanes):
    mask = (options or {}).get("reset_mask")
    if mask is None:
        return numpy.ones(lanes, bool)
    if not isinstance(mask, numpy.ndarray) or mask.dtype != bool or mask.shape != (lanes,) or not mask.any():
        raise ValueError(f"options['reset_mask'] is an array of {lanes} bool with a True")
    return mask


class VectorEnv(gymnasium.vector.VectorEnv):
    """Environments of one spec that are stepped together. The spec has `control: external` and `environment:`.

    spec: a path. lanes: environments. device: "auto", "cpu", "cuda" or "cuda:1". autoreset: "next_step", "same_step" or
    "disabled", as gymnasium.vector.AutoresetMode. dtype: of actions, observations and rewards, "float64" or "float32".
    seed: of lanes that are reset without one (default: that of the spec). settings: values that override keys of the
    spec, {"simulation.duration": 2}. threads: of the CPU; 0: all.

    arrays: None gives numpy arrays, a copy each step; on the CPU only. A function that takes DLPack tensors, such as
    torch.from_dlpack, gives what it makes, without a copy: the same arrays each step, with other contents. On a GPU
    they stay in its memory, and no step waits for the device. Work is put on `stream` (an integer, as
    torch.cuda.current_stream().cuda_stream); None: on the stream that torch uses by itself.

    The bits are those of `hopscotch run` with the same actions, on any device, for any number of lanes."""

    def __init__(self, spec, lanes=1, device="auto", autoreset="next_step", dtype="float64", seed=None, settings=None,
                 threads=0, arrays=None, stream=None):
        if autoreset not in library.AUTORESETS:
            raise ValueError(f"autoreset is one of {', '.join(library.AUTORESETS)}, not {autoreset!r}")
        if dtype not in library.FLOATS:
            raise ValueError(f"dtype is one of {', '.join(library.FLOATS)}, not {dtype!r}")
        if seed is not None and not _is_seed(seed):
            raise ValueError("seed is an integer from 0")
        self._handle = None
        self._handle = _Handle(spec, library.Options(
            lanes=lanes, device=device.encode(), autoreset=library.AUTORESETS[autoreset], type=library.FLOATS[dtype],
            threads=threads, has_seed=seed is not None, seed=seed or 0), settings)
        info = self._handle.info()
        self.num_envs, self.device = info.lanes, info.device.decode()
        self.control_period, self.episode_steps = info.control_period, info.episode_steps
        self.metadata = {"autoreset_mode": AutoresetMode[autoreset.upper()], "render_modes": []}
        self._same_step = autoreset == "same_step"
        self._set_spaces(info, dtype)
        self._set_arrays((info.device_type, info.device_id), arrays, stream)

    def _set_spaces(self, info, dtype):
        self.actions = self._handle.fields(library.TABLE_ACTIONS, info.n_actions)  # name, unit, low, high
        self.observations = self._handle.fields(library.TABLE_OBSERVATIONS, info.n_observations)
        self.metrics = self._handle.fields(library.TABLE_METRICS, info.n_metrics)
        self.failures = [row[0] for row in self._handle.fields(library.TABLE_FAILURES, info.n_failures)]
        self.single_action_space = _box(self.actions, dtype)
        self.single_observation_space = _box(self.observations, dtype)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    def _set_arrays(self, device, arrays, stream):
        self._device, self._make = device, arrays
        if arrays is None and device[0] != library.CPU:
            self._handle.close()
            raise ValueError("on a GPU `arrays` must be a function that takes DLPack tensors, as torch.from_dlpack")
        if device[0] != library.CPU:
            self._handle.call("hopscotch_env_set_stream", stream or LEGACY_STREAM)
        self._array = {}

    def array(self, name):
        """An array of the environment, not copied: library.EPISODE_METRICS and the like, as runner/hopscotch.h has
        them. With numpy it is read only."""
        self._handle.open()
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

    def reset(self, *, seed=None, options=None):
        lanes = self.num_envs
        mask = _checked_mask(options, lanes)
        given, seeds = _lane_seeds(seed, lanes)
        super().reset(seed=int(seed) if _is_seed(seed) else None)
        for which, values in ((mask & given, seeds), (mask & ~given, None)):
            if which.any():
                self._reset(which, values)
        return self._given(library.OBSERVATIONS), {}

    def _reset(self, which, seeds):
        chosen = None if which.all() else numpy.ascontiguousarray(which, numpy.uint8)
        self._handle.call("hopscotch_env_reset", None if chosen is None else chosen.ctypes.data,
                          None if seeds is None else seeds.ctypes.data)

    def step(self, actions):
        self._write(actions)
        self._handle.call("hopscotch_env_step")
        over, cut = self._flags(library.TERMINATED), self._flags(library.TRUNCATED)
        return (self._given(library.OBSERVATIONS), self._given(library.REWARDS), over, cut, self._infos(over, cut))

    def _infos(self, over, cut):
        """With arrays of a function: the last observations of lanes that ended stand in all of final_obs."""
        if not self._same_step:
            return {}
        if self._make is not None:
            return {"final_obs": self._given(library.FINAL_OBSERVATIONS)}
        ended = over | cut
        if not ended.any():
            return {}
        final, rows = numpy.full(self.num_envs, None, object), self._given(library.FINAL_OBSERVATIONS)
        for lane in numpy.flatnonzero(ended):
            final[lane] = rows[lane]
        return {"final_obs": final, "_final_obs": ended, "final_info": {}, "_final_info": ended}

    def _write(self, actions):
        to = self.array(library.ACTIONS)
        if self._make is None:
            actions = numpy.asarray(actions)
            if actions.dtype.kind not in "fiu":
                raise TypeError(f"actions are numbers, not {actions.dtype}")
        elif not hasattr(actions, "__dlpack_device__"):
            raise TypeError(f"actions are an array on the environment's device, not {type(actions).__name__}")
        elif tuple(map(int, actions.__dlpack_device__())) != self._device:
            raise ValueError("actions are on another device than the environment")
        if tuple(actions.shape) != tuple(to.shape):
            raise ValueError(f"actions have the shape {tuple(to.shape)}, not {tuple(actions.shape)}")
        to[...] = actions

    def wait(self):
        """Until the device has done all that was asked of it."""
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
        self._array = {}
        if self._handle is not None:
            self._handle.close()

    def __del__(self):
        if getattr(self, "_handle", None) is not None and not self.closed:
            self.close()


class Env(gymnasium.Env):
    """One environment of a spec, with numpy arrays; see VectorEnv."""

    metadata = {"render_modes": []}

    def __init__(self, spec, dtype="float64", seed=None, settings=None):
        self.lane = VectorEnv(spec, 1, "cpu", "disabled", dtype, seed, settings, threads=1)
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
