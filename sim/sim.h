// sim: numerics only. Models, the batch that they advance, the backends that run it, random numbers, and the two types
// that every layer shares: Error and Arena. Nothing here opens a file, prints, or knows what a campaign is.
#ifndef HOPSCOTCH_SIM_H
#define HOPSCOTCH_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "articulated/robot.h"
#include "environment_view.h"
#include "policy_view.h"
#include "thread.h"
#include "thread_team.h"

#ifdef __cplusplus
extern "C" {
#endif

// Raised whenever a stored number of any model changes by a bit. Stored with every batch; replay and resume refuse
// another version.
#define NUMERICS_VERSION 6

// ---- errors ---------------------------------------------------------------------------------------------------------

// The kind decides the exit code (runner/command/commands.c): 1 error of the user, 2 usage, 3 error of the machine, 130
// interrupted, 75 not finished yet. A failed trial is data, not an error.
typedef enum ErrorKind {
    OK = 0,
    ERROR_USER,
    ERROR_USAGE,
    ERROR_MACHINE,
    ERROR_INTERRUPTED,
    ERROR_UNFINISHED, // results so far are stored, and the same command continues; not a failure (75, EX_TEMPFAIL)
    // also errors of the machine, but a run may be able to continue (runner/campaign/batch/device.c)
    ERROR_MEMORY, // not enough memory: a smaller batch needs less
    ERROR_DEVICE, // a device failed: its batches in flight can be computed again, there or elsewhere
    ERROR_STUCK   // a slice does not end: its memory can't be freed, so the process must leave by _exit
} ErrorKind;

typedef struct Error {
    ErrorKind kind;
    char text[508]; // one sentence that says what, where and what to do; no trailing newline
} Error;

#if defined(__GNUC__)
#define PRINTF_LIKE(format_index, first_argument) __attribute__((format(printf, format_index, first_argument)))
#else
#define PRINTF_LIKE(format_index, first_argument)
#endif

Error error_none(void); // kind OK, empty text
// The text is cut to its size in Error.
Error error_make(ErrorKind kind, const char *format, ...) PRINTF_LIKE(2, 3);

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const Error try_error = (call);                                                                                \
        if (try_error.kind != OK) return try_error;                                                                    \
    } while (0)

// ---- memory ---------------------------------------------------------------------------------------------------------

// Memory that is freed as a whole. Its address space is reserved at creation, and only this can fail; pages are
// allocated as they are used. To take more than was reserved is a bug and aborts.
typedef struct Arena {
    struct ArenaPiece *base; // the last piece; earlier ones are linked from it; NULL: there is no arena
    size_t used, size;       // bytes
    const char *purpose;
    bool grows;
} Arena;

// Reserves `size` bytes for `purpose` (a literal, for messages). Error: the machine has no such address space left.
Error arena_create(Arena *arena, size_t size, const char *purpose);
// For sizes that are not known beforehand: reserves pieces of address space when needed, `most` bytes in all. If no
// address space is left, arena_take prints this and ends the process with the exit code of a machine error.
Error arena_create_growing(Arena *arena, size_t most, const char *purpose);
// `count` items of `item_size` bytes, zeroed, aligned to 64 bytes. Never NULL.
void *arena_take(Arena *arena, size_t count, size_t item_size);
#define ARENA_NEW(arena, Type, count) ((Type *)arena_take((arena), (size_t)(count), sizeof(Type)))
// A copy of a text, and a formatted text, in the arena; both NUL-terminated.
char *arena_copy(Arena *arena, const char *text);
char *arena_format(Arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);
// Frees everything that was taken since `used` had this earlier value.
void arena_rewind(Arena *arena, size_t used);
void arena_destroy(Arena *arena); // frees all; does nothing if there is no arena

// ---- what a model says of itself ------------------------------------------------------------------------------------

// The section of the spec that gives a lane input: `parameters:` (physics and gains) or `initial:` (the state at t =
// 0). Both can be swept, derived or perturbed by name; names are unique in a model. SECTION_SEED is not a key of the
// spec: the runner draws an integer < 2^53 per replicate, which seeds the model's own random numbers. Rows of
// SECTION_SEED come last.
typedef enum ParameterSection { SECTION_PARAMETERS, SECTION_INITIAL, SECTION_SEED } ParameterSection;

// One lane input. Only this row describes it: spec keys, ranges, `models`, SQLite columns, HDF5 attributes and the JSON
// schema come from it.
typedef struct Parameter {
    const char *name, *unit; // unit: SI, "1" if dimensionless
    double value, low, high; // default; inclusive range (may be infinite)
    ParameterSection section;
    const char *doc;
} Parameter;

// One output column: a metric, or a column of a trajectory.
typedef struct Field {
    const char *name, *unit, *doc;
    const char *group; // trajectory columns: their dataset ("state", "control", "fsm"); metrics: NULL
} Field;

// An action of external control: what a caller sets for each lane and each control period.
typedef struct Action {
    const char *name, *unit, *doc; // of a trajectory column, which shows what was applied
    double low, high;              // the action is clamped to these bounds
    const char *of_low, *of_high;  // parameters whose values are the bounds instead; NULL: low, high
} Action;

// What a control law of the user's own may give a motor: a command, or an effort beside that or alone.
typedef struct LawOutput {
    const char *name, *unit; // of the motor
    bool effort;
    const Action *asked; // control: policy: the action that it is, relative to an offset if it is a command
} LawOutput;

// A name for several motors.
typedef struct LawGroup {
    const char *name;
    const int *outputs; // [n] their commands, or efforts where there are no commands; an effort follows its command
    int n;
} LawGroup;

// What the numbers 0, 1, ... of a column stand for.
typedef struct FieldWords {
    int column;
    const char *const *words; // [count]
    int count;
} FieldWords;

// One key of the section `simulation:`. A name with a dot is a key of a nested mapping (newton.tolerance).
typedef enum OptionType {
    OPTION_NUMBER,
    OPTION_INTEGER,
    OPTION_BOOLEAN,
    OPTION_CHOICE,
    OPTION_POINTS,
    OPTION_NUMBERS,      // a list of numbers
    OPTION_WORDS,        // a list of words
    OPTION_ARGUMENTS,    // a list of texts, in their order: the words of a command line
    OPTION_SYSTEM,       // equations (sim/equations/system.h), read before `configure`
    OPTION_LAW,          // a control law of the spec's own, which is attached after `configure` (law_attach)
    OPTION_FILE,         // a file for `build`; value 1: a file is given, 0: not. Robots, matrices and tables are read
                         // before `configure`
    OPTION_MANNER,       // a choice of how the work is done; no result depends on it
    OPTION_MANNER_NUMBER // an integer that decides how the work is done; no result depends on it
} OptionType;

typedef struct Option {
    const char *name;
    OptionType type;
    const char *unit;
    double value, low, high; // default and inclusive range; a choice's value is its index in `choices`.
                             // Points and numbers: no default; each number must be in the range
    const char *choices;     // "implicit_midpoint|semi_implicit_euler"; for a number the word for its default, "auto",
                             // which may be out of range; for a file its contents, "cloud", "numbers", "robot",
                             // "matrix" (CSV, rows of equal length), "table" (the same with a line of names first) or
                             // "recording" (the same, or another format; a spec may say how it is read);
                             // for words an example; else NULL. A robot is read with what the model's options `ignore`
                             // (words) and `base` (a choice, as RobotBase of io/robot/robot.h) say, if it has them
    const char *doc;
} Option;

