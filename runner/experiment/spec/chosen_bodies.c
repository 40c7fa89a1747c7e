// Which bodies of a world have inputs, metrics and columns: a world may have too many for all of them. (The model calls
// them things.) Inputs and metrics: the model's own choice and all names in the spec, so that a name in an objective, a
// search or a perturbation is enough. Columns of trajectories: as `record.bodies` says.
#include "forms.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// ---- words of the spec ----------------------------------------------------------------------------------------------

typedef struct ThingWords {
    const char **words;
    int64_t count, capacity;
    Arena *arena;
} ThingWords;

static void things_add_word(ThingWords *to, const char *text, size_t length)
{
    if (to->count == to->capacity) {
        to->capacity = to->capacity > 0 ? 2 * to->capacity : 256;
        const char **words = ARENA_NEW(to->arena, const char *, to->capacity);
        if (to->count > 0) memcpy(words, to->words, (size_t)to->count * sizeof *words);
        to->words = words;
    }
    to->words[to->count++] = arena_format(to->arena, "%.*s", (int)length, text);
}

// Adds the names in a text: all, as in a key, or those that hold a `_`, as every input and metric of a body does.
static void things_add_text(ThingWords *to, const char *text, bool all)
{
    enum { LONGEST = 160 }; // a name of a robot's file, with a number and what of it
    while (*text != '\0') {
        size_t length = 0;
        while (isalnum((unsigned char)text[length]) || text[length] == '_') length++;
        const bool name = length > 0 && length < LONGEST && !isdigit((unsigned char)text[0]);
        if (name && (all || memchr(text, '_', length) != NULL)) things_add_word(to, text, length);
        text += length > 0 ? length : 1;
    }
}

// A value is a name, an expression, or a table, whose first line names columns.
static void things_add_scalar(ThingWords *to, const char *text)
{
    const char *end = strchr(text, '\n');
    if (end != NULL) things_add_text(to, arena_format(to->arena, "%.*s", (int)(end - text), text), true);
    things_add_text(to, end != NULL ? end : text, false);
}

// Whether a key of a case names its recording. The columns of that are no names of a spec, as they are none in
// `simulation`. A resolved spec has them in each case, also where the written one changed the file alone.
static bool things_is_recording(const char *key)
{
    static const char *const keys[] = {"simulation.reference", "simulation.control.file"};
    bool is = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) is |= strncmp(key, keys[i], strlen(keys[i])) == 0;
    return is;
}

static void things_add_node(ThingWords *to, const Node *node)
{
    if (node->kind == NODE_SCALAR) things_add_scalar(to, node->text);
    for (int i = 0; node->kind != NODE_SCALAR && i < node->count; i++) {
        if (node->kind == NODE_MAPPING && things_is_recording(node->keys[i]->text)) continue;
        if (node->kind == NODE_MAPPING) things_add_text(to, node->keys[i]->text, true);
        things_add_node(to, node->items[i]);
    }
}

// Adds the header of a file of points. Errors of the file are reported where it is read.
static void things_add_header(ThingWords *to, const SpecReader *reader)
{
    const GivenKey *given = given_find(reader, "search.csv");
    FileWithin file;
    Bytes bytes = {0};
    if (given == NULL || given->value->kind != NODE_SCALAR || reader->folder == NULL) return;
    if (file_open_within(reader->folder, source_beside(given->value, reader->arena), reader->arena, &file).kind != OK)
        return;
    if (file_read_within(&file, POINTS_BYTES_MAX, reader->arena, &bytes).kind != OK) return;
    const char *text = (const char *)bytes.data, *end = memchr(text, '\n', bytes.size);
    things_add_text(to, arena_format(reader->arena, "%.*s", end != NULL ? (int)(end - text) : 0, text), true);
}

Choice things_named(const SpecReader *reader)
{
    static const char *const sections[] = {"initial", "parameters", "cases",     "validate",
                                           "search",  "replicates", "objective", "constraints"};
    ThingWords words = {.arena = reader->arena};
    for (size_t s = 0; s < sizeof sections / sizeof *sections; s++) {
        const GivenKey *section = given_find(reader, sections[s]);
        if (section != NULL) things_add_node(&words, section->value);
    }
    if (reader->law != NULL) things_add_node(&words, reader->law);
    things_add_header(&words, reader);
    return (Choice){.words = words.words, .n_words = words.count};
}

// ---- record.bodies --------------------------------------------------------------------------------------------------

