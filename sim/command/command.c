// The user's own simulator as a model: a program that the spec names, run as worker processes. The spec itself declares
// the parameters, metrics, failures and columns. Nothing here runs it: see pool.h.
#include "command.h"

#include "../models.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { COMMAND_PROGRAM, COMMAND_WORKERS, COMMAND_SECONDS, COMMAND_SAMPLES, COMMAND_OWN_FAILURES, COMMAND_N_OPTIONS };
enum { COMMAND_PARAMETERS, COMMAND_METRICS, COMMAND_COLUMNS, COMMAND_N_LISTS };

const char *command_line_words(const CommandModel *model, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < model->n_program && used + 1 < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%.60s%s", i > 0 ? " " : "", model->program[i],
                                 strlen(model->program[i]) > 60 ? "..." : "");
    return out;
}

static const Option command_options[COMMAND_N_OPTIONS] = {
    {"program", OPTION_ARGUMENTS, "", 0, 0, 0, "[python3, simulate.py]",
     "the program and its arguments, without a shell; it runs in the spec's folder. A first word with a slash is a "
     "file there, any other is looked for in PATH"},
    {"workers", OPTION_MANNER_NUMBER, "1", 0, 1, 256, "auto",
     "processes of the program that work at the same time; auto: one per thread (`--threads`)"},
    {"timeout", OPTION_NUMBER, "s", 60, 1e-3, 1e6, NULL,
     "time of a trial, after which its process is killed and the trial fails as `timeout`; for a process to say hello "
     "it is 60 s at least"},
    {"samples", OPTION_INTEGER, "1", 10000, 1, 1e6, NULL, "samples of a trajectory, at most"},
    {"failures", OPTION_WORDS, "", 0, 0, 0, "[fell, unstable]",
     "names of the failures that the program itself reports; `crashed`, `timeout` and `protocol` are there anyway"},
};

static const ItemField command_parameter_fields[] = {
    {"name", ITEM_NAME, 0, 1, "", 0, 0, 0, NULL, NULL, "its name, in expressions and in messages to the program"},
    {"value", ITEM_NUMBERS, 1, 1, "1", 0, -1e300, 1e300, "words", "auto",
     "its value where it is not searched; auto: 0, or the number of the range that is nearest to it; the first word"},
    {"unit", ITEM_WORDS, 0, 1, "", 0, 0, 0, NULL, NULL, "its unit"},
    {"range", ITEM_NUMBERS, 2, 2, "1", 0, -1e300, 1e300, NULL, "none",
     "the least and the greatest value that it takes"},
    {"doc", ITEM_WORDS, 0, 1, "", 0, 0, 0, NULL, NULL, "what it is"},
    {"words", ITEM_WORDS, 0, 1, "", 0, 0, 0, NULL, NULL,
     "the words that are its values, in place of numbers, such as [adam, sgd]"},
};
enum { COMMAND_UNIT, COMMAND_DOC, COMMAND_WORDS }; // fields of words, in their order

static const ItemField command_output_fields[] = {
    {"name", ITEM_NAME, 0, 1, "", 0, 0, 0, NULL, NULL, "its name, in expressions and in the program's answers"},
    {"unit", ITEM_WORDS, 0, 1, "", 0, 0, 0, NULL, NULL, "its unit"},
    {"doc", ITEM_WORDS, 0, 1, "", 0, 0, 0, NULL, NULL, "what it is"},
};

#define COMMAND_FIELDS(rows) .fields = (rows), .n_fields = (int)(sizeof(rows) / sizeof *(rows))
static const List command_lists[COMMAND_N_LISTS] = {
    {.name = "parameters",
     COMMAND_FIELDS(command_parameter_fields),
     .most = COMMAND_NAMES_MAX,
     .doc = "the parameters that the program takes",
     .example = "{mass: {value: 1, unit: kg, range: [0.1, 10]}, gain: 2, solver: {words: [euler, heun]}}"},
    {.name = "metrics",
     COMMAND_FIELDS(command_output_fields),
     .most = COMMAND_NAMES_MAX,
     .doc = "the numbers that the program answers with",
     .example = "{error: m, energy: {unit: J}}"},
    {.name = "columns",
     COMMAND_FIELDS(command_output_fields),
     .most = COMMAND_NAMES_MAX,
     .doc = "columns that the program returns for trajectories, besides `time`",
     .example = "{x: m, speed: m/s}"},
};

