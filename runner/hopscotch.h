/* hopscotch.h: environments for learning, over the library libhopscotch.so.
**
** A spec whose model has `control: {mode: external}`, or equations or a control law with actions, and a section
** `environment:` (experiments/README.md) is opened as `lanes` environments that are stepped together, on the CPU or on
** a GPU. An environment is one lane of a batch: the model with its own parameters, state and clock. The
** caller writes an action for each lane and calls hopscotch_env_step(); each lane then advances by one control period
** under its action, and gives an observation, a reward, and whether its episode ended.
**
** Equal bits. A lane depends on its own parameters, seed and actions alone: not on the number of lanes, the other lanes
** and their resets, the threads, the instruction set, or the device. `hopscotch run` of the same spec with the same
** parameters and the same actions in a table (control.actions, control.file) gives the same states and metrics, bit
** for bit.
**
**     hopscotch_env *env = NULL;
**     hopscotch_env_options options = HOPSCOTCH_ENV_OPTIONS;
**     options.lanes = 4096;
**     if (hopscotch_env_open("experiments/hopper_env.yaml", &options, &env) != HOPSCOTCH_OK)
**         fail(hopscotch_error(NULL));
**     hopscotch_array actions, rewards;
**     hopscotch_env_array(env, HOPSCOTCH_ACTIONS, &actions);
**     hopscotch_env_array(env, HOPSCOTCH_REWARDS, &rewards);
**     hopscotch_env_reset(env, NULL, NULL);
**     for (int step = 0; step < 1000; step++) {
**         for (int64_t lane = 0; lane < 4096; lane++)
**             ((double *)actions.data)[lane * actions.strides[0] + 0 * actions.strides[1]] = 20.0;
**         hopscotch_env_step(env);
**     }
**     hopscotch_env_close(env);
**
** Link with -lhopscotch. Plain C99, also usable from C++. Only symbols that begin with hopscotch_ are exported.
**
** Threads. Different environments may be used by different threads at the same time. Calls with the same handle must
** come one after the other; a call while another one is inside gives HOPSCOTCH_BUSY and does nothing.
**
** Handles. A handle that is NULL, was never opened or is closed gives HOPSCOTCH_CLOSED. Nothing is called with it.
**
** Units are SI and radians, as in the tables of the model (`hopscotch models NAME`).
*/
#ifndef HOPSCOTCH_H
#define HOPSCOTCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HOPSCOTCH_API __attribute__((visibility("default")))
#else
#define HOPSCOTCH_API
#endif

/* ---- version --------------------------------------------------------------------------------------------------------
**
** HOPSCOTCH_INTERFACE is the version of this interface. It is raised when a program that was compiled with an older
** header would no longer work; functions and enumerators that are added at the end do not raise it.
*/
#define HOPSCOTCH_INTERFACE 1

/* The interface that the loaded library has; compare it with HOPSCOTCH_INTERFACE. */
HOPSCOTCH_API int hopscotch_interface(void);

/* The version of the program, "0.1.0". Never NULL. */
HOPSCOTCH_API const char *hopscotch_version(void);

/* ---- errors ---------------------------------------------------------------------------------------------------------
**
** Every function that can fail returns one of these. After an error nothing has changed, unless the function says so.
*/
typedef enum hopscotch_status {
    HOPSCOTCH_OK = 0,
    HOPSCOTCH_WRONG_SPEC = 1,     /* the spec has errors, or can't be an environment; the text has file:line:column */
    HOPSCOTCH_WRONG_ARGUMENT = 2, /* an argument is out of range or NULL, or the call comes too early */
    HOPSCOTCH_MACHINE = 3,        /* not enough memory, no such device, or the device failed */
    HOPSCOTCH_BUSY = 4,           /* another call with this handle has not returned yet */
    HOPSCOTCH_CLOSED = 5          /* the handle is NULL, closed, or none at all */
} hopscotch_status;

typedef struct hopscotch_env hopscotch_env;

/* The text of the last error of a call with this handle, in English, without a newline at its end; "" if there was
** none. It may have several lines (all errors of a spec). Valid until the next call with the handle. With NULL: the
** text of the last call of this thread that failed without an open handle, such as hopscotch_env_open(); valid until
** the next such call of this thread. Never NULL. */
HOPSCOTCH_API const char *hopscotch_error(const hopscotch_env *env);