bool things_match(const char *pattern, const char *name)
{
    for (; *pattern != '\0'; pattern++) {
        if (*pattern != '#') {
            if (*name++ != *pattern) return false;
            continue;
        }
        if (!isdigit((unsigned char)*name)) return false;
        while (isdigit((unsigned char)*name)) name++;
    }
    return *name == '\0';
}

int things_mark(const Configured *configured, const char *pattern, bool *chosen)
{
    int found = 0;
    for (int i = 0; i < configured->n_things; i++) {
        if (strcmp(pattern, "all") != 0 && !things_match(pattern, configured->things[i])) continue;
        chosen[i] = true;
        found++;
    }
    return found;
}

const char *things_nearest(const Configured *configured, const char *pattern, Arena *arena)
{
    const char *text = pattern, *number = strchr(pattern, '#');
    if (number != NULL) text = arena_format(arena, "%.*s1%s", (int)(number - pattern), pattern, number + 1);
    return nearest_name(text, configured->things, configured->n_things);
}

// One name or pattern.
static void things_read_one(SpecReader *reader, const Node *node, bool *chosen)
{
    const Configured *configured = &reader->spec->configured;
    if (node->kind != NODE_SCALAR || scalar_is_empty(node)) {
        diagnose(reader->diagnostics, node, "record.bodies has %s, expected names of %s",
                 scalar_given(node, reader->arena), configured->things_are);
        return;
    }
    if (things_mark(configured, node->text, chosen) > 0) return;
    if (scalar_flooded(reader)) {
        diagnose(reader->diagnostics, node, "unknown name");
        return;
    }
    const char *near = things_nearest(configured, node->text, reader->arena);
    diagnose(reader->diagnostics, node, "'%s' is not one of the %d %s%s", node->text, configured->n_things,
             configured->things_are, did_you_mean(near, reader->arena));
}

static const bool *things_read(SpecReader *reader, const GivenKey *given)
{
    Spec *spec = reader->spec;
    const Node *node = given->value, *const alone[] = {node};
    const bool list = node->kind == NODE_SEQUENCE;
    const int count = list ? node->count : 1, errors = diagnostics_errors(reader->diagnostics);
    bool *chosen = ARENA_NEW(reader->arena, bool, spec->configured.n_things + 1);
    const char **names = ARENA_NEW(reader->arena, const char *, count + 1);
    if (spec->configured.n_things == 0)
        diagnose(reader->diagnostics, given->key, "model %s has no bodies: leave record.bodies out", spec->model->name);
    else if (spec->configured.things_whole)
        diagnose(reader->diagnostics, given->key, "model %s records all bodies: leave record.bodies out",
                 spec->model->name);
    else if (node->kind == NODE_MAPPING || count == 0)
        form_mistyped(reader, given);
    if (diagnostics_errors(reader->diagnostics) > errors) return NULL;
    for (int i = 0; i < count; i++) {
        const Node *item = list ? node->items[i] : alone[0];
        things_read_one(reader, item, chosen);
        names[i] = item->kind == NODE_SCALAR ? item->text : "";
    }
    if (diagnostics_errors(reader->diagnostics) > errors) return NULL;
    spec->record.bodies = names;
    spec->record.n_bodies = count;
    return chosen;
}

// ---- all of it ------------------------------------------------------------------------------------------------------

void things_choose(SpecReader *reader, bool world_known)
{
    Spec *spec = reader->spec;
    Configured *configured = &spec->configured;
    const GivenKey *given = world_known ? given_find(reader, form_bodies.path) : NULL;
    const bool *recorded = given != NULL ? things_read(reader, given) : NULL;
    if (spec->model->choose == NULL || configured->n_things == 0) return;
    Choice choice = things_named(reader);
    choice.recorded = recorded;
    const Error error = spec->model->choose(configured, &choice, reader->arena);
    if (error.kind != OK)
        diagnose(reader->diagnostics, spec_wrong(reader, given_find(reader, "simulation")), "%s", error.text);
    reader->nameless |= error.kind != OK; // names beyond the limit are not unknown
    if (configured->n_columns > RECORD_COLUMNS_MAX)
        diagnose(reader->diagnostics, given != NULL ? given->value : reader->root,
                 "a trajectory of these %s has %d columns, at most %d are allowed%s", configured->things_are,
                 configured->n_columns, RECORD_COLUMNS_MAX, configured->things_whole ? "" : ": name fewer");
}

