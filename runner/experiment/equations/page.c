// How users read about systems: the page of `help spec equations`, and the schema that editors complete by.
#include "equations.h"

#include <string.h>

// A test feeds it to `run`.
static const char equations_example[] =
    "version: 1\n"
    "experiment: jumper\n"
    "model: equations\n"
    "simulation:\n"
    "  system:                                  # or the name of a file with this mapping\n"
    "    parameters: {m: {value: 1, unit: kg}, k: {value: 500, unit: N/m}, c: {value: 2, unit: N s/m},\n"
    "                 l0: {value: 0.5, unit: m}, g: {value: 9.81, unit: m/s^2}}\n"
    "    states: {z: {start: 1, unit: m}, v: {start: 0, unit: m/s}}\n"
    "    modes:\n"
    "      flight: {rates: {z: v, v: -g}, events: [{name: touchdown, falls: z - l0, to: stance}]}\n"
    "      stance: {let: {force: \"k*(l0 - z) - c*v\"}, rates: {z: v, v: force/m - g},\n"
    "               events: [{name: liftoff, rises: z - l0, to: flight}]}\n"
    "    metrics: {hops: {count: liftoff}, top: {at: touchdown, value: v, take: first}, load: {max: force}}\n"
    "search: {method: grid, over: {k: {logspace: [100, 2000, 20]}}}\n"
    "objective: {maximize: hops}\n";

typedef struct EquationsRow {
    const char *word, *text;
} EquationsRow;

static const EquationsRow equations_rows[] = {
    {"parameters", "NAME: 3, or {value: 3, unit: kg, range: [0, 9], doc: TEXT}, which can be searched."},
    {"states", "NAME: 1, or {start: 1, unit: m, range: [0, 9], scale: 1, doc: TEXT}. start: a number, "
               "which can be searched, or made of parameters. scale: a small size."},
    {"held", "The same without scale. Numbers that change at events only."},
    {"let", "NAME: EXPR, or {value: EXPR, unit: m, doc: TEXT}. Shorthands in any order."},
    {"rates", "NAME: EXPR for every state, per s. Those at the top hold in modes without their own."},
    {"next", "NAME: EXPR, in place of rates: the values after one iteration of a map."},
    {"noise", "NAME: SIZE, or {size: SIZE, by: SOURCE}: SIZE dW (Ito); of a map SIZE N(0, 1)."},
    {"modes", "NAME: {let, rates, noise, events, doc}. The first is the mode at the start."},
    {"events", "A list of {name: NAME, WHEN, set: {NAME: EXPR}, END}, of a mode or of all."},
    {"  WHEN", "rises, falls, crosses: EXPR (passes zero); at: TIME; every: PERIOD; rows: INPUT."},
    {"  set", "States and held numbers, all from the values before the event."},
    {"  END", "to: MODE, stop: true or fail: NAME. It may be left out."},
    {"metrics", "NAME: {REDUCTION, unit: m, doc: TEXT}. Without a unit it has that of the expression."},
    {"  of EXPR", "final, mean, rms, integral, min or max, in the modes that have all its names."},
    {"  of EVENT", "count: EVENT; at: EVENT (before `set`) or after: EVENT, with value: EXPR and take: last, "
                   "first, mean, min, max, rms or spread (max - min)."},
    {"  of time", "first: CONDITION or last: CONDITION, the time; part: CONDITION, of the time."},
    {"failures", "NAME: CONDITION. A trial fails when it holds."},
    {"columns", "NAME: EXPR, or {value: EXPR, unit: m, doc: TEXT}. Recorded beside the states."},
    {"drawing", "A list of {line or spring: [[x, z], [x, z]]}, {disc: [x, z], radius: 0.05}, {ground: 0}, "
                "with in: MODE, width: 0.02, part: body, leg, spring, hip or foot."},
    {"tables", "NAME: {file: a.csv, columns: [x, y], unit: N, of: m/s, between: linear, cubic or held, beyond: "
               "fail, hold or extend}, the function NAME(x). of: [m/s, rad] is a grid, NAME(x, y), whose first "
               "line has the y."},
    {"inputs",
     "NAME: {file: a.csv, column: y, unit: N, between: linear or held, beyond: fail or hold}, over `time`; "
     "time: {unit: ms}, offset: start. Both take at: [0, 1], values: [3, 4]. Or {range: [-1, 1], unit: N}: an action "
     "(environment, control.actions)."},
    {"repeat", "Of an item with # in its name: x#: {repeat: 20, start: 0} is x1 to x20. # is the number, x{#+1} the "
               "next one, with ring: true round a ring. Without repeat there are as many as of the states. sum(#j, "
               "EXPR), mean, min and max run over the copies x#j."},
    {"names", "`time` is that since the start (s; of a map the iteration). A name has one meaning."},
    {"EXPR", "+ - * / ^, comparisons, and, or, not, pi, if(c, a, b), functions: `help spec all`."},
    {"units", "Checked where all names of an expression have one: m/s + m is an error. A number that is "
              "added has any; rad is 1. cm, deg or km/h need a factor: sin(a*pi/180)."},
    {"failed", "Also as diverged, zeno, step_too_small, solver, limit, instant (every: 0)."},
};

