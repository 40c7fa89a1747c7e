// Copies of what a system declares, written out before it is read, so that all that follows sees x1, x2, ... only. A
// key that stands beside them for one copy, as x3 beside x#, takes its place.
#include "copies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COPIES_NUMBER_MAX = 4096, COPIES_NODES_MAX = YAML_NODES_MAX, COPIES_BYTES_MAX = 4 << 20 };

bool copy_range(const Node *repeat, CopyWhole *whole, void *data, Diagnostics *diagnostics, CopyRange *out)
{
    const bool pair = repeat->kind == NODE_SEQUENCE && repeat->count == 2;
    *out = (CopyRange){1, 1};
    if (!pair && repeat->kind != NODE_SCALAR) {
        diagnose(diagnostics, repeat, "repeat is a %s, expected a number of copies or [first, last]",
                 repeat->kind == NODE_SEQUENCE ? "list" : "mapping");
        return false;
    }
    return (!pair || whole(data, repeat->items[0], &out->first)) &&
           whole(data, pair ? repeat->items[1] : repeat, &out->last);
}

bool copies_count(Copies *copies, const Node *node, int bytes)
{
    copies->bytes += bytes;
    copies->n_nodes++;
    if (copies->bytes <= COPIES_BYTES_MAX && copies->n_nodes <= COPIES_NODES_MAX) return true;
    if (!copies->full)
        diagnose(copies->reader->diagnostics, node,
                 "there are too many copies: written out, a system has at most %d values and %d characters",
                 COPIES_NODES_MAX, COPIES_BYTES_MAX);
    copies->full = copies->wrong = true;
    return false;
}

// ---- sections -------------------------------------------------------------------------------------------------------

// What a section holds.
typedef enum CopySection {
    COPY_NAMES,  // a mapping of names that are declared, and that expressions use
    COPY_STATES, // of states or held numbers, whose numbers are those of other items too
    COPY_RATES,  // a mapping by state or held number
    COPY_TOLD,   // a mapping of names that expressions do not use
    COPY_LIST,   // a list
    COPY_MOTORS, // a mapping by motor, whose keys have marks of their own: they are patterns
    COPY_MODES
} CopySection;

static const struct {
    const char *key;
    CopySection section;
} copy_sections[] = {
    {"states", COPY_STATES}, {"held", COPY_STATES},        {"parameters", COPY_NAMES}, {"let", COPY_NAMES},
    {"rates", COPY_RATES},   {"next", COPY_RATES},         {"noise", COPY_RATES},      {"metrics", COPY_TOLD},
    {"failures", COPY_TOLD}, {"columns", COPY_TOLD},       {"events", COPY_LIST},      {"drawing", COPY_LIST},
    {"modes", COPY_MODES},   {"every_period", COPY_RATES}, {"command", COPY_MOTORS},   {"add", COPY_MOTORS},
    {"effort", COPY_MOTORS},
};

// False: copies have no part in it.
static bool copy_find_section(const char *key, CopySection *section)
{
    for (size_t i = 0; i < sizeof copy_sections / sizeof *copy_sections; i++) {
        if (strcmp(copy_sections[i].key, key) != 0) continue;
        *section = copy_sections[i].section;
        return true;
    }
    return false;
}

// Texts for readers, in which # is no mark unless they are copied.
static bool copy_is_prose(const char *key) { return strcmp(key, "doc") == 0 || strcmp(key, "unit") == 0; }

// Whether a mark of a copy's own number stands in a value.
static bool copy_marked(const Node *node)
{
    bool marked = node->kind == NODE_SCALAR && copy_has_own_mark(node->text);
    for (int i = 0; node->kind != NODE_SCALAR && i < node->count && !marked; i++) marked = copy_marked(node->items[i]);
    return marked;
}

// ---- how many -------------------------------------------------------------------------------------------------------

