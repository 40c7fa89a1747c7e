"""The shared library libhopscotch.so, as runner/hopscotch.h describes it."""

import ctypes
import ctypes.util
import os

from .program import Error, find

INTERFACE = 1
WRONG_ARGUMENT, MACHINE, BUSY, CLOSED = 2, 3, 4, 5
STATUSES = {1: "request", WRONG_ARGUMENT: "request", MACHINE: "machine", BUSY: "busy", CLOSED: "closed"}
AUTORESETS = {"next_step": 0, "same_step": 1, "disabled": 2}
FLOATS = {"float64": 0, "float32": 1}
LANES = 16777216  # the most that an environment has
THREADS = 1024
CPU = 1  # device_type, as in DLPack
ACTIONS, OBSERVATIONS, FINAL_OBSERVATIONS, REWARDS, TERMINATED, TRUNCATED, STEPS, PARAMETERS, EPISODE_METRICS, \
    EPISODE_RETURNS, EPISODE_STEPS, EPISODE_FAILURE = range(12)
TABLE_ACTIONS, TABLE_OBSERVATIONS, TABLE_METRICS, TABLE_PARAMETERS, TABLE_FAILURES = range(5)


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("lanes", ctypes.c_int64), ("device", ctypes.c_char_p),
                ("autoreset", ctypes.c_int), ("type", ctypes.c_int), ("threads", ctypes.c_int),
                ("has_seed", ctypes.c_int), ("seed", ctypes.c_uint64), ("set", ctypes.POINTER(ctypes.c_char_p)),
                ("n_set", ctypes.c_int), ("isa", ctypes.c_char_p), ("stream", ctypes.c_void_p)]


class Info(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("lanes", ctypes.c_int64), ("n_actions", ctypes.c_int),
                ("n_observations", ctypes.c_int), ("n_metrics", ctypes.c_int), ("n_parameters", ctypes.c_int),
                ("n_failures", ctypes.c_int), ("type", ctypes.c_int), ("autoreset", ctypes.c_int),
                ("device_type", ctypes.c_int), ("device_id", ctypes.c_int), ("control_period", ctypes.c_double),
                ("physics_steps", ctypes.c_int64), ("episode_steps", ctypes.c_int64), ("model", ctypes.c_char_p),
                ("experiment", ctypes.c_char_p), ("device", ctypes.c_char_p)]


class Field(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("unit", ctypes.c_char_p), ("doc", ctypes.c_char_p),
                ("low", ctypes.c_double), ("high", ctypes.c_double)]


FUNCTIONS = {
    "hopscotch_interface": (ctypes.c_int,),
    "hopscotch_version": (ctypes.c_char_p,),
    "hopscotch_error": (ctypes.c_char_p, ctypes.c_void_p),
    "hopscotch_env_open": (ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(Options), ctypes.POINTER(ctypes.c_void_p)),
    "hopscotch_env_close": (ctypes.c_int, ctypes.c_void_p),
    "hopscotch_env_get_info": (ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Info)),
    "hopscotch_env_field": (ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.POINTER(Field)),
    "hopscotch_env_dlpack": (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int),
    "hopscotch_env_reset": (ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p),
    "hopscotch_env_step": (ctypes.c_int, ctypes.c_void_p),
    "hopscotch_env_wait": (ctypes.c_int, ctypes.c_void_p),
    "hopscotch_env_set_stream": (ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p),
}
_loaded = None


def path():
    """Where the library is: $HOPSCOTCH_LIBRARY, else beside the program or in ../lib, else where the system looks."""
    given = os.environ.get("HOPSCOTCH_LIBRARY")
    if given:
        return given
    program = None
    try:
        program = os.path.dirname(os.path.realpath(find()))
    except Error:
        pass
    for folder in (program, program and os.path.join(os.path.dirname(program), "lib")):
        if folder and os.path.exists(os.path.join(folder, "libhopscotch.so")):
            return os.path.join(folder, "libhopscotch.so")
    found = ctypes.util.find_library("hopscotch")
    if found is None:
        raise Error("there is no library libhopscotch.so: run `make`, or set HOPSCOTCH_LIBRARY to its path")
    return found


def load():
    """The library, loaded once. Error: there is none, or it is of another version."""
    global _loaded
    if _loaded is None:
        where = path()
        try:
            library = ctypes.CDLL(where)
            for name, (result, *arguments) in FUNCTIONS.items():
                function = getattr(library, name)
                function.restype, function.argtypes = result, arguments
        except (OSError, AttributeError) as error:
            raise Error(f"{where} can't be loaded: {error}") from error
        if library.hopscotch_interface() != INTERFACE:
            raise Error(f"{where} has interface {library.hopscotch_interface()}, and this package needs {INTERFACE}")
        _loaded = library
    return _loaded