// The same of laws.
static const char equations_law_example[] =
    "version: 1\n"
    "experiment: swing\n"
    "model: articulated                         # without a robot: two links\n"
    "simulation:\n"
    "  duration: 4\n"
    "  control:\n"
    "    mode: law\n"
    "    period: 0.01\n"
    "    law:                                   # or the name of a file with this mapping\n"
    "      parameters: {amp: {value: 0.5, unit: rad}, freq: {value: 0.7, unit: Hz, range: [0.1, 3]}}\n"
    "      held: {phase: 0}\n"
    "      every_period: {phase: \"mod(phase + freq*period, 1)\"}\n"
    "      command: {shoulder: amp*sin(2*pi*phase)}\n"
    "parameters: {shoulder_kp: 100, shoulder_kd: 5}\n"
    "search: {method: grid, over: {freq: {linspace: [0.4, 1.2, 20]}}}\n"
    "objective: {minimize: energy}\n";

static const EquationsRow equations_law_rows[] = {
    {"a period",
     "Each begins with a sample. Events happen first, by guards of this period and the last one; then policies are "
     "asked, and commands and efforts given; "
     "then `every_period` sets what the law holds for the next one."},
    {"names",
     "The columns of trajectories, such as hip_q, hip_rate, base_z, shank_force (`models SPEC.yaml` and a "
     "trajectory name them); the base's roll, pitch and yaw; parameters of the model and of the law; time; period, "
     "that of control (s)."},
    {"parameters",
     "NAME: 3, or {value: 3, unit: kg, range: [0, 9], doc: TEXT}, which can be searched. Gains of quantities with "
     "units have units too, as {value: 5, unit: N m/rad}."},
    {"held", "NAME: 0, or {start: 0, unit: rad, doc: TEXT}. Numbers, also with columns of trajectories."},
    {"let", "NAME: EXPR, or {value: EXPR, unit: m}. Shorthands in any order, also of a mode."},
    {"command", "MOTOR: EXPR, the position that a motor is asked for. Without one it is asked for its offset."},
    {"add",
     "MOTOR: EXPR, in place of command beside control: {mode: gait}: what is added to the gait's command, which the "
     "gait gives anew at each step and the law once a period. Of the hopper, beside control: {mode: raibert}: what is "
     "added to that control's u1 and u2, from u1_min to u1_max and u2_min to u2_max."},
    {"effort", "MOTOR: EXPR, beside a command added to what the motor's gains give; alone all that the motor gives. "
               "An input of a world of rigid bodies is a motor that takes efforts."},
    {"  MOTOR",
     "A name, a group, or a pattern: hind_* is all that begin so, leg#_hip one for each number, which # is in "
     "the expression too. A name counts before a group, and that before a pattern."},
    {"every_period", "HELD: EXPR, all from the values before."},
    {"modes", "NAME: {let, events, command, add, effort, every_period, doc}. The first is the mode at the start."},
    {"events",
     "A list of {WHEN, set: {HELD: EXPR}, to: MODE}, of a mode or of all. WHEN: rises, falls or crosses: EXPR, "
     "a quantity that has passed zero since the last period; at: TIME; every: PERIOD."},
    {"sensors",
     "COLUMN: {delay: 2, noise: 0.01, bias: b, quantum: 0.001}, what the law sees of a column: late by control "
     "periods, with normal noise of that deviation, an offset, rounded. COLUMN may be a pattern."},
    {"policies",
     "NAME: {file: walk.csv, observe: [EXPR, ...]}. Networks: what one gives, from -1 to 1, are the names NAME_1, "
     "NAME_2, ...; it observes what the law knows after the events. Hidden layers are tanh, the last is linear and "
     "cut at -1 and 1. The file has the columns layer, output, input (0: the constant) and weight."},
    {"inputs",
     "NAME: {range: [-1, 1], unit: N}. An action of an environment; in a run of control.actions or control.file. It is "
     "held for control.action_period. What lies beyond the range counts as its end."},
    {"tables", "As those of a system: `help spec tables`."},
};