static bool copy_whole(void *data, const Node *node, int64_t *value)
{
    SystemReader *reader = data;
    double number;
    if (!equations_number(reader, node, &number)) return false;
    const bool whole = number == floor(number) && number >= 0.0 && number <= COPIES_NUMBER_MAX;
    *value = whole ? (int64_t)number : 0;
    if (!whole) diagnose(reader->diagnostics, node, "a number of copies is whole, from 0 to %d", COPIES_NUMBER_MAX);
    return whole;
}

static const Node *copy_key(const Node *item, const char *key)
{
    return item->kind == NODE_MAPPING ? node_find(item, key) : NULL;
}

// The copies of an item by its own keys. False: it has none, or they are wrong, which is reported.
static bool copy_own(Copies *copies, const Node *item, CopyFamily *family)
{
    const Node *repeat = copy_key(item, "repeat"), *ring = copy_key(item, "ring");
    SystemReader *reader = copies->reader;
    CopyRange range;
    if (ring != NULL && repeat == NULL)
        diagnose(reader->diagnostics, ring, "ring stands beside repeat: {repeat: 20, ring: true}");
    copies->wrong |= ring != NULL && repeat == NULL;
    if (repeat == NULL) return false;
    if (!copy_range(repeat, copy_whole, reader, reader->diagnostics, &range)) {
        copies->wrong = true;
        return false;
    }
    family->first = range.first;
    family->last = range.last;
    family->ring = equations_truth(reader, item, "ring");
    if (family->last >= family->first) return true;
    diagnose(reader->diagnostics, repeat, "repeat asks for no copies");
    copies->wrong = true;
    return false;
}

// The copies of an item by its own keys, else those of the states. False after an error.
static bool copy_numbers(Copies *copies, const Node *at, const Node *item, CopyFamily *family)
{
    if (copy_key(item, "repeat") != NULL || copy_key(item, "ring") != NULL) return copy_own(copies, item, family);
    if (copies->usual.name != NULL) {
        const char *name = family->name;
        *family = copies->usual;
        family->name = name;
        return true;
    }
    diagnose(
        copies->reader->diagnostics, at,
        "how many copies? Write repeat: 20 here; without it there are as many as of the states, if all have the same "
        "numbers");
    copies->wrong = true;
    return false;
}

// ---- names that are declared ----------------------------------------------------------------------------------------

static int copy_by_family(const void *a, const void *b)
{
    return strcmp(((const CopyFamily *)a)->name, ((const CopyFamily *)b)->name);
}

static int copy_by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// The numbers that states and held numbers have by their own keys, if all have the same.
static void copies_find_usual(Copies *copies, const Node *system)
{
    CopyFamily usual = {.name = NULL};
    bool same = true;
    for (int s = 0; s < 2; s++) {
        const Node *section = node_find(system, s == 0 ? "states" : "held");
        for (int i = 0; section != NULL && section->kind == NODE_MAPPING && i < section->count; i++) {
            CopyFamily family = {.name = section->keys[i]->text};
            if (!copy_own(copies, section->items[i], &family)) continue;
            if (usual.name == NULL) usual = family;
            same &= usual.first == family.first && usual.last == family.last;
            usual.ring &= family.ring;
        }
    }
    if (same) copies->usual = usual;
}

// A section's names, with and without marks.
static void copies_gather(Copies *copies, const Node *section)
{
    for (int i = 0; section != NULL && section->kind == NODE_MAPPING && i < section->count; i++) {
        const Node *key = section->keys[i], *item = section->items[i];
        CopyFamily family = {.name = key->text};
        if (strchr(key->text, '#') == NULL)
            copies->plain[copies->n_plain++] = key->text;
        else if (copy_numbers(copies, key, item, &family))
            copies->families[copies->n_families++] = family;
    }
}

// Sections of names: of the system, then those of its modes.
static const Node *copies_section_of_names(const Node *system, int at)
{
    static const char *const sections[] = {"parameters", "states", "held", "let", "inputs"};
    enum { OWN = sizeof sections / sizeof *sections };
    const Node *modes = node_find(system, "modes");
    if (at < OWN) return node_find(system, sections[at]);
    return modes->items[at - OWN]->kind == NODE_MAPPING ? node_find(modes->items[at - OWN], "let") : NULL;
}

