// What a device of environments implements. sim.h has the functions that use it.
#ifndef HOPSCOTCH_ENVIRONMENT_DEVICE_H
#define HOPSCOTCH_ENVIRONMENT_DEVICE_H

#include "lanes_view.h"

#ifdef __cplusplus
extern "C" {
#endif

// The first member of every device's own struct.
struct Environment {
    EnvironmentView view; // its pointers are the device's
    Constants constants;
    int kernel, n_columns, registers; // registers: of the expressions' frame
    Law law;                          // the host's; environment_group sets its pointers
    bool on_gpu;                      // in a GPU's memory
    EnvironmentDevice info;
    char device[192];
    Error (*reset)(Environment *environment, const uint8_t *lanes, const uint64_t *seeds);
    Error (*step)(Environment *environment);
    Error (*wait)(Environment *environment);
    Error (*set_stream)(Environment *environment, void *stream); // NULL: it has none
    void (*close)(Environment *environment);
};

// Sizes, options and kernel of the setup. Its kernels have frames of their own; a device whose kernels have none sets
// view.n_frame to `registers`.
void environment_describe(Environment *environment, const EnvironmentSetup *setup);
// Lays the arrays of the view one behind the other from `base` on. Returns their bytes. base NULL: only counts them.
size_t environment_lay(EnvironmentView *view, const EnvironmentSetup *setup, char *base);
// The tables of the setup, which lanes share, are one range behind all arrays, in the order of environment_lay.
// environment_tables_at: bytes before that range. environment_fill_tables writes it.
size_t environment_tables_at(const EnvironmentView *view);
void environment_fill_tables(const EnvironmentSetup *setup, char *tables);
// The argument of a kernel: all lanes, from `lane` on.
LaneGroup environment_group(const Environment *environment, int64_t lane, int valid);

#ifdef HOPSCOTCH_CUDA
// weak: `make demo` leaves it out
Error environment_cuda_open(const EnvironmentSetup *setup, Environment **out) __attribute__((weak));
#endif

#ifdef __cplusplus
}
#endif
#endif
