// What an environment has: its tables, and its arrays as pointers and as tensors of DLPack.
#include "library.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- information ----------------------------------------------------------------------------------------------------

bool library_on_gpu(const Library *library)
{
    return strcmp(environment_device(library->environment).name, "cpu") != 0;
}

enum { DLPACK_CPU = 1, DLPACK_CUDA = 2 };

int hopscotch_env_get_info(hopscotch_env *env, hopscotch_env_info *info)
{
    int status;
    Library *library = library_enter(env, &status);
    if (library == NULL) return status;
    if (info == NULL || info->size != sizeof *info)
        return library_leave(env, library_fail(library, HOPSCOTCH_WRONG_ARGUMENT,
                                               "info is NULL, or info.size is not that of the struct"));
    const Configured *configured = &library->spec.configured;
    const EnvironmentDevice device = environment_device(library->environment);
    const int64_t held = configured->action_ticks;
    *info = (hopscotch_env_info){.size = sizeof *info,
                                 .lanes = library->setup.lanes,
                                 .n_actions = library->n_actions,
                                 .n_observations = library->n_observations,
                                 .n_metrics = configured_own_metrics(configured),
                                 .n_parameters = configured->n_parameters,
                                 .n_failures = configured->n_failures,
                                 .type = library->setup.single ? HOPSCOTCH_FLOAT32 : HOPSCOTCH_FLOAT64,
                                 .autoreset = (int)library->setup.autoreset,
                                 .device_type = library_on_gpu(library) ? DLPACK_CUDA : DLPACK_CPU,
                                 .device_id = device.number,
                                 .control_period = (double)held * configured->tick_duration,
                                 .physics_steps = configured->steps_max > 0 ? 0 : held,
                                 .episode_steps = (configured->ticks + held - 1) / held,
                                 .model = library->spec.model->name,
                                 .experiment = library->spec.experiment,
                                 .device = device.device};
    return library_leave(env, HOPSCOTCH_OK);
}

// ---- tables ---------------------------------------------------------------------------------------------------------

static hopscotch_field library_row(const EnvironmentRow *row)
{
    return (hopscotch_field){row->name, row->unit, row->doc, row->low, row->high};
}

static hopscotch_field library_field_of(const Library *library, int table, int index)
{
    const Configured *configured = &library->spec.configured;
    const double endless = (double)INFINITY;
    if (table == HOPSCOTCH_TABLE_ACTIONS) {
        const EnvironmentRow row = spec_environment_action(&library->spec, index);
        return library_row(&row);
    }
    if (table == HOPSCOTCH_TABLE_OBSERVATIONS) {
        const EnvironmentRow row = spec_environment_observation(&library->spec, index);
        return library_row(&row);
    }
    if (table == HOPSCOTCH_TABLE_METRICS) {
        const Field *metric = &configured->metrics[index];
        return (hopscotch_field){metric->name, metric->unit, metric->doc, -endless, endless};
    }
    if (table == HOPSCOTCH_TABLE_PARAMETERS) {
        const Parameter *row = &configured->parameters[index];
        return (hopscotch_field){row->name, row->unit, row->doc, row->low, row->high};
    }
    return (hopscotch_field){configured->failures[index], "1", "", 0.0, 1.0};
}

static int library_rows(const Library *library, int table)
{
    const Configured *configured = &library->spec.configured;
    switch (table) {
    case HOPSCOTCH_TABLE_ACTIONS: return library->n_actions;
    case HOPSCOTCH_TABLE_OBSERVATIONS: return library->n_observations;
    case HOPSCOTCH_TABLE_METRICS: return configured_own_metrics(configured);
    case HOPSCOTCH_TABLE_PARAMETERS: return configured->n_parameters;
    case HOPSCOTCH_TABLE_FAILURES: return configured->n_failures;
    default: return -1;
    }
}

int hopscotch_env_field(hopscotch_env *env, int table, int index, hopscotch_field *field)
{
    int status;
    Library *library = library_enter(env, &status);
    if (library == NULL) return status;
    const int rows = library_rows(library, table);
    if (field == NULL)
        status = library_fail(library, HOPSCOTCH_WRONG_ARGUMENT, "field is NULL");
    else if (rows < 0)
        status = library_fail(library, HOPSCOTCH_WRONG_ARGUMENT, "there is no table %d", table);
    else if (index < 0 || index >= rows)
        status = library_fail(library, HOPSCOTCH_WRONG_ARGUMENT, "the table has no row %d; it has %d", index, rows);
    else
        *field = library_field_of(library, table, index);
    return library_leave(env, status);
}

// ---- arrays ---------------------------------------------------------------------------------------------------------