// `high` and `choices` of an option whose words are the rows X(word, ...) of a list ROWS(X), and their number.
#define CHOICE_WORD(word, ...) "|" #word
#define CHOICE_ONE(...) +1
#define CHOICE_COUNT(ROWS) (0 ROWS(CHOICE_ONE))
#define CHOICES(ROWS) CHOICE_COUNT(ROWS) - 1, &("" ROWS(CHOICE_WORD))[1] // without the first '|'

// Where the numbers of a table stand in its file, and what a spec says of its columns.
typedef struct TableSource {
    const char *file, *row;     // name; what counts its rows: "line", "row"
    const int64_t *rows;        // [rows] their numbers in the file
    const char *const *columns; // [columns] names in the file
    const char *const *units;   // [columns] as given, which the numbers no longer have: they are in SI; NULL: not given
    const double *noise;        // [columns] standard deviation, in SI; NaN: not given
} TableSource;

// A value that is an array. The type of the option, or a List, decides which member of the union is used.
enum { POINTS_MAX = 4096, MATRIX_MAX = 1 << 20, MATRIX_COLUMNS_MAX = 4096 };
typedef struct Points {
    int64_t count;
    int64_t columns; // of a matrix or table; count is a multiple of it. A table that a spec says so of may have gaps,
                     // which are NaN
    union {
        const double *xy;            // [count][2]: OPTION_POINTS, x increasing
        const double *numbers;       // [count]: OPTION_NUMBERS, a file of numbers; [count/columns][columns]: a matrix
        const double *items;         // [count][list_width()]: a List
        const double *cloud;         // [3][count]: a file of points (m): all x, then all y, then all z
        const struct Robot *robot;   // count 1: a file with a robot (sim/articulated/robot.h)
        const struct System *system; // count 1: equations (sim/equations/system.h)
    };
    // [count] of a List whose items have names, OPTION_WORDS and OPTION_ARGUMENTS; [columns] of a table; else NULL
    const char *const *names;
    // of a List with fields of ITEM_WORDS: [count][those fields] lists of texts, each ended by NULL; NULL: not given
    const char *const *const *words;
    const TableSource *source; // of a table
} Points;

// A list in the section `simulation:` whose items are mappings: the bodies of a world, the clouds of a map. A row of
// `fields` describes a key of an item. Items with names may also be given as a mapping by name; if they have only one
// further field, its value is enough. The model gets an item as doubles, field after field: numbers; 0 or 1; the index
// of a choice or of the referenced item.
typedef enum ItemType {
    ITEM_NUMBERS,   // one number, or a list of them
    ITEM_BOOLEAN,   //
    ITEM_CHOICE,    // one of the words
    ITEM_NAME,      // the item's name, unique in its list, for use in expressions; takes no double
    ITEM_REFERENCE, // the name of an earlier item of the list `words`
    ITEM_WORDS      // one word, or a list of them, which reach the model as texts; takes no double
} ItemType;

typedef struct ItemField {
    const char *name;
    ItemType type;
    int least, count; // numbers: how many must and may be given, missing numbers are NaN; else 1
    const char *unit;
    double value, low, high; // numbers: default and range of each. Default NaN: required, unless `otherwise` is given
    // Choice: "a|b|c". Reference: name of the other list. Number: name of a field of ITEM_WORDS; an item that has it
    // gives one of its words, and the number is its index. Else NULL
    const char *words;
    const char *otherwise; // a word that may stand instead: numbers are NaN then, a reference is -1; NULL: no word
    const char *doc;
} ItemField;

typedef struct List {
    const char *name; // as an Option's: "world.bodies"
    const ItemField *fields;
    int n_fields;
    int64_t most; // items
    const char *doc, *example;
} List;

int list_width(const List *list);                        // doubles per item
int list_words(const List *list);                        // number of fields of ITEM_WORDS
int list_field_width(const ItemField *field);            // doubles of the field in an item
double list_default(const ItemField *field, int number); // default of double `number` of the field, from 0

// Numbers of a configured model that all lanes share; passed by value to every kernel. Each model defines its own
// struct for them.
#define CONSTANTS_SIZE 288
typedef struct Constants {
    double values[CONSTANTS_SIZE / sizeof(double)];
} Constants;

typedef struct Model Model;
typedef struct Configured Configured;
typedef struct Meter Meter;
typedef struct Law Law;
typedef struct LawSlopes LawSlopes;
typedef struct MeterSlopes MeterSlopes;
typedef struct EnvironmentSetup EnvironmentSetup;

// Selects which things of a model (such as bodies of a world) have rows in its tables, if there are too many for a
// column each. Things that the model selects itself always have rows.
typedef struct Choice {
    const char *const *words; // [n_words] names of parameters and metrics in the spec: things named there are selected
    int64_t n_words;
    const bool *recorded; // [configured->n_things] things with columns in trajectories; NULL: the model decides
} Choice;

// A function that is given a text piece by piece.
typedef struct TextSink {
    void (*write)(void *to, const char *text, size_t length);
    void *to;
} TextSink;

// The columns of a trajectory that belong to a joint.
typedef struct JointColumns {
    const char *name;
    int position, velocity, effort;
} JointColumns;

// How to draw a model: points in the plane, and the shapes that join them. For display only: nothing of it is stored,
// so it need not be equal to the bit.
typedef enum ShapeKind { SHAPE_ROD, SHAPE_SPRING, SHAPE_DISC } ShapeKind;

typedef struct Shape {
    const char *name; // also its class in SVG and HTML
    ShapeKind kind;
    int from, to; // points; a disc stands at `from`
    double width; // m: thickness of a rod, breadth of a spring, diameter of a disc
} Shape;

// A solid of a figure in space, on a body.
typedef enum SolidKind { SOLID_BALL, SOLID_CAPSULE, SOLID_CYLINDER, SOLID_BOX, SOLID_KINDS } SolidKind;

typedef struct Solid {
    const char *name; // of its kind: "body", "leg" or "foot"
    SolidKind kind;
    int body;          // -1: the world
    double p[3], q[4]; // m; quaternion x, y, z, w: of its axes in the body's
    double size[3];    // m: half axes of a ball or box; radius and half length, along z, of a capsule (the ends of its
                       // axis are the centres of half balls) or cylinder
} Solid;

enum { POSE_NUMBERS = 8 }; // position (m), quaternion x, y, z, w, and the factor of lengths on the body

// A body of a figure in space, whose pose has the body's axes at its centre of mass.
typedef struct DrawnBody {
    const char *name;
    double origin[3]; // m, in these axes: of the body's frame in its file
} DrawnBody;

typedef struct Drawing {
    int n_points, n_shapes, focus; // focus: the point that a camera follows
    const Shape *shapes;           // [n_shapes], the first at the back
    int phase;                     // the trajectory column with the phase of the motion; -1: none
    const char *const *phases;     // [n_phases] their names
    int n_phases;
    double cycle_starts; // a new cycle begins when the phase becomes this one
    // point[n_points][2] (m; horizontal, upwards) of one sample[n_columns] of a lane with parameter[n_parameters]
    void (*points)(const Configured *configured, const double *parameter, const double *sample, double *point);
    // height of the ground (m) at x; NULL: no ground
    double (*ground)(const Configured *configured, const double *parameter, double x);
    // The figure in space, for pictures that have room for it; n_solids 0: none. There may be poses all the same.
    int n_solids, n_bodies;
    const Solid *solids;     // [n_solids]
    const DrawnBody *bodies; // [n_bodies]
    // pose[n_bodies][POSE_NUMBERS] of one sample
    void (*poses)(const Configured *configured, const double *parameter, const double *sample, double *pose);
    bool fixed; // the figure stays in place: a camera need not follow it
    // duration (s) of a cycle of the motion; NULL or 0: no cycles, or cycle_starts marks them
    double (*period)(const Configured *configured, const double *parameter);
} Drawing;

