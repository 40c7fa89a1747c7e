// Random expressions for tests.
#include "expression_case.h"

#include <stdio.h>
#include <string.h>

int expression_case_pick(ExpressionRandom *random, int n)
{
    return (int)(random_uniform(&random->key, random->used++ % 60000) * n);
}

// The start of a call. Returns how many arguments follow the first.
static int expression_case_call(ExpressionRandom *random, char *at)
{
    static const char *const calls[] = {"abs",  "sqrt", "exp",   "log",   "sin",  "cos",   "tan",  "asin",
                                        "acos", "atan", "sinh",  "cosh",  "tanh", "floor", "ceil", "sign",
                                        "step", "mod",  "atan2", "hypot", "clip", "if"};
    enum { CALLS = sizeof calls / sizeof *calls, OF_TWO = 17, OF_THREE = 20 };
    const int call = expression_case_pick(random, CALLS);
    sprintf(at, "%s(", calls[call]);
    return (call >= OF_TWO) + (call >= OF_THREE);
}

void expression_case_invent(ExpressionRandom *random, int depth, const char *const *leaves, int n_leaves, bool texts,
                            char *out)
{
    static const char *const infixes[] = {"+", "-", "*", "<", "<=", ">", ">=", "=", "!=", " and ", " or ", "/", "^"};
    static const char *const compared[] = {"failure = 'none'", "(failure != 'fell')", "'' = failure",
                                           "failure=failure"};
    char *at = out + strlen(out);
    const int form = depth == 0 ? 0 : expression_case_pick(random, 8);
    if (form < 2) {
        strcpy(at, texts && form == 1 ? compared[expression_case_pick(random, 4)]
                                      : leaves[expression_case_pick(random, n_leaves)]);
        return;
    }
    strcpy(at, form == 2 ? "-(" : form == 3 ? "not(" : "(");
    int more = form == 4 ? expression_case_call(random, at) : form == 5 ? 1 + expression_case_pick(random, 2) : 0;
    if (form == 5) strcpy(at, expression_case_pick(random, 2) == 0 ? "(min(" : "(max(");
    expression_case_invent(random, depth - 1, leaves, n_leaves, texts, at);
    for (; more > 0; more--) {
        strcat(at, ",");
        expression_case_invent(random, depth - 1, leaves, n_leaves, texts, at);
    }
    strcat(at, form == 5 ? "))" : ")");
    if (form < 6) return;
    strcat(at, infixes[expression_case_pick(random, 13)]);
    strcat(at, "(");
    expression_case_invent(random, depth - 1, leaves, n_leaves, texts, at);
    strcat(at, ")");
}
