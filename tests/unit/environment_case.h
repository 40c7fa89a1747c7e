// Environments for tests: a spec as a text, opened through runner/hopscotch.h, and the run that they are compared with.
#ifndef HOPSCOTCH_TESTS_ENVIRONMENT_CASE_H
#define HOPSCOTCH_TESTS_ENVIRONMENT_CASE_H

#include "../../runner/hopscotch.h"
#include "../test.h"

typedef struct EnvironmentCase {
    hopscotch_env *env;
    hopscotch_env_info info;
    hopscotch_array array[HOPSCOTCH_N_ARRAYS]; // on a GPU copies in the memory of the host
    void *place[HOPSCOTCH_N_ARRAYS];           // the environment's own arrays
} EnvironmentCase;

// The device that tests are about, "cpu" or "cuda": HOPSCOTCH_TEST_DEVICE, by default the CPU.
const char *environment_case_device(void);
bool environment_case_on_gpu(void);

// Opens the text, and takes its arrays. False, with a failed check: it was refused.
bool environment_case_open(const char *text, const hopscotch_env_options *options, EnvironmentCase *out);
// As those of hopscotch.h, and with copies of the arrays if they are on a GPU.
int environment_case_reset(const EnvironmentCase *c, const uint8_t *mask, const uint64_t *seeds);
int environment_case_step(const EnvironmentCase *c);
int environment_case_close(EnvironmentCase *c);

// To or from the memory of a device, on the environment's stream; env NULL: on none. It waits.
void environment_case_copy(hopscotch_env *env, void *to, const void *from, size_t size);
int64_t environment_case_free_memory(void); // bytes of the GPU; 0: there is none
double environment_case_number(const EnvironmentCase *c, int array, int64_t lane, int column); // of any type
void environment_case_act(const EnvironmentCase *c, int64_t lane, int action, double value);
// A number in [-1, 1) that depends on all three.
double environment_case_random(int64_t lane, int64_t step, int which);

// A run of one lane, by the backend of the command line.
typedef struct EnvironmentRun {
    Arena arena;
    int n_columns, n_metrics;
    int64_t samples;
    const double *sample, *metric; // [samples][n_columns], one before each step of an environment, and the last
    int failure;
} EnvironmentRun;

// With parameter[n_parameters], and action[steps][n_actions] as the table of the spec (NULL: without one). backend,
// isa: as --backend and --isa.
void environment_case_run(const char *text, const double *parameter, const double *action, int64_t steps,
                          const char *backend, const char *isa, EnvironmentRun *out);

#endif