// A remark of the model, before a run, on the trials that a spec asks for.
typedef struct Remark {
    const char *name, *text; // "stability", "c dt = 0.1 of at most 2"
    bool warning;            // the results may differ from what the user expects
} Remark;
enum { REMARKS_MAX = 32 };

// How the threads of a CPU share lanes whose step is a compute graph (sim/graph); the bits are the same. levels: all
// threads work on one group of lanes, then on the next. automatic: levels if there are fewer groups than threads and it
// saves time.
typedef enum Executor { EXECUTOR_SEQUENTIAL, EXECUTOR_LEVELS, EXECUTOR_AUTOMATIC } Executor;

// How to plot the iterations of a model without time, from its debug rows. For display only: nothing of it is stored,
// so it need not be equal to the bit.
typedef struct Curve {
    const char *title, *unit;
    int count;                                        // lines, at most CURVE_LINES
    const char *const *names;                         // [count]; NULL: no names
    void (*values)(const double *row, double *value); // value[count] of a row[n_debug]
} Curve;

enum { CURVE_LINES = 6 };
typedef struct Iterations {
    const Curve *curves; // [n_curves]
    int n_curves;
    // *xy <- points in the horizontal plane, [..][2] (m), in the arena: of the fixed cloud (row NULL), or of the moving
    // cloud, before or after the iteration of a row. Returns their number.
    int64_t (*above)(const Configured *configured, const double *row, bool after, Arena *arena, const double **xy);
    const char *fixed, *moving; // names of the two clouds
} Iterations;

// Columns of a trajectory that are drawn in one panel.
typedef struct ColumnPanel {
    const char *of, *title, *unit; // of: the thing that the columns belong to
    int column, count;             // the first column; how many
    const char *const *lines;      // [count] names
} ColumnPanel;

// A parameter whose value comes with the word of another, in every trial of a spec that names the word's parameter and
// not this one.
typedef struct Follower {
    int parameter, word;  // `word`: the parameter whose values are words
    const double *values; // [its words]
} Follower;

// A model with the settings of one `simulation:` section: its tables and its immutable assets. Pointers lead into the
// arena that `configure` was given, or to static tables.
struct Configured {
    const Model *model;
    const Parameter *parameters; // [n_parameters], the order of Batch.parameter
    int n_parameters;
    // [n_parameters] "a|b|c": words that are the parameter's values, which the lanes have as 0, 1, ...; NULL: numbers
    // are. choices NULL: all are numbers
    const char *const *choices;
    const Follower *followers; // [n_followers]
    int n_followers;
    const Field *metrics; // [n_metrics], the order of Batch.metric; `survived` (s), if it exists, ranks failed trials
    int n_metrics;
    const Meter *meter;   // the user's own metrics, behind the model's; NULL: there are none
    const Law *law;       // the user's own control law, whose parameters are behind the model's; NULL: there is none
    const Field *columns; // [n_columns] of one trajectory sample; column 0 is `time` (s), group "time"
    int n_columns;
    const Field *debug; // [n_debug] of one debug row; column 0 is `time` (s), group "time"; n_debug 0: no debug rows
    int n_debug;
    int debug_rows;                // at most this many rows per tick; 0: any number
    const FieldWords *debug_words; // [n_debug_words] debug columns whose numbers stand for words
    int n_debug_words;
    const char *const *failures; // [n_failures] names by failure code; failures[0] is "none"
    int n_failures;
    const char *objective;  // default of `objective.minimize`; NULL: the user names one
    int kernel;             // number of its kernel (sim/models.h)
    Executor executor;      // on the CPU, for a kernel whose step is a compute graph
    int n_work;             // doubles of lane state between slices
    int shared;             // doubles of a lane in a GPU's shared memory, if a thread has a lane (real.h)
    int ahead;              // bytes of a GPU's shared memory for the kernel that goes ahead (ahead.cuh); 0: none does
    int team_threads;       // best number of GPU threads per lane, whole warps; 0: the most that the kernel allows
    int64_t team_lanes;     // batches of this many lanes or more use one thread per lane; 0: never
    int team_thread_blocks; // best number of thread blocks of a GPU per lane, if its kernel uses whole ones
    int64_t n_team;         // doubles that the thread blocks share; the first belongs to their barrier
    int64_t ticks;          // after this number of ticks every lane has ended
    double tick_duration;   // s of simulated time per tick; 0 if the model has no time
    double duration;        // s until then, where ticks do not divide it; 0: that of the ticks
    int64_t steps_max;      // adaptive steps: a tick is only the unit of sampling, and a lane ends after this many
                            // steps of its own; 0: a step is a tick
    bool law_adds;          // what a law gives for a motor adds to a command that the model has
    const Action *actions;  // [n_actions] of external control; n_actions 0: there is none
    int n_actions;
    int64_t action_ticks;     // ticks for which an action is held; before law_attach: what a law decides
    const LawOutput *outputs; // [n_outputs] what a law of the user's own may give; n_outputs 0: the model takes no law
    int n_outputs;
    const LawGroup *output_groups; // [n_output_groups] names that stand for several of them
    int n_output_groups;
    int environment_kernel; // number of the kernel for environments (sim/environment.h)
    bool waits;             // the actions of a run are not given
    bool policy;            // a policy gives the outputs that have an action (LawOutput.asked), by a law
    Constants constants;
    const double *assets; // [n_assets] doubles shared by all lanes, NULL if none
    int64_t n_assets;
    const char *const *things; // [n_things] names of the things of a Choice; n_things 0: the tables are always whole
    int n_things;
    const char *things_are;      // "moving bodies"
    bool things_whole;           // trajectories have the columns of all things, whatever a Choice records
    const char *const *nameable; // [n_nameable] names that become parameters where a spec uses them (Choice.words)
    int64_t n_nameable;
    const ColumnPanel *panels; // [n_panels]; n_panels 0: one panel per column
    int n_panels;
    const Drawing *drawing; // of a sample with the columns of all things; NULL: no drawing
    const void *host;       // further data for the model's functions on the host; may be NULL
    int wrong_list;         // after an error of configure: the list with the error, from 1; 0: none
    int64_t wrong_item;     // and its item; for an option the index in its words, from 1; 0: the whole list
    int wrong_option;       // after an error of build: the option with the error, from 1; 0: none
    int64_t dropped;        // after build: points of its files that were left out because they are not finite
    // [n_cases] the same model under other settings, each in turn of a lane's replicates: replicate r runs under
    // cases[r % n_cases]. Parameters, metrics, columns and ticks' duration are the same in all; `ticks` here is the
    // greatest. n_cases 0: there are none, and all lanes run under these settings
    const struct Configured *cases;
    int n_cases;
    const JointColumns *joints; // [n_joints] those of a robot with one coordinate; n_joints 0: none
    int n_joints;
};

// s of simulated time of a lane that does not end before.
static inline double configured_duration(const Configured *configured)
{
    return configured->duration > 0.0 ? configured->duration : (double)configured->ticks * configured->tick_duration;
}

// One cell of a table of debug rows.
typedef struct DebugCell {
    const char *text; // NULL: the number
    double number;
} DebugCell;

// Debug rows that are shown together: those of one step, which share the first column (the time).
typedef struct DebugTable {
    const char *const *columns; // [n_columns]
    int n_columns;
    // for row[n_debug] of a lane with parameter[n_parameters]
    DebugCell (*cell)(const Configured *configured, const double *parameter, const double *row, int column);
    int shared; // besides the time, the debug column that all rows of a step share
} DebugTable;