// Of a stride; columns 0: one dimension.
static bool library_array_of(const Library *library, int name, hopscotch_array *array)
{
    const EnvironmentView *view = environment_view(library->environment);
    const int floats = library->setup.single ? HOPSCOTCH_FLOAT32 : HOPSCOTCH_FLOAT64;
    const struct {
        void *data;
        int type, columns;
    } rows[HOPSCOTCH_N_ARRAYS] = {
        [HOPSCOTCH_ACTIONS] = {view->given, floats, view->n_actions},
        [HOPSCOTCH_OBSERVATIONS] = {view->observation, floats, view->n_observations},
        [HOPSCOTCH_FINAL_OBSERVATIONS] = {view->final_observation, floats, view->n_observations},
        [HOPSCOTCH_REWARDS] = {view->reward, floats, 0},
        [HOPSCOTCH_TERMINATED] = {view->terminated, HOPSCOTCH_UINT8, 0},
        [HOPSCOTCH_TRUNCATED] = {view->truncated, HOPSCOTCH_UINT8, 0},
        [HOPSCOTCH_STEPS] = {view->steps, HOPSCOTCH_INT64, 0},
        [HOPSCOTCH_PARAMETERS] = {view->parameter, HOPSCOTCH_FLOAT64, view->n_parameters},
        [HOPSCOTCH_EPISODE_METRICS] = {view->metric, HOPSCOTCH_FLOAT64, view->n_metrics},
        [HOPSCOTCH_EPISODE_RETURNS] = {view->episode_return, HOPSCOTCH_FLOAT64, 0},
        [HOPSCOTCH_EPISODE_STEPS] = {view->episode_steps, HOPSCOTCH_INT64, 0},
        [HOPSCOTCH_EPISODE_FAILURE] = {view->episode_failure, HOPSCOTCH_INT32, 0},
    };
    if (name < 0 || name >= HOPSCOTCH_N_ARRAYS) return false;
    *array = (hopscotch_array){.data = rows[name].data,
                               .type = rows[name].type,
                               .n_dimensions = rows[name].columns > 0 ? 2 : 1,
                               .shape = {view->lanes, rows[name].columns > 0 ? rows[name].columns : 1},
                               .strides = {1, view->stride}};
    return true;
}

int hopscotch_env_array(hopscotch_env *env, int name, hopscotch_array *array)
{
    int status;
    Library *library = library_enter(env, &status);
    if (library == NULL) return status;
    if (array == NULL)
        status = library_fail(library, HOPSCOTCH_WRONG_ARGUMENT, "array is NULL");
    else if (!library_array_of(library, name, array))
        status = library_fail(library, HOPSCOTCH_WRONG_ARGUMENT, "there is no array %d; there are 0 to %d", name,
                              HOPSCOTCH_N_ARRAYS - 1);
    return library_leave(env, status);
}

// ---- DLPack ---------------------------------------------------------------------------------------------------------

// The structs of dlpack.h, version 0.x (https://dmlc.github.io/dlpack).
typedef struct DLDevice {
    int32_t device_type, device_id;
} DLDevice;
typedef struct DLDataType {
    uint8_t code, bits; // code 0: int, 1: uint, 2: float
    uint16_t lanes;
} DLDataType;
typedef struct DLTensor {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

typedef struct LibraryTensor {
    DLManagedTensor tensor;
    int64_t shape[2], strides[2];
} LibraryTensor;

static void library_delete_tensor(DLManagedTensor *tensor)
{
    library_release(tensor->manager_ctx);
    free(tensor); // the first member of a LibraryTensor
}

static DLManagedTensor *library_tensor(Library *library, const hopscotch_array *array)
{
    static const DLDataType types[] = {[HOPSCOTCH_FLOAT64] = {2, 64, 1},
                                       [HOPSCOTCH_FLOAT32] = {2, 32, 1},
                                       [HOPSCOTCH_UINT8] = {1, 8, 1},
                                       [HOPSCOTCH_INT32] = {0, 32, 1},
                                       [HOPSCOTCH_INT64] = {0, 64, 1}};
    const EnvironmentDevice device = environment_device(library->environment);
    LibraryTensor *own = calloc(1, sizeof *own);
    if (own == NULL) return NULL;
    memcpy(own->shape, array->shape, sizeof own->shape);
    memcpy(own->strides, array->strides, sizeof own->strides);
    own->tensor = (DLManagedTensor){
        .dl_tensor = {.data = array->data,
                      .device = {library_on_gpu(library) ? DLPACK_CUDA : DLPACK_CPU, device.number},
                      .ndim = array->n_dimensions,
                      .dtype = types[array->type],
                      .shape = own->shape,
                      .strides = own->strides},
        .manager_ctx = library,
        .deleter = library_delete_tensor,
    };
    library_hold(library);
    return &own->tensor;
}

struct DLManagedTensor *hopscotch_env_dlpack(hopscotch_env *env, int name)
{
    int status;
    hopscotch_array array;
    Library *library = library_enter(env, &status);
    if (library == NULL) return NULL;
    DLManagedTensor *tensor = NULL;
    if (!library_array_of(library, name, &array))
        library_fail(library, HOPSCOTCH_WRONG_ARGUMENT, "there is no array %d; there are 0 to %d", name,
                     HOPSCOTCH_N_ARRAYS - 1);
    else if ((tensor = library_tensor(library, &array)) == NULL)
        library_fail(library, HOPSCOTCH_MACHINE, "not enough memory for a tensor");
    library_leave(env, status);
    return tensor;
}
