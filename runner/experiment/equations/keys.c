// Keys of a system's mappings. An unknown key is an error, and is then taken as the one that was meant, so that a
// misspelt key is one error.
#include "equations.h"

#include <string.h>

// Kinds of mappings, with their keys.
typedef enum KeysLevel {
    KEYS_SYSTEM,
    KEYS_PARAMETER,
    KEYS_STATE,
    KEYS_HELD,
    KEYS_SHORTHAND,
    KEYS_NOISE,
    KEYS_MODE,
    KEYS_EVENT,
    KEYS_METRIC,
    KEYS_COLUMN,
    KEYS_SHAPE,
    KEYS_TABLE,
    KEYS_INPUT,
    KEYS_LAW,
    KEYS_LAW_MODE,
    KEYS_LAW_EVENT,
    KEYS_LAW_INPUT,
    KEYS_SENSOR,
    KEYS_POLICY
} KeysLevel;

static const struct {
    const char *what, *words;
} keys_levels[] = {
    [KEYS_SYSTEM] = {"system",
                     "parameters|states|held|let|rates|next|noise|modes|events|metrics|failures|columns|drawing|tables|"
                     "inputs|doc"},
    [KEYS_PARAMETER] = {"a parameter", "value|unit|range|repeat|ring|doc"},
    [KEYS_STATE] = {"a state", "start|unit|range|scale|repeat|ring|doc"},
    [KEYS_HELD] = {"a held number", "start|unit|range|repeat|ring|doc"},
    [KEYS_SHORTHAND] = {"a shorthand", "value|unit|repeat|ring|doc"},
    [KEYS_NOISE] = {"the noise of a state", "size|by|doc"},
    [KEYS_MODE] = {"a mode", "let|rates|next|noise|events|doc"},
    [KEYS_EVENT] = {"an event", "name|rises|falls|crosses|at|every|rows|to|set|stop|fail|repeat|doc"},
    [KEYS_METRIC] = {"a metric",
                     "final|mean|rms|min|max|integral|count|at|after|first|last|part|value|take|unit|repeat|doc"},
    [KEYS_COLUMN] = {"a column", "value|unit|repeat|doc"},
    [KEYS_SHAPE] = {"a shape", "line|spring|disc|ground|in|width|radius|part|repeat"},
    [KEYS_TABLE] = {"a table", "file|columns|at|values|unit|of|between|beyond|doc"},
    [KEYS_INPUT] = {"an input", "file|column|time|offset|at|values|range|unit|between|beyond|doc"},
    [KEYS_LAW] =
        {"a law",
         "parameters|held|let|tables|inputs|policies|sensors|modes|events|every_period|command|add|effort|doc"},
    [KEYS_LAW_MODE] = {"a mode", "let|events|every_period|command|add|effort|doc"},
    [KEYS_LAW_EVENT] = {"an event", "name|rises|falls|crosses|at|every|to|set|repeat|doc"},
    [KEYS_LAW_INPUT] = {"an input of a law", "range|unit|doc"},
    [KEYS_SENSOR] = {"a sensor", "delay|noise|bias|quantum|doc"},
    [KEYS_POLICY] = {"a policy", "file|weights|observe|doc"},
};

// Keys whose values are mappings of names, or lists, of mappings of another kind.
static const struct {
    KeysLevel level;
    const char *key;
    KeysLevel items;
} keys_items[] = {
    {KEYS_SYSTEM, "parameters", KEYS_PARAMETER},
    {KEYS_SYSTEM, "states", KEYS_STATE},
    {KEYS_SYSTEM, "held", KEYS_HELD},
    {KEYS_SYSTEM, "let", KEYS_SHORTHAND},
    {KEYS_SYSTEM, "noise", KEYS_NOISE},
    {KEYS_SYSTEM, "modes", KEYS_MODE},
    {KEYS_SYSTEM, "events", KEYS_EVENT},
    {KEYS_SYSTEM, "metrics", KEYS_METRIC},
    {KEYS_SYSTEM, "columns", KEYS_COLUMN},
    {KEYS_SYSTEM, "drawing", KEYS_SHAPE},
    {KEYS_SYSTEM, "tables", KEYS_TABLE},
    {KEYS_SYSTEM, "inputs", KEYS_INPUT},
    {KEYS_LAW, "parameters", KEYS_PARAMETER},
    {KEYS_LAW, "held", KEYS_HELD},
    {KEYS_LAW, "let", KEYS_SHORTHAND},
    {KEYS_LAW, "tables", KEYS_TABLE},
    {KEYS_LAW, "inputs", KEYS_LAW_INPUT},
    {KEYS_LAW, "policies", KEYS_POLICY},
    {KEYS_LAW, "sensors", KEYS_SENSOR},
    {KEYS_LAW, "modes", KEYS_LAW_MODE},
    {KEYS_LAW, "events", KEYS_LAW_EVENT},
    {KEYS_LAW_MODE, "let", KEYS_SHORTHAND},
    {KEYS_LAW_MODE, "events", KEYS_LAW_EVENT},
    {KEYS_MODE, "let", KEYS_SHORTHAND},
    {KEYS_MODE, "noise", KEYS_NOISE},
    {KEYS_MODE, "events", KEYS_EVENT},
};