static void copies_declare(Copies *copies, const Node *system)
{
    const Node *modes = node_find(system, "modes");
    const int sections = 5 + (modes != NULL && modes->kind == NODE_MAPPING ? modes->count : 0);
    int most = 0;
    copies_find_usual(copies, system);
    for (int s = 0; s < sections; s++) {
        const Node *section = copies_section_of_names(system, s);
        most += section != NULL ? section->count : 0;
    }
    copies->families = ARENA_NEW(copies->reader->arena, CopyFamily, most);
    copies->plain = ARENA_NEW(copies->reader->arena, const char *, most);
    for (int s = 0; s < sections; s++) copies_gather(copies, copies_section_of_names(system, s));
    qsort(copies->families, (size_t)copies->n_families, sizeof *copies->families, copy_by_family);
    qsort(copies->plain, (size_t)copies->n_plain, sizeof *copies->plain, copy_by_text);
}

// ---- writing out ----------------------------------------------------------------------------------------------------

// Nodes that are gathered, of a mapping with their keys.
typedef struct CopyNodes {
    Arena *arena;
    const Node **keys, **items;
    int count, room;
} CopyNodes;

static void nodes_add(CopyNodes *nodes, const Node *key, const Node *item)
{
    if (nodes->count == nodes->room) {
        const int room = 2 * nodes->room + 8;
        const Node **keys = ARENA_NEW(nodes->arena, const Node *, room),
                   **items = ARENA_NEW(nodes->arena, const Node *, room);
        for (int i = 0; i < nodes->count; i++) {
            keys[i] = nodes->keys[i];
            items[i] = nodes->items[i];
        }
        nodes->keys = keys;
        nodes->items = items;
        nodes->room = room;
    }
    nodes->keys[nodes->count] = key;
    nodes->items[nodes->count++] = item;
}

static const Node *nodes_taken(const CopyNodes *nodes, const Node *from, const NodeCopy *copy)
{
    Node *node = ARENA_NEW(nodes->arena, Node, 1);
    *node = *from;
    node->keys = nodes->keys;
    node->items = nodes->items;
    node->count = nodes->count;
    node->copy = copy;
    return node;
}

// In place of a scalar that can't be written out, so that there is one error.
static const Node *copy_muted(const Copies *copies, const Node *node)
{
    Node *muted = ARENA_NEW(copies->reader->arena, Node, 1);
    NodeCopy *copy = ARENA_NEW(copies->reader->arena, NodeCopy, 1);
    *copy = (NodeCopy){.muted = true};
    *muted = *node;
    muted->text = "0";
    muted->copy = copy;
    return muted;
}

// Of a copy the number in a text for readers is that of a name; others keep their #.
static const Node *copy_prose(const Copies *copies, const Node *node, const CopyNumber *numbers)
{
    if (numbers == NULL || node->kind != NODE_SCALAR || strchr(node->text, '#') == NULL) return node;
    Node *prose = ARENA_NEW(copies->reader->arena, Node, 1);
    *prose = *node;
    prose->text = copy_name(copies->reader->arena, node->text, numbers->number);
    return prose;
}

// A node as a copy; numbers NULL: it is not repeated.
static const Node *copy_node(Copies *copies, const Node *node, const CopyNumber *numbers, const NodeCopy *copy)
{
    CopyNodes nodes = {.arena = copies->reader->arena};
    if (copies->full || (node->kind == NODE_SCALAR && numbers == NULL && strchr(node->text, '#') == NULL)) return node;
    if (node->kind == NODE_SCALAR) {
        const Node *numbered = copy_numbered(copies, node, numbers);
        return numbered != NULL ? numbered : copy_muted(copies, node);
    }
    for (int i = 0; i < node->count; i++) {
        const Node *key = node->kind == NODE_MAPPING ? node->keys[i] : NULL, *item = node->items[i];
        const bool prose = key != NULL && copy_is_prose(key->text);
        nodes_add(&nodes, key, prose ? copy_prose(copies, item, numbers) : copy_node(copies, item, numbers, copy));
    }
    copies_count(copies, node, 0);
    return nodes_taken(&nodes, node, copy);
}