// Lanes for an adjoint, which runs them side by side and then goes back through them: parameter[n_parameters][count],
// metric[n_metrics][count], failure[count].
typedef struct AdjointLanes {
    int count;
    const double *parameter;
    size_t most; // bytes for the states of the run, 0: 256 MB; more are taken if a lane needs them
    double *metric;
    int *failure; // 0: none
    // Called every fraction of a second by the thread that computes: true ends the computation early. NULL: not called.
    bool (*leaves)(const void *of);
    const void *of;
} AdjointLanes;

// Where a tangent writes the values whose root mean square a metric is, with their derivatives.
typedef struct ResidualSeries {
    int metric;
    int64_t capacity, count; // count: of the values of the run; those beyond `capacity` are not written
    double *value;           // [capacity]
    double *slope;           // along direction k from slope[k stride] on
    int n_directions;
    int64_t stride;
} ResidualSeries;
static inline void residual_series_add(ResidualSeries *series, double value, const double *slope)
{
    if (series->count < series->capacity) {
        series->value[series->count] = value;
        for (int k = 0; k < series->n_directions; k++) series->slope[k * series->stride + series->count] = slope[k];
    }
    series->count++;
}

// The derivatives of lanes' metrics by the adjoint of their whole runs, computed by the CPU's kernels. The bits do not
// depend on the machine nor on the number of lanes in a call. The caller owns `memory`, aligned to 64 bytes. A model
// whose `run` is NULL has no adjoint: its derivatives are those of the tangent alone.
typedef struct Adjoint {
    // Why there are no derivatives with these settings; NULL: there are.
    const char *(*refuses)(const Configured *configured);
    // bends: why the model's metric has no derivative, as a count has none: "" where its name says it; NULL: it has
    // one. Of the user's own: MeterSlopes.bends. parameter: the metrics depend smoothly on the parameter; of robots not
    // if it is a time at which something happens.
    const char *(*bends)(const Configured *configured, int metric);
    bool (*parameter)(const Configured *configured, int parameter);
    // A state whose rate may jump where states pass some value, which derivatives do not see; NULL: there is none, as
    // if the function is NULL.
    const char *(*jumping)(const Configured *configured);
    // Whether nothing strikes, and no event happens, in any run with these settings: derivatives tell how metrics
    // change over a range, too. NULL: something may.
    bool (*smooth)(const Configured *configured);
    // What to know of derivatives and differences with these settings, a sentence without a full stop; NULL: nothing,
    // as if the function is NULL.
    const char *(*remark)(const Configured *configured);
    int (*lanes)(void); // the greatest number of lanes in a call on this machine
    // Bytes of `memory` for `lanes` lanes; most: as in AdjointLanes. With less memory, ranges of the run are computed
    // twice, with the same bits. The columns of all samples that the user's own metrics take come in addition.
    size_t (*bytes)(const Configured *configured, int lanes, size_t most);
    // False: `leaves` returned true.
    bool (*run)(const Configured *configured, const AdjointLanes *lanes, void *memory);
    // After `run`, for the same lanes and memory: gradient[n_parameters][lanes] <- the derivatives of
    // sum(weight[m] metric[m]); 0 for a parameter on which the metrics do not depend smoothly.
    // weight[n_metrics][lanes]: 0 for a metric without derivative. For a lane that failed: of its run up to the
    // failure. growth[lanes] <- how much the derivatives with respect to the state grow backwards in time: their
    // greatest norm over the run, divided by the norm at its end; NaN: all are 0. False: `leaves` returned true.
    bool (*back)(const Configured *configured, int lanes, void *memory, const double *weight, double *gradient,
                 double *growth);
    // After `back`: why some derivatives are NaN, and *time (s) of what is the reason; NULL: all are numbers. The
    // function is NULL if they always are.
    const char *(*trouble)(const void *memory, double *time);
    // Runs a lane with dual numbers: slope[n][n_metrics] <- the derivatives of metric[n_metrics] along
    // direction[n][n_parameters], 0 for a parameter on which metrics do not depend smoothly. n: at most `directions`,
    // which a run computes in the time of one; no bit depends on it. Returns the lane's failure; 0: none. Metrics are
    // those of `run` up to rounding. memory: of tangent_bytes. series[n_series]: also the values of these metrics.
    int (*directions)(const Configured *configured);
    size_t (*tangent_bytes)(const Configured *configured);
    int (*tangent)(const Configured *configured, const double *parameter, const double *direction, int n, void *memory,
                   double *metric, double *slope, ResidualSeries *series, int n_series);
    bool tangent_on_gpu; // AdjointDevice.tangent is there
    // The greatest number of values whose root mean square the metric is; 0: it is no such metric, or their number
    // depends on the run. NULL: no metric is.
    int64_t (*residuals)(const Configured *configured, int metric);
} Adjoint;

// An adjoint on a GPU, for many lanes at once, with the bits of the CPU (backend_adjoint). It has its own memory.
typedef struct AdjointDevice {
    int lanes;                        // the greatest number of lanes in a call
    size_t bytes;                     // that it takes of the device's memory
    double run_seconds, back_seconds; // time of the last calls on the device
    // Error (interrupted): `leaves` returned true. Error (stuck): a launch took longer than the backend's patience.
    Error (*run)(struct AdjointDevice *device, const AdjointLanes *lanes);
    // As Adjoint.back, for the lanes of the last `run`.
    Error (*back)(struct AdjointDevice *device, const double *weight, double *gradient, double *growth);
    // As Adjoint.trouble, of a lane of the last `back`. The function is NULL if derivatives always are numbers.
    const char *(*trouble)(const struct AdjointDevice *device, int lane, double *time);
    // As Adjoint.tangent, of lanes that are not kept for `back`, each along its own direction[n_parameters][lanes]:
    // slope[n_metrics][lanes]. Errors as those of `run`. NULL: the device has none.
    Error (*tangent)(struct AdjointDevice *device, const AdjointLanes *lanes, const double *direction, double *slope);
    // Waits for the device. Do not call it while a slice of a backend on this device is stuck.
    void (*close)(struct AdjointDevice *device);
} AdjointDevice;

// A metric above a bound says that a trial's numbers are doubtful; `advice` says what to do.
typedef struct Doubt {
    const char *metric;
    double most;
    const char *advice;
} Doubt;

