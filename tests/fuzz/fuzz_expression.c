// Any bytes as an expression: a parse error, or an expression that evaluates and whose canonical text is a fixed point.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"fitness", "k_fp", "thrust"}, *const texts[] = {"failure"};
    static const double values[] = {0.5, 120.0, 30.0, 0.0}; // the last one: the number of the text
    const Scope scope = {.names = names, .count = 3, .texts = texts, .n_texts = 1};
    Arena *arena = fuzz_arena();
    char *text = fuzz_text(data, size);
    Expression *expression, *again;
    const Error error = expression_parse_text(text, "--where", &scope, arena, &expression);
    fuzz_check_error(error);
    if (error.kind == OK) {
        const char *canonical = expression_text(expression, arena);
        const double value = expression_value(expression, values);
        if (expression_parse_text(canonical, "--where", &scope, arena, &again).kind != OK) abort();
        if (strcmp(canonical, expression_text(again, arena)) != 0) abort();
        const double value_again = expression_value(again, values);
        if (memcmp(&value, &value_again, sizeof value) != 0 && (value == value || value_again == value_again)) abort();
    }
    free(text);
    return 0;
}