// An item without the keys that say how many copies there are.
static const Node *copy_bare(Copies *copies, const Node *item)
{
    CopyNodes nodes = {.arena = copies->reader->arena};
    if (copy_key(item, "repeat") == NULL) return item;
    for (int i = 0; i < item->count; i++)
        if (strcmp(item->keys[i]->text, "repeat") != 0 && strcmp(item->keys[i]->text, "ring") != 0)
            nodes_add(&nodes, item->keys[i], item->items[i]);
    return nodes_taken(&nodes, item, item->copy);
}

static CopyNumber copy_own_number(int64_t number) { return (CopyNumber){.index = "", .number = number}; }

static const NodeCopy *copy_of(Copies *copies, const CopyNumber *number)
{
    NodeCopy *copy = ARENA_NEW(copies->reader->arena, NodeCopy, 1);
    *copy = (NodeCopy){.number = copy_number_text(number, copies->reader->arena)};
    return copy;
}

// ---- mappings -------------------------------------------------------------------------------------------------------

// The keys of a section that have no mark, by name, so that they can take the place of copies.
typedef struct CopyPlain {
    const Node *key;
    int index;
    bool taken, put; // it takes the place of a copy; it is written
} CopyPlain;

static int copy_by_key(const void *a, const void *b)
{
    return strcmp(((const CopyPlain *)a)->key->text, ((const CopyPlain *)b)->key->text);
}

typedef struct CopyMapping {
    Copies *copies;
    const Node *node;
    CopyPlain *plain; // [n_plain]
    int n_plain;
    bool emitting; // copies are written; else it is only found which keys without marks take their places
    CopyNodes nodes;
    const Node *own; // the key of a copy that is left out; NULL: none is
} CopyMapping;

static CopyPlain *mapping_plain(const CopyMapping *mapping, const char *name)
{
    Node key = {.text = name};
    const CopyPlain wanted = {.key = &key};
    return mapping->n_plain == 0
               ? NULL
               : bsearch(&wanted, mapping->plain, (size_t)mapping->n_plain, sizeof wanted, copy_by_key);
}

static void mapping_put(CopyMapping *mapping, const Node *key, const Node *item, const CopyNumber *numbers)
{
    const NodeCopy *copy = numbers != NULL ? copy_of(mapping->copies, numbers) : NULL;
    nodes_add(&mapping->nodes, key, copy_node(mapping->copies, item, numbers, copy));
}

// The copies of one key. outer: the numbers of the item that the mapping stands in.
static void mapping_copies(CopyMapping *mapping, int at, const CopyFamily *family, CopyNumber number)
{
    Copies *copies = mapping->copies;
    for (number.number = family->first; number.number <= family->last && !copies->full; number.number++) {
        const Node *key = copy_numbered(copies, mapping->node->keys[at], &number);
        copies->wrong |= key == NULL;
        if (key == NULL) return;
        CopyPlain *plain = mapping_plain(mapping, key->text);
        if (!mapping->emitting) {
            if (plain != NULL) plain->taken = true;
        } else if (plain != NULL) {
            if (!plain->put) mapping_put(mapping, plain->key, mapping->node->items[plain->index], number.outer);
            plain->put = true;
        } else if (mapping->own == NULL || strcmp(key->text, mapping->own->text) != 0) {
            mapping_put(mapping, key, copy_bare(copies, mapping->node->items[at]), &number);
        }
    }
}

// The numbers that a key of a section has copies by. False after an error.
static bool mapping_family(Copies *copies, const Node *key, const Node *item, CopySection section, CopyFamily *family)
{
    const CopyFamily *state = section == COPY_RATES ? copy_family(copies, key->text) : NULL;
    *family = (CopyFamily){.name = key->text};
    if (section != COPY_RATES) return copy_numbers(copies, key, item, family);
    if (state != NULL) {
        *family = *state;
        return true;
    }
    const char **names = ARENA_NEW(copies->reader->arena, const char *, copies->n_families);
    for (int i = 0; i < copies->n_families; i++) names[i] = copies->families[i].name;
    diagnose(copies->reader->diagnostics, key, "'%.60s' has no copies%s", key->text,
             equations_nearest(copies->reader, key->text, names, copies->n_families));
    return false;
}