struct Model {
    const char *name, *doc, *source;
    const Option *options; // rows of `simulation:`
    int n_options;
    const char *later;    // "a|b": options that were added after specs of the model had been stored. At their defaults
                          // a spec's identity does not contain them; NULL: none
    const char *numerics; // "a|b": options that say how a motion is computed, and not which one; NULL: none
    const Parameter *extra; // [n_extra] parameters that exist only under some settings; doc says which
    int n_extra;
    // Moves the model's own rows of SECTION_SEED `by` rows: a law's parameters stand before them. NULL: it has none.
    void (*move_seeds)(Configured *configured, int by);
    const char *const *extra_choices; // [n_extra] as Configured.choices; NULL: all are numbers
    const List *lists;                // [n_lists] more keys of `simulation:`
    int n_lists;
    const char *top;       // "a|b": options and lists that are at the top of a spec, not in `simulation:`; NULL: none
    int declares;          // number, from 1, of the list in `parameters:` that declares the model's parameters; 0: none
    bool runs_program;     // a program of the user advances its lanes (BackendOptions.program)
    bool by_hand;          // no backend advances its lanes: people run its trials, and tell the results
    const char *notes;     // lines that `models` prints behind its tables; NULL: none
    const char *debug;     // "debug/ndt": the HDF5 group of its debug rows; NULL: debug/newton. The last word is also
                           // their key in `record.debug:`
    const char *debug_are; // "events": what they are, in messages; NULL: debug rows
    const char *debug_doc; // what a row is, for the schema; NULL: as the key table says it
    const char *debug_needs;       // why settings may have none; NULL: no step is solved by iteration
    const Iterations *iterations;  // NULL: not shown
    const DebugTable *debug_table; // NULL: debug rows are shown one by one
    // settings[n_options]: a value in range for each option. points[n_options + n_lists]: the values of options that
    // are lists, then the items of the lists; NULL if there are none. Error (user): the settings contradict each other.
    Error (*configure)(const double *settings, const Points *points, Arena *arena, Configured *out);
    // Replaces the tables of `configured` by tables for a choice of its things, and adapts constants and assets. Error
    // (user): too many things are chosen. NULL: the model has no things.
    Error (*choose)(Configured *configured, const Choice *choice, Arena *arena);
    // Writes remarks on point[count][n_parameters], some or all of the trials; returns their number. NULL: no remarks.
    int (*explain)(const Configured *configured, const double *point, int count, Arena *arena, Remark *remarks);
    // Computes constants and assets that take too long for reading a spec. Called after configure, before a run.
    // points: also the contents of files. NULL: configure does everything.
    Error (*build)(const double *settings, const Points *points, Arena *arena, Configured *configured);
    // All lanes end at this time (s; iterations of a map) instead of the spec's: changes `constants`, `ticks` and
    // `duration` alone. Error (user): "at a whole number of steps dt", what the time must be. NULL: no lane can be cut.
    Error (*shorten)(double duration, Configured *configured);
    // Writes C text that the model's headers include when they are compiled for a campaign (sim/made/source.c). False:
    // the text would take too long to compile. NULL: constants and assets are enough.
    bool (*made_macros)(const Configured *configured, TextSink out);
    bool made_on_cpu;    // a CPU's kernels are worth making, too
    const Doubt *doubts; // [n_doubts] metrics of some settings only, too: `run` names them at its end
    int n_doubts;
    const Adjoint *adjoint; // NULL: none
    // The model's robot with a trial's values of the parameters. NULL: the model has no robot.
    const struct Robot *(*robot)(const Configured *configured, const double *parameter, Arena *arena);
};

// Parameters that a spec may name: all but the rows of SECTION_SEED.
int configured_named(const Configured *configured);
// Number of the model's own metrics; those of Configured.meter are behind them.
int configured_own_metrics(const Configured *configured);
// The words of a parameter, as in Configured.choices; NULL: it is a number.
const char *configured_choices(const Configured *configured, int parameter);
// Calls model->configure. If the model has no failure NON_FINITE, adds it as the last: an objective of the spec can be
// not finite too (fitness/objective.c).
#define NON_FINITE "non_finite"
Error model_configure(const Model *model, const double *settings, const Points *points, Arena *arena, Configured *out);
bool configured_iterates(const Configured *configured); // its time is a number of iterations: it is a map
int configured_failure(const Configured *configured, const char *name); // code of the failure; -1: no such failure
int configured_fails_as(Configured *configured, const char *name, Arena *arena); // the same; it becomes the last one
// Error (user), as that of a run: the program of a model that runs one (Model.runs_program) is not in `folder` or PATH,
// or can't be run.
Error program_check(const Configured *configured, const char *folder);
// True if no parameter and no metric may have the name, in upper or lower case: it is a column of tables or a word of
// expressions.
bool name_is_reserved(const char *name);
const char *name_reserved_why(const char *name); // of a reserved name: "tables have a column of this name"
// All models, index from 0 to model_count() - 1. model_find: NULL if no model has the name.
int model_count(void);
const Model *model_at(int index);
const Model *model_find(const char *name);

// ---- a batch --------------------------------------------------------------------------------------------------------

// Trajectory samples of the lanes [0, lanes) of a batch, written by the kernel: one before each tick of [first, end)
// that is a multiple of `every` (end 0: all ticks), and one when the lane ends between these. count[lane] samples stand
// at sample[(lane*capacity + k)*n_columns + c].
typedef struct Trace {
    int64_t lanes, capacity, every, first, end;
    double *sample;
    int64_t *count;
} Trace;

// The capacity for `ticks` ticks, sampled every `every` ticks.
int64_t trace_capacity(int64_t ticks, int64_t every);

// Debug rows of the lanes [0, lanes) of a batch, written by the kernel: one row per iteration of the model's solver in
// the ticks [first, end). A ring: row k stands at row[(lane*capacity + k % capacity)*n_debug + c]. count[lane] rows
// were written; the last `capacity` of them remain.
typedef struct DebugRows {
    int64_t lanes, capacity, first, end;
    double *row;
    int64_t *count;
} DebugRows;

// A code over the samples of a lane (lane_code.h). The host makes it; a batch has a copy whose pointers are valid where
// the kernel runs.
typedef struct LaneCode {
    int32_t cells;      // numbers of a lane, the last of which are the registers of the code
    int64_t n_assets;   // its tables:
    int32_t columns;    // [configured->n_columns] register of a column; -1: it is not needed
    int32_t parameters; // [n_parameters] those that it needs; their registers follow those of columns
    int32_t n_needed, n_parameters;
    CodeView code;
    const double *assets; // [n_assets]
    const char *const
        *needed; // of the host: [n_needed + n_parameters] names of columns, the first is the time, then of
                 // parameters
    // Of a batch; NULL: there is no code. On a GPU number k of a lane's cells stands at cell[lane + k*cell_apart]; on a
    // CPU those of a group of lanes together, lane_apart for each of its lanes
    double *cell;
    int64_t lane_apart, cell_apart;
} LaneCode;

// Metrics of the user's own: reductions of expressions over the samples of a lane, one before each tick and one where
// the lane ends (meter.h, meter.c). Where there are only conditions to retire, samples that none of them looks at are
// left out.
struct Meter {
    LaneCode of;
    int32_t n_metrics, first; // they are metrics first .. first + n_metrics - 1
    int32_t metrics;          // in the assets: [n_metrics][METER_METRIC]
    int32_t n_retire, retire; // in the assets: [n_retire][METER_RETIRE]
    int32_t retired;          // code of the failure RETIRED; 0: no lane retires
    int64_t every;            // ticks from one sample to the next
    const Field *fields;      // of the host: [n_metrics]
    const int64_t *results;   // of the host: [n_results] registers that are read behind the code; -1: none
    int n_results;
    const MeterSlopes *slopes; // of the host: for the model's adjoint; NULL: it has none
};

// A control law of the user's own: a code over a sample of the lane, once a control period (law.h, law.c). Behind the
// registers of columns and parameters its code has those of numbers that are held, of normal numbers, whether the
// period is the first, of what policies give, and of actions.
struct Law {
    LaneCode of;               // with policies its code is that of what they see
    CodeView then;             // the rest, behind policies
    int32_t n_held, n_checked; // of these the first must be numbers
    int32_t n_noises, n_outputs;
    int32_t start, next; // in the assets: [n_held] registers of held numbers
    int32_t outputs;     // [n_outputs] registers; -1: the law does not give it
    int32_t n_shown;     // of the held numbers: they have columns, the last of a sample
    int32_t seed;        // the lane's input by which normal numbers are drawn; -1: none are
    int64_t ticks;       // of a period
    // Policies, in the assets: [n_policies][LAW_POLICY]; numbers of the widest layer; the lane's input of the first
    // weight that is a parameter; what they give in all
    int32_t policies, n_policies, widest, weights, n_given;
    // Inputs whose numbers come from outside, each held for action_periods. In the assets: [n_actions][2] bounds; a
    // run's table [n_action_rows][n_actions], whose last row holds on; no rows: there is none
    int32_t actions, n_actions, action_rows, n_action_rows;
    int64_t action_periods;
    // Of the host:
    const Action *inputs;        // [n_actions]
    const Parameter *parameters; // [n_parameters]
    int n_parameters, n_weights; // n_weights: the first of them are weights of policies
    const Field *shown;          // [n_shown]
    const int64_t *results;      // [n_results] registers that are read behind the code; -1: none
    const int64_t *seen;         // [n_seen] the same of policies
    int n_results, n_seen;
    const LawSlopes *slopes;
};

