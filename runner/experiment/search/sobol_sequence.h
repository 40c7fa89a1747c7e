// Sobol's sequence (sobol_sequence.c), for the methods that use it.
#ifndef HOPSCOTCH_SOBOL_H
#define HOPSCOTCH_SOBOL_H

#include "../experiment.h"

enum { SOBOL_DIMENSIONS_MAX = 80, SOBOL_BITS = 48 };

// Direction numbers of the first `dimensions` coordinates with the digital shifts of a seed: any point of the sequence
// without those before it.
typedef struct Sobol {
    uint64_t *direction; // [dimensions][SOBOL_BITS] as fractions of 2^52
    uint64_t *shift;     // [dimensions]
} Sobol;

Sobol *sobol_make(int dimensions, uint64_t seed, Arena *arena); // dimensions <= SOBOL_DIMENSIONS_MAX
// Coordinate of point `index` < 2^48, in [0, 1). sobol_coordinate: with the digital shift. sobol_scrambled: with Owen's
// scrambling by a random key.
double sobol_coordinate(const Sobol *sobol, int dimension, uint64_t index);
double sobol_scrambled(const Sobol *sobol, int dimension, uint64_t index, uint64_t key);
// The key of scrambling 0, 1, ... for one coordinate. Scramblings are independent.
uint64_t sobol_key(uint64_t seed, int scrambling, int dimension);

#endif