// ---- names ----------------------------------------------------------------------------------------------------------

static Error command_wrong(Configured *out, int list, int64_t item, const char *format, const char *name)
{
    out->wrong_list = list + 1;
    out->wrong_item = item;
    return error_make(ERROR_USER, format, name); // NOLINT: the formats are literals of the callers
}

// A table has a column per name, whatever its case.
static Error command_check_names(const Points *lists, int list, Configured *out)
{
    const Points *own = &lists[list], *others = &lists[COMMAND_PARAMETERS];
    for (int64_t i = 0; i < own->count; i++) {
        if (name_is_reserved(own->names[i])) return command_wrong(out, list, i, "'%.40s' is reserved", own->names[i]);
        for (int64_t k = 0; list == COMMAND_METRICS && k < others->count; k++) {
            if (strcasecmp(own->names[i], others->names[k]) == 0)
                return command_wrong(out, list, i, "'%.40s' is the name of a parameter already", own->names[i]);
        }
    }
    return error_none();
}

static Error command_check_failures(const Points *failures, Configured *out)
{
    static const char *const words[COMMAND_FAILURES] = {"none", "crashed", "timeout", "protocol", NON_FINITE};
    for (int64_t i = 0; i < failures->count; i++) {
        for (int k = 0; k < COMMAND_FAILURES; k++) {
            if (strcmp(failures->names[i], words[k]) != 0) continue;
            out->wrong_option = COMMAND_OWN_FAILURES + 1;
            out->wrong_item = i + 1;
            return error_make(ERROR_USER, "failures: '%s' is built in; remove it", words[k]);
        }
    }
    return error_none();
}

// ---- tables ---------------------------------------------------------------------------------------------------------

// The text of a field of words of item i, the `index`-th of the list's.
static const char *command_words(const List *list, const Points *items, int64_t i, int index, const char *otherwise)
{
    const char *const *words = items->words[i * list_words(list) + index];
    return words != NULL && words[0] != NULL ? words[0] : otherwise;
}

// A word stands in specs, expressions, tables and messages as it is, and is never taken for a number.
static bool command_word_is_plain(const char *word)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    static const char others[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789.:+-";
    const size_t length = strlen(word);
    return length > 0 && length <= COMMAND_WORD_LENGTH && strchr(letters, word[0]) != NULL &&
           strspn(word, others) == length && strcmp(word, "all") != 0 && strcmp(word, "auto") != 0;
}

static Error command_check_words(const char *const *words, int count, const char *name, int64_t item, Configured *out)
{
    char text[320];
    if (count > COMMAND_WORDS_MAX) {
        snprintf(text, sizeof text, "%.40s has more than %d words", name, COMMAND_WORDS_MAX);
        return command_wrong(out, COMMAND_PARAMETERS, item, "%s", text);
    }
    for (int i = 0; i < count; i++) {
        bool twice = false;
        for (int k = 0; k < i; k++) twice |= strcmp(words[k], words[i]) == 0;
        if (!twice && command_word_is_plain(words[i])) continue;
        if (twice)
            snprintf(text, sizeof text, "%.40s has the word '%.40s' twice, remove one", name, words[i]);
        else
            snprintf(text, sizeof text,
                     "'%.60s' can't be a word of %.40s: words have up to %d of A-Z a-z 0-9 _ . : + -, begin with a "
                     "letter or _, and are not all or auto",
                     words[i], name, COMMAND_WORD_LENGTH);
        return command_wrong(out, COMMAND_PARAMETERS, item, "%s", text);
    }
    return error_none();
}

