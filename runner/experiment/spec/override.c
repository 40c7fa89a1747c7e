// --set key.path=value: replaces or adds one node of the spec's tree. The tree is not changed: the mappings on the path
// are copied, so that the nodes of the file keep their places for messages. A campaign keeps what was given in the text
// of its spec, as the mapping `set`.
#include "forms.h"

#include <stdlib.h>
#include <string.h>

#define OVERRIDE_KEY "set"

// Where a path of keys is written: `text` at the place of the node `at`.
typedef struct OverridePath {
    const Node *at;
    const char *text, *end;
} OverridePath;

// A scalar node for the word [start, start + length) of the path.
static const Node *override_key(const OverridePath *path, const char *start, size_t length, Arena *arena)
{
    Node *node = ARENA_NEW(arena, Node, 1);
    *node = (Node){.kind = NODE_SCALAR,
                   .source = path->at->source,
                   .line = path->at->line,
                   .column = path->at->column + (int)(start - path->text),
                   .width = length > 0 ? (int)length : 1,
                   .text = arena_format(arena, "%.*s", (int)length, start)};
    return node;
}

// `mapping` with `key` set to `value`; a key that is there keeps its index.
static const Node *override_with(const Node *mapping, const Node *key, const Node *value, Arena *arena)
{
    Node *node = ARENA_NEW(arena, Node, 1);
    *node = *mapping;
    node->keys = ARENA_NEW(arena, const Node *, mapping->count + 1);
    node->items = ARENA_NEW(arena, const Node *, mapping->count + 1);
    int index = mapping->count;
    for (int i = 0; i < mapping->count; i++) {
        node->keys[i] = mapping->keys[i];
        node->items[i] = mapping->items[i];
        if (strcmp(mapping->keys[i]->text, key->text) == 0) index = i;
    }
    node->keys[index] = key;
    node->items[index] = value;
    node->count = index == mapping->count ? mapping->count + 1 : mapping->count;
    return node;
}

// Why nothing can be set below a value. A law or a system may be the name of a file, whose parameters are the spec's.
static const char *override_no_mapping(const Node *value, const OverridePath *path, const char *from, Arena *arena)
{
    static const char parameters[] = "parameters.";
    const size_t head = sizeof parameters - 1;
    const char *above = arena_format(arena, "%.*s", (int)(from - path->text - 1), path->text),
               *last = strrchr(above, '.');
    if (last == NULL || value->kind != NODE_SCALAR || (strcmp(last, ".law") != 0 && strcmp(last, ".system") != 0))
        return "the value above this key in the spec is not a mapping";
    const char *name = "NAME";
    if (strncmp(from, parameters, head) == 0 && from + head < path->end)
        name = arena_format(arena, "%.*s", (int)strcspn(from + head, ".="), from + head);
    return arena_format(arena,
                        "%s is a file of its own, %.100s: parameters.%s sets a parameter of it; change all else there",
                        above, text_visible(value->text, arena), name);
}

// `from`: where in the path we are; `mapping` NULL: there is none yet. NULL after an error.
static const Node *override_descend(const Node *mapping, const OverridePath *path, const char *from, const Node *value,
                                    Arena *arena, Diagnostics *diagnostics)
{
    size_t length = strcspn(from, ".");
    if (from + length > path->end) length = (size_t)(path->end - from);
    const Node *key = override_key(path, from, length, arena);
    if (mapping == NULL || scalar_is_empty(mapping)) {
        Node *empty = ARENA_NEW(arena, Node, 1);
        *empty = (Node){.kind = NODE_MAPPING,
                        .source = key->source,
                        .line = path->at->line,
                        .column = path->at->column,
                        .width = 1};
        mapping = empty;
    }
    if (length == 0 || mapping->kind != NODE_MAPPING) {
        diagnose(diagnostics, key, "%s",
                 length == 0 ? "a word of the key is empty" : override_no_mapping(mapping, path, from, arena));
        return NULL;
    }
    if (from + length < path->end)
        value = override_descend(node_find(mapping, key->text), path, from + length + 1, value, arena, diagnostics);
    return value != NULL ? override_with(mapping, key, value, arena) : NULL;
}

// The root with the path set to the value; the root itself after an error.
static const Node *override_set(const Node *root, const OverridePath *path, const Node *value, Arena *arena,
                                Diagnostics *diagnostics)
{
    int depth = 1;
    for (const char *p = path->text; p < path->end; p++) depth += *p == '.';
    if (depth > YAML_DEPTH_MAX) {
        diagnose(diagnostics, path->at, "the key has more than %d words", YAML_DEPTH_MAX);
        return root;
    }
    const Node *changed = override_descend(root, path, path->text, value, arena, diagnostics);
    return changed != NULL ? changed : root;
}

// ---- --set ----------------------------------------------------------------------------------------------------------

const Node *override_apply(const Node *root, const char *override, Arena *arena, Diagnostics *diagnostics)
{
    Source *source = ARENA_NEW(arena, Source, 1);
    *source = (Source){.file = "--set", .text = override};
    Node *at = ARENA_NEW(arena, Node, 1);
    *at = (Node){.kind = NODE_SCALAR, .source = source, .line = 1, .column = 1, .width = 1, .text = ""};
    const char *equals = strchr(override, '=');
    if (equals == NULL || equals == override || equals[1] == '\0') {
        diagnose(diagnostics, at, "expected key.path=value, for example search.over.thrust=[25, 30]");
        return root;
    }
    if (strncmp(override, OVERRIDE_KEY "=", 4) == 0 || strncmp(override, OVERRIDE_KEY ".", 4) == 0) {
        diagnose(diagnostics, at, "'" OVERRIDE_KEY "' holds what --set gave before: give the key itself");
        return root;
    }
    // The value is read with blanks instead of the key, so that its columns are those of the whole text.
    char *value_text = arena_copy(arena, override);
    memset(value_text, ' ', (size_t)(equals - override) + 1);
    source->text = value_text;
    const Node *value = yaml_parse(source, arena, diagnostics);
    source->text = override;
    const OverridePath path = {.at = at, .text = override, .end = equals};
    return value != NULL ? override_set(root, &path, value, arena, diagnostics) : root;
}