// Rows of the table of policies: where the policy stands in the assets, and the registers of what it sees.
enum { LAW_POLICY_AT, LAW_POLICY_SEEN, LAW_POLICY };

// Derivatives of a law, for adjoints and tangents. Both codes have the inputs of the law; behind them stand, of
// `back`, the bars of the numbers held next and of outputs, of `along` the rates of the columns, parameters and held
// numbers that it takes. Tables are in the law's assets.
struct LawSlopes {
    const char *bends; // why there are none; NULL: there are
    CodeView back, along;
    int32_t bars;   // [n_needed + n_parameters + n_held] registers of the bars of these inputs; -1: 0
    int32_t starts; // [n_parameters] the same where the bars are those of held numbers at the start
    int32_t rates;  // [n_held + n_outputs + n_held] of the rates of next, outputs and starts; -1: 0
    // With policies both codes run twice, around the derivatives of the networks. Behind the numbers above stand, of
    // `back`, the bars of what policies see, of `along` the rates of what they give. Registers; -1: 0
    int32_t given, seen;  // of `back`: [n_given] bars of what they give; [n_seen] what they see
    int32_t shown, moved; // of `along`: [n_seen] what they see; [n_seen] its rates
    int32_t asked;        // numbers of the policy that has most, for the networks' derivatives
};

// The derivatives of metrics' values (METER_OF) with respect to columns and parameters, for adjoints: a code with
// registers of its own, of which the first are those of columns and parameters too. Tables are in the meter's assets.
struct MeterSlopes {
    CodeView code;
    int32_t rows, n_rows;     // [n_rows][METER_SLOPE], where a derivative is not 0
    const char *const *bends; // [n_metrics] why a metric has no derivative; NULL: it has one
};
enum { METER_SLOPE_METRIC, METER_SLOPE_BY, METER_SLOPE_OF, METER_SLOPE }; // BY, OF: registers

// The numbers of a lane: some with names, those of each metric, then the registers of the code.
enum { METER_SAMPLES, METER_TIME, METER_RETIRED, METER_NAMED }; // RETIRED: 1 where the lane is to end
enum { METER_KEPT, METER_COUNT, METER_LEAST, METER_VALUE, METER_HELD, METER_CELLS }; // of a metric
// Rows of the table of metrics. OF, IF: registers of its value and of its condition; -1: it has none.
enum { METER_REDUCTION, METER_TAKE, METER_OF, METER_IF, METER_METRIC };
// Rows of the table of conditions under which a lane retires: the ticks between two looks at the condition; of one that
// is looked at once, 0 and the bits of the time at whose first sample that is; the condition's register.
enum { METER_RETIRE_EVERY, METER_RETIRE_AT, METER_RETIRE_IF, METER_RETIRE };

// The lanes in flight together, as a structure of arrays: field i of a lane stands at [i*stride + lane]. The batch is a
// scheduling choice and never changes a result: a lane depends on nothing but its own parameters.
typedef struct Batch {
    int64_t lanes, stride; // lanes in use; lanes allocated
    double *parameter;     // [n_parameters][stride]
    double *work;          // [n_work][stride], private to the model; NULL in the host's copy of a device batch
    double *metric;        // [n_metrics][stride], written when a lane ends; NaN is canonical
    int32_t *status;       // [stride]: LANE_RUNNING, or 1 + failure code (1: ended without failure)
    int64_t *trial;        // [stride] trial and replicate of the lane, for the messages of a program and for cases
    int32_t *replicate;    // (Configured.cases); NULL: the backend needs neither
    Trace trace;           // trace.lanes = 0: nothing is traced
    DebugRows debug;       // debug.lanes = 0: no debug rows
    Meter meter;           // meter.of.cell NULL: there is none. Without any of the three, only the plain kernel runs
    Law law;               // law.of.cell NULL: there is none
} Batch;

enum { LANE_RUNNING = 0, LANE_DONE = 1 };

// ---- a step as a graph ----------------------------------------------------------------------------------------------

typedef enum StepPicture { STEP_TRACE, STEP_DOT } StepPicture;

// Runs one step of the lane with parameter[n_parameters] on `threads` threads of this CPU (0: all), after some steps to
// warm up, and writes which thread ran which node and when, for chrome://tracing, or the nodes and edges for Graphviz.
// Error (user): the step of this model, or of this world, is not a graph.
Error step_picture(const Configured *configured, const double *parameter, int threads, StepPicture picture,
                   TextSink out);

// ---- backends -------------------------------------------------------------------------------------------------------

// Number of processors that this process may use, by its affinity mask.
int processor_count(void);

// How to run the program of a model with Model.runs_program.
typedef struct ProgramOptions {
    bool allowed;       // the user allows to run it
    const char *folder; // working folder of its processes
    TextSink log;       // is given the lines of its processes' standard error; write NULL: the lines are dropped
} ProgramOptions;

typedef struct BackendOptions {
    const char *name;         // "auto", "cpu", "cuda", "program"
    int threads;              // CPU threads; 0: all cores
    uint64_t devices;         // devices of the host that share every batch, one bit each; 0: any single device
    const char *kernels;      // "made" (a kernel is compiled for the campaign), "general" or "auto"; NULL: "general"
    const char *isa;          // CPU instruction set "auto", "v2", "v3", "v4" (x86-64 levels), "neon" or "scalar"
    double patience;          // s after which a slice counts as stuck; 0: BACKEND_PATIENCE; may be infinite
    int (*interrupted)(void); // returns nonzero after Ctrl-C: patience is then one second; may be NULL
    ProgramOptions program;   // of the backend "program"
    int cases;                // Configured.n_cases of what it will run; 0: none
} BackendOptions;

// The instruction sets of the CPU that this processor has and this program was built for, best first: number i, from 0.
// NULL: there are no more.
const char *cpu_isa_name(int i);

#define BACKEND_PATIENCE 60.0 // s
enum { BACKEND_DEVICES_MAX = 64 };
#define BACKEND_ALL_DEVICES UINT64_MAX // all devices of the host

typedef struct Backend Backend;

// What a backend does with a kernel that was made for the campaign. MADE_ON_TRIAL: in its first batch, some lanes are
// also computed by the general kernel. MADE_REFUSED: a bit differed, or the kernel could not be loaded.
typedef enum MadeState { MADE_NONE, MADE_ON_TRIAL, MADE_USED, MADE_REFUSED } MadeState;

typedef struct MadeImage {
    const unsigned char *data; // a cubin; for a CPU a shared object
    size_t size;
} MadeImage;

typedef struct BackendInfo {
    const char *name;      // "cpu", "cuda" or "program"
    char device[128];      // "Intel Xeon ..., 2 threads, v4" or "NVIDIA H200"
    char version[64];      // driver and runtime, or the ISA
    char warning[256];     // slow FP64, software fma, ...; may be empty
    int slots;             // batches that can be in flight (CPU 1, CUDA 2)
    int64_t memory_free;   // bytes on the device
    int64_t lane_multiple; // lanes that take the time of a single lane: a batch should be a multiple of this number
    int64_t lanes_at_once; // on a CPU: in the vectors of all its threads; 0: unknown
    uint64_t devices;      // devices in use, one bit each; 0: the backend has only one
    int failed;            // of several devices: number of the last device that failed; -1: none
    char architecture
        [16]; // "sm_90", "x86-64-v3", "aarch64-neon": kernels can be made for it (sim/made); empty: none can be made
    int processors; // of a GPU
    MadeState made;
    char made_note[256];       // about the made kernel: "204 registers, 0 bytes of local memory", or why it was refused
    char program_version[132]; // version that the program reports; set by backend_prepare; empty: it reports none
} BackendInfo;