/* ---- opening and closing --------------------------------------------------------------------------------------------
**
** What happens after an episode has ended (terminated or truncated), as Gymnasium's AutoresetMode:
**
** NEXT_STEP  The step in which it ends gives its last observation. The next step of that lane is a reset: its action is
**            not used, its reward is 0, terminated and truncated are 0, the observation is the first of a new episode.
** SAME_STEP  The step in which it ends also begins the next episode: the observation is the first of the new episode;
**            the last one of the old episode stands in HOPSCOTCH_FINAL_OBSERVATIONS.
** DISABLED   The lane stays as it is until hopscotch_env_reset() names it: further steps change nothing of it, give the
**            same observation and the same flags, and the reward 0.
*/
typedef enum hopscotch_autoreset {
    HOPSCOTCH_AUTORESET_NEXT_STEP = 0,
    HOPSCOTCH_AUTORESET_SAME_STEP = 1,
    HOPSCOTCH_AUTORESET_DISABLED = 2
} hopscotch_autoreset;

typedef enum hopscotch_type {
    HOPSCOTCH_FLOAT64 = 0,
    HOPSCOTCH_FLOAT32 = 1,
    HOPSCOTCH_UINT8 = 2,
    HOPSCOTCH_INT32 = 3,
    HOPSCOTCH_INT64 = 4
} hopscotch_type;

/* Begin with HOPSCOTCH_ENV_OPTIONS, then set what differs. */
typedef struct hopscotch_env_options {
    size_t size;        /* sizeof(hopscotch_env_options), as the caller was compiled */
    int64_t lanes;      /* environments, 1 to 16777216; 0: 1 */
    const char *device; /* "auto", "cpu", "cuda" or "cuda:N"; NULL: "auto", CUDA if this build and machine have it */
    int autoreset;      /* a hopscotch_autoreset */
    int type;      /* of actions, observations and rewards: HOPSCOTCH_FLOAT64, or HOPSCOTCH_FLOAT32: rounded as they
                    ** are written. The model computes in double precision with both */
    int threads;   /* of the CPU; 0: as many as this process may use */
    int has_seed;  /* 0: the seed of the spec */
    uint64_t seed; /* of lanes that are reset without a seed of their own */
    const char *const *set; /* [n_set] "key.path=value", as --set of `hopscotch run`; applied in this order */
    int n_set;
    const char *isa; /* instruction set of the CPU, "v4", "v3", "v2", "neon" or "scalar"; NULL: the best */
    void *stream;    /* cudaStream_t that a GPU's work is put on; NULL: a stream of the environment's own */
} hopscotch_env_options;

#define HOPSCOTCH_ENV_OPTIONS                                                                                          \
    {                                                                                                                  \
        sizeof(hopscotch_env_options), 1, NULL, HOPSCOTCH_AUTORESET_NEXT_STEP, HOPSCOTCH_FLOAT64, 0, 0, 0, NULL, 0,    \
            NULL, NULL                                                                                                 \
    }

/* Opens the spec in a file. options NULL: the defaults. *env: the handle; NULL after an error, whose text is then
** hopscotch_error(NULL). All memory is taken here; resets and steps take none.
** Errors: WRONG_SPEC (it does not pass `hopscotch check`, its model or settings have no actions, it has no
** section `environment:`, or its search has several trials), WRONG_ARGUMENT, MACHINE. Files that the spec names must
** lie in its folder or below. */
HOPSCOTCH_API int hopscotch_env_open(const char *path, const hopscotch_env_options *options, hopscotch_env **env);

/* The same for a spec that is a text. `name` stands in messages instead of a file's; NULL: "spec". Such a spec has no
** folder, so it can name no files. */
HOPSCOTCH_API int hopscotch_env_open_text(const char *name, const char *text, const hopscotch_env_options *options,
                                          hopscotch_env **env);

/* Waits for what the device still does, and closes. Arrays that were taken as DLPack tensors stay valid until each is
** deleted; pointers of hopscotch_env_array() do not. Errors: CLOSED, BUSY. */
HOPSCOTCH_API int hopscotch_env_close(hopscotch_env *env);

