// sim: numerics only. Models, the batch that they advance, the backends that run it, random numbers, and the two
// words that every layer above shares: Error and Arena. Nothing here opens a file, prints, or knows what a campaign is.
#ifndef HOPSCOTCH_SIM_H
#define HOPSCOTCH_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "thread.h"

#ifdef __cplusplus
extern "C" {
#endif

// Raised whenever any stored number of any model changes by a bit. Stored with every batch; replay and resume refuse a
// mismatch.
#define NUMERICS_VERSION 3

// ---- errors ---------------------------------------------------------------------------------------------------------

// What kind of thing went wrong decides the exit code (runner/command/commands.c): 1 the user's, 2 usage, 3 the
// machine's, 130 interrupted. A failed trial is data, not an error.
typedef enum ErrorKind {
    OK = 0,
    ERROR_USER,
    ERROR_USAGE,
    ERROR_MACHINE,
    ERROR_INTERRUPTED,
    // the machine's too, and a run may be able to go on after them (runner/campaign/batch/device.c)
    ERROR_MEMORY, // there was not enough of it: a smaller batch takes less
    ERROR_DEVICE, // a device failed: what it had in flight can be computed anew, there or elsewhere
    ERROR_STUCK   // a slice does not end: it holds memory that can't be given back, so the process must leave by _exit
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

Error error_none(void);
Error error_make(ErrorKind kind, const char *format, ...) PRINTF_LIKE(2, 3);

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const Error try_error = (call);                                                                                \
        if (try_error.kind != OK) return try_error;                                                                    \
    } while (0)

// ---- memory ---------------------------------------------------------------------------------------------------------

// A region that is given back as a whole. Its address space is reserved at creation, the only place where memory can
// run out; pages are touched as they are used. Asking for more than was reserved is our own bug and aborts.
typedef struct Arena {
    struct ArenaPiece *base; // where the last bytes lie, behind those of earlier pieces; NULL: there is no arena
    size_t used, size;       // bytes
    const char *purpose;
    bool grows;
} Arena;

// Reserves `size` bytes for `purpose` (a literal, for messages). Error: the machine has no such address space.
Error arena_create(Arena *arena, size_t size, const char *purpose);
// For what can't be told beforehand: reserves pieces of address space as they are needed, `most` bytes in all. Where
// there is no more of it, arena_take says so and ends the process with the exit code of an error of the machine.
Error arena_create_growing(Arena *arena, size_t most, const char *purpose);
// `count` items of `item_size` bytes, zeroed, aligned to 64 bytes. Never NULL.
void *arena_take(Arena *arena, size_t count, size_t item_size);
#define ARENA_NEW(arena, Type, count) ((Type *)arena_take((arena), (size_t)(count), sizeof(Type)))
// A NUL-terminated copy in the arena; a formatted text in the arena.
char *arena_copy(Arena *arena, const char *text);
char *arena_format(Arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);
// Back to an earlier `used`: frees all that was taken since.
void arena_rewind(Arena *arena, size_t used);
void arena_destroy(Arena *arena);

// ---- what a model says of itself ------------------------------------------------------------------------------------

// Where the spec gives a lane input: `parameters:` (physics and gains) or `initial:` (the state at t = 0). Either can
// be swept, derived or perturbed by its name, which is unique in the model. SECTION_SEED: no key of the spec; the
// runner fills it with an integer < 2^53, drawn for the replicate, that seeds what the model draws itself. Such rows
// stand last.
typedef enum ParameterSection { SECTION_PARAMETERS, SECTION_INITIAL, SECTION_SEED } ParameterSection;

// One lane input. This row is the only place that describes it: spec keys, ranges, `models`, SQLite columns, HDF5
// attributes and the JSON schema come from it.
typedef struct Parameter {
    const char *name, *unit; // unit: SI, "1" if dimensionless
    double value, low, high; // default; inclusive range (may be infinite)
    ParameterSection section;
    const char *doc;
} Parameter;

// One output column: a metric, or a column of a trajectory.
typedef struct Field {
    const char *name, *unit, *doc;
    const char *group; // trajectory columns: the dataset that they stand in ("state", "control", "fsm"); metrics: NULL
} Field;

// One key of the section `simulation:`; a name with a dot stands in a nested mapping (newton.tolerance).
typedef enum OptionType {
    OPTION_NUMBER,
    OPTION_INTEGER,
    OPTION_BOOLEAN,
    OPTION_CHOICE,
    OPTION_POINTS,
    OPTION_NUMBERS, // a list of them
    OPTION_FILE,    // a file that `build` wants; its value is 1 if one is given, else 0
    OPTION_MANNER   // a choice of how the work is done, on which no result depends
} OptionType;

typedef struct Option {
    const char *name;
    OptionType type;
    const char *unit;
    double value, low, high; // default and inclusive range; a choice's value is its place in `choices`, from 0.
                             // Points, numbers: there are none by default, and all of them are in the range
    const char *choices;     // "implicit_midpoint|semi_implicit_euler"; of a number the word for its default, "auto",
                             // which may be out of range; of a file what it holds, "cloud" or "numbers"; else NULL
    const char *doc;
} Option;

// A value that is an array. The type of its option or List decides which of the four it is.
enum { POINTS_MAX = 4096 };
typedef struct Points {
    int64_t count;
    union {
        const double *xy;      // [count][2]: OPTION_POINTS, x increasing
        const double *numbers; // [count]: OPTION_NUMBERS, and a file of numbers
        const double *items;   // [count][list_width()]: a List
        const double *cloud;   // [3][count]: a file of points (m), x of all of them, then y, then z
    };
    const char *const *names; // of a List whose items have names: [count]; else NULL
} Points;

// A list in the section `simulation:` whose items are mappings: the bodies of a world, the clouds of a map. Its rows
// describe the keys of an item, as options do those of the section. An item reaches the model as doubles, those of all
// fields one after the other: numbers; 0 or 1; a choice's or a referred item's place.
typedef enum ItemType {
    ITEM_NUMBERS,  // one number, or a list of them
    ITEM_BOOLEAN,  //
    ITEM_CHOICE,   // one of the words
    ITEM_NAME,     // the item's own, unique in its list, that expressions can hold: no number of it
    ITEM_REFERENCE // the name of an item of the list `words`, which stands before this one
} ItemType;

typedef struct ItemField {
    const char *name;
    ItemType type;
    int least, count; // numbers: so few and so many may be given, those that are not are NaN; else 1
    const char *unit;
    double value, low, high; // numbers: default of each; range. NaN: must be given, unless `otherwise` is a word
    const char *words;       // choice: "a|b|c"; reference: the other list; NULL otherwise
    const char *otherwise;   // the word for not given: numbers are NaN then, a reference is -1; NULL: there is none
    const char *doc;
} ItemField;

typedef struct List {
    const char *name; // as an Option's: "world.bodies"
    const ItemField *fields;
    int n_fields;
    int64_t most; // items
    const char *doc, *example;
} List;

int list_width(const List *list); // doubles of an item
int list_field_width(const ItemField *field);
double list_default(const ItemField *field, int number); // of that double of it, from 0

// Numbers of a configured model that all lanes share; passed by value to every kernel. Each model lays its own struct
// over it.
#define CONSTANTS_SIZE 256
typedef struct Constants {
    double values[CONSTANTS_SIZE / sizeof(double)];
} Constants;

typedef struct Model Model;
typedef struct Configured Configured;

// Which things of a model have rows in its tables, where it has more of them than anybody wants columns: the bodies of
// a world. Those that the model takes by itself have them in any case.
typedef struct Choice {
    const char *const *words; // [n_words] that the spec uses where parameters and metrics are named: those are there
    int64_t n_words;
    const bool *recorded; // [configured->n_things] those with columns in trajectories; NULL: as the model likes
} Choice;

// How a model is drawn, for people: points in the plane of the paper, and the shapes that join them. Nothing here is
// ever stored, so it needs no bits.
typedef enum ShapeKind { SHAPE_ROD, SHAPE_SPRING, SHAPE_DISC } ShapeKind;

typedef struct Shape {
    const char *name; // also its class in SVG and HTML
    ShapeKind kind;
    int from, to; // points; a disc stands at `from`
    double width; // m: thickness of a rod, breadth of a spring, diameter of a disc
} Shape;

typedef struct Drawing {
    int n_points, n_shapes, focus; // focus: the point that a camera follows
    const Shape *shapes;           // [n_shapes], the first at the back
    int phase;                     // the trajectory column that numbers the phases of the motion; -1: there is none
    const char *const *phases;     // [n_phases] their names
    int n_phases;
    double cycle_starts; // a new cycle begins where the phase becomes this one
    // point[n_points][2] (m; horizontal, upwards) of one sample[n_columns] of a lane with these parameter[n_parameters]
    void (*points)(const Configured *configured, const double *parameter, const double *sample, double *point);
    // height of the ground (m) there; NULL: there is none
    double (*ground)(const Configured *configured, const double *parameter, double x);
} Drawing;

// What a model says, before anything runs, of the trials that a spec asks for.
typedef struct Remark {
    const char *name, *text; // "stability", "c dt = 0.1 of at most 2"
    bool warning;            // what comes out will not be what one would expect
} Remark;
enum { REMARKS_MAX = 32 };

// How the threads of a CPU share lanes whose step is a compute graph (sim/graph); to the same bits. levels: all threads
// take one group of lanes after the other; automatic: so if there are fewer groups than threads, and it saves time.
typedef enum Executor { EXECUTOR_SEQUENTIAL, EXECUTOR_LEVELS, EXECUTOR_AUTOMATIC } Executor;

// How the iterations of a model without time are shown to people, from the rows of its debug numbers. Nothing here is
// ever stored, so it needs no bits.
typedef struct Curve {
    const char *title, *unit;
    int count;                                        // lines, at most CURVE_LINES
    const char *const *names;                         // [count]; NULL: they need none
    void (*values)(const double *row, double *value); // value[count] of a row[n_debug]
} Curve;

enum { CURVE_LINES = 6 };
typedef struct Iterations {
    const Curve *curves; // [n_curves]
    int n_curves;
    // Points in the horizontal plane, xy[..][2] (m): of what stands still (row NULL), or of what moves, before or after
    // the iteration of a row. How many there are; they are in the arena.
    int64_t (*above)(const Configured *configured, const double *row, bool after, Arena *arena, const double **xy);
    const char *fixed, *moving; // what they are
} Iterations;

// Columns of a trajectory that are drawn in one panel.
typedef struct ColumnPanel {
    const char *of, *title, *unit; // of: the thing that they belong to
    int column, count;             // the first of them
    const char *const *lines;      // [count] names
} ColumnPanel;

// A model under one `simulation:` section: its tables and its immutable assets. Everything points into the arena that
// `configure` was given, or to static tables.
struct Configured {
    const Model *model;
    const Parameter *parameters; // [n_parameters], the order of Batch.parameter
    int n_parameters;
    const Field *metrics; // [n_metrics], the order of Batch.metric; `survived` (s) ranks failed trials, if there is one
    int n_metrics;
    const Field *columns; // [n_columns] of one trajectory sample; column 0 is `time` (s), group "time"
    int n_columns;
    const Field *debug; // [n_debug] of one debug row; column 0 is `time` (s), group "time"; n_debug 0: there are none
    int n_debug;
    int debug_rows;              // at most so many rows a tick
    const char *const *failures; // [n_failures] names by failure code; failures[0] is "none"
    int n_failures;
    const char *objective; // what `objective.minimize` defaults to
    int kernel;            // which kernel advances it (sim/models.h)
    Executor executor;     // on the CPU, of a kernel whose step is a compute graph
    int n_work;            // doubles of lane state between slices
    int team_threads;      // of a GPU that it pays to give a lane, whole warps; 0: as many as its kernel can have
    int64_t team_lanes;    // lanes of a batch from which on each has a thread of its own after all; 0: never
    int team_blocks;       // blocks of a GPU's threads that it pays to give a lane, if its kernel takes whole blocks
    int64_t n_team;        // doubles that these share; the 0th is their barrier's
    int64_t ticks;         // of a lane's life; after so many every lane has ended
    double tick_duration;  // s of simulated time a tick; 0 if the model is no time-stepper
    int64_t steps_max;     // adaptive steps: a tick is only the unit of sampling, and a lane ends after at most so many
                           // steps of its own; 0: a step is a tick
    Constants constants;
    const double *assets; // [n_assets] doubles shared by all lanes, NULL if none
    int64_t n_assets;
    const char *const *things; // [n_things] names of what a Choice is made of; n_things 0: the tables are always whole
    int n_things;
    const char *things_are;    // "moving bodies"
    const ColumnPanel *panels; // [n_panels] of the columns; n_panels 0: each column has its own
    int n_panels;
    const Drawing *drawing; // of a sample with the columns of all things; NULL: there is nothing to draw
    const void *host;       // what the model's functions on the host know besides; NULL if nothing
    int wrong_list;         // after an error of configure: the list that it is about, from 1; 0: none of them
    int64_t wrong_item;     // and the item
    int wrong_option;       // after an error of build: the option that it is about, from 1; 0: none of them
    int64_t dropped;        // after build: points of its files that were not finite, and were left out
};

// What stands in a column of a table of debug rows.
typedef struct DebugCell {
    const char *text; // NULL: the number
    double number;
} DebugCell;

// Debug rows that are read together: those of one step, whose first column (the time) is the same.
typedef struct DebugTable {
    const char *const *columns; // [n_columns]
    int n_columns;
    // of row[n_debug] of a lane with parameter[n_parameters]
    DebugCell (*cell)(const Configured *configured, const double *parameter, const double *row, int column);
    int shared; // the debug column that all rows of a step share, besides the time
} DebugTable;

struct Model {
    const char *name, *doc, *source;
    const Option *options; // rows of `simulation:`
    int n_options;
    const Parameter *extra; // [n_extra] rows that a lane only has under other settings than the defaults (doc: which)
    int n_extra;
    const List *lists; // [n_lists] more keys of `simulation:`
    int n_lists;
    const char *debug; // "debug/ndt": where its debug rows stand in files; NULL: debug/newton. The last part is also
                       // their key in `record.debug:`
    const Iterations *iterations;  // NULL: they are not shown
    const DebugTable *debug_table; // NULL: each debug row is read alone
    // settings[n_options]: a value for each option, in range already; points[n_options + n_lists]: those of the
    // options that are lists, then the items of the lists; NULL if none has any. Error: a combination that makes no
    // sense (user).
    Error (*configure)(const double *settings, const Points *points, Arena *arena, Configured *out);
    // The tables of what configure described, for a choice of its things, in place of those before; constants and
    // assets follow. Error (user): it is too much. NULL: the model has no things.
    Error (*choose)(Configured *configured, const Choice *choice, Arena *arena);
    // Remarks on point[count][n_parameters], the trials or some of them; gives how many remarks. NULL: it has none.
    int (*explain)(const Configured *configured, const double *point, int count, Arena *arena, Remark *remarks);
    // Constants and assets that take longer than a spec should take to be read, of what configure described; wanted
    // before anything is run. points: what the files hold, too. NULL: configure has done it all.
    Error (*build)(const double *settings, const Points *points, Arena *arena, Configured *configured);
};

// Parameters that a spec may name: all but the rows of SECTION_SEED.
int configured_named(const Configured *configured);
int model_count(void);
const Model *model_at(int index);
const Model *model_find(const char *name); // NULL if there is none

// ---- a batch --------------------------------------------------------------------------------------------------------

// Trajectory samples of the lanes [0, lanes) of a batch, written by the kernel: one before each tick of [first, end)
// that is a multiple of `every` (end 0: of all ticks), and one when the lane ends off that grid.
// sample[(lane*capacity + k)*n_columns + c]; count[lane] samples are there.
typedef struct Trace {
    int64_t lanes, capacity, every, first, end;
    double *sample;
    int64_t *count;
} Trace;

// capacity that `ticks` ticks sampled each `every` need
int64_t trace_capacity(int64_t ticks, int64_t every);

// Debug rows of the lanes [0, lanes) of a batch, written by the kernel: what happened inside the ticks [first, end), a
// row an iteration of the model's solver. A ring: the k-th row made stands at
// row[(lane*capacity + k % capacity)*n_debug + c]; count[lane] rows were made, and the last `capacity` are there.
typedef struct DebugRows {
    int64_t lanes, capacity, first, end;
    double *row;
    int64_t *count;
} DebugRows;

// The lanes in flight together, as structures of arrays: field i of a lane stands at [i*stride + lane]. A scheduling
// choice that never changes a result: a lane depends on nothing but its own parameters.
typedef struct Batch {
    int64_t lanes, stride; // lanes in use; lanes allocated
    double *parameter;     // [n_parameters][stride]
    double *work;          // [n_work][stride], the model's own; NULL in the host's copy of a device batch
    double *metric;        // [n_metrics][stride], written when a lane ends; NaN is canonical
    int32_t *status;       // [stride]: LANE_RUNNING, or 1 + failure code (1: ended without failure)
    Trace trace;           // trace.lanes = 0: nothing is traced
    DebugRows debug;       // debug.lanes = 0: no debug rows. With neither, only the plain kernel runs
} Batch;

enum { LANE_RUNNING = 0, LANE_DONE = 1 };

// ---- a step as a graph ----------------------------------------------------------------------------------------------

// Where text goes, piece by piece.
typedef struct TextSink {
    void (*write)(void *to, const char *text, size_t length);
    void *to;
} TextSink;

typedef enum StepPicture { STEP_TRACE, STEP_DOT } StepPicture;

// One step of the lane of these parameter[n_parameters] as `threads` threads of this CPU share it (0: all), after some
// that warm up: who ran what and when, for chrome://tracing, or the nodes and edges for Graphviz. Error (user): the
// step of this model, or of this world, is no graph.
Error step_picture(const Configured *configured, const double *parameter, int threads, StepPicture picture,
                   TextSink out);

// ---- backends -------------------------------------------------------------------------------------------------------

// Processors that this process may use: those of its affinity mask.
int processor_count(void);

typedef struct BackendOptions {
    const char *name;         // "auto", "cpu", "cuda"
    int threads;              // CPU threads; 0: all cores
    uint64_t devices;         // of a host's devices of that kind, a bit each: they share every batch (0: any one)
    const char *isa;          // CPU instruction set "auto", "v2", "v3", "v4" (x86-64 levels) or "scalar"
    double patience;          // s that a slice may take before it counts as stuck; 0: BACKEND_PATIENCE; may be infinite
    int (*interrupted)(void); // nonzero once the user wants to leave: patience is then one second; may be NULL
} BackendOptions;

#define BACKEND_PATIENCE 60.0 // s
enum { BACKEND_DEVICES_MAX = 64 };
#define BACKEND_ALL_DEVICES UINT64_MAX // as many as there are

typedef struct Backend Backend;

typedef struct BackendInfo {
    const char *name;      // "cpu" or "cuda"
    char device[128];      // "Intel Xeon ..., 2 threads, v4" or "NVIDIA H200"
    char version[64];      // driver and runtime, or the ISA
    char warning[256];     // slow FP64, software fma, ...; empty if there is nothing to say
    int slots;             // batches that can be in flight (CPU 1, CUDA 2)
    int64_t memory_free;   // bytes on the device
    int64_t lane_multiple; // lanes that cost the same as one: batches are best a multiple of it
    int64_t lanes_at_once; // of a CPU: in the vectors of all its threads; 0: not known
    uint64_t devices;      // those in use, a bit each; 0: the backend has only one
    int failed;            // of several devices, the one that failed last; -1: none did
} BackendInfo;

// Steps of the kernel after which every lane has ended.
int64_t configured_steps(const Configured *configured);

// `auto` takes CUDA if this build and this machine have it, else the CPU. Errors: machine, naming what is missing;
// device, if it is there and fails (of several devices: if all of them do; else the others are taken, with a warning);
// user, if there is no device of that number.
Error backend_open(const BackendOptions *options, Backend **out);
const BackendInfo *backend_info(const Backend *backend);
// Takes all memory that a run needs, once: for `slots` batches of at most `lanes` lanes, of which at most
// `traced` x `capacity` samples are traced. Error: memory, with what it wanted.
Error backend_prepare(Backend *backend, const Configured *configured, int64_t lanes, int64_t traced, int64_t capacity);
// Debug rows of at most `lanes` lanes, `capacity` rows each. After prepare; without it nothing is taken for them.
Error backend_prepare_debug(Backend *backend, int64_t lanes, int64_t capacity);
// bytes of device memory that `prepare` takes for one lane
int64_t backend_lane_bytes(const Configured *configured);
// The host's view of a slot: fill `lanes`, `parameter`, `trace.{lanes,every}` and `debug.{lanes,first,end}`, then
// begin. After the last wait, `metric`, `status`, the trace and the debug rows are there. Owned by the backend, valid
// until the next prepare or close.
Batch *backend_batch(Backend *backend, int slot);
Error backend_begin(Backend *backend, int slot);
// Starts one slice: `ticks` more ticks of every running lane. Returns at once.
Error backend_advance(Backend *backend, int slot, int64_t ticks);
// Waits for the slice. *done: every lane has ended and the results are in the host's batch. *kernel_seconds: device
// time of the batch so far. Error: stuck, if the slice takes longer than the options' patience.
Error backend_wait(Backend *backend, int slot, bool *done, double *kernel_seconds);
// Host time that went into handing the slot's batch over to the device and taking its results, so far.
double backend_copy_seconds(const Backend *backend, int slot);
// Slices that are still in flight are cut short or waited for, as patiently as ever. False: one is stuck. What it
// computes with then stays where it is, and the process must leave by _exit.
bool backend_close(Backend *backend);

// ---- random numbers -------------------------------------------------------------------------------------------------

// Philox4x32-10 (Salmon et al., SC 2011) keyed by what is drawn and never by when: the same campaign draws the same
// numbers in any order, batch and process. 0 is a seed.
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

// The index-th number (index < 2^16) of that key: uniform in [0, 1) with 53 bits; standard normal (Box-Muller on our
// own log, sqrt and cos, so the same bits everywhere).
double random_uniform(const RandomKey *key, uint32_t index);
double random_normal(const RandomKey *key, uint32_t index);
void random_normals(const RandomKey *key, uint32_t first, int count, double *z); // z[i] = random_normal(key, first + i)

// ---- the normal distribution (sim/normal.c) -------------------------------------------------------------------------

// The probability that a standard normal number is greater than z, and the z of a probability; to 1e-13 of it.
double normal_tail(double z);
double normal_tail_inverse(double p);

// ---- small linear algebra (sim/symmetric.c) -------------------------------------------------------------------------

// Eigenvalues, ascending, and orthonormal eigenvectors of a symmetric matrix[n][n]: row k of vectors[n][n] belongs to
// values[k]. work[n*n + 3*n]. The same bits on every processor. False: an element is not finite, or all are 0. Errors
// are of the order of the greatest eigenvalue times 1e-16. Golub & Van Loan, Matrix Computations, 4th ed., 8.3.
bool symmetric_eigen(int n, const double *matrix, double *values, double *vectors, double *work);

// ---- point clouds ---------------------------------------------------------------------------------------------------

// Points as structures of arrays: coordinate a of point i stands at at[a][i] (m).
typedef struct Cloud {
    const double *at[3]; // [count]
    int64_t count;
} Cloud;

// ---- elementary functions, the same bits on every processor (sim/portable_math.h) -----------------------------------

// <= 2 ulp. sine, cosine: |x| <= 2^30, NaN beyond.
double portable_sin(double x);
double portable_cos(double x);
double portable_asin(double x);
double portable_atan2(double y, double x);
double portable_exp(double x);
double portable_log(double x);
double portable_tanh(double x);
double portable_pow(double x, double y);

#ifdef __cplusplus
}
#endif
#endif
