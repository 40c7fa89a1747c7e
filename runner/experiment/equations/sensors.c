// What a control law sees of a model's columns: readings that are late, biased, noisy or rounded.
#include "law.h"

#include <math.h>
#include <string.h>

enum { SENSOR_DELAY_MAX = 64 }; // periods

// ---- inputs ---------------------------------------------------------------------------------------------------------

LawInputs law_inputs(SystemReader *reader)
{
    const System *system = reader->system;
    LawInputs inputs = {.tape = system->tape,
                        .first = SYSTEM_SIDE(system->n_states, system->n_held, system->n_parameters, 0),
                        .kinds = ARENA_NEW(reader->arena, LawInputKind, LAW_INPUTS_MAX),
                        .next = ARENA_NEW(reader->arena, TapeValue, LAW_INPUTS_MAX)};
    inputs.begins = law_input(&inputs, LAW_INPUT_FIRST);
    return inputs;
}

TapeValue law_input(LawInputs *inputs, LawInputKind kind)
{
    if (inputs->count == LAW_INPUTS_MAX) {
        inputs->tape->full = true;
        return inputs->begins;
    }
    inputs->kinds[inputs->count] = kind;
    inputs->next[inputs->count] = TAPE_NONE;
    return tape_input(inputs->tape, inputs->first + inputs->count++, TAPE_MOVING);
}

const TapeValue *law_inputs_of(SystemReader *reader, LawInputs *inputs, LawInputKind kind, int count)
{
    TapeValue *values = ARENA_NEW(reader->arena, TapeValue, count);
    for (int k = 0; k < count; k++) values[k] = law_input(inputs, kind);
    return values;
}

LawProgram law_laid(SystemReader *reader, const Configured *configured, const LawInputs *inputs, const TapeValue *next,
                    int n_next)
{
    const System *system = reader->system;
    int *own = ARENA_NEW(reader->arena, int, inputs->count), n_kinds[LAW_INPUT_KINDS] = {0}, at[LAW_INPUT_KINDS];
    TapeValue *values = ARENA_NEW(reader->arena, TapeValue, n_next + inputs->count);
    for (int k = 0; k < inputs->count; k++) n_kinds[inputs->kinds[k]]++;
    at[LAW_INPUT_HELD] = system->n_held;
    for (int k = 1; k < LAW_INPUT_KINDS; k++) at[k] = at[k - 1] + n_kinds[k - 1];
    for (int k = 0; k < inputs->count; k++) own[k] = at[inputs->kinds[k]]++;
    memcpy(values, next, (size_t)n_next * sizeof *values);
    for (int k = 0; k < inputs->count; k++)
        if (inputs->next[k] != TAPE_NONE) values[own[k]] = inputs->next[k];
    LawProgram program = {.tape = system->tape,
                          .n_held = system->n_held + n_kinds[LAW_INPUT_HELD],
                          .n_checked = system->n_held,
                          .n_noises = n_kinds[LAW_INPUT_NOISE],
                          .own = own,
                          .n_own = inputs->count,
                          .next = values,
                          .actions = system->actions,
                          .n_actions = system->n_actions,
                          .parameters = reader->parameters + configured->n_parameters,
                          .n_parameters = system->n_parameters - configured->n_parameters};
    program.start = ARENA_NEW(reader->arena, TapeValue, program.n_held + 1);
    if (program.n_noises > 0)
        equations_seed_row(&reader->parameters[configured->n_parameters + program.n_parameters++]);
    return program;
}

// ---- a sensor -------------------------------------------------------------------------------------------------------

typedef struct Sensor {
    SystemReader *reader;
    LawInputs *inputs;
    const Field *column;
    const Node *node;
} Sensor;

static TapeValue sensor_one(const Sensor *sensor, int operation, TapeValue a)
{
    return tape_operation(sensor->inputs->tape, operation, a, TAPE_NONE, TAPE_NONE);
}
static TapeValue sensor_two(const Sensor *sensor, int operation, TapeValue a, TapeValue b)
{
    return tape_operation(sensor->inputs->tape, operation, a, b, TAPE_NONE);
}
static TapeValue sensor_if(const Sensor *sensor, TapeValue condition, TapeValue a, TapeValue b)
{
    return tape_operation(sensor->inputs->tape, PROGRAM_IF, condition, a, b);
}

// A number of the sensor, of parameters, in the unit of the column. TAPE_NONE: it is not given, or it is wrong.
static TapeValue sensor_number(const Sensor *sensor, const char *key)
{
    SystemReader *reader = sensor->reader;
    const Node *node = node_find(sensor->node, key);
    const SystemScope *fixed = equations_scope(reader, -1, true);
    const char *what = arena_format(reader->arena, "the %s of %s", key, sensor->column->name);
    const Expression *expression = node != NULL ? equations_expression(reader, node, fixed, what) : NULL;
    if (expression == NULL) return TAPE_NONE;
    const UnitValue unit = equations_unit_named(reader, sensor->column->name);
    equations_units(reader, node, expression, fixed, &unit, what);
    const TapeValue value = equations_value(reader, expression, fixed, -1);
    double number;
    if (strcmp(key, "bias") != 0 && tape_is_number(sensor->inputs->tape, value, &number) && !(number >= 0.0))
        diagnose(reader->diagnostics, node, "the %s of a sensor must not be negative", key);
    return value;
}

