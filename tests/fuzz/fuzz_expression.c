// Any bytes as an expression: a parse error, or an expression that evaluates, becomes SQL with bound values, and whose
// canonical text is a fixed point.
#include "../../runner/runner.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"fitness", "k_fp", "thrust"}, *const texts[] = {"failure"};
    static const double values[] = {0.5, 120.0, 30.0};
    const Scope scope = {names, 3, texts, 1};
    Arena arena;
    if (arena_create(&arena, (size_t)1 << 28, "fuzzing").kind != OK) abort();
    char *text = ARENA_NEW(&arena, char, size + 1);
    if (size > 0) memcpy(text, data, size);
    Expression *expression, *again;
    if (expression_parse_text(text, "--where", &scope, &arena, &expression).kind == OK) {
        const char *sql, *canonical = expression_text(expression, &arena);
        SqlValue *bound;
        int count;
        if (expression_sql(expression, &arena, &sql, &bound, &count).kind == OK && strchr(sql, '\'') != NULL) abort();
        expression_value(expression, values);
        if (expression_parse_text(canonical, "--where", &scope, &arena, &again).kind != OK) abort();
        if (strcmp(canonical, expression_text(again, &arena)) != 0) abort();
    }
    arena_destroy(&arena);
    return 0;
}