static void equations_row(FILE *out, const EquationsRow *row, int columns)
{
    enum { INDENT = 12 };
    fprintf(out, "%-*s%s", INDENT, row->word, strlen(row->word) >= INDENT ? " " : "");
    terminal_paragraph(out, row->text, INDENT, columns);
    fputc('\n', out);
}

static void equations_show(FILE *out, const char *title, const char *example, const EquationsRow *rows, size_t count,
                           int columns)
{
    fprintf(out, "%s\n\n", title);
    for (const char *line = example; *line != '\0'; line += strcspn(line, "\n") + 1)
        fprintf(out, "    %.*s\n", (int)strcspn(line, "\n"), line);
    fputc('\n', out);
    for (size_t i = 0; i < count; i++) equations_row(out, &rows[i], columns);
}

void equations_page(FILE *out, int columns)
{
    equations_show(out, "THE SYSTEM, a mapping in simulation.system, or in a file that it names", equations_example,
                   equations_rows, sizeof equations_rows / sizeof *equations_rows, columns);
}

void equations_law_page(FILE *out, int columns)
{
    fputc('\n', out);
    equations_show(out, "A LAW, a mapping in simulation.control.law, or in a file that it names", equations_law_example,
                   equations_law_rows, sizeof equations_law_rows / sizeof *equations_law_rows, columns);
}

bool equations_page_topic(FILE *out, const char *topic, bool alone, int columns)
{
    bool inside = false, found = false;
    for (size_t i = 0; i < sizeof equations_rows / sizeof *equations_rows; i++) {
        const EquationsRow *row = &equations_rows[i];
        const bool below = row->word[0] == ' ', same = strcmp(row->word + strspn(row->word, " "), topic) == 0;
        inside = same || (inside && below); // with the rows below it
        if (!inside) continue;
        if (!found)
            fprintf(out, "%sof a system of equations; hopscotch help spec equations has all of it\n\n",
                    alone ? "" : "\n");
        found = true;
        equations_row(out, row, columns);
    }
    return found;
}

// ---- the schema -----------------------------------------------------------------------------------------------------

#define EQUATIONS_REPEAT                                                                                               \
    "repeat: {description: \"number of copies or [first, last]; # is the copy's number, {#+1} that of the next\", "    \
    "anyOf: [$expression, {type: array, minItems: 2, maxItems: 2, items: $expression}]}, "
