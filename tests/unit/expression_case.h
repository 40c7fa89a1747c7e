// Random expressions for tests.
#ifndef HOPSCOTCH_TESTS_EXPRESSION_CASE_H
#define HOPSCOTCH_TESTS_EXPRESSION_CASE_H

#include "../../runner/experiment/experiment.h"

typedef struct ExpressionRandom {
    RandomKey key;
    uint32_t used;
} ExpressionRandom;

int expression_case_pick(ExpressionRandom *random, int n); // 0 to n - 1
// Appends a random expression over leaves[n_leaves], of all operations, with random superfluous parentheses. texts:
// with comparisons of the column `failure` too.
void expression_case_invent(ExpressionRandom *random, int depth, const char *const *leaves, int n_leaves, bool texts,
                            char *out);

#endif