def check(status, handle=None):
    """Error: the status is not 0. Its text is the library's."""
    if status != 0:
        of_thread = status in (BUSY, CLOSED)  # the handle could not be used
        text = load().hopscotch_error(None if of_thread else handle).decode("utf-8", "replace")
        raise Error(text, status, STATUSES.get(status, "machine"))


def text(words):
    """Words as the library takes them. ValueError: they have a zero byte, which would end them."""
    if "\0" in words:
        raise ValueError(f"{words!r} has a zero byte")
    return os.fsencode(words)


# ---- DLPack ----------------------------------------------------------------------------------------------------------


class _Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class _Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", _Device), ("n_dimensions", ctypes.c_int32), ("type", _Type),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("offset", ctypes.c_uint64)]


class _Managed(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]

_capsule_new = ctypes.pythonapi.PyCapsule_New
_capsule_new.restype, _capsule_new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_capsule_is = ctypes.pythonapi.PyCapsule_IsValid
_capsule_is.restype, _capsule_is.argtypes = ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]


_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))
_managed = ctypes.POINTER(_Managed)


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _delete_unused(capsule):
    """A capsule that nobody took over: what it holds goes with it."""
    if _capsule_is(capsule, b"dltensor"):
        tensor = ctypes.cast(_capsule_pointer(capsule, b"dltensor"), _managed)
        tensor.contents.deleter(tensor)


def _new_tensor(handle, name):
    """Address of a DLManagedTensor, which holds the memory until its deleter is called."""
    address = load().hopscotch_env_dlpack(handle.open(), name)
    if not address:
        raise Error(load().hopscotch_error(handle.open()).decode("utf-8", "replace"))
    return address


def _interface(tensor, writeable):
    """__array_interface__ of numpy, for a tensor of integers or floats in this machine's memory."""
    size, n = tensor.type.bits // 8, tensor.n_dimensions
    strides = tuple(size * tensor.strides[k] for k in range(n)) if tensor.strides else None
    return {"version": 3, "typestr": "<" + "iuf"[tensor.type.code] + str(size), "shape": tuple(tensor.shape[:n]),
            "strides": strides, "data": (tensor.data + tensor.offset, not writeable)}


class Tensor:
    """An array of an environment that other packages take without a copy: torch.from_dlpack(tensor)."""

    def __init__(self, handle, name, device):
        self._handle, self._name, self._device = handle, name, device

    def __dlpack_device__(self):
        return self._device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if copy or (dl_device is not None and tuple(dl_device) != self._device):
            raise BufferError("an environment's arrays are given without a copy, on its own device")
        return _capsule_new(_new_tensor(self._handle, self._name), b"dltensor",
                            ctypes.cast(_delete_unused, ctypes.c_void_p))


class Memory:
    """An array of an environment, for numpy.asarray: without a copy. It holds the memory, so that the array may be kept
    after the environment was closed."""

    def __init__(self, handle, name, writeable):
        self._tensor = ctypes.cast(_new_tensor(handle, name), _managed)
        self.__array_interface__ = _interface(self._tensor.contents.tensor, writeable)

    def __del__(self):
        if hasattr(self, "_tensor"):
            self._tensor.contents.deleter(self._tensor)


class Mask:
    """An array of another package, [lanes] of bool or bytes, by DLPack and without a copy. It holds the memory."""

    _CODES = (0, 1, 6)  # signed, unsigned, bool

    def __init__(self, array, lanes, stream):
        self.device = tuple(map(int, array.__dlpack_device__()))
        self._capsule = array.__dlpack__() if self.device[0] == CPU else array.__dlpack__(stream=stream)
        tensor = ctypes.cast(_pointer_of(self._capsule, b"dltensor"), _managed).contents.tensor
        if tensor.n_dimensions != 1 or tensor.shape[0] != lanes or tensor.type.bits != 8 or \
                tensor.type.code not in self._CODES or (tensor.strides and lanes > 1 and tensor.strides[0] != 1):
            raise ValueError(f"options['reset_mask'] is an array of {lanes} bool, without gaps")
        self.address = tensor.data + tensor.offset
        if self.device[0] == CPU:
            self.__array_interface__ = {"version": 3, "typestr": "|u1", "shape": (lanes,), "data": (self.address, True)}