static void mapping_find_plain(CopyMapping *mapping)
{
    const Node *node = mapping->node;
    mapping->plain = ARENA_NEW(mapping->copies->reader->arena, CopyPlain, node->count);
    for (int i = 0; i < node->count; i++)
        if (strchr(node->keys[i]->text, '#') == NULL)
            mapping->plain[mapping->n_plain++] = (CopyPlain){.key = node->keys[i], .index = i};
    qsort(mapping->plain, (size_t)mapping->n_plain, sizeof *mapping->plain, copy_by_key);
}

// A key that is not repeated.
static void mapping_keep(CopyMapping *mapping, int at)
{
    const Node *key = mapping->node->keys[at], *item = mapping->node->items[at], *repeat = copy_key(item, "repeat");
    const Node *ring = copy_key(item, "ring");
    if (repeat != NULL || ring != NULL)
        diagnose(mapping->copies->reader->diagnostics, repeat != NULL ? repeat : ring,
                 "copies need numbers in their names: write %.60s#", key->text);
    if (!mapping_plain(mapping, key->text)->taken) mapping_put(mapping, key, copy_bare(mapping->copies, item), NULL);
}

static const Node *copy_mapping(Copies *copies, const Node *node, CopySection section)
{
    CopyMapping mapping = {.copies = copies, .node = node, .nodes.arena = copies->reader->arena};
    if (node->kind != NODE_MAPPING) return node;
    mapping_find_plain(&mapping);
    for (int pass = 0; pass < 2; pass++) {
        mapping.emitting = pass == 1;
        for (int i = 0; i < node->count && !copies->full; i++) {
            CopyFamily family;
            const bool marked = strchr(node->keys[i]->text, '#') != NULL;
            if (!marked && pass == 1 && section != COPY_RATES) mapping_keep(&mapping, i);
            if (!marked && pass == 1 && section == COPY_RATES && !mapping_plain(&mapping, node->keys[i]->text)->taken)
                mapping_put(&mapping, node->keys[i], node->items[i], NULL);
            if (marked && mapping_family(copies, node->keys[i], node->items[i], section, &family))
                mapping_copies(&mapping, i, &family, copy_own_number(0));
        }
    }
    return nodes_taken(&mapping.nodes, node, NULL);
}

// ---- lists ----------------------------------------------------------------------------------------------------------

// Whether a key x# of `set`, or x#j, stands for all copies: the numbers that it has them by, and its index.
static bool set_family(const Copies *copies, const Node *key, const CopyNumber *numbers, CopyFamily *family,
                       CopyNumber *number)
{
    const char *mark = strchr(key->text, '#');
    const CopyFamily *found = mark != NULL ? copy_family(copies, key->text) : NULL;
    *number = (CopyNumber){.index = "", .outer = numbers};
    if (mark == NULL || (found != NULL && numbers != NULL)) return false; // that copy's own
    if (found == NULL) {                                                  // x#j
        const int word = expression_word_length(mark + 1), stem = (int)(mark + 1 - key->text);
        found = copy_family(copies, arena_format(copies->reader->arena, "%.*s%s", stem, key->text, mark + 1 + word));
        number->index = mark + 1;
        number->length = word;
    }
    if (found != NULL) *family = *found;
    return found != NULL;
}

// In an event that is one of copies, x#j is all x but that copy's own, whose key this is. NULL: it is no such key.
static const Node *set_own(Copies *copies, const Node *key, const CopyNumber *numbers, const CopyNumber *number)
{
    if (numbers == NULL || number->length == 0) return NULL;
    const char *mark = strchr(key->text, '#');
    Node *own = ARENA_NEW(copies->reader->arena, Node, 1);
    *own = *key;
    own->text = arena_format(copies->reader->arena, "%.*s%s", (int)(mark + 1 - key->text), key->text,
                             mark + 1 + number->length);
    return copy_numbered(copies, own, numbers);
}