const Node *override_apply_key(const Node *root, const Node *key, const Node *value, Arena *arena,
                               Diagnostics *diagnostics)
{
    const OverridePath path = {.at = key, .text = key->text, .end = key->text + strlen(key->text)};
    return override_set(root, &path, value, arena, diagnostics);
}

// ---- `set:`, the text that a campaign keeps -------------------------------------------------------------------------

const Node *override_apply_kept(const Node *root, Arena *arena, Diagnostics *diagnostics)
{
    const Node *kept = root->kind == NODE_MAPPING ? node_find(root, OVERRIDE_KEY) : NULL;
    if (kept == NULL || kept->kind != NODE_MAPPING) return root; // its form reports that
    for (int i = 0; i < kept->count; i++)
        root = override_apply_key(root, kept->keys[i], kept->items[i], arena, diagnostics);
    return root;
}

static const char override_head[] = "# In place of the values above, by --set:\n" OVERRIDE_KEY ":\n";

// Length of the line at `line` with its end.
static size_t override_line(const char *line)
{
    const size_t length = strcspn(line, "\n");
    return length + (line[length] == '\n');
}

// Whether one of the overrides gives the key of a line "  key: value" again.
static bool override_again(const Overrides *overrides, const char *line)
{
    const size_t length = strcspn(line + 2, ":\n");
    for (int i = 0; i < overrides->count; i++) {
        if (strcspn(overrides->items[i], "=") == length && strncmp(overrides->items[i], line + 2, length) == 0)
            return true;
    }
    return false;
}

// Whether the text reads as a spec that holds so many overrides.
static bool override_is_kept(const char *text, int count, Arena *arena)
{
    Source *source = ARENA_NEW(arena, Source, 1);
    *source = (Source){.file = "", .text = text, .most = RESOLVED_BYTES_MAX};
    const Node *root = yaml_parse(source, arena, diagnostics_new(arena));
    const Node *kept = root != NULL && root->kind == NODE_MAPPING ? node_find(root, OVERRIDE_KEY) : NULL;
    return kept != NULL && kept->kind == NODE_MAPPING && kept->count == count;
}

// Where values that were added here begin; else the end of the text.
static const char *override_added(const char *text)
{
    for (const char *at = text; (at = strstr(at, override_head)) != NULL; at++) {
        if (at == text || at[-1] == '\n') return at;
    }
    return text + strlen(text);
}

const char *spec_text_set(const char *text, const Overrides *overrides, Arena *arena)
{
    TextStream out;
    int count = 0;
    if (overrides->count == 0 || text_stream_open("the text of a spec", &out).kind != OK) return text;
    const char *added = override_added(text), *line = added[0] != '\0' ? added + strlen(override_head) : added;
    const char *first = line, *end = line;
    while (strncmp(end, "  ", 2) == 0) end += override_line(end);
    fprintf(out.out, "%.*s%s%s%s", (int)(added - text), text, added > text && added[-1] != '\n' ? "\n" : "", end,
            override_head);
    for (line = first; line < end; line += override_line(line)) {
        if (override_again(overrides, line)) continue;
        fprintf(out.out, "%.*s", (int)override_line(line), line);
        count++;
    }
    for (int i = 0; i < overrides->count; i++) {
        bool later = false;
        const size_t key = strcspn(overrides->items[i], "=");
        for (int k = i + 1; k < overrides->count; k++)
            later |= strncmp(overrides->items[i], overrides->items[k], key + 1) == 0;
        if (later) continue;
        fprintf(out.out, "  %.*s: ", (int)key, overrides->items[i]);
        for (const char *c = overrides->items[i] + key + 1; *c != '\0'; c++) fputc(*c != '\n' ? *c : ' ', out.out);
        fputc('\n', out.out);
        count++;
    }
    const char *kept = text_stream_close(&out).kind == OK ? arena_copy(arena, out.text) : text;
    free(out.text);
    if (override_is_kept(kept, count, arena)) return kept;
    kept = text; // for instance a spec that is one flow mapping
    for (int i = 0; i < overrides->count; i++)
        kept = arena_format(arena, "%s\n# --set %s", kept, text_visible(overrides->items[i], arena));
    return arena_format(arena, "%s\n", kept);
}

// ---- the row --------------------------------------------------------------------------------------------------------

static void override_read_form(SpecReader *reader, const GivenKey *given)
{
    if (given->value->kind != NODE_MAPPING && !scalar_is_empty(given->value)) form_mistyped(reader, given);
}

const Form form_set = {
    .path = OVERRIDE_KEY,
    .after = "seed",
    .words = "a mapping of keys to values",
    .doc = "values in place of those of other keys, by their whole names; `spec.yaml` of a campaign says so what --set "
           "gave",
    .example = "{search.over.thrust: [25, 30]}",
    .stage = FORM_FIRST,
    .read = override_read_form,
    .schema = "{type: object}",
};