// *choices <- the words of item i as "a|b|c"; NULL: it has none.
static Error command_choices(const Points *items, int64_t i, Arena *arena, const char **choices, Configured *out)
{
    const List *list = &command_lists[COMMAND_PARAMETERS];
    const char *const *words = items->words[i * list_words(list) + COMMAND_WORDS];
    int count = 0;
    size_t size = 1;
    *choices = NULL;
    if (words == NULL) return error_none();
    for (; words[count] != NULL; count++) size += strlen(words[count]) + 1;
    if (count == 0)
        return command_wrong(out, COMMAND_PARAMETERS, i, "%.40s has an empty list of words", items->names[i]);
    TRY(command_check_words(words, count, items->names[i], i, out));
    char *text = arena_take(arena, size, 1), *end = text;
    for (int w = 0; w < count; w++) end = stpcpy(stpcpy(end, w > 0 ? "|" : ""), words[w]);
    *choices = text;
    return error_none();
}

static double command_last_choice(const char *choices)
{
    double last = 0.0;
    for (; *choices != '\0'; choices++) last += *choices == '|';
    return last;
}

static Error command_parameter(const Points *items, int64_t i, const char *choices, Parameter *row, Configured *out)
{
    const List *list = &command_lists[COMMAND_PARAMETERS];
    const double *item = items->items + i * list_width(list), given = item[0];
    const double last = choices != NULL ? command_last_choice(choices) : INFINITY;
    const double low = !isnan(item[1]) ? item[1] : choices != NULL ? 0.0 : -INFINITY;
    const double high = isnan(item[2]) ? last : item[2];
    const double value = !isnan(given) ? given : low > 0.0 ? low : high < 0.0 ? high : 0.0;
    *row = (Parameter){.name = items->names[i],
                       .unit = command_words(list, items, i, COMMAND_UNIT, "1"),
                       .value = value,
                       .low = low,
                       .high = high,
                       .section = SECTION_PARAMETERS,
                       .doc = command_words(list, items, i, COMMAND_DOC, "parameter of the program")};
    if (choices != NULL && !isnan(item[1]))
        return command_wrong(out, COMMAND_PARAMETERS, i, "%.40s has words, and so no range", row->name);
    if (low > high) return command_wrong(out, COMMAND_PARAMETERS, i, "range of %.40s must be [low, high]", row->name);
    if (value < low || value > high)
        return command_wrong(out, COMMAND_PARAMETERS, i, "value of %.40s is outside of its range", row->name);
    return error_none();
}

static Error command_parameters(const Points *items, Arena *arena, Configured *out)
{
    Parameter *rows = ARENA_NEW(arena, Parameter, items->count + 1);
    const char **choices = ARENA_NEW(arena, const char *, items->count + 1);
    for (int64_t i = 0; i < items->count; i++) {
        TRY(command_choices(items, i, arena, &choices[i], out));
        TRY(command_parameter(items, i, choices[i], &rows[i], out));
        if (choices[i] != NULL) out->choices = choices;
    }
    rows[items->count] = (Parameter){.name = "seed",
                                     .unit = "1",
                                     .high = 9007199254740991.0,
                                     .section = SECTION_SEED,
                                     .doc = "seeds the program's own random numbers"};
    out->parameters = rows;
    out->n_parameters = (int)items->count + 1;
    return error_none();
}

static void command_metrics(const Points *items, Arena *arena, Configured *out)
{
    const List *list = &command_lists[COMMAND_METRICS];
    Field *rows = ARENA_NEW(arena, Field, items->count + 1);
    for (int64_t i = 0; i < items->count; i++)
        rows[i] = (Field){items->names[i], command_words(list, items, i, 0, "1"),
                          command_words(list, items, i, 1, "metric of the program"), NULL};
    out->metrics = rows;
    out->n_metrics = (int)items->count;
}

static void command_columns(const Points *items, Arena *arena, Configured *out)
{
    const List *list = &command_lists[COMMAND_COLUMNS];
    Field *rows = ARENA_NEW(arena, Field, items->count + 1);
    rows[0] = (Field){"time", "s", "time of the sample", "time"};
    for (int64_t i = 0; i < items->count; i++)
        rows[1 + i] = (Field){items->names[i], command_words(list, items, i, 0, "1"),
                              command_words(list, items, i, 1, "column of the program"), "state"};
    out->columns = rows;
    out->n_columns = items->count > 0 ? (int)items->count + 1 : 0;
}