// The settings that a replicate runs under (Configured.cases).
static inline const Configured *configured_case(const Configured *configured, int64_t replicate)
{
    return configured->n_cases > 0 ? &configured->cases[replicate % configured->n_cases] : configured;
}

// The number of kernel steps after which every lane has ended.
int64_t configured_steps(const Configured *configured);

// `auto` takes CUDA if this build and this machine have it, else the CPU. Error (machine): names what is missing. Error
// (device): the device exists and fails; if some of several devices fail, the others are used, with a warning. Error
// (user): no device has that number.
Error backend_open(const BackendOptions *options, Backend **out);
// The name of this build's backend of GPUs; NULL: it has none. The machine may have no GPU.
const char *backend_gpu_name(void);
// Whether a GPU that needs `there` seconds is faster than a CPU that needs `here`; tests decide otherwise.
bool backend_gpu_is_faster(double there, double here);
const BackendInfo *backend_info(const Backend *backend); // owned by the backend; changes as it works
// Takes all memory of a run at once: for `slots` batches of at most `lanes` lanes, of which at most `traced` x
// `capacity` samples are traced. Error: memory; the text says how much.
Error backend_prepare(Backend *backend, const Configured *configured, int64_t lanes, int64_t traced, int64_t capacity);
// Takes memory for debug rows of at most `lanes` lanes, `capacity` rows each. Call this after backend_prepare. Error
// (user): the model has no debug rows.
Error backend_prepare_debug(Backend *backend, int64_t lanes, int64_t capacity);
// Bytes of device memory that `prepare` takes per lane.
int64_t backend_lane_bytes(const Configured *configured);
// Bytes of host memory that the answers of a program's workers take at most; 0 if the model runs no program. traced:
// the answers may hold trajectories.
double backend_answer_bytes(const Backend *backend, const Configured *configured, bool traced);
// The batch of a slot in host memory. Set `lanes`, `parameter`, `trace.{lanes,every}` and `debug.{lanes,first,end}`,
// then call backend_begin. After the last backend_wait the batch holds `metric`, `status`, the trace and the debug
// rows. The backend owns the batch, which is valid until the next prepare or close. Between begin and the last wait
// lanes may be stored in another order: set `parameter` again after a batch that was left before its end.
Batch *backend_batch(Backend *backend, int slot);
// The lanes of the slot's next batches end as those of `configured`, which differs from that of backend_prepare in its
// duration alone (Model.shorten). backend_prepare sets this for all slots.
void backend_live(Backend *backend, int slot, const Configured *configured);
// Starts the batch of a slot: every lane stands before its first tick.
Error backend_begin(Backend *backend, int slot);
// Starts one slice: `ticks` more ticks of every running lane. Returns at once.
Error backend_advance(Backend *backend, int slot, int64_t ticks);
// *out <- the adjoint of up to `lanes` lanes on the backend's (first) device; NULL if the device has no adjoint. Close
// it before the backend; `configured` must live until then. most: bytes that the states of a lane may take, 0: the
// device's free memory; if a lane needs more, ranges of its run are computed twice.
Error backend_adjoint(Backend *backend, const Configured *configured, int64_t lanes, size_t most, AdjointDevice **out);
// From the next batch on, this kernel (sim/made) advances the lanes that are not observed. It was made for the inputs
// `fixed`, which are copied; a batch with other values in these inputs is left to the general kernel. Call this after
// backend_prepare. BackendInfo.made says whether the kernel is used.
Error backend_use_made(Backend *backend, const MadeImage *image, const double *fixed);
// True if a made kernel advanced the batch in this slot.
bool backend_used_made(const Backend *backend, int slot);
// Waits for the slice. *done: every lane has ended and the results are in the host's batch. *kernel_seconds: device
// time of the batch so far. Error: stuck, if the slice takes longer than the options' patience.
Error backend_wait(Backend *backend, int slot, bool *done, double *kernel_seconds);
// Does not wait. *ended: the slice in flight has ended, also with an error, and backend_wait would return at once.
Error backend_look(Backend *backend, int slot, bool *ended);
// Lanes of the slot's batch that ran on after the slice that was waited for last.
int64_t backend_running(const Backend *backend, int slot);
// Host time so far, s, to copy the slot's batch to the device and its results back.
double backend_copy_seconds(const Backend *backend, int slot);
// Cuts slices in flight short, or waits for them with the usual patience. False: a slice is stuck; its memory stays
// allocated, and the process must end by _exit.
bool backend_close(Backend *backend);

// ---- environments: lanes that are stepped from outside --------------------------------------------------------------
// Lanes of one configured model with external control. Each lane has its own clock: it begins, ends and begins again
// independently of the others, with the bits of a run with the same parameters and actions. runner/hopscotch.h
// documents the arrays, reset and step.

struct EnvironmentSetup {
    const Configured *configured; // with external control; not used after opening
    const double *fixed;          // [n_parameters] values of inputs that are not drawn
    const EnvironmentDraw *draws; // [n_draws]
    int n_draws;
    EnvironmentCode observe, step; // of the observations, and of all expressions: environment_code
    const double *codes;           // [n_codes] their assets
    int64_t n_codes;
    int n_observations;
    int64_t lanes;
    EnvironmentReset autoreset;
    bool single; // floats of single precision
    uint64_t seed;
    const char *device; // "auto", "cpu" or "cuda"
    int number;         // of the GPU
    const char *isa;    // of the CPU; NULL: the best
    int threads;        // of the CPU; 0: all processors
    void *stream;       // of a GPU; NULL: the environment creates a stream
};

typedef struct Environment Environment;

// Error (user): the model has no environments with these settings.
Error environment_check(const EnvironmentSetup *setup);
// Takes all memory that the environment will need. Errors: those of environment_check; user (no such device or
// instruction set); machine.
Error environment_open(const EnvironmentSetup *setup, Environment **out);
void environment_close(Environment *environment); // NULL: nothing to do
// The arrays of the environment, in the memory of its device.
const EnvironmentView *environment_view(const Environment *environment);
// Resets the lanes whose byte in lanes[setup.lanes] is not 0 (NULL: all lanes), with new seeds[setup.lanes] (NULL: the
// old ones). Both arrays may be in host or device memory. Steps all lanes. On a GPU both return before the work is
// done: environment_wait waits for it.
Error environment_reset(Environment *environment, const uint8_t *lanes, const uint64_t *seeds);
Error environment_step(Environment *environment);
Error environment_wait(Environment *environment);
typedef struct EnvironmentDevice {
    const char *name, *device; // "cpu" or "cuda"; "Intel Xeon ..., 2 threads, v4"
    int number;                // of the GPU
    void *stream;              // of a GPU
} EnvironmentDevice;
EnvironmentDevice environment_device(const Environment *environment); // where it is computed
// Waits for earlier work, and puts later work on this stream of the GPU; NULL: the environment's own stream. Error
// (user): the environment is on the CPU.
Error environment_set_stream(Environment *environment, void *stream);

// ---- kernels made for a campaign (sim/made) -------------------------------------------------------------------------
// The same headers of the models, compiled once more while a campaign runs, with everything that no trial changes as a
// constant. The bits are those of the general kernels, because constants fold by the rules of IEEE 754 and nothing is
// contracted in either.