// The keys of `set` that stand for one name each, in their order; with a copy's number they are as good as plain ones.
static void set_find_plain(CopyMapping *mapping, const CopyNumber *numbers)
{
    Copies *copies = mapping->copies;
    const Node *set = mapping->node;
    mapping->plain = ARENA_NEW(copies->reader->arena, CopyPlain, set->count);
    for (int i = 0; i < set->count; i++) {
        CopyFamily family;
        CopyNumber number;
        if (set_family(copies, set->keys[i], numbers, &family, &number)) continue;
        const bool marked = strchr(set->keys[i]->text, '#') != NULL;
        const Node *key = marked ? copy_numbered(copies, set->keys[i], numbers) : set->keys[i];
        copies->wrong |= key == NULL;
        if (key != NULL) mapping->plain[mapping->n_plain++] = (CopyPlain){.key = key, .index = i};
    }
    qsort(mapping->plain, (size_t)mapping->n_plain, sizeof *mapping->plain, copy_by_key);
    for (int i = 1; i < mapping->n_plain; i++)
        if (copy_by_key(&mapping->plain[i - 1], &mapping->plain[i]) == 0)
            diagnose(copies->reader->diagnostics, mapping->plain[i].key, "%.60s is set twice",
                     mapping->plain[i].key->text);
}

static const Node *copy_set(Copies *copies, const Node *set, const CopyNumber *numbers)
{
    CopyMapping mapping = {.copies = copies, .node = set, .nodes.arena = copies->reader->arena};
    if (set->kind != NODE_MAPPING) return set;
    set_find_plain(&mapping, numbers);
    for (int pass = 0; pass < 2; pass++) {
        mapping.emitting = pass == 1;
        for (int i = 0; i < set->count && !copies->full; i++) {
            CopyFamily family;
            CopyNumber number;
            if (!set_family(copies, set->keys[i], numbers, &family, &number)) continue;
            mapping.own = set_own(copies, set->keys[i], numbers, &number);
            mapping_copies(&mapping, i, &family, number);
        }
    }
    for (int i = 0; i < mapping.n_plain; i++) // the order of `set` means nothing: all see the values before
        if (!mapping.plain[i].taken)
            mapping_put(&mapping, mapping.plain[i].key, set->items[mapping.plain[i].index], numbers);
    return nodes_taken(&mapping.nodes, set, NULL);
}

// An item of a list, with `set` of an event by its own rules.
static const Node *list_item(Copies *copies, const Node *item, const CopyNumber *numbers)
{
    const NodeCopy *copy = numbers != NULL ? copy_of(copies, numbers) : NULL;
    const Node *set = copy_key(item, "set");
    if (set == NULL) return copy_node(copies, item, numbers, copy);
    CopyNodes nodes = {.arena = copies->reader->arena};
    for (int i = 0; i < item->count; i++) {
        const Node *key = item->keys[i], *value = item->items[i];
        const bool prose = copy_is_prose(key->text);
        nodes_add(&nodes, key,
                  value == set ? copy_set(copies, set, numbers)
                  : prose      ? copy_prose(copies, value, numbers)
                               : copy_node(copies, value, numbers, copy));
    }
    return nodes_taken(&nodes, item, copy);
}

// Whether an item of a list is repeated: it asks for it, or has a mark outside of `set`.
static bool list_is_repeated(const Node *item)
{
    bool marked = copy_key(item, "repeat") != NULL;
    if (item->kind != NODE_MAPPING) return false;
    for (int i = 0; i < item->count && !marked; i++)
        marked = strcmp(item->keys[i]->text, "set") != 0 && !copy_is_prose(item->keys[i]->text) &&
                 copy_marked(item->items[i]);
    return marked;
}