enum { KEYS_WORDS_MAX = 32 };

typedef struct KeysWords {
    const char *known[KEYS_WORDS_MAX];
    int count;
} KeysWords;

static KeysWords keys_words(KeysLevel level, Arena *arena)
{
    KeysWords words = {.count = 0};
    for (const char *word = keys_levels[level].words; *word != '\0' && words.count < KEYS_WORDS_MAX;) {
        const size_t length = strcspn(word, "|");
        words.known[words.count++] = arena_format(arena, "%.*s", (int)length, word);
        word += length + (word[length] == '|');
    }
    return words;
}

static bool keys_has(const KeysWords *words, const char *key)
{
    bool has = false;
    for (int k = 0; k < words->count && !has; k++) has = strcmp(words->known[k], key) == 0;
    return has;
}

// Of the short keys of an event those that take such a value: `set` a mapping, `stop` true or false.
static KeysWords keys_of_value(KeysLevel level, const KeysWords *words, const Node *value)
{
    KeysWords some = {.count = 0};
    const bool truth =
        value->kind == NODE_SCALAR && (strcmp(value->text, "true") == 0 || strcmp(value->text, "false") == 0);
    for (int k = 0; k < words->count; k++) {
        const bool set = strcmp(words->known[k], "set") == 0, stop = strcmp(words->known[k], "stop") == 0;
        if (level != KEYS_EVENT || (set == (value->kind == NODE_MAPPING) && stop == truth))
            some.known[some.count++] = words->known[k];
    }
    return some;
}

// Reports an unknown key; returns the one that was meant, NULL: none is near.
static const char *keys_report(SystemReader *reader, const Node *key, const Node *value, KeysLevel level,
                               const KeysWords *words)
{
    const KeysWords some = keys_of_value(level, words, value);
    const char *near = nearest_name(key->text, some.known, some.count), *hint = "";
    for (int k = 0; k < words->count && near == NULL; k++)
        hint = arena_format(reader->arena, "%s%s%s", hint,
                            k == 0                  ? ", expected "
                            : k == words->count - 1 ? " or "
                                                    : ", ",
                            words->known[k]);
    if (near != NULL) hint = arena_format(reader->arena, "; did you mean '%s'?", near);
    diagnose(reader->diagnostics, key, "unknown key '%.60s' in %s%s", key->text, keys_levels[level].what, hint);
    return near;
}

static const Node *keys_renamed(const Node *key, const char *name, Arena *arena)
{
    Node *renamed = ARENA_NEW(arena, Node, 1);
    *renamed = *key;
    renamed->text = name;
    return renamed;
}

static const Node *keys_repair(SystemReader *reader, const Node *node, KeysLevel level);

// The mappings in a mapping or a list.
static const Node *keys_repair_items(SystemReader *reader, const Node *node, KeysLevel level)
{
    if (node->kind == NODE_SCALAR) return node;
    Node *repaired = ARENA_NEW(reader->arena, Node, 1);
    const Node **items = ARENA_NEW(reader->arena, const Node *, node->count);
    for (int i = 0; i < node->count; i++) items[i] = keys_repair(reader, node->items[i], level);
    *repaired = *node;
    repaired->items = items;
    return repaired;
}

static const Node *keys_repair_value(SystemReader *reader, const Node *value, KeysLevel level, const char *key)
{
    for (size_t i = 0; i < sizeof keys_items / sizeof *keys_items; i++)
        if (keys_items[i].level == level && strcmp(keys_items[i].key, key) == 0)
            return keys_repair_items(reader, value, keys_items[i].items);
    return value;
}

static const Node *keys_repair(SystemReader *reader, const Node *node, KeysLevel level)
{
    if (node->kind != NODE_MAPPING) return node;
    Node *repaired = ARENA_NEW(reader->arena, Node, 1);
    const Node **keys = ARENA_NEW(reader->arena, const Node *, node->count);
    const Node **items = ARENA_NEW(reader->arena, const Node *, node->count);
    *repaired = *node;
    repaired->keys = keys;
    repaired->items = items;
    const KeysWords words = keys_words(level, reader->arena);
    for (int i = 0; i < node->count; i++) {
        const Node *key = node->keys[i];
        keys[i] = key;
        if (!keys_has(&words, key->text) && diagnostics_errors(reader->diagnostics) <= SYSTEM_ERRORS_MAX) {
            const char *meant = keys_report(reader, key, node->items[i], level, &words);
            if (meant != NULL && node_find(node, meant) == NULL) keys[i] = keys_renamed(key, meant, reader->arena);
        }
        items[i] = keys_repair_value(reader, node->items[i], level, keys[i]->text);
    }
    return repaired;
}

const Node *equations_repair_metrics(SystemReader *reader, const Node *metrics)
{
    return keys_repair_items(reader, metrics, KEYS_METRIC);
}

const Node *equations_repair_law(SystemReader *reader, const Node *law) { return keys_repair(reader, law, KEYS_LAW); }

const Node *equations_repair(SystemReader *reader, const Node *system)
{
    return keys_repair(reader, system, KEYS_SYSTEM);
}