static void command_failures(const Points *own, Arena *arena, Configured *out)
{
    const char **names = ARENA_NEW(arena, const char *, COMMAND_FAILURES + own->count);
    names[COMMAND_NONE] = "none";
    names[COMMAND_CRASHED] = "crashed";
    names[COMMAND_TIMEOUT] = "timeout";
    names[COMMAND_BROKE_PROTOCOL] = "protocol";
    names[COMMAND_NON_FINITE] = NON_FINITE;
    for (int64_t i = 0; i < own->count; i++) names[COMMAND_FAILURES + i] = own->names[i];
    out->failures = names;
    out->n_failures = COMMAND_FAILURES + (int)own->count;
}

// ---- the model ------------------------------------------------------------------------------------------------------

extern const Model command_model;

static Error command_check(const Points *points, Configured *out)
{
    const Points *lists = points + COMMAND_N_OPTIONS;
    if (points[COMMAND_PROGRAM].count == 0)
        return error_make(ERROR_USER,
                          "simulation.program is missing: the program that simulates, for example `program: [python3, "
                          "simulate.py]`");
    if (lists[COMMAND_METRICS].count == 0)
        return error_make(
            ERROR_USER,
            "metrics is missing: the numbers that the program answers with, for example `metrics: {error: m}`");
    for (int list = 0; list < COMMAND_N_LISTS; list++) TRY(command_check_names(lists, list, out));
    return command_check_failures(&points[COMMAND_OWN_FAILURES], out);
}

static Error command_configure(const double *settings, const Points *points, Arena *arena, Configured *out)
{
    static const Points none[COMMAND_N_OPTIONS + COMMAND_N_LISTS];
    const Points *given = points != NULL ? points : none, *lists = given + COMMAND_N_OPTIONS;
    CommandModel *model = ARENA_NEW(arena, CommandModel, 1);
    *model = (CommandModel){.program = given[COMMAND_PROGRAM].names,
                            .n_program = (int)given[COMMAND_PROGRAM].count,
                            .workers = (int)settings[COMMAND_WORKERS],
                            .timeout = settings[COMMAND_SECONDS],
                            .samples = (int64_t)settings[COMMAND_SAMPLES]};
    *out = (Configured){.model = &command_model,
                        .kernel = KERNEL_NONE,
                        .ticks = model->samples,
                        .steps_max = INT64_MAX / 4, // a trial ends by its time
                        .host = model};
    if (points != NULL) TRY(command_check(points, out));
    TRY(command_parameters(&lists[COMMAND_PARAMETERS], arena, out));
    command_metrics(&lists[COMMAND_METRICS], arena, out);
    command_columns(&lists[COMMAND_COLUMNS], arena, out);
    command_failures(&given[COMMAND_OWN_FAILURES], arena, out);
    return error_none();
}

// A test plays it.
static const char command_protocol[] =
    "the protocol, a JSON object per line: the worker's standard input has the first line, and a request for each\n"
    "trial; its standard output the second line, and an answer for each request. `seed` is all the randomness of a\n"
    "trial. An answer may add \"failure\": a name of `failures`; with \"trajectory\": true in the request, "
    "\"trajectory\":\n{\"time\": [...], ...}, a list for each column. It ends when its standard input ends.\n\n"
    "    {\"hello\": 1, \"parameters\": [\"mass\"], \"metrics\": [\"error\"], \"columns\": [], \"failures\": []}\n"
    "    {\"hello\": 1}\n"
    "    {\"id\": 7, \"trial\": 0, \"replicate\": 0, \"seed\": 9087, \"trajectory\": false, "
    "\"parameters\": {\"mass\": 1}}\n"
    "    {\"id\": 7, \"metrics\": {\"error\": 0.5}}\n\n"
    "hopscotch.worker speaks it for a Python function: program: [python3, -m, hopscotch.worker, simulate.py]\n";

const Model command_model = {
    .name = "command",
    .doc = "a simulator of your own: a program that takes parameters and gives metrics, one JSON object per line",
    .options = command_options,
    .n_options = COMMAND_N_OPTIONS,
    .lists = command_lists,
    .n_lists = COMMAND_N_LISTS,
    .top = "parameters|metrics|columns|failures",
    .declares = COMMAND_PARAMETERS + 1,
    .runs_program = true,
    .notes = command_protocol,
    .configure = command_configure,
};
