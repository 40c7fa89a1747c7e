"""The shared library libhopscotch.so, as runner/hopscotch.h describes it."""

import ctypes
import ctypes.util
import os

from .program import Error, find

INTERFACE = 1
WRONG_ARGUMENT = 2
CLOSED = 5
AUTORESETS = {"next_step": 0, "same_step": 1, "disabled": 2}
FLOATS = {"float64": 0, "float32": 1}
NUMPY_TYPES = ("float64", "float32", "uint8", "int32", "int64")  # by hopscotch_type
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


class Array(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int), ("n_dimensions", ctypes.c_int),
                ("shape", ctypes.c_int64 * 2), ("strides", ctypes.c_int64 * 2)]


FUNCTIONS = {
    "hopscotch_interface": (ctypes.c_int,),
    "hopscotch_version": (ctypes.c_char_p,),
    "hopscotch_error": (ctypes.c_char_p, ctypes.c_void_p),
    "hopscotch_env_open": (ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(Options), ctypes.POINTER(ctypes.c_void_p)),
    "hopscotch_env_close": (ctypes.c_int, ctypes.c_void_p),
    "hopscotch_env_get_info": (ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Info)),
    "hopscotch_env_field": (ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.POINTER(Field)),
    "hopscotch_env_array": (ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(Array)),
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
        raise Error(load().hopscotch_error(handle).decode("utf-8", "replace"), status)


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


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _delete_unused(capsule):
    """A capsule that nobody took over: what it holds goes with it."""
    if _capsule_is(capsule, b"dltensor"):
        pointer = _capsule_pointer(capsule, b"dltensor")
        ctypes.cast(pointer, ctypes.POINTER(_Managed)).contents.deleter(
            ctypes.cast(pointer, ctypes.POINTER(_Managed)))


class Tensor:
    """An array of an environment that other packages take without a copy: torch.from_dlpack(tensor)."""

    def __init__(self, handle, name, device):
        self._handle, self._name, self._device = handle, name, device

    def __dlpack_device__(self):
        return self._device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if copy or (dl_device is not None and tuple(dl_device) != self._device):
            raise BufferError("an environment's arrays are given without a copy, on its own device")
        pointer = load().hopscotch_env_dlpack(self._handle.open(), self._name)
        if not pointer:
            raise Error(load().hopscotch_error(self._handle.open()).decode("utf-8", "replace"))
        return _capsule_new(pointer, b"dltensor", ctypes.cast(_delete_unused, ctypes.c_void_p))