/* ---- what there is ------------------------------------------------------------------------------------------------*/

typedef struct hopscotch_env_info {
    size_t size; /* in: sizeof(hopscotch_env_info), as the caller was compiled */
    int64_t lanes;
    int n_actions, n_observations, n_metrics, n_parameters, n_failures;
    int type;               /* of actions, observations and rewards */
    int autoreset;          /* hopscotch_autoreset */
    int device_type;        /* as in DLPack: 1 CPU, 2 CUDA */
    int device_id;          /* number of the GPU; 0 on the CPU */
    double control_period;  /* s: a step of the environment */
    int64_t physics_steps;  /* time steps of the model in it; 0: the model chooses its steps */
    int64_t episode_steps;  /* steps of the environment after which an episode is truncated */
    const char *model;      /* "hopper" */
    const char *experiment; /* name in the spec */
    const char *device;     /* "Intel Xeon ..., 2 threads, v4", "NVIDIA H200" */
} hopscotch_env_info;

/* Texts are valid until the handle is closed. Errors: CLOSED, BUSY, WRONG_ARGUMENT. */
HOPSCOTCH_API int hopscotch_env_get_info(hopscotch_env *env, hopscotch_env_info *info);

typedef enum hopscotch_table {
    HOPSCOTCH_TABLE_ACTIONS = 0,      /* low and high: actions are clamped to them */
    HOPSCOTCH_TABLE_OBSERVATIONS = 1, /* low and high: infinite, except for what is an action or a parameter */
    HOPSCOTCH_TABLE_METRICS = 2,
    HOPSCOTCH_TABLE_PARAMETERS = 3, /* low and high: of `hopscotch models NAME` */
    HOPSCOTCH_TABLE_FAILURES = 4    /* names by code; 0 is "none" */
} hopscotch_table;

/* A column of an array. */
typedef struct hopscotch_field {
    const char *name, *unit, *doc; /* never NULL; unit "1": dimensionless, "": unknown */
    double low, high;              /* inclusive; may be infinite */
} hopscotch_field;

/* Row `index` of a table. Texts are valid until the handle is closed. Errors: CLOSED, BUSY, WRONG_ARGUMENT. */
HOPSCOTCH_API int hopscotch_env_field(hopscotch_env *env, int table, int index, hopscotch_field *field);

/* ---- arrays ---------------------------------------------------------------------------------------------------------
**
** An array belongs to the environment and stays at its address until the handle is closed: on the CPU in memory, on a
** GPU in the memory of the device. Neighbouring lanes are neighbours in memory: strides[0] is 1, and strides[1] is the
** number of lanes or more. The caller writes ACTIONS, and reads all others.
*/
typedef enum hopscotch_array_name {
    HOPSCOTCH_ACTIONS = 0,            /* [lanes][n_actions] float: applied by the next step. Zeros at first */
    HOPSCOTCH_OBSERVATIONS = 1,       /* [lanes][n_observations] float */
    HOPSCOTCH_FINAL_OBSERVATIONS = 2, /* the same: the last one of the lane's last episode that ended. NaN at first */
    HOPSCOTCH_REWARDS = 3,            /* [lanes] float: of the last step */
    HOPSCOTCH_TERMINATED = 4,         /* [lanes] uint8, 0 or 1: failed, or `terminate` of the spec holds */
    HOPSCOTCH_TRUNCATED = 5,          /* [lanes] uint8, 0 or 1: simulation.duration is over. Both can be 1 */
    HOPSCOTCH_STEPS = 6,              /* [lanes] int64: steps so far of the episode that the observation belongs to */
    HOPSCOTCH_PARAMETERS = 7,         /* [lanes][n_parameters] float64: of the episode, with its random draws */
    /* of the last episode of a lane that ended; NaN, 0, 0 and -1 before the first */
    HOPSCOTCH_EPISODE_METRICS = 8, /* [lanes][n_metrics] float64: those that `run` gives */
    HOPSCOTCH_EPISODE_RETURNS = 9, /* [lanes] float64: sum of its rewards, in double precision */
    HOPSCOTCH_EPISODE_STEPS = 10,  /* [lanes] int64 */
    HOPSCOTCH_EPISODE_FAILURE = 11 /* [lanes] int32: code of the failure that ended it, 0: none */
} hopscotch_array_name;
#define HOPSCOTCH_N_ARRAYS 12