// Periods by which it is late.
static int sensor_delay(const Sensor *sensor)
{
    SystemReader *reader = sensor->reader;
    const Node *node = node_find(sensor->node, "delay");
    double number = 0.0;
    int digits;
    const bool is_time = node != NULL && node->kind == NODE_SCALAR && equations_has_unit(reader, node->text, &digits);
    if (node == NULL || (!is_time && !equations_number(reader, node, &number))) return 0;
    if (!is_time && number == floor(number) && number >= 0.0 && number <= SENSOR_DELAY_MAX) return (int)number;
    diagnose(reader->diagnostics, node, "the delay of a sensor is a whole number of control periods, at most %d",
             SENSOR_DELAY_MAX);
    return 0;
}

// The value of `delay` periods ago; before there was one that of the first period.
static TapeValue sensor_delayed(const Sensor *sensor, TapeValue value, int delay)
{
    LawInputs *inputs = sensor->inputs;
    TapeValue newer = value;
    for (int k = 0; k < delay; k++) {
        const int at = inputs->count;
        const TapeValue held = law_input(inputs, LAW_INPUT_HELD);
        if (inputs->count > at) inputs->next[at] = newer;
        newer = sensor_if(sensor, inputs->begins, value, held);
    }
    return newer;
}

// What it reads of the column's value.
static TapeValue sensor_reading(const Sensor *sensor, TapeValue value)
{
    const TapeValue bias = sensor_number(sensor, "bias"), noise = sensor_number(sensor, "noise"),
                    quantum = sensor_number(sensor, "quantum");
    value = sensor_delayed(sensor, value, sensor_delay(sensor));
    if (bias != TAPE_NONE) value = sensor_two(sensor, PROGRAM_ADD, value, bias);
    if (noise != TAPE_NONE)
        value = sensor_two(sensor, PROGRAM_ADD, value,
                           sensor_two(sensor, PROGRAM_MULTIPLY, noise, law_input(sensor->inputs, LAW_INPUT_NOISE)));
    if (quantum == TAPE_NONE) return value;
    Tape *tape = sensor->inputs->tape; // to the nearest multiple; 0: none
    sensor->inputs->rounds = true;
    const TapeValue steps = sensor_two(sensor, PROGRAM_ADD, sensor_two(sensor, PROGRAM_DIVIDE, value, quantum),
                                       tape_number(tape, 0.5)),
                    rounded = sensor_two(sensor, PROGRAM_MULTIPLY, sensor_one(sensor, PROGRAM_FLOOR, steps), quantum);
    return sensor_if(sensor, sensor_two(sensor, PROGRAM_GREATER, quantum, tape_number(tape, 0.0)), rounded, value);
}

// ---- all of them ----------------------------------------------------------------------------------------------------

// What `sensors` says of a column: its name counts before a pattern. NULL: nothing.
static const Node *sensor_said(SystemReader *reader, const Node *section, const char *column)
{
    int at = -1;
    for (int i = 0; i < section->count; i++) {
        int64_t number;
        if (strcmp(section->keys[i]->text, column) == 0) return section->items[i];
        if (strpbrk(section->keys[i]->text, "*#") == NULL || !law_matches(section->keys[i]->text, column, &number))
            continue;
        if (at >= 0)
            diagnose(reader->diagnostics, section->keys[i], "what the law sees of %s is said by '%.60s' already",
                     column, section->keys[at]->text);
        at = i;
    }
    return at >= 0 ? section->items[at] : NULL;
}

static void sensors_check(SystemReader *reader, const Configured *configured, const Node *section)
{
    const char **names = ARENA_NEW(reader->arena, const char *, configured->n_columns);
    for (int c = 0; c < configured->n_columns; c++) names[c] = configured->columns[c].name;
    for (int i = 0; i < section->count; i++) {
        const char *key = section->keys[i]->text;
        bool found = false;
        int64_t number;
        for (int c = 1; c < configured->n_columns && !found; c++) found = law_matches(key, names[c], &number);
        if (found) (void)equations_mapping(reader, section->items[i], "a sensor");
        if (!found && strcmp(key, names[0]) == 0)
            diagnose(reader->diagnostics, section->keys[i], "the law knows the time: it is no sensor");
        else if (!found)
            diagnose(reader->diagnostics, section->keys[i], "the model has no column '%.60s'%s", key,
                     equations_nearest(reader, key, names, configured->n_columns));
    }
}

void law_read_sensors(SystemReader *reader, const Configured *configured, LawInputs *inputs, TapeValue *values,
                      int count)
{
    const Node *section = equations_section(reader, reader->root, "sensors", NODE_MAPPING);
    const int n = configured->n_columns;
    TapeValue *from = ARENA_NEW(reader->arena, TapeValue, n), *to = ARENA_NEW(reader->arena, TapeValue, n);
    int replaced = 0;
    if (section == NULL) return;
    sensors_check(reader, configured, section);
    bool *used = ARENA_NEW(reader->arena, bool, n);
    TapeValue *columns = ARENA_NEW(reader->arena, TapeValue, n);
    for (int c = 1; c < n; c++) columns[c] = tape_input(inputs->tape, SYSTEM_STATE(c - 1), TAPE_MOVING);
    const bool *needs = tape_needs(inputs->tape, values, count);
    for (int c = 1; c < n; c++) used[c] = needs != NULL && needs[columns[c]];
    for (int c = 1; c < n; c++) {
        const Node *said = sensor_said(reader, section, configured->columns[c].name);
        const Sensor sensor = {reader, inputs, &configured->columns[c], said};
        if (said == NULL || said->kind != NODE_MAPPING || !used[c]) continue;
        from[replaced] = columns[c];
        to[replaced++] = sensor_reading(&sensor, columns[c]);
    }
    tape_replace(inputs->tape, values, count, from, to, replaced);
}