// What a kernel is made for.
typedef struct MadeWish {
    const Configured *configured;
    const double *fixed; // [n_parameters] the value that a lane input has in every trial; NaN: trials differ in it
    int thread_blocks;   // of MADE_THREADS, that a processor of the GPU is to hold at once
    bool on_cpu;         // for a CPU, not a GPU
} MadeWish;

enum { MADE_THREADS = 64 }; // of a thread block; a thread advances a lane
// `thread_blocks` for batches of that size on a GPU with that number of processors. More of them have fewer registers
// each.
int made_thread_blocks(const Configured *configured, int64_t lanes, int processors);

// The text of the plain kernel of that configuration: one function `made`, for a GPU in C++ with the arguments of a
// general kernel (sim/backend_cuda.cu), for a CPU in C (sim/made/object.h). NUL-terminated, in the arena. NULL: nothing
// is made of this kernel; *why says why.
const char *made_source(const MadeWish *wish, Arena *arena, const char **why);

// architecture: "sm_90" of a GPU, "x86-64-v3" or "aarch64-neon" of a CPU.
bool made_is_for_cpu(const char *architecture);

// NVRTC is loaded by its first use. It may hang, crash, or take all memory, as a C compiler may: call these functions
// in a process of their own.

// The options that the compiler is given, as one line; and its version or path, size and date (loading NVRTC takes
// about 10 ms). A kernel's identity contains both. NULL: there is no C compiler.
const char *made_options(const char *architecture, Arena *arena);
const char *made_compiler(const char *architecture, Arena *arena);
// The image is in the arena. Error (machine): there is no compiler, or it rejects the source.
Error made_compile(const char *source, const char *architecture, Arena *arena, MadeImage *image);

// ---- random numbers -------------------------------------------------------------------------------------------------

// Philox4x32-10 (Salmon et al., SC 2011). The key says what is drawn, not when: the same campaign draws the same
// numbers in any order, batch and process. 0 is a valid seed.
typedef enum RandomPurpose {
    RANDOM_SAMPLE = 1,
    RANDOM_PERTURB = 2,
    RANDOM_INSTANCE = 3,
    RANDOM_DISTURB = 4
} RandomPurpose;

typedef struct RandomKey {
    uint64_t seed;
    uint32_t search;  // < 2^16
    uint64_t ordinal; // trial within the search, < 2^48; 0 for common random numbers
    uint32_t replicate;
    RandomPurpose purpose; // < 2^16
} RandomKey;

// The index-th number (index < 2^16) of a key. random_uniform: uniform in [0, 1) with 53 bits. random_normal: standard
// normal (Box-Muller with our own log, sqrt and cos, so the same bits everywhere).
double random_uniform(const RandomKey *key, uint32_t index);
double random_normal(const RandomKey *key, uint32_t index);
void random_normals(const RandomKey *key, uint32_t first, int count, double *z); // z[i] = random_normal(key, first + i)

// ---- the normal distribution (sim/normal.c) -------------------------------------------------------------------------

// normal_tail: the probability that a standard normal number is greater than z. normal_tail_inverse: the z of a
// probability p. Relative error 1e-13.
double normal_tail(double z);
double normal_tail_inverse(double p);
// Mills' ratio of z >= 0: the tail through the density. *rest <- 1 - z times the ratio. Relative error 1e-12.
double normal_mills(double z, double *rest);

// ---- small linear algebra (sim/symmetric.c) -------------------------------------------------------------------------

// Eigenvalues, ascending, and orthonormal eigenvectors of a symmetric matrix[n][n]: row k of vectors[n][n] belongs to
// values[k]. work[n*n + 3*n]. The same bits on every processor. False: an element is not finite, or all are 0. Errors
// are about 1e-16 times the greatest eigenvalue. Golub & Van Loan, Matrix Computations, 4th ed., 8.3.
bool symmetric_eigen(int n, const double *matrix, double *values, double *vectors, double *work);

// ---- point clouds ---------------------------------------------------------------------------------------------------

// Points as a structure of arrays: coordinate a of point i is at[a][i] (m).
typedef struct Cloud {
    const double *at[3]; // [count]
    int64_t count;
} Cloud;

// ---- elementary functions, the same bits on every processor (sim/portable_math.h) -----------------------------------

// Error at most 2 ulp; floor and ceil are exact. Angles in radians. mod(x, y) = x - y floor(x/y), which is 0 or has the
// sign of y, computed exactly and rounded once; NaN for y = 0.
double portable_sin(double x);
double portable_cos(double x);
double portable_tan(double x);
double portable_asin(double x);
double portable_acos(double x);
double portable_atan(double x);
double portable_atan2(double y, double x);
double portable_exp(double x);
double portable_log(double x);
double portable_sinh(double x);
double portable_cosh(double x);
double portable_tanh(double x);
double portable_pow(double x, double y);
double portable_floor(double x);
double portable_ceil(double x);
double portable_mod(double x, double y);
double portable_hypot(double x, double y);
// The value of an operation of expressions, with the bits of kernels; it ignores operands that the operation does not
// have. PROGRAM_NUMBER: NaN. program_rows: of n rows; out may be a.
double program_value(ProgramOperation operation, double a, double b, double c);
void program_rows(ProgramOperation operation, const double *a, const double *b, const double *c, int n, double *out);

// ---- equations ------------------------------------------------------------------------------------------------------

#include "equations/system.h"
#include "tape.h"

// ---- expressions of environments ------------------------------------------------------------------------------------

// The inputs of a tape: column c of the model has register c, then follow whether the model failed, and parameters.
typedef struct EnvironmentInputs {
    int n_columns, n_parameters;
    const int64_t *parameters; // [n_parameters] which of the lane's inputs they are
} EnvironmentInputs;

// *out <- the code of values[count], appended to the assets: the observations; of a step also the reward and the
// condition. Error (user): it would be too long.
Error environment_code(Tape *tape, const TapeValue *values, int count, const EnvironmentInputs *inputs,
                       TapeAssets *assets, EnvironmentCode *out);

// ---- control laws of the user's own ---------------------------------------------------------------------------------

#include "law_program.h"

// ---- metrics of the user's own --------------------------------------------------------------------------------------

// The meter of metrics whose expressions (system->modes[0]: watched, conditions) are over the columns of a model, which
// are the system's time and states, and over its parameters. Changes the tape. Error (user): they are too long.
// retire[n_retire]: a lane ends as RETIRED with the tick before which the condition, one of the system's, holds at a
// sample that it is looked at.
#define RETIRED "retired"
typedef struct MeterRetire {
    double at;     // one look, at the first sample from this time on (s)
    int64_t every; // ticks from one look to the next; 0: there is one
    int condition;
} MeterRetire;
Error meter_make(const struct System *system, const MeterRetire *retire, int n_retire, const Configured *configured,
                 Arena *arena, Meter *out);
// Adds a meter's metrics to those of the model. All columns and parameters that it needs must be there: not those of
// a Choice without them.
void meter_attach(const Meter *meter, Configured *configured, Arena *arena);
// A lane on the host whose columns have derivatives along n directions of its parameters.
// memory[meter_tangent_doubles]: at first the columns of the next sample, [n_needed] values and [n][n_needed]
// derivatives, and [n][n_parameters] derivatives of the parameters that it takes; zero before the first sample.
// Parameter p has its value at parameter[(1 + n)*p]. meter_tangent_take returns the metrics so far: [n_metrics][value,
// n derivatives].
int64_t meter_tangent_doubles(const Meter *meter, int n);
const double *meter_tangent_take(const Meter *meter, const double *parameter, int n, bool last, double *memory);
int64_t meter_tangent_samples(const Meter *meter, int n, double *memory); // taken so far

#ifdef __cplusplus
}
#endif
#endif