typedef struct hopscotch_array {
    void *data; /* on the device of the environment */
    int type;   /* hopscotch_type */
    int n_dimensions;
    int64_t shape[2], strides[2]; /* strides in elements; [1] is unused with one dimension */
} hopscotch_array;

/* Errors: CLOSED, BUSY, WRONG_ARGUMENT (there is no such array). */
HOPSCOTCH_API int hopscotch_env_array(hopscotch_env *env, int name, hopscotch_array *array);

/* The same as a tensor of DLPack (dlpack.h, struct DLManagedTensor, version 0.x), without a copy: what a Python capsule
** named "dltensor" holds. The caller, or who takes it over, calls its deleter. uint8 is kDLUInt, 8 bits. NULL after an
** error. On a GPU the consumer has to work on the environment's stream, or to wait for it. */
struct DLManagedTensor;
HOPSCOTCH_API struct DLManagedTensor *hopscotch_env_dlpack(hopscotch_env *env, int name);

/* ---- reset and step -------------------------------------------------------------------------------------------------
**
** On a GPU both put their work on the environment's stream and return; nothing is copied and the host does not wait.
** On the CPU they return when the arrays are there.
*/

/* Begins a new episode in the lanes with mask[lane] != 0; mask NULL: in all. Writes their OBSERVATIONS, sets REWARDS to
** 0 and TERMINATED and TRUNCATED to 0; the arrays of other lanes stay. An episode that was not over leaves no
** EPISODE_METRICS. The first reset after opening must be of all lanes.
**
** mask: [lanes] bytes. seeds: [lanes], one for each lane, of which those of the mask are used; NULL: none.
** On a GPU each may be in its memory or in the host's. From the host's it is copied first, and the call waits for that.
**
** Random numbers of an episode are those of (seed, stream, episode). reset with a seed: that seed, stream 0, episode 0.
** A lane that never got a seed: the seed of the options, the number of the lane as its stream. Each episode that begins
** without a new seed, by this function or by itself, is the next episode of its lane. What is drawn: the parameters of
** replicates.perturb, and seeds of the model's own disturbances.
**
** Errors: CLOSED, BUSY, WRONG_ARGUMENT, MACHINE. */
HOPSCOTCH_API int hopscotch_env_reset(hopscotch_env *env, const uint8_t *mask, const uint64_t *seeds);

/* Advances every lane by one control period under its ACTIONS, or does what autoreset says; writes all arrays.
**
** The observation is the model's state at the end of the period; of a lane that failed, at its failure. The reward is
** computed from the same columns, in which actions are those of this step. EPISODE_... and FINAL_OBSERVATIONS are
** written for the lanes whose episode ended in this step.
**
** Errors: CLOSED, BUSY, WRONG_ARGUMENT (no reset yet; on the CPU an action is NaN of a lane that this step advances),
** MACHINE (then the states of the lanes are lost). On a GPU an action that is NaN is taken as the low bound, and the
** next hopscotch_env_wait() gives WRONG_ARGUMENT. */
HOPSCOTCH_API int hopscotch_env_step(hopscotch_env *env);

/* Waits until all that was put on the stream is done. On the CPU it returns at once. Errors: CLOSED, BUSY, MACHINE (an
** error of the device in a call before), WRONG_ARGUMENT (an action was NaN in a step since the last call). */
HOPSCOTCH_API int hopscotch_env_wait(hopscotch_env *env);

/* The stream (cudaStream_t) of a GPU; NULL on the CPU. set: from now on work is put on this one, after what is already
** on the old one; it must stay valid until the handle is closed. NULL stands for the environment's own.
** Errors of set: CLOSED, BUSY, WRONG_ARGUMENT (on the CPU), MACHINE. */
HOPSCOTCH_API void *hopscotch_env_stream(hopscotch_env *env);
HOPSCOTCH_API int hopscotch_env_set_stream(hopscotch_env *env, void *stream);

#ifdef __cplusplus
}
#endif
#endif
