// `include: fragment.yaml`: a mapping of the spec starts with the keys of another file, at the top or in any section.
// The keys beside `include` win over those of the fragment; of several fragments the later one wins. Sections are
// merged key by key, mappings of names (over, perturb, ...) name by name; the value of a name is taken whole. Fragments
// may include others. The tree of nodes is merged; each node knows its file and line, so errors point into the
// fragment.
#include "forms.h"

#include <string.h>

enum { INCLUDE_DEPTH_MAX = 8, INCLUDE_KEYS_MAX = 2000 };

typedef struct Includer {
    const Key *rows; // [n_rows] the key table
    int n_rows;
    const char *folder; // of the spec; NULL: it can't include
    Arena *arena;
    Diagnostics *diagnostics;
    const char *open[INCLUDE_DEPTH_MAX + 1]; // [depth] names of the files that are being read, below the spec's folder
    int depth, files;
    int64_t bytes;    // of all fragments
    const char *text; // of all fragments, as comments
} Includer;

// ---- what can be merged ---------------------------------------------------------------------------------------------

typedef enum IncludeKind {
    INCLUDE_WHOLE,  // a value: taken as it is
    INCLUDE_NAMES,  // a mapping of names to values
    INCLUDE_SECTION // a mapping whose mappings may be sections too
} IncludeKind;

// By the row of the key table, or by the nearest section above: options with dots in their names make sections.
static IncludeKind include_kind(const Includer *includer, const char *path)
{
    size_t nearest = 0;
    const Key *rows = includer->rows, *above = NULL;
    if (path[0] == '\0') return INCLUDE_SECTION;
    for (int i = 0; i < includer->n_rows; i++) {
        const size_t length = strlen(rows[i].path);
        if (strncmp(rows[i].path, path, length) != 0 || length < nearest) continue;
        if (path[length] == '\0')
            return rows[i].type == KEY_SECTION ? INCLUDE_SECTION
                   : rows[i].type == KEY_FORM  ? INCLUDE_NAMES
                                               : INCLUDE_WHOLE;
        if (path[length] != '.') continue;
        nearest = length;
        above = &rows[i];
    }
    return above != NULL && above->type == KEY_SECTION ? INCLUDE_SECTION : INCLUDE_WHOLE;
}

static const char *include_path(const Includer *includer, const char *section, const Node *key)
{
    return section[0] != '\0' ? arena_format(includer->arena, "%s.%s", section, key->text) : key->text;
}

static Node *include_copy(const Includer *includer, const Node *mapping, int room)
{
    Node *copy = ARENA_NEW(includer->arena, Node, 1);
    *copy = *mapping;
    copy->keys = ARENA_NEW(includer->arena, const Node *, room > 0 ? room : 1);
    copy->items = ARENA_NEW(includer->arena, const Node *, room > 0 ? room : 1);
    copy->count = 0;
    return copy;
}

static void include_add(Node *mapping, const Node *key, const Node *item)
{
    mapping->keys[mapping->count] = key;
    mapping->items[mapping->count++] = item;
}

// `under` with the keys of `over`, which win. A key in both stays where it is in `under`: the order of axes gives
// trials their ids. The result has the line and column of `over`.
static const Node *include_merge(const Includer *includer, const char *section, const Node *under, const Node *over)
{
    Node *merged = include_copy(includer, over, under->count + over->count);
    if (under->count > INCLUDE_KEYS_MAX || over->count > INCLUDE_KEYS_MAX) {
        diagnose(includer->diagnostics, over, "a mapping that is merged has more than %d keys", INCLUDE_KEYS_MAX);
        return over;
    }
    for (int i = 0; i < under->count; i++) {
        const Node *key = under->keys[i], *low = under->items[i], *high = node_find(over, key->text);
        const char *path = include_path(includer, section, key);
        const bool both = high != NULL && high->kind == NODE_MAPPING && low->kind == NODE_MAPPING;
        if (both && include_kind(includer, section) == INCLUDE_SECTION && include_kind(includer, path) != INCLUDE_WHOLE)
            high = include_merge(includer, path, low, high);
        for (int k = 0; high != NULL && k < over->count; k++) {
            if (strcmp(over->keys[k]->text, key->text) == 0) key = over->keys[k]; // errors show the key that counts
        }
        include_add(merged, key, high != NULL ? high : low);
    }
    for (int i = 0; i < over->count; i++) {
        if (node_find(under, over->keys[i]->text) == NULL) include_add(merged, over->keys[i], over->items[i]);
    }
    return merged;
}

// ---- a fragment -----------------------------------------------------------------------------------------------------

static const Node *include_expand(Includer *includer, const char *section, const Node *node);

static bool include_is_open(const Includer *includer, const char *name)
{
    for (int i = 0; i < includer->depth; i++) {
        if (strcmp(includer->open[i], name) == 0) return true;
    }
    return false;
}

// "a.yaml -> b.yaml -> a.yaml", from the first of them that is the last one too
static const char *include_circle(const Includer *includer, const char *name)
{
    const char *text = "";
    for (int i = 0; i < includer->depth; i++) {
        if (text[0] == '\0' && strcmp(includer->open[i], name) != 0) continue;
        text = arena_format(includer->arena, "%s%s -> ", text, includer->open[i]);
    }
    return text_visible(arena_format(includer->arena, "%s%s", text, name), includer->arena);
}