#define EQUATIONS_RING EQUATIONS_REPEAT "ring: {type: boolean, description: 'the last one is beside the first'}, "
#define EQUATIONS_ABOUT "unit: {type: [string, number]}, doc: {type: string}"
#define EQUATIONS_RANGE "range: {type: array, minItems: 2, maxItems: 2, items: $expression}"
#define EQUATIONS_STRICT "additionalProperties: false, "

static const char *const equations_definitions[][2] = {
    {"system_parameter",
     "{anyOf: [$expression, {type: object, required: [value], " EQUATIONS_STRICT
     "properties: {value: $expression, " EQUATIONS_RING EQUATIONS_RANGE ", " EQUATIONS_ABOUT "}}]}"},
    {"system_state", "{anyOf: [$expression, {type: object, required: [start], " EQUATIONS_STRICT
                     "properties: {start: $expression, scale: $expression, " EQUATIONS_RING EQUATIONS_RANGE
                     ", " EQUATIONS_ABOUT "}}]}"},
    {"system_held", "{anyOf: [$expression, {type: object, required: [start], " EQUATIONS_STRICT
                    "properties: {start: $expression, " EQUATIONS_RING EQUATIONS_RANGE ", " EQUATIONS_ABOUT "}}]}"},
    {"system_value", "{anyOf: [$expression, {type: object, required: [value], " EQUATIONS_STRICT
                     "properties: {value: $expression, " EQUATIONS_RING EQUATIONS_ABOUT "}}]}"},
    {"system_expressions", "{type: object, additionalProperties: $expression}"},
    {"system_values", "{type: object, additionalProperties: $system_value}"},
    {"system_noise",
     "{type: object, additionalProperties: {anyOf: [$expression, {type: object, required: [size], " EQUATIONS_STRICT
     "properties: {size: $expression, by: {type: string, description: 'a source that several states share'}, "
     "doc: {type: string}}}]}}"},
    {"system_event",
     "{type: object, " EQUATIONS_STRICT
     "oneOf: [{required: [rises]}, {required: [falls]}, {required: [crosses]}, {required: [at]}, "
     "{required: [every]}, {required: [rows]}], properties: {name: {type: string}, "
     "rises: {description: 'a quantity that passes zero upwards', anyOf: [$expression]}, "
     "falls: {description: 'a quantity that passes zero downwards', anyOf: [$expression]}, "
     "crosses: {description: 'a quantity that passes zero', anyOf: [$expression]}, "
     "at: {description: 'a time, s', anyOf: [$expression]}, "
     "every: {description: 'a period, s', anyOf: [$expression]}, "
     "rows: {type: string, description: 'an input: at each of its rows'}, "
     "to: {type: string, description: 'the mode that follows'}, set: $system_expressions, "
     "stop: {type: boolean, description: 'true: the trial ends'}, "
     "fail: {type: string, description: 'the trial fails, by this name'}, " EQUATIONS_REPEAT "doc: {type: string}}}"},
    {"system_events", "{type: array, maxItems: 256, items: $system_event}"},
    {"system_mode", "{type: [object, 'null'], " EQUATIONS_STRICT
                    "properties: {let: $system_values, rates: $system_expressions, next: $system_expressions, "
                    "noise: $system_noise, events: $system_events, doc: {type: string}}}"},
    {"system_metric",
     "{type: object, " EQUATIONS_STRICT
     "oneOf: [{required: [final]}, {required: [mean]}, {required: [rms]}, {required: [min]}, {required: [max]}, "
     "{required: [integral]}, {required: [count]}, {required: [at, value]}, {required: [after, value]}, "
     "{required: [first]}, {required: [last]}, {required: [part]}], "
     "properties: {final: $expression, mean: $expression, rms: $expression, min: $expression, max: $expression, "
     "integral: $expression, count: {type: string, description: 'an event'}, "
     "at: {type: string, description: 'an event, with the values before it'}, "
     "after: {type: string, description: 'an event, with the values after it'}, value: $expression, "
     "take: {enum: [first, last, mean, min, max, spread, rms]}, "
     "first: {type: string, description: 'a condition: the time at which it begins to hold'}, "
     "last: {type: string, description: 'a condition: the last time at which it held'}, "
     "part: {type: string, description: 'a condition: the fraction of the time'}, " EQUATIONS_REPEAT EQUATIONS_ABOUT
     "}}"},
    {"system_point", "{type: array, minItems: 2, maxItems: 2, items: $expression}"},
    {"system_points", "{type: array, minItems: 2, items: $system_point}"},
    {"system_shape", "{type: object, " EQUATIONS_STRICT
                     "oneOf: [{required: [line]}, {required: [spring]}, {required: [disc]}, {required: [ground]}], "
                     "properties: {line: $system_points, spring: $system_points, disc: $system_point, "
                     "ground: $expression, in: {type: string, description: 'a mode'}, width: $expression, "
                     "radius: $expression, " EQUATIONS_REPEAT "part: {enum: [body, leg, spring, hip, foot]}}}"},
    {"system_numbers", "{type: array, items: {anyOf: [$expression, {type: array, items: $expression}]}}"},
    {"system_table", "{type: object, " EQUATIONS_STRICT
                     "oneOf: [{required: [file]}, {required: [at, values]}], properties: {file: {type: string}, "
                     "columns: {type: array, minItems: 2, maxItems: 2, items: {type: string}}, "
                     "at: $system_numbers, values: $system_numbers, "
                     "of: {anyOf: [{type: [string, number]}, {type: array, minItems: 2, maxItems: 2, "
                     "items: {type: [string, number]}}], description: 'the units of the arguments'}, "
                     "between: {enum: [linear, cubic, held]}, "
                     "beyond: {enum: [fail, hold, extend]}, " EQUATIONS_ABOUT "}}"},
    {"system_input",
     "{type: object, " EQUATIONS_STRICT "oneOf: [{required: [file]}, {required: [at, values]}, {required: [range]}], "
     "properties: {file: {type: string}, " EQUATIONS_RANGE ", "
     "column: {type: string}, time: {description: 'its column of times', anyOf: [{type: string}, {type: object, "
     "additionalProperties: false, properties: {column: {type: string}, unit: {type: string}}}]}, "
     "offset: {description: 's, added to times; start: the first row is at 0 s', type: [number, string]}, "
     "at: $system_numbers, values: $system_numbers, "
     "between: {enum: [linear, held]}, beyond: {enum: [fail, hold]}, " EQUATIONS_ABOUT "}}"},
    {"system", "{type: object, required: [states], " EQUATIONS_STRICT
               "properties: {parameters: {type: object, additionalProperties: $system_parameter}, "
               "states: {type: object, maxProperties: 64, additionalProperties: $system_state}, "
               "held: {type: object, maxProperties: 64, additionalProperties: $system_held}, let: $system_values, "
               "rates: $system_expressions, next: $system_expressions, noise: $system_noise, "
               "modes: {type: object, maxProperties: 64, additionalProperties: $system_mode}, "
               "events: $system_events, "
               "metrics: {type: object, maxProperties: 256, additionalProperties: $system_metric}, "
               "failures: $system_expressions, "
               "columns: {type: object, maxProperties: 256, additionalProperties: $system_value}, "
               "tables: {type: object, maxProperties: 64, additionalProperties: $system_table}, "
               "inputs: {type: object, maxProperties: 64, additionalProperties: $system_input}, "
               "drawing: {type: array, items: $system_shape}, doc: {type: string}}}"},
};

bool equations_schema(int index, const char **name, const char **text)
{
    if (index >= (int)(sizeof equations_definitions / sizeof *equations_definitions)) return false;
    *name = equations_definitions[index][0];
    *text = equations_definitions[index][1];
    return true;
}
