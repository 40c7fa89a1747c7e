// Any bytes as YAML: a tree whose places lie in the text, or diagnostics that can be printed.
#include "fuzz.h"

static int fuzz_count(const Node *node)
{
    int count = 1;
    if (node->line < 1 || node->column < 1 || node->width < 1) abort();
    if (node->kind == NODE_SCALAR && node->text == NULL) abort();
    for (int i = 0; node->kind != NODE_SCALAR && i < node->count; i++) {
        if (node->kind == NODE_MAPPING && node->keys[i]->kind != NODE_SCALAR) abort();
        count += fuzz_count(node->items[i]);
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *arena = fuzz_arena();
    Diagnostics *diagnostics = diagnostics_new(arena);
    char *text = fuzz_text(data, size);
    const Source source = {.file = "fuzz.yaml", .text = text};
    if (source_check(&source, size, diagnostics)) {
        const Node *root = yaml_parse(&source, arena, diagnostics);
        if (root == NULL && diagnostics_errors(diagnostics) == 0) abort();
        if (root != NULL && fuzz_count(root) > 100000) abort();
    }
    free(text);
    return 0;
}
