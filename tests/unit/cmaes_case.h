// A search by the CMA-ES without a campaign, for tests: functions are evaluated here, not by a backend.
#ifndef HOPSCOTCH_CMAES_CASE_H
#define HOPSCOTCH_CMAES_CASE_H

#include "../../runner/experiment/search/cmaes/cmaes.h"
#include "../test.h"

enum { CMAES_TEST_N = 20, CMAES_TEST_TRIALS = 4096 };

typedef double CmaesFunction(const double *x, int n);

typedef struct CmaesCase {
    Arena arena;
    Spec spec;
    Search search;
    Trials trials;
    Rounds rounds;
    double *settings;
    CmaesFunction *function;
    int n;
    int64_t evaluations;
} CmaesCase;

// Test functions over [-5, 5]^n, with the optimum at 1.
CmaesFunction cmaes_sphere, cmaes_ellipsoid, cmaes_rosenbrock, cmaes_flat;

// Starts a search with these options of `cmaes:` over n ranges of [-5, 5], or with `over` and other lines of the spec.
void cmaes_case_start(CmaesCase *test, CmaesFunction *function, int n, uint64_t seed, const char *options);
void cmaes_case_start_over(CmaesCase *test, CmaesFunction *function, int n, uint64_t seed, const char *over,
                           const char *rest);
void cmaes_case_end(CmaesCase *test);

// Runs one batch of at most `most` trials; false: the search has ended. _run: all batches, until it has. _in_pieces:
// after every batch the search continues from its state alone, as in another process.
bool cmaes_case_batch(CmaesCase *test, int64_t most);
void cmaes_case_run(CmaesCase *test, int64_t most);
void cmaes_case_run_in_pieces(CmaesCase *test, int64_t most);

const CmaesRun *cmaes_case_of(const CmaesCase *test, int64_t search);
// True if both states, which hold every number of every search, are the same bytes.
bool cmaes_same_state(const CmaesCase *a, const CmaesCase *b);

#endif
