// What the host side (bbob.c, instances.c) and the kernel (advance.h) of the benchmark functions share.
#ifndef HOPSCOTCH_BBOB_H
#define HOPSCOTCH_BBOB_H

#include "../sim.h"

enum { BBOB_DIMENSIONS_MAX = 40, BBOB_PEAKS_MAX = 101, BBOB_FUNCTIONS = 24 };
enum { BBOB_METRIC_F, BBOB_METRIC_DISTANCE, BBOB_N_METRICS };
enum { BBOB_NONE, BBOB_DIVERGED };

// Shared by all lanes; stored in sim.h's Constants.
typedef struct BbobConstants {
    double scale;          // of x - x_opt, in functions that scale it with the dimension
    int64_t dimension;     // D
    int64_t function;      // 1 to 24
    int64_t peaks;         // of Gallagher's functions
    double mu_0, mu_1, s;  // Lunacek's two centres, and the weight of the second
    double exponent, rest; // Katsuura's 10/D^1.2; Weierstrass's f_0
} BbobConstants;

// The assets, D = dimension:
//   x_opt[D]
//   weight[D]      of each coordinate, such as 10^(6 (i-1)/(D-1)); it depends on the function
//   A[D][D]        the first linear map: R, or Q Lambda R if nothing is between them
//   B[D][D]        the second one, after a nonlinear transformation
//   peaks[n_peaks] of 1 + 2 D: height, R y, diagonal of C
enum { BBOB_AT_WEIGHT = 1, BBOB_AT_A = 2 }; // in multiples of D
#define BBOB_AT_B(d) (2 * (d) + (d) * (d))
#define BBOB_AT_PEAK(d, k) (2 * (d) + 2 * (d) * (d) + (k) * (1 + 2 * (d)))

// ---- instances.c ----------------------------------------------------------------------------------------------------

// The functions' names, in the order of their numbers; f1 is "sphere".
extern const char bbob_names[];
// Constants and assets of a function: COCO's problem less its f_opt. instance >= 1.
const double *bbob_instance(int function, uint64_t instance, int dimension, Arena *arena, BbobConstants *constants,
                            int64_t *n_assets);

#endif