// Bodies with inputs and metrics keep them: their names are the words.
static Error things_choose_again(const Spec *spec, const bool *recorded, Arena *arena, Configured *configured)
{
    const int count = configured->n_parameters + configured->n_metrics;
    const char **words = ARENA_NEW(arena, const char *, count);
    for (int i = 0; i < count; i++)
        words[i] = i < configured->n_parameters ? configured->parameters[i].name
                                                : configured->metrics[i - configured->n_parameters].name;
    const Choice choice = {.words = words, .n_words = count, .recorded = recorded};
    const Meter *meter = configured->meter;
    const Law *law = configured->law;
    if (meter != NULL) configured->n_metrics = meter->first; // those of the model
    TRY(spec->model->choose(configured, &choice, arena));
    if (law != NULL) law_attach(law, configured, arena);
    if (meter != NULL) meter_attach(meter, configured, arena);
    return error_none();
}

// The thing of which `name` would be a column if trajectories had those of it; NULL: none.
static const char *things_without_column(const Configured *configured, const char *name)
{
    const ColumnPanel *panels = configured->panels;
    for (int i = 0; i < configured->n_things && configured->n_panels > 0; i++) {
        const char *thing = configured->things[i];
        const size_t length = strlen(thing), other = strlen(panels[0].of) + 1;
        bool recorded = false, column = false;
        if (strncmp(name, thing, length) != 0 || name[length] != '_') continue;
        for (int p = 0; p < configured->n_panels; p++) {
            recorded |= strcmp(panels[p].of, thing) == 0;
            for (int c = 0; c < panels[p].count && strcmp(panels[p].of, panels[0].of) == 0; c++)
                column |= strcmp(configured->columns[panels[p].column + c].name + other, name + length + 1) == 0;
        }
        if (column && !recorded) return thing;
    }
    return NULL;
}

bool things_check_taken(SpecReader *reader, const char *const *names, int count, const Node *at, const char *what)
{
    const Configured *configured = &reader->spec->configured;
    for (int k = 0; k < count && !configured->things_whole; k++) {
        const char *thing = things_without_column(configured, names[k]);
        if (thing == NULL) continue;
        diagnose(reader->diagnostics, at,
                 "%s takes %s, and trajectories have no columns of %s: name it in "
                 "record.bodies",
                 what, names[k], thing);
        return false;
    }
    return true;
}

Error things_choose_default(Spec *spec, Arena *arena)
{
    if (spec->model->choose == NULL || spec->configured.n_things == 0) return error_none();
    return things_choose_again(spec, NULL, arena, &spec->configured);
}

static Error things_choose_every(const Spec *spec, Arena *arena, Configured *configured)
{
    if (spec->model->choose == NULL || configured->n_things == 0) return error_none();
    bool *recorded = ARENA_NEW(arena, bool, configured->n_things);
    memset(recorded, true, (size_t)configured->n_things * sizeof *recorded);
    return things_choose_again(spec, recorded, arena, configured);
}

Error spec_choose_all(const Spec *spec, Arena *arena, Configured *configured)
{
    Configured *cases = ARENA_NEW(arena, Configured, spec->configured.n_cases + 1);
    *configured = spec->configured;
    for (int k = 0; k < spec->configured.n_cases; k++) {
        cases[k] = spec->configured.cases[k];
        TRY(things_choose_every(spec_case(spec, k), arena, &cases[k]));
    }
    if (configured->n_cases > 0) configured->cases = cases;
    return things_choose_every(spec, arena, configured);
}

// ---- the row --------------------------------------------------------------------------------------------------------

static const char *things_text(const SpecReader *reader)
{
    const Spec *spec = reader->spec;
    const char *text = "";
    if (spec->record.n_bodies == 0) return NULL;
    for (int i = 0; i < spec->record.n_bodies; i++)
        text = arena_format(reader->arena, "%s%s\"%s\"", text, i > 0 ? ", " : "", spec->record.bodies[i]);
    return arena_format(reader->arena, "[%s]", text);
}

const Form form_bodies = {
    .path = "record.bodies",
    .after = "record.debug.newton.replicates",
    .words = "a list of names, in which # stands for a number, or all",
    .doc = "bodies of a world that have columns in trajectories; default: the first 64 that move. Pictures show all "
           "bodies in any case. [link1, link300, tip#]: two bodies, and all that are called tip and a number",
    .example = "[payload]",
    .text = things_text, // read before the model's tables are chosen
    .schema = "{type: [string, array], minItems: 1, items: {type: string}}",
};