// Adds the fragment's text as comments to the spec's text, which then holds everything that was read.
static void include_keep_text(Includer *includer, const Source *source)
{
    const char *lines = source->text;
    const char *kept = arena_format(includer->arena, "%s\n# included: %s\n", includer->text,
                                    text_visible(source->name, includer->arena));
    int64_t n_lines = 1;
    for (const char *p = lines; *p != '\0'; p++) n_lines += *p == '\n';
    char *all = arena_take(includer->arena, strlen(kept) + strlen(lines) + 2 * (size_t)n_lines + 2, 1);
    char *out = stpcpy(all, kept);
    while (*lines != '\0') {
        const size_t length = strcspn(lines, "\n");
        out = stpcpy(out, length > 0 ? "# " : "#");
        memcpy(out, lines, length);
        out += length;
        *out++ = '\n';
        lines += length + (lines[length] == '\n');
    }
    *out = '\0';
    includer->text = all;
}

// Whether one more file may be read; reports why not.
static bool include_may(const Includer *includer, const Node *at, const char *name)
{
    const char *problem = NULL;
    if (include_is_open(includer, name))
        problem = arena_format(includer->arena, "include makes a circle: %s", include_circle(includer, name));
    else if (includer->depth > INCLUDE_DEPTH_MAX)
        problem = arena_format(includer->arena, "includes are nested deeper than %d files", INCLUDE_DEPTH_MAX);
    else if (includer->files >= INCLUDES_MAX)
        problem = arena_format(includer->arena, "more than %d files are included", INCLUDES_MAX);
    if (problem != NULL) diagnose(includer->diagnostics, at, "%s", problem);
    return problem == NULL;
}

// The tree of the file that `at` names, its own includes expanded; NULL after an error.
static const Node *include_read(Includer *includer, const char *section, const Node *at)
{
    Source *source = ARENA_NEW(includer->arena, Source, 1);
    const char *name = source_beside(at, includer->arena);
    if (!include_may(includer, at, name)) return NULL;
    const int64_t left = YAML_BYTES_MAX - includer->bytes;
    if (!spec_read_file(includer->folder, at, left, includer->arena, includer->diagnostics, source)) return NULL;
    includer->files++;
    includer->bytes += (int64_t)strlen(source->text);
    include_keep_text(includer, source);
    const Node *root = yaml_parse(source, includer->arena, includer->diagnostics);
    if (root == NULL) return NULL;
    if (root->kind != NODE_MAPPING) {
        diagnose(includer->diagnostics, root, "a file that is included is a mapping of keys to values, this is %s",
                 scalar_given(root, includer->arena));
        return NULL;
    }
    includer->open[includer->depth++] = name;
    root = include_expand(includer, section, root);
    includer->depth--;
    return root;
}

// One name or a list of them, merged; NULL if there is nothing to merge.
static const Node *include_read_all(Includer *includer, const char *section, const Node *value)
{
    const Node *const single[] = {value}, *const *names = value->kind == NODE_SEQUENCE ? value->items : single;
    const int count = value->kind == NODE_SEQUENCE ? value->count : 1;
    const Node *merged = NULL;
    for (int i = 0; i < count; i++) {
        if (names[i]->kind != NODE_SCALAR || scalar_is_empty(names[i])) {
            diagnose(includer->diagnostics, names[i], "include is %s, expected the name of a file or a list of them",
                     scalar_given(names[i], includer->arena));
            continue;
        }
        const Node *fragment = include_read(includer, section, names[i]);
        if (fragment == NULL) continue;
        merged = merged != NULL ? include_merge(includer, section, merged, fragment) : fragment;
    }
    return merged;
}

// ---- the tree -------------------------------------------------------------------------------------------------------

// The node with all its includes expanded; itself if it has none.
static const Node *include_expand(Includer *includer, const char *section, const Node *node)
{
    const IncludeKind kind = include_kind(includer, section);
    if (node->kind != NODE_MAPPING || kind == INCLUDE_WHOLE) return node;
    const Node *include = node_find(node, "include"), *under = NULL;
    Node *own = include_copy(includer, node, node->count);
    bool changed = include != NULL;
    for (int i = 0; i < node->count; i++) {
        const Node *key = node->keys[i], *item = node->items[i];
        if (item == include) continue;
        const Node *expanded = kind == INCLUDE_SECTION && item->kind == NODE_MAPPING
                                   ? include_expand(includer, include_path(includer, section, key), item)
                                   : item;
        changed |= expanded != item;
        include_add(own, key, expanded);
    }
    if (include != NULL) under = include_read_all(includer, section, include);
    if (under != NULL) return include_merge(includer, section, under, own);
    return changed ? own : node;
}

const Node *include_all(const char *folder, const Node *root, Arena *arena, Diagnostics *diagnostics, const char **text)
{
    Includer includer = {.folder = folder, .arena = arena, .diagnostics = diagnostics, .text = *text};
    includer.rows = keys_table(arena, &includer.n_rows);
    const char *slash = strrchr(root->source->file, '/');
    includer.open[includer.depth++] = slash != NULL ? slash + 1 : root->source->file;
    root = include_expand(&includer, "", root);
    *text = includer.text;
    return root;
}

// ---- the row --------------------------------------------------------------------------------------------------------

// An include that was not expanded: given by --set, or stored in a database.
static void include_read_form(SpecReader *reader, const GivenKey *given)
{
    diagnose(reader->diagnostics, given->key, "include stands in a spec's file only");
}

#define INCLUDE_SCHEMA "{anyOf: [{type: string}, {type: array, minItems: 1, items: $name}]}"

const Form form_include = {
    .path = "include",
    .after = "experiment",
    .words = "the name of a file or a list of them",
    .doc = "files with more keys, at the top and in every section; the keys of this file win. The files lie in the "
           "spec's folder or below, and a name is relative to the file that it stands in",
    .example = "fragment.yaml",
    .stage = FORM_FIRST,
    .read = include_read_form,
    .schema = INCLUDE_SCHEMA,
    .definition = "include",
    .define = INCLUDE_SCHEMA,
};