// Whether something asks for copies.
static bool copy_is_asked(const Node *node)
{
    bool asked = node->kind == NODE_SCALAR && strchr(node->text, '#') != NULL;
    for (int i = 0; node->kind != NODE_SCALAR && i < node->count && !asked; i++) {
        const char *key = node->kind == NODE_MAPPING ? node->keys[i]->text : "";
        asked = strcmp(key, "repeat") == 0 || strcmp(key, "ring") == 0 || strchr(key, '#') != NULL ||
                (!copy_is_prose(key) && copy_is_asked(node->items[i]));
    }
    return asked;
}

static const Node *copy_list(Copies *copies, const Node *list)
{
    CopyNodes nodes = {.arena = copies->reader->arena};
    if (list->kind != NODE_SEQUENCE) return list;
    for (int i = 0; i < list->count && !copies->full; i++) {
        const Node *item = list->items[i];
        CopyFamily family = {.name = ""};
        if (!list_is_repeated(item)) {
            nodes_add(&nodes, NULL, list_item(copies, item, NULL));
            continue;
        }
        const Node *repeat = copy_key(item, "repeat");
        if (repeat != NULL && !copy_is_asked(copy_bare(copies, item)))
            diagnose(copies->reader->diagnostics, repeat,
                     "nothing here has the number of a copy: write # where it differs");
        if (!copy_numbers(copies, item, item, &family)) continue;
        for (int64_t n = family.first; n <= family.last && !copies->full; n++) {
            const CopyNumber number = copy_own_number(n);
            nodes_add(&nodes, NULL, list_item(copies, copy_bare(copies, item), &number));
        }
    }
    return nodes_taken(&nodes, list, NULL);
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static const Node *copy_sections_of(Copies *copies, const Node *mapping);

static const Node *copy_modes(Copies *copies, const Node *modes)
{
    CopyNodes nodes = {.arena = copies->reader->arena};
    if (modes->kind != NODE_MAPPING) return modes;
    for (int i = 0; i < modes->count; i++) nodes_add(&nodes, modes->keys[i], copy_sections_of(copies, modes->items[i]));
    return nodes_taken(&nodes, modes, NULL);
}

// What patterns say is written out for each motor that they fit (law.c).
static const Node *copy_motors(Copies *copies, const Node *motors)
{
    CopyNodes nodes = {.arena = copies->reader->arena};
    if (motors->kind != NODE_MAPPING) return motors;
    for (int i = 0; i < motors->count; i++) {
        const bool marked = strchr(motors->keys[i]->text, '#') != NULL;
        nodes_add(&nodes, motors->keys[i], marked ? motors->items[i] : copy_node(copies, motors->items[i], NULL, NULL));
    }
    return nodes_taken(&nodes, motors, NULL);
}

static const Node *copy_section(Copies *copies, const Node *node, CopySection section)
{
    switch (section) {
    case COPY_NAMES:
    case COPY_STATES:
    case COPY_RATES:
    case COPY_TOLD: return copy_mapping(copies, node, section);
    case COPY_LIST: return copy_list(copies, node);
    case COPY_MOTORS: return copy_motors(copies, node);
    case COPY_MODES: return copy_modes(copies, node);
    }
    return node;
}

static const Node *copy_sections_of(Copies *copies, const Node *mapping)
{
    CopyNodes nodes = {.arena = copies->reader->arena};
    if (mapping->kind != NODE_MAPPING) return mapping;
    for (int i = 0; i < mapping->count; i++) {
        CopySection section;
        const Node *key = mapping->keys[i], *item = mapping->items[i];
        nodes_add(&nodes, key, copy_find_section(key->text, &section) ? copy_section(copies, item, section) : item);
    }
    return nodes_taken(&nodes, mapping, NULL);
}

const Node *equations_copies(SystemReader *reader, const Node *system)
{
    Copies *copies = ARENA_NEW(reader->arena, Copies, 1);
    copies->reader = reader;
    if (!copy_is_asked(system)) return system;
    copies_declare(copies, system);
    if (copies->wrong) return NULL;
    const Node *written = copy_sections_of(copies, system);
    reader->copies = copies;
    return copies->wrong ? NULL : written;
}
