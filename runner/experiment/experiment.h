// What is asked for: expressions, the spec of an experiment, search methods, and how the replicates of a trial become
// its fitness. Nothing here knows what was run or where results are.
//
// Each folder uses those before it: expression, fitness, search, equations, spec. `make lint` checks that.
#ifndef HOPSCOTCH_EXPERIMENT_H
#define HOPSCOTCH_EXPERIMENT_H

#include "../../io/io.h"
#include "search/methods.h"
#include "spec/limits.h"
#include "spec/values.h"

#define HOPSCOTCH_VERSION "0.1.0"
const char *program_commit(void); // the commit that the program was built from (runner/version.c); NULL: unknown

// ---- expressions (expression/expression.c) --------------------------------------------------------------------------
// + - * / ^, comparisons (< <= > >= = == != ), and/or/not, functions (expression_functions), numbers, pi, names, and
// texts in single quotes (only compared for equality). Depth <= 64, length <= 4096. Evaluated with our own elementary
// functions, so the same bits everywhere. Truth is 1 and 0.

typedef struct Expression Expression;
typedef struct ExpressionStep ExpressionStep; // expression/expression.h

// Names that an expression may use, in the order of the `values` of expression_value.
typedef struct Scope {
    const char *const *names;
    int count;
    const char *const *texts; // names of text columns (only `=` and `!=` with a quoted text), for --where
    int n_texts;
    // [count + n_texts] the words that a name's values are the indices of (configured_choices): it is compared with
    // them as a text is, and the number of such a quoted text is its index. NULL: a number. Of a text column: the only
    // texts that it may be compared with; NULL: any. choices NULL: all are NULL
    const char *const *choices;
    const char *const *tables;  // [n_tables] functions that the scope has beside those of all
    const int *table_arguments; // [n_tables] 1 or 2
    int n_tables;
    // [n_frames] bodies and sites of a robot: columns of those that simulation.frames names are called hand_x and so on
    const char *const *frames;
    int n_frames;
    const int *by_name; // [count] indices of the names in the order of strcmp; NULL: names are found one by one
} Scope;

// Reads the text of the scalar `at`. NULL after an error, which is diagnosed at its character.
Expression *expression_parse(const Node *at, const Scope *scope, Arena *arena, Diagnostics *diagnostics);
// Reads a text of the command line; what: "--where". Error (user): has the text, a caret and the nearest name.
Error expression_parse_text(const char *text, const char *what, const Scope *scope, Arena *arena, Expression **out);
// values[scope->count + n_texts]: of the names; a text column has the number of the quoted text that it equals
// (expression_texts), else any other number. expression_holds: the value is neither 0 nor NaN.
double expression_value(const Expression *expression, const double *values);
bool expression_holds(const Expression *expression, const double *values);
// The quoted texts, each once: [*count]. Their numbers are their indices here.
const char *const *expression_texts(const Expression *expression, Arena *arena, int *count);
// stack[n] <- the values of n rows, with the same bits; columns[i][n]: of name i, read only where expression_uses(i).
// stack: [expression_height][n].
void expression_values(const Expression *expression, const double *const *columns, int n, double *stack);
int expression_height(const Expression *expression);
// The derivative of the value if values[i] changes by slopes[i] per unit.
double expression_slope(const Expression *expression, const double *values, const double *slopes);
bool expression_uses(const Expression *expression, int name); // name: index in `values`
// Of the terms that `and` joins, those that compare a name with a constant: [*count]. Where the expression holds, so do
// they. BELOW: < and <=, also as "3 > a"; ABOVE: > and >=. value: NaN or the number of a quoted text too.
typedef enum ExpressionComparison {
    COMPARES_EQUAL,
    COMPARES_UNEQUAL,
    COMPARES_BELOW,
    COMPARES_ABOVE
} ExpressionComparison;
typedef struct ExpressionBound {
    int name; // index in `values`
    ExpressionComparison comparison;
    double value;
} ExpressionBound;
const ExpressionBound *expression_bounds(const Expression *expression, Arena *arena, int *count);
// The value of an expression on a tape, which gives the bits of expression_value. TAPE_NONE: that of a name was.
typedef struct ExpressionTape {
    Tape *tape;
    void *of;
    TapeValue (*name)(void *of, int index); // index: in `values`
    // The value of an operation on a and b where it is not tape_operation's, else TAPE_NONE; NULL: it always is
    TapeValue (*operation)(void *of, const ExpressionStep *step, TapeValue a, TapeValue b);
} ExpressionTape;
TapeValue expression_tape(const Expression *expression, const ExpressionTape *to);
int64_t expression_cost(const Expression *expression); // time of an evaluation, in additions, roughly
// *sql <- the expression as a condition of SQL with ? for every constant. values[*count]: what to bind.
Error expression_sql(const Expression *expression, Arena *arena, const char **sql, SqlValue **values, int *count);
// The names of all functions, in groups: "min max ...; abs ...; ...".
const char *expression_functions(Arena *arena);
// Canonical text: parsing it again gives the same expression.
const char *expression_text(const Expression *expression, Arena *arena);

// ---- the spec (spec/spec.c, spec/keys.c, spec/values.c, spec/resolve.c) ---------------------------------------------

struct SpecReader;
struct Key;
typedef struct ValueForm ValueForm;

// Values along an axis, never expanded: value i of `count`.
typedef struct Values {
    const ValueForm *form;    // NULL: a list
    double low, high, step;   // range: bounds; arange: start, greatest value allowed, step
    bool log_scale, integer;  // range
    double log_low, log_high; // for draws on a log scale: the logarithms of the ends
    union {                   // what the points are computed from
        DecimalLine line;     // linspace, arange
        DecimalCurve curve;   // logspace
    };
    double sigma; // range, for cmaes: initial step size as a fraction of the range; 0: the default of the method
    const double *list;
    int64_t count;       // 0 for a range
    const char *choices; // of a list, or of a range of integers: the words whose indices the values are; NULL: numbers
} Values;

// A form of values, a row each of spec/values.h.
struct ValueForm {
    const char *name, *arguments, *doc, *example; // {name: arguments}
    int n_arguments;                              // of which the first two are values: low and high
    bool range;                                   // values are drawn from it
    bool log_scale;                               // they are spaced in the logarithm
    const char *companions;                       // keys that may stand beside it, "a|b"; NULL: it stands alone
    // The rest, after low and high: `arguments` is the list, `mapping` holds it and the companions. False: an error.
    bool (*read)(struct SpecReader *reader, const struct Key *key, const Node *mapping, const Node *arguments,
                 Values *values);
    void (*prepare)(Values *values);                         // what `at` and draws need, once the rest is known
    const char *(*text)(const Values *values, Arena *arena); // as flow YAML that reads back to the same values
    double (*at)(const Values *values, int64_t index);       // NULL if `range`, as the next
    double (*position)(const Values *values, double x);      // about where x stands
    const char *schema;                                      // of the companions (schema_put); NULL: there are none
};
#define VALUE_FORM_DECLARE(name) extern const ValueForm values_##name;
VALUE_FORMS(VALUE_FORM_DECLARE)
#undef VALUE_FORM_DECLARE

bool values_are_range(const Values *values); // any number between low and high, not single values
Values values_prepared(Values values);       // completed for values_at and draws; all other fields are set before
// Value `index`, from 0. An evenly spaced value is the double nearest to the exact one, computed from decimals
// (io/decimal.h): 0.3, not 0.30000000000000004.
double values_at(const Values *values, int64_t index);
void values_ends(const Values *values, double *low, double *high); // the least and the greatest value
// The index of the value x; -1: no value equals x. hint: the index of a list that is tried first.
int64_t values_find(const Values *values, double x, int64_t hint);

// A searched parameter: either an axis (values or range) or derived from others.
typedef struct Axis {
    int parameter; // index in configured.parameters
    Values values;
    int zip;                  // axes with the same zip number >= 0 advance together; -1: on its own
    const Expression *derive; // over configured.parameters' names; NULL: an axis
    bool partial;             // some trials have the parameter's fixed value instead
    const Node *at;           // where the spec names it; NULL: the spec was derived from another
} Axis;

// A grid of a union: its values of each axis of the spec.
typedef struct UnionGrid {
    const Values *values; // [n_axes]; count 0: the parameter's fixed value
    const int *zip;       // [n_axes] as Axis.zip, within the grid
} UnionGrid;

// An axis that counts where the condition holds; elsewhere its parameter has the fixed value.
typedef struct When {
    int axis;
    const Expression *condition; // over configured.parameters' names
} When;

typedef enum Distribution { DISTRIBUTION_NORMAL, DISTRIBUTION_UNIFORM } Distribution;

typedef struct Perturbation { // replaces the parameter's value in each replicate
    int parameter;
    Distribution distribution;
    double a, b; // normal: mean, standard deviation; uniform: low, high. Draws are clamped to the parameter's range
} Perturbation;

typedef enum Over { OVER_MEAN, OVER_MEDIAN, OVER_WORST, OVER_QUANTILE } Over;
typedef enum Failed { FAILED_ANY, FAILED_PENALTY, FAILED_IGNORE } Failed;

typedef struct SearchMethod SearchMethod;

// The trials that are recorded: by rank, by id, the first that failed.
typedef struct Selection {
    int64_t best, every, failures; // 0: none
    const int64_t *trials;         // [n_trials]
    int n_trials;
} Selection;

// Folder of a campaign: copies of the files that its model reads, named by their digests.
#define CAMPAIGN_FILES "files"

// A file that the model reads. Its contents are part of the spec's identity, its name is not.
typedef struct SpecFile {
    const char *name;         // below the folder of the spec, or an absolute path; NULL: none is given
    const char *root, *below; // of an absolute path: the allowed folder that holds it, and its name there; else NULL
    Sha256Text digest;
    const struct TableReading *reading; // of a recording: how it is read; NULL: as it is
} SpecFile;

// Folders outside of the spec's whose files it may name by absolute paths.
typedef struct AllowedFolders {
    const char **paths; // [count] absolute
    int count;
} AllowedFolders;

// What --set says, "key.path=value" each, in the order in which it is applied.
typedef struct Overrides {
    const char **items; // [count]
    int count;
} Overrides;

// A quantity of an environment. name: of a definition; of an observation the text that shows it.
typedef struct EnvironmentQuantity {
    const char *name;
    const Expression *expression;
} EnvironmentQuantity;
// Part `number` (from 1) of `count`.
typedef struct PartOf {
    int number, count;
} PartOf;

// Where trials are compared with each other: the best part `keep` goes on past the time `at`.
typedef struct Rung {
    double at, keep; // s, or iterations of a map; in (0, 1)
} Rung;

// What least squares make small: an expression, or each of the values whose root mean square a metric is.
typedef struct Residual {
    const Expression *expression; // over the names of the objective
    int metric;                   // -1: the expression alone
    int64_t count;                // of numbers, at most
} Residual;

// A spec with other values of some keys of `simulation`, `initial` and `parameters` (spec/cases.c).
typedef struct SpecCase {
    const char *name;         // the file of its recording, or "case 2"
    const struct Spec *spec;  // all of it, without cases
    const char *text;         // what differs from the spec itself, as YAML
    const char *const *lines; // [2*n_lines] the same for the identity: key, value
    int n_lines;
    const int *parameter; // [n_values] that have other values
    const double *value;  // [n_values]
    const int *from;      // [n_values] the parameter that is taken in its place; -1: the value
    int n_values;
} SpecCase;

typedef struct Spec {
    const char *file, *text; // as given
    const char *folder;      // of that file; NULL: the spec is stored in a campaign, or was derived from another
    Overrides overrides;     // of the text, on the command line
    const char *experiment;
    uint64_t seed; // < 2^53
    const Model *model;
    const double *settings;      // [model->n_options]
    const Points *option_points; // [model->n_options + n_lists]: of the options, then of the model's lists
    const SpecFile *files;       // [model->n_options]: of the OPTION_FILEs
    Configured configured;
    const double *fixed;      // [n_parameters]: value of each parameter that is not searched
    const char *metrics_text; // those of `metrics`, as YAML; NULL: there are none
    const char *retire_text;  // the conditions of limits.retire, as YAML; NULL: there are none

    const SearchMethod *method;
    const double *method_settings;  // [method->n_options]
    const char *chosen;             // why method auto chose this one; NULL: the spec names it
    const Axis *axes;               // [n_axes + n_derived + n_outer] in the order of the spec: axes, derived, outer
    int n_axes, n_derived, n_outer; // derived ones stand at axes[n_axes ...], outer ones behind them
    struct {                        // of the outer axes (search/outer_grid.c); unused if there are none
        int64_t points, searches;   // searches: of each point
        int64_t first;              // number of the first search
    } outer;
    const char *values_in;  // where the values of the axes stand: "points", "union"; NULL: in `over`
    const UnionGrid *grids; // [n_grids] of `union`; n_grids 0: the axes are the grid
    int n_grids;
    const When *when; // [n_when] in the order in which they are decided
    int n_when;
    const Expression *const *exclude; // over configured.parameters' names
    int n_exclude;
    const double *points; // list: [n_points][n_axes]
    int64_t n_points;
    const double *inject; // [n_inject][n_axes]; cmaes: points of its first generation; adam, lbfgs: starts
    int n_inject;
    struct {                             // where another campaign says to start (search/cmaes/warm_start.c)
        const char *from;                // its name; NULL: none
        const Node *at;                  // where the spec names it
        const char *hash;                // of its spec
        const double *mean, *covariance; // [n_axes] in coordinates, NULL: not taken yet; [n_axes], or by rows the lower
        bool full;                       // triangle
        double sigma;                    // 0: the option's
    } warm;

    struct {
        int count;
        int first; // lanes run the replicates from this one on; those before it are stored (a rung of a race)
        bool common, store;
        const Perturbation *perturb;
        int n_perturb;
        struct {          // search/race.c
            int start;    // replicates of every trial; 0: all trials have `count`
            double keep;  // part of a rung's trials that goes on, in (0, 1); of generations 1/2
            double clear; // of generations (cmaes/race.c): the difference that is clear, in standard errors
            enum { RACE_BY_FITNESS, RACE_BY_FAILURES } by;
        } race;
    } replicates;

    struct {
        const Expression *const *expression; // [count] over the metrics' names, then the parameters' names
        const Residual *residuals; // [n_residuals] whose root mean square the expression is; n_residuals 0: it is not
        int n_residuals;
        int64_t residual_count; // of numbers, all together
        struct {                // in place of their size the fitness is what they tell (search/information.c)
            int n, *of;         // [n] parameters; n 0: it is not
            enum { INFORMATION_D, INFORMATION_A } criterion;
            double noise;       // of a residual
            const double *each; // [residual_count] where the spec gives it by series, and noise is 1; else NULL
            const char *noises; // that as YAML
        } information;
        int count;                     // several: a trial has no fitness then, but a value of each
        bool maximize[OBJECTIVES_MAX]; // [count] more is better; the minimised ones come first
        bool by_default;               // it is the model's, and not the spec's
        const double *reference;       // [count] where hypervolumes are measured from; NULL: the search decides
        Over over;
        double quantile;
        Failed failed;
        double penalty;
    } objective;
    const Expression *const *constraints; // [n_constraints] over the objective's names (fitness/constraints.c)
    int n_constraints;

    // Replicate r runs under cases[r % n_cases], the first of which is the spec itself (Configured.cases). n_cases 0:
    // there are none.
    const SpecCase *cases;
    int n_cases;
    // Recordings that no trial sees, for `fit`, and those of the cases in the same units: without scale and loss.
    struct {
        const SpecCase *held, *fitted; // [n_held]; [n_cases, at least 1]
        int n_held;
    } validate;

    // Over the columns of a trajectory, the parameters, `failed`, and definitions so far (spec/forms/environment.c).
    struct {
        const EnvironmentQuantity *define, *observe; // [n_define], [n_observe]; n_observe 0: all columns but the time
        int n_define, n_observe;
        const Expression *reward;    // NULL: the spec has no environment
        const Expression *terminate; // NULL: never
    } environment;

    const Node *waits_at;  // the input whose actions an environment gives, and a run lacks; NULL: there is none
    const char *waits_for; // what to write

    struct {
        bool trajectories;         // any
        const char *const *bodies; // [n_bodies] names and patterns of what has columns; n_bodies 0: as the model likes
        int n_bodies;
        Selection select;
        bool all_replicates;          // else the first
        bool events;                  // also the debug rows of these trials, which are events
        double sample;                // s between samples; a multiple of the tick (spec_sample_ticks)
        int64_t first_tick, end_tick; // of a replay: samples of these ticks only; end 0: of all
        bool float64, gzip;
        struct {
            bool wanted; // any
            Selection select;
            bool failed_only;    // of the lanes that failed
            bool all_replicates; // record all replicates, else the first; failed lanes are chosen among all replicates
            double window[2];    // s: steps that begin in [0] <= t < [1]; both 0: all
            int64_t keep;        // the last N rows of a lane; 0: all
        } debug;
        struct {
            bool some;                     // not all trials keep a row, but:
            int64_t best, every, failures; // of the best, of ids that `every` divides (0: none), of the first failed
        } rows;
    } record;

    struct {
        int64_t trials;       // 0: none
        double wall_time;     // s; 0: none
        double failures;      // fraction of the trials; 1: none
        struct {              // of limits.retire (search/rungs.c)
            int count;        // 0: none
            int passed;       // that the trials of this spec pass: `count`, or where they end
            int64_t of;       // trials that are compared with each other
            const Rung *rung; // [count], in the order of time
            const char *text; // as YAML; NULL: none
        } rungs;
    } limits;

    struct {                                                             // which trials run again under fresh seeds
        enum { RECOMMEND_AUTO, RECOMMEND_NEVER, RECOMMEND_ALWAYS } when; // at the end (view/analysis/recommend.c)
        int64_t trials, replicates;                                      // replicates 0: auto
    } recommend;

    struct {
        const char *backend; // auto | cpu | cuda
        const char *kernels; // auto | made | general
        int64_t batch;       // lanes; 0: auto
    } device;

    struct {
        const char *rows; // auto | table | blocks
    } store;

    // The specs of a campaign that was extended, in order; this spec is the last (search/extension.c).
    const struct Segment *segments; // [n_segments]; n_segments 0: the campaign was not extended
    int n_segments;
    // Which part of its trials this campaign runs (search/part.c); count 0: all. No part of the spec's identity.
    PartOf part;

    const char *resolved;  // every key with its value, as YAML that reads back to the same spec
    Sha256Text hash;       // of what can change a number (spec_and_search.md), from the canonical text
    const char *canonical; // that text: one "path = value" a line, sorted; two specs are compared line by line
} Spec;

// A spec of a campaign that was extended, and the ids of its trials. A point that the spec of an earlier segment asks
// for too keeps its id of that segment.
typedef struct Segment {
    const Spec *spec; // NULL: the spec that holds the segments
    int64_t first_id; // the id of point `first_point` of its search; the points before it have earlier ids
    int64_t first_point;
    int64_t decided; // when it was appended, the ids below this one had been run or dropped: nothing changes them
} Segment;

// Reads and checks a spec and configures its model. overrides[n_overrides]: "key.path=value" of --set. All errors are
// found in one pass and go to `diagnostics`; then the returned Error (user) has a summary. spec_parse reads `text`;
// `file` is its name for messages and for files that it names. spec_load_allowed: the spec may also name files of these
// folders.
Error spec_load(const char *path, const char *const *overrides, int n_overrides, Arena *arena, Diagnostics *diagnostics,
                Spec *out);
Error spec_load_allowed(const char *path, const Overrides *overrides, const AllowedFolders *allowed, Arena *arena,
                        Diagnostics *diagnostics, Spec *out);
Error spec_parse(const char *file, const char *text, const char *const *overrides, int n_overrides, Arena *arena,
                 Diagnostics *diagnostics, Spec *out);
// Error (user): the spec is for environments alone, or people run its trials.
Error spec_check_run(const Spec *spec);
// The text of a spec with the overrides added: as a mapping `set` at its end, which is read like --set. Entries of a
// mapping `set` that is there already stay, unless they are set again.
const char *spec_text_set(const char *text, const Overrides *overrides, Arena *arena);
// A campaign that `sweep` declares: the experiment's name, a dot and `name` are its name, `overrides` what --set would
// give.
typedef struct SweepCampaign {
    const char *name;
    Overrides overrides;
} SweepCampaign;
typedef struct Sweep {
    const char *experiment;   // NULL: the spec has none
    SweepCampaign *campaigns; // [count]
    int count;
} Sweep;
// *sweep <- the campaigns of a spec; count 0: it declares none, or could not be read at all, and spec_load says why.
// Error (user): as spec_load, for the key `sweep` alone.
Error spec_sweep(const char *path, const Overrides *overrides, Arena *arena, Diagnostics *diagnostics, Sweep *sweep);
// The spec of a replicate's case, for its objective; the spec itself without cases.
const Spec *spec_case(const Spec *spec, int replicate);
const Points *spec_recording(const Spec *spec); // the recorded motion; NULL: the model has none
// The same for pictures: of a system its inputs that a metric subtracts from a column (fitness/recorded.c).
const Points *spec_recorded_motion(const Spec *spec, Arena *arena);
// What a metric of a system compares with: {at: EVENT, value: column - input}, where EVENT comes every so often, or
// at the rows of an input.
typedef struct RecordedInput {
    const char *input;
    int64_t count;              // of the event's instants
    const double *time, *value; // [count] s; the input there
    double factor;              // of the column in the value
    int64_t between;            // of the instants: between two rows, where the input is not what was recorded
} RecordedInput;
// False: the metric is no such comparison.
bool spec_recorded_input(const Spec *spec, int metric, Arena *arena, RecordedInput *out);
// Replaces the fixed parameters that the replicate's case has other values of.
void case_parameters(const Spec *spec, int replicate, double *parameter);
void case_values(const SpecCase *of, double *parameter); // the same of one case
// The same for derivatives[n_parameters] along a direction: what the case replaces follows what it is taken from.
void case_directions(const Spec *spec, int replicate, double *direction);
// gradient[n_parameters] of the replicate's own parameters <- that of the trial's.
void case_pull(const Spec *spec, int replicate, double *gradient);
bool cases_have_own(const Spec *spec);                // a case takes a parameter in place of another
int spec_fit_cases(const Spec *spec);                 // number of cases, at least 1
int spec_residuals(const Spec *spec);                 // entries of objective.residuals, over all cases
int64_t spec_residual_count(const Spec *spec);        // numbers, over all cases
const Axis *axis_of(const Spec *spec, int parameter); // searched, derived or outer; NULL: the parameter is fixed
bool spec_several(const Spec *spec);                  // the spec has several objectives
static inline bool spec_has_rungs(const Spec *spec) { return spec->limits.rungs.count > 0; }
static inline bool spec_retires(const Spec *spec) // limits.retire
{
    return spec->retire_text != NULL || spec_has_rungs(spec);
}
// Fitness and objectives are stored and shown as the user's expression gives them. They are compared by their cost, of
// which less is better. spec_cost: value -> cost of objective k, and cost -> value: the negative if the objective is
// maximised, else the value itself; NaN stays NaN. spec_better: value a is better than b; false if one of them is NaN.
double spec_cost(const Spec *spec, int k, double value);
bool spec_better(const Spec *spec, int k, double a, double b);
// The expression of objective k; "maximise EXPRESSION" if it is maximised.
const char *objective_text(const Spec *spec, int k, Arena *arena);
// Where objectives, constraints or derived parameters add values of different units, if all names of an expression have
// one and no side has a literal factor; NULL: nowhere.
const char *fitness_units(const Spec *spec, Arena *arena);
// How failed replicates count in the gradient of a trial: "2 of 5 replicates failed and are left out"; "": none failed.
const char *replicates_failed_text(const Spec *spec, int64_t n_failed, Arena *arena);
const char *model_debug_group(const Model *model);            // HDF5 group of the debug rows in a shard: "debug/newton"
const char *model_debug_name(const Model *model);             // name of the debug rows: "newton"
const char *model_debug_are(const Model *model);              // what they are, in messages: "debug rows"
const char *model_debug_needs(const Model *model);            // why settings may have none
bool model_is_top(const Model *model, const char *name);      // an option or a list at the top of a spec
bool model_is_numerics(const Model *model, const char *name); // an option of Model.numerics
// The spec's `configured`, completed for a run: the model builds its assets from its files (spec/model_files.c), in the
// arena. The files lie in the folder of the spec's file, or in a campaign's CAMPAIGN_FILES under their digests. Error
// (user): a file is missing, has changed, or has contents that the model rejects.
Error spec_build(const Spec *spec, Arena *arena, Configured *out);
// The spec's `configured` with columns for all things of the model, such as the bodies of a world, for drawings. Inputs
// and metrics are unchanged (spec/chosen_bodies.c). Errors: as spec_build.
Error spec_choose_all(const Spec *spec, Arena *arena, Configured *out);
// True if the name matches the pattern; `#` in a pattern stands for a number.
bool things_match(const char *pattern, const char *name);
// Sets chosen[i] for each thing of the model whose name matches ("all" matches every name). Returns their number.
int things_mark(const Configured *configured, const char *pattern, bool *chosen);
// The name nearest to a pattern without a match; NULL: no name is near.
const char *things_nearest(const Configured *configured, const char *pattern, Arena *arena);
// The specs whose files belong to this one: itself, its cases, the recordings of `validate`; NULL after the last.
const Spec *spec_with_files(const Spec *spec, int index);
// Copies the spec's files into the campaign's folder, unless they are there. Error (machine): as file_write.
Error spec_keep_files(const Spec *spec, const char *folder);
// Ticks between two samples of a trajectory; 1 for a model without time.
int64_t spec_sample_ticks(const Spec *spec);
// The trials whose debug rows are recorded, and whether of all their replicates.
const Selection *spec_debug_select(const Spec *spec);
bool spec_debug_all(const Spec *spec);
// Debug rows are recorded in the ticks [*first, *end). spec_debug_rows: the greatest number of rows of a lane.
void spec_debug_ticks(const Spec *spec, int64_t *first, int64_t *end);
int64_t spec_debug_rows(const Spec *spec);
// *setup <- an environment of the spec (spec/environment.c), in the arena: codes, draws, fixed values, seed. Searched
// parameters have the values of the only trial. Error (user): the spec has no section `environment:`, or its search has
// several trials; `diagnostics` has the error with its place.
Error spec_environment(const Spec *spec, Arena *arena, Diagnostics *diagnostics, EnvironmentSetup *setup);
// Observation or action `index`, from 0. low, high: bounds of an action or a parameter, else infinite.
typedef struct EnvironmentRow {
    const char *name, *unit, *doc;
    double low, high;
} EnvironmentRow;
EnvironmentRow spec_environment_observation(const Spec *spec, int index);
EnvironmentRow spec_environment_action(const Spec *spec, int index);
// The JSON schema (draft 2020-12) of specs, all models and methods, from the same tables.
void spec_schema(FILE *out);
// The reference page from the same tables: all of it; its sections, on one screen; what it says of a topic, which is a
// key (by the last words of its path), a section, a method, a model, "values" or "sizes". Error (usage): nothing; it
// has the nearest topic.
void spec_reference(FILE *out);
void spec_reference_sections(FILE *out);
void spec_reference_example(FILE *out); // a short spec that `check` accepts
Error spec_reference_topic(const char *topic, FILE *out, Arena *arena);

// ---- results that people bring (spec/results_file.c) ----------------------------------------------------------------

// A line of results. Nothing is checked here that needs the campaign.
typedef struct ResultLine {
    const Node *at; // for messages
    int64_t trial;
    int replicate;
    int failure;             // code; 0: none
    const double *metric;    // [n_metrics]; NaN: not given, which only a failure allows
    const double *parameter; // [n_parameters] as the line gives them, to be compared; NaN: not given
} ResultLine;
typedef struct ResultLines {
    ResultLine *lines; // [count]
    int64_t count;
    int64_t empty;        // lines without results, which are left out
    const Node *empty_at; // the first of them
} ResultLines;
// Reads a table with the columns trial, replicate (of several), failure, metrics, and parameters that are compared: CSV
// with a header, or JSON, a list of objects. A name may have its unit behind it, `slip [mm]`. The name of a failure is
// a column of yes and no, too. All errors go to `diagnostics`: names, units, numbers, a trial that stands there twice,
// a line with some metrics and not all.
Error results_read(const Spec *spec, const char *path, Arena *arena, Diagnostics *diagnostics, ResultLines *out);
// The same of one trial from words NAME=VALUE.
void results_read_words(const Spec *spec, int64_t trial, const char *const *words, int count, Arena *arena,
                        Diagnostics *diagnostics, ResultLines *out);

// What a field of a list's item must be, for messages: "a list of 3 numbers in [-1, 1] m" (spec/model_lists.c).
const char *items_field_expected(const ItemField *field, Arena *arena);

// ---- a spec derived from another (spec/derive.c) --------------------------------------------------------------------
// verify, compare and recommend run such specs: copies with some fields changed, then completed. No text is edited.

// A copy of `from` with another name and another search: `method` with its default options over `axes`. Derived
// parameters stay derived, unless they are axes. `file` stands in messages.
void spec_derive(const Spec *from, const char *file, const char *experiment, const SearchMethod *method,
                 const Axis *axes, int n_axes, Arena *arena, Spec *out);
// As spec_derive, with a search over the points of a table (CSV; the header has names of parameters). Error (user): the
// table is wrong.
Error spec_derive_points(const Spec *from, const char *file, const char *experiment, const char *table, Arena *arena,
                         Diagnostics *diagnostics, Spec *out);
// Why the best trials of the spec can't be run again under fresh seeds (spec/forms/recommend.c); NULL: they can.
const char *recommend_refusal(const Spec *spec);
// Sets `replicates`, `record`, `limits` and `device` to their defaults.
Error spec_strip(Spec *spec, Arena *arena);
// Writes the spec for people: the keys and sections `keys`, in this order. Parameters that only `from` searches are
// left out: they have their defaults.
void spec_write(const Spec *spec, const Spec *from, const char *const *keys, int count, Arena *arena, FILE *out);
// Checks the spec and fills what follows from its fields: resolved and canonical text, hash.
Error spec_complete(Spec *spec, Arena *arena, Diagnostics *diagnostics);

// ---- what differs between two specs, by key (spec/difference.c) -----------------------------------------------------

typedef struct SpecChange {
    const char *key, *from, *to; // NULL: not there
    bool free;                   // an extension may change it: the rows that exist keep their meaning
} SpecChange;
// Returns the number of changes, which are sorted by key.
int64_t difference_find(const Spec *stored, const Spec *given, Arena *arena, SpecChange **changes);
void difference_print(const SpecChange *changes, int64_t count, FILE *out); // one line per change

// A key whose value differs among n specs: value[i] is that of spec i, NULL: it has none.
typedef struct SpecVariety {
    const char *key, **value;
} SpecVariety;
// Compares n canonical texts. Returns the number of keys that differ, which are sorted; (*varieties)[] has the first
// `most` of them.
int64_t difference_among(const char *const *canonical, int n, int64_t most, Arena *arena, SpecVariety **varieties);

// ---- names of campaigns (spec/campaign_name.c) ----------------------------------------------------------------------

// Files of the list of all campaigns under a results root; no campaign can have their names.
#define CATALOGUE_DATABASE "index.db"
#define CATALOGUE_LOCK "index.lock"
#define CATALOGUE_PAGE "index.html"

#define PARTS_SUFFIX ".parts" // results/NAME.parts/03of16: part 3 of 16 of campaign NAME
// Error (user): the name is not 1 to 128 characters of [A-Za-z0-9._-], or starts with '.' or '-'.
Error campaign_name_check(const char *name);
bool campaign_name_taken(const char *name); // a file of the list of campaigns has the name, or a file beside the list

// ---- search methods (search/search.c and one file a method) ---------------------------------------------------------

// Some trials: ask fills it, tell takes it with results.
typedef struct Trials {
    int64_t count, capacity;
    int64_t *id;       // [capacity]
    uint64_t *ordinal; // [capacity] within the search: what randomness is keyed by
    int32_t *search, *round;
    double *parameter; // [capacity][n_parameters] complete: fixed, searched and derived
    // results, filled before tell
    double *fitness;    // NaN: failed, or there are several objectives
    double *objective;  // [capacity][spec->objective.count] of several; NaN, all of them: failed
    double *survived;   // s, mean over replicates; ranks failed trials
    double *constraint; // [capacity][n_constraints] <= 0: met; NULL without constraints
    double *value;    // [capacity][replicates] objective of each, NaN: it failed; NULL: the search does not ask for it
    double *residual; // [capacity][n_residuals] of the objective, NaN: the trial failed; NULL: the search does not ask
    // The replicates [first, end) that a trial runs; those before `first` are stored, and its results are of all, up to
    // `end`. NULL: all trials run those of the spec. Set by ask, where the members of a generation race.
    int32_t *first, *end; // [capacity]
} Trials;

int64_t trials_new(const Trials *trials); // those that are not asked for again (search/race.c)

// How reliable a gradient is. NaN: unknown.
typedef struct GradientSigns {
    double norm;   // in fitness per range, without what points out of the ranges
    double spread; // over the replicates: the standard error of the mean of their gradients, through the mean's norm
    double cosine; // of the means of two halves of the replicates: 1: they agree; near 0: noise
    double growth; // by the adjoint: of the derivatives with respect to the state, backwards in time; the greatest norm
                   // through the last
} GradientSigns;
// A word for the cosine: "signal" above 0.7, "noise" below 0.3, else "unclear"; "" if the cosine is NaN.
#define GRADIENT_SIGNAL 0.7
#define GRADIENT_NOISE 0.3
const char *gradient_verdict(const GradientSigns *signs);

// How a model of the fitness stands, or a race: numbers in the row of a round, which `status` shows.
enum { MODEL_COLUMNS_MAX = 5 };
typedef struct ModelColumns {
    int first, count;         // columns of the row
    const Field *fields;      // [count]
    const char *const *words; // [n_words] that the last number is the index of; n_words 0: it is a number
    int n_words;
    const char *key; // of the canonical text of specs that have the model; NULL: the model is the method. Then what it
                     // predicted for a trial of the round, and what the trial gave, stand behind these columns
    const struct ModelColumns *other; // of specs that have not `key` but another one; NULL: there are none
} ModelColumns;

// One round of a search that learns: numbers that all such methods have. Each method adds a row of fields.
typedef struct Round {
    int32_t search, round;
    int64_t population, evaluations; // of the round; of the search so far
    double sigma, condition, best;   // NaN: none; best: best fitness of the search so far
    bool has_front;                  // of several objectives:
    int64_t front;                   // members that no other one dominates
    double hypervolume;              // of these; NaN: there is none
    bool has_gradient;               // a gradient was taken in it:
    GradientSigns gradient;          // how good it is
    const char *stop;                // why the search, or a restart of it, ended with this round; NULL: it goes on
} Round;

typedef struct Rounds {
    int64_t count, capacity;
    Round *row;
    double *field; // [capacity][n_round_fields]
} Rounds;

// Why a search ended with its last round, under its current budgets.
typedef struct RoundStop {
    int32_t search, round;
    const char *stop; // NULL: it goes on
} RoundStop;

typedef struct Search {
    const Spec *spec;
    const SearchMethod *method;
    int64_t total;        // trials that it will ask for, with the ids that `exclude` drops; -1: unknown
    int64_t round_trials; // of the first round, if the total is unknown
    void *state;          // versioned, without pointers: what is checkpointed after tell
    size_t state_size;
    size_t state_capacity;     // greatest size of a state that grows; 0: it does not grow
    int64_t asked;             // ids below this were asked for in this process (not part of the state)
    int64_t first, end;        // of trials known beforehand: the ids that are asked for; all, or those of a part
    const Field *round_fields; // [n_round_fields] of a row of Rounds; column 0 numbers the rounds
    int n_round_fields;        // 0: the method has no rounds
    Rounds *rounds;            // where tell puts the rounds that end; NULL: nowhere
    RoundStop *stops;          // [n_stops] set by restore, for searches whose budgets an extension may change
    int64_t n_stops;
    ThreadTeam *team;   // shares what ask and tell do; NULL: the caller does it alone
    int64_t gpu_rounds; // whose gradients a GPU computed
    Error gpu_failed;   // why it no longer does
    // Asked every fraction of a second while tell computes for long, by any thread: true ends it with an error
    // (interrupted), and neither state nor search may be used after that. NULL: not asked.
    bool (*leaves)(const void *of);
    const void *leaves_of;
    void *scratch;                    // the method's own, the arena's
    struct SegmentedSearch *segments; // of a campaign that was extended (search/extension.c), else NULL
} Search;

// Groups of trials that belong together: fitness[groups][trials of a group], of which chosen[count] count.
typedef struct SensitivityGroups {
    const double *fitness;
    const int64_t *chosen;
    int64_t count; // >= 2
} SensitivityGroups;

// How a method measures the sensitivity to each parameter after all trials (campaign/store/campaign/sensitivity.c).
typedef struct Sensitivity {
    const char *const *measures; // [n_measures] names
    int n_measures, main;        // main: what parameters are ranked by
    int64_t (*group)(const Spec *spec);
    void (*measure)(const Search *search, const SensitivityGroups *groups, double *out); // out[n_axes][n_measures]
    // Intervals of 95 % of all measures; NULL: from bootstrap samples of groups, if these are independent.
    void (*interval)(const Search *search, const SensitivityGroups *groups, double *low, double *high);
} Sensitivity;

// Trials that a search that learns runs, and generations of all its searches together. Doubles: limits may be huge.
typedef struct SearchBudget {
    double trials, rounds;
} SearchBudget;
typedef struct SearchBounds {
    SearchBudget least, most;
    bool open;             // `most` is too large to be of interest
    const char *early;     // what may end it earlier: "tolerances"; NULL: it ends with `most`
    const char *why_bound; // why `most` is all that can be said; NULL: `early` says it
} SearchBounds;

struct SearchMethod {
    const char *name, *doc;
    const Option *options; // keys of `search:` that belong to it
    int n_options;
    const char *later;                            // options, as Model.later
    bool wants_values, wants_range, wants_points; // what `over` may hold
    bool wants_sigma, wants_outer;                // a range may have one; it takes an outer grid
    bool whole;                                   // another option changes all points: it can't be extended
    bool several;                                 // for several objectives only
    bool races;                                   // members of a generation may race (race_of_generations)
    int gradient_column;                          // of a row of Rounds: the norm of the gradient; 0: it has none
    const ModelColumns *model;                    // of a row of Rounds; NULL: it has no model of the fitness
    bool (*takes_values)(const Spec *spec);       // of each replicate (Trials.value); NULL: it does not
    bool (*takes_residuals)(const Spec *spec);    // Trials.residual; NULL: it does not
    // Whether an option (by its name) only limits how long the method goes on: an extension may change it, and restore
    // applies it. NULL: no option does.
    bool (*budget)(const Spec *spec, const char *option);
    void (*bounds)(const Search *search, SearchBounds *bounds); // of a method that learns, without limits.trials
    // How a campaign is divided into parts: by searches; gives their number. NULL: by ids of trials.
    int64_t (*searches)(const Spec *spec);
    const Sensitivity *sensitivity; // NULL: it measures none
    // Settings that can't be combined: error (user), and the key of the spec that it is about. NULL: all can.
    Error (*check)(const Spec *spec, const char **key);
    Error (*init)(const Spec *spec, Arena *arena, Search *search); // of a spec that was checked
    // At most `max` more trials; count 0 and *waiting false: there are no more; *waiting: tell first.
    Error (*ask)(Search *search, int64_t max, Trials *trials, bool *waiting);
    // Results in the order of ask. Updates the state.
    Error (*tell)(Search *search, const Trials *trials);
    // Memory for a team, if the method needs some (search_use_team); NULL: it needs none.
    void (*use_team)(Search *search, ThreadTeam *team, Arena *arena);
    // Memory in which a thread computes gradients; NULL or 0: none.
    size_t (*gradient_bytes)(const Search *search);
    // Lanes that a GPU is to go back through at once (search_use_gpu), at most; NULL or 0: none.
    int64_t (*gradient_lanes)(const Search *search, int threads);
    void (*use_gpu)(Search *search, AdjointDevice *device, Arena *arena);
    // After the state was restored from a checkpoint: continue after the last trial told.
    Error (*restore)(Search *search);
    // The parameters of one trial id, as ask would give them: for replay and recording. Error if there is no such
    // trial. NULL: they depend on earlier results, so the parameters of the stored row are used (search_stored_trial).
    Error (*trial)(const Search *search, int64_t id, uint64_t *ordinal, double *parameter);
    // For a method that learns: the ordinal of a trial (search_ordinal). NULL: search_round_ordinal.
    uint64_t (*ordinal)(int64_t round, int64_t member);
    const char *(*stopped)(const Search *search); // reason, NULL while it goes on
    // Trials known beforehand (enumerated_init). `prepare` sets search->total, and search->scratch, which the others
    // may use; NULL: the first option is the total.
    Error (*prepare)(const Spec *spec, Arena *arena, Search *search);
    // Writes the axes' values of an id. Threads call it at once, as they do `repeats`.
    void (*point)(const Search *search, int64_t id, double *parameter);
    // True if an earlier id has the point of this id; parameter: complete. NULL: no two ids have the same point.
    bool (*repeats)(const Search *search, int64_t id, const double *parameter);
    // The number of the point with these values on the axes; -1: no such point. NULL: points are identified by their
    // numbers, and an extension can't change the values of the axes.
    int64_t (*find)(const Search *search, const double *parameter, int64_t hint);
};

// All methods, index from 0 to search_method_count() - 1. search_method_find: NULL if no method has the name.
int search_method_count(void);
const SearchMethod *search_method_at(int index);
const SearchMethod *search_method_find(const char *name);
// What stands for method auto in a spec that was read (search/auto.c), with its settings. Error (user): a setting of
// auto lacks, and *key is the key of the spec that it is about.
typedef struct AutoChoice {
    const SearchMethod *method;
    const double *settings; // [method->n_options]
    const char *why;
} AutoChoice;
Error auto_choose(const Spec *spec, Arena *arena, AutoChoice *out, const char **key);
// Error (user): the method can't run the spec; *key is the key of the spec to change. search_init checks this too.
Error search_check(const Spec *spec, const char **key);
Error search_init(const Spec *spec, Arena *arena, Search *search); // at the first trial; memory in the arena
// From the next ask or tell on, the threads of a team share the work (NULL: the caller does all of it), and a method
// that draws random numbers keeps more of them. No bit changes. Creates the arena, which must outlive the search.
// Without memory for it, a method does not share its work.
void search_use_team(Search *search, ThreadTeam *team, Arena *arena);
// From the next tell on, the device computes gradients (NULL: the threads do), where there are enough of them. No bit
// changes. If the device fails, search->gpu_failed says why, and the threads compute the gradients.
// search_gradient_lanes: lanes that the device should have beside this number of threads; 0: the threads are as fast.
int64_t search_gradient_lanes(const Search *search, int threads);
size_t search_gradient_bytes(const Search *search); // memory of each thread for gradients, bytes
void search_use_gpu(Search *search, AdjointDevice *device, Arena *arena);
#define SEARCH_METHOD_DECLARE(name) extern const SearchMethod search_##name;
SEARCH_METHODS(SEARCH_METHOD_DECLARE)
#undef SEARCH_METHOD_DECLARE

// Maps u in [0, 1] to a value: of a range, with both ends; of n single values, each for 1/n of all u.
double search_value(const Values *values, double u);
// For a range. search_coordinate: the u of a value. search_stretch: d value/d u there.
double search_coordinate(const Values *values, double value);
double search_stretch(const Values *values, double value);
double search_inside(double u); // u clamped to [0, 1]; 0 if NaN

// The ordinal of a trial by its round and its number in the round, both < 2^24, for methods that learn. Trials with the
// same ordinal share the random numbers of their replicates. search_round_ordinal: different for any two trials.
uint64_t search_ordinal(const SearchMethod *method, int64_t round, int64_t member);
uint64_t search_round_ordinal(int64_t round, int64_t member);
// Parts of a campaign (search/part.c). Units are searches of a method that learns, and else ids: part k of N has the
// units [U (k - 1)/N, U k/N) of U, rounded down.
enum { PARTS_MAX = 9999 };
void part_units(PartOf part, int64_t units, int64_t *first, int64_t *end);
// Error (user): the spec can't be divided into N parts. units: of the whole campaign.
Error part_check_spec(const Spec *spec, int64_t units);
typedef struct PartName {
    char text[32];
} PartName;
PartName part_name(PartOf part);                    // "03of16"
bool part_is_named(const char *name, PartOf *part); // the inverse; false: not the name of a part
// Join the parts of a method that learns, when all have ended: search_init of the whole search, search_join of each
// part (copies the state of its searches), search_join_end with the number of all trials.
void search_join(Search *whole, const Search *part);
void search_join_end(Search *whole, int64_t trials);

size_t search_state_most(const Search *search);   // greatest size of the state, bytes
bool search_learns(const SearchMethod *method);   // trials depend on the results of earlier trials
bool search_predicts(const SearchMethod *method); // a model of the fitness chooses them, and its predictions are stored
bool search_takes_values(const Spec *spec);       // tell uses Trials.value
int64_t search_takes_residuals(const Spec *spec); // how many of Trials.residual it uses; 0: it does not
SearchBounds search_bounds(const Search *search); // for any method, limits.trials included

// Starting a search from another campaign (search/cmaes/warm_start.c). The start is stored in spec->warm, and in the
// resolved spec as `search.METHOD.taken` (spec/forms/from.c).
bool warm_is_alike(const Spec *spec, const Spec *other, Arena *arena); // the other spec is cmaes over the same ranges
// Takes the start from the restored state of an alike search. False: none of its searches has a best trial.
bool warm_from_state(Spec *spec, const Search *other, Arena *arena);
// Otherwise the start is taken from the best trials of the other campaign. warm_trials: how many are wanted.
// warm_shared: how many of the searched parameters the other spec has. parameter[count][n_parameters of `other`].
int warm_trials(const Spec *spec);
int warm_shared(const Spec *spec, const Spec *other, Arena *arena);
void warm_from_trials(Spec *spec, const Spec *other, const double *parameter, int count, Arena *arena);
const char *cmaes_taken_text(const Spec *spec, Arena *arena); // spec->warm as the value of `search.cmaes.taken`
// parameter[n_parameters] <- the mean of the distribution of the search with the best fitness; of a restored cmaes.
// False: no search has a best trial, or `exclude` drops the mean.
bool cmaes_mean(const Search *search, double *parameter);

// How many ids, of `most`, can be examined in less than half a second, whatever the spec excludes; at least 1.
int64_t search_affordable(const Search *search, int64_t most);

// Number of trials among the ids [first, end) of a search; *estimated: from a sample of the ids (search/count.c), which
// may hold no trial. Here and below parameter[n_parameters] is room for the trials that are examined.
int64_t count_trials(const Search *search, int64_t first, int64_t end, double *parameter, bool *estimated);
// True: no id of the search, whose trials are known beforehand, stands for a trial. False also if that is not known,
// because there are more ids than can be looked at.
bool count_is_empty(const Search *search, double *parameter);
// The exact number of trials of a whole grid (search/count_grid.c). False: the axes that its conditions use have too
// many points for that.
bool count_grid(const Search *search, int64_t *trials);
bool count_has(const Search *search, int64_t id, double *parameter); // false: the id stands for no trial
// For other counts over these ids: the number of ids that are examined, and the id at `index` of the sample if these
// are not all. The sample follows from the seed, and is independent of all draws of searches.
int64_t count_looked_at(const Search *search, int64_t first, int64_t end);
int64_t count_sampled_id(const Search *search, int64_t first, int64_t end, int64_t index);

// Completes a point of any method. `parameter` holds the fixed values and the axes' values; axes whose condition does
// not hold (`when`) get their fixed value, and derived parameters are computed in order. False: `exclude` or the range
// of a derived parameter drops the trial.
bool search_complete(const Spec *spec, double *parameter);
// True if the condition of conditional axis w holds at this point.
bool search_counts(const Spec *spec, int w, const double *parameter);
bool search_drops(const Spec *spec); // some ids may stand for no trial, because of `exclude` or a derived parameter
// The first of the axes that are zipped with this one; the axis itself if it stands alone.
int search_zip_leader(const Spec *spec, int axis);

// Return errors. For `restore`: the state has another version (user), or is damaged (machine). For `tell`:
// trials[index] is not the trial that was asked for, which only a bug can cause.
Error search_state_of_other(const Search *search, int version);
Error search_state_damaged(const Search *search);
Error search_told_wrong(const Search *search, const Trials *trials, int64_t index);

// Outer grids (search/outer_grid.c). search_outer_fill writes the outer axes' values of search number `search`.
// search_key: the number that keys its random numbers; the k-th search of every outer point has the same.
void search_outer_fill(const Spec *spec, int64_t search, double *parameter);
uint32_t search_key(const Spec *spec, int64_t search);

// Methods whose trials are known beforehand (grid, list, random): a trial is a pure function of spec and id, its
// ordinal is its id, and the state is the id after the last one told. Their rows hold ENUMERATED_METHOD, `point`, and
// `prepare` and `repeats` if they need them. A call of ask examines a bounded number of ids: if all of them are
// dropped, it returns no trial and sets *waiting, and the next call continues. The functions are those of SearchMethod.
Error enumerated_init(const Spec *spec, Arena *arena, Search *search); // Error (user): more than 2^48 trials
void enumerated_begin(Search *search);                                 // goes to the first id of the campaign's part
Error enumerated_ask(Search *search, int64_t max, Trials *trials, bool *waiting);
Error enumerated_tell(Search *search, const Trials *trials);
Error enumerated_restore(Search *search);
Error enumerated_trial(const Search *search, int64_t id, uint64_t *ordinal, double *parameter);
const char *enumerated_stopped(const Search *search); // NULL: they end when ask has no more
#define ENUMERATED_METHOD                                                                                              \
    .init = enumerated_init, .ask = enumerated_ask, .tell = enumerated_tell, .restore = enumerated_restore,            \
    .trial = enumerated_trial, .stopped = enumerated_stopped
Error enumerated_check_total(int64_t total); // error (user): more than 2^48 trials
// The complete parameters of a point of this search, without regard to extensions; false if it is dropped.
bool enumerated_point(const Search *search, int64_t point, double *parameter);
int64_t enumerated_find(const Search *search, const double *parameter, int64_t hint); // -1: no such point

// A search whose spec has segments, because the campaign was extended (search/extension.c).
Error segments_init(Search *search, Arena *arena);
bool segments_fill(const Search *search, int64_t id, double *parameter); // false: the id stands for no trial
// segments_asked_last: the last spec asks for the point. segments_first_new: the first point of the last spec that no
// earlier segment has.
bool segments_asked_last(const Search *search, const double *parameter, int64_t hint);
int64_t segments_first_new(const Search *search, double *parameter);
// True if segment s still decides which trials come and which ids they get, when all ids below `next` are decided. If
// no segment does, all further trials are those of the last spec, at the ids from `next` on.
bool segments_counts(const Search *search, int s, int64_t next, Arena *arena);

// ---- objective and replicates (fitness/objective.c, search/replicates.c) --------------------------------------------

// Whether any replicate has other parameters than its trial.
bool replicates_differ(const Spec *spec);
// Replicates where they are needed (search/race.c). Rung 0 is of all trials, and the last has the spec's replicates.
bool spec_races(const Spec *spec);                         // trials have different numbers of replicates:
bool race_of_all(const Spec *spec);                        // all trials race, when they have run
bool race_of_generations(const Spec *spec);                // the members of each generation race, before they are told
Text32 replicates_each(const Spec *spec);                  // "64"; of a race "4 to 64"
int race_rungs(const Spec *spec);                          // 1: no race
int race_replicates(const Spec *spec, int rung);           // of a trial that ended this rung
int64_t race_kept(const Spec *spec, int64_t trials);       // how many trials of a rung go on
double race_simulations(const Spec *spec, int64_t trials); // of all rungs together
// Copies of the spec: of a rung, whose lanes run the replicates that are new in it; and of a trial that has so many.
Spec race_rung(const Spec *spec, int rung);
Spec race_had(const Spec *spec, int64_t replicates);
// Parameters of one lane: the trial's, with the perturbations of this replicate. lane[n_parameters].
void replicate_parameters(const Spec *spec, int32_t search, uint64_t ordinal, int replicate, const double *trial,
                          double *lane);
// The draws alone: drawn[n_perturb], of each perturbed parameter.
void replicate_draws(const Spec *spec, int32_t search, uint64_t ordinal, int replicate, double *drawn);

// The replicates of a trial as they ran. R: replicates.
typedef struct Replicates {
    const double *parameter;   // [n_parameters] of the trial
    const double *drawn;       // [R][n_perturb] of each perturbed parameter; NULL: no expression names one
    const double *metric;      // [R][n_metrics]
    int *failure;              // [R] codes, 0: none
    const double *information; // the first objective in place of its expression; NULL: it is that
} Replicates;

// What is stored of a trial.
typedef struct TrialResult {
    double fitness;     // NaN: failed, or there are several objectives
    double *objective;  // [spec->objective.count] of several, NaN all of them: failed; else not used
    double *constraint; // [n_constraints] <= 0: met; NaN: every replicate failed
    bool has_fitness;   // has a fitness, or its objectives
    int failure;        // code of the first failed replicate; 0: none
    int n_failed;       // replicates that failed
    double *metric;     // [n_metrics] mean over replicates
    double *spread;     // [n_metrics] standard deviation (n - 1) over replicates; NULL with one replicate
    double *value;      // [spec->objective.count][R] of each replicate; where it failed the penalty, or NaN
    double *room;       // [R]
} TrialResult;

// Replicates with an objective or a constraint that is not finite fail: failure[r] becomes NON_FINITE's code.
void trial_result(const Spec *spec, const Replicates *of, TrialResult *result);

// Rungs of limits.retire (search/rungs.c).
// A copy of the spec whose trials pass so many rungs. With fewer than all they end at the next one.
Spec rungs_passed(const Spec *spec, int passed);
static inline bool rungs_end(const Spec *spec) { return spec->limits.rungs.passed < spec->limits.rungs.count; }
int64_t rungs_kept(const Spec *spec, int rung, int64_t trials); // of the trials of a group that ran to this rung
// Simulated time of `trials` trials of which none fails, in whole trials: without rungs their number.
double rungs_simulated(const Spec *spec, int64_t trials);
// The result of a trial that ends at its rung: `result` was computed up to there. Replicates that had not failed are
// retired; the failure stays that of the first that had.
void rungs_retire(const Spec *spec, const Replicates *of, TrialResult *result);
Error rungs_check(const Spec *spec); // error (user): why trials can't be compared so
// The copy of a spec that has a race of all trials or rungs, for rows that ended with this rung of it (0 to
// race_rungs - 1): how many replicates they have, or how long they ran.
Spec race_ended_with(const Spec *spec, int rung);
// "limits.retire", "replicates.race": the key by which results of trials decide what others run; NULL: none.
const char *spec_compares(const Spec *spec);
// Returns only the first objective of the trial; also sets result->constraint and value, but not metric and spread.
double trial_objective(const Spec *spec, const Replicates *of, TrialResult *result);
// scope[n_metrics + n_parameters] <- values of replicate r for the expressions of objectives and constraints.
void replicate_scope(const Spec *spec, const Replicates *of, int r, double *scope);
bool spec_names_drawn(const Spec *spec); // an objective or a constraint names a perturbed parameter

// ---- the gradient of a trial by the model's adjoint (search/trial_gradient.c) --------------------------------------

// Error (user): the model has no derivatives with these settings, or a metric of the objective has none.
Error trial_gradient_check(const Spec *spec);
Error trial_residuals_check(const Spec *spec);     // the same, of residuals by the tangent
Error trial_gradient_check_axes(const Spec *spec); // error (user): nothing depends smoothly on a searched parameter
bool trial_gradient_goes_back(const Spec *spec);   // they are by the adjoint too, not by the tangent alone
// True if the fitness depends smoothly on parameter p and on all parameters that are derived from p.
bool trial_gradient_has(const Spec *spec, int p);
// How gradients are computed: by the adjoint, on a GPU or this processor, or by the tangent, one run per parameter.
typedef struct GradientMeans {
    size_t most;           // bytes for the states of an adjoint on the processor, as in AdjointLanes
    AdjointDevice *device; // NULL: the processor, as for tangents that the device has not. Of a spec without cases
    int tangents;          // by the tangent, for at most this number of parameters; 0: by the adjoint
} GradientMeans;
// Computes gradients of trials of one spec. configured: from spec_build. trial_gradient_trials: how many trials a call
// takes at most. trial_gradient_bytes: what trial_gradient_take needs of the arena.
typedef struct TrialGradient TrialGradient;
int trial_gradient_trials(const Spec *spec, const GradientMeans *means);
size_t trial_gradient_bytes(const Spec *spec, const Configured *configured, const GradientMeans *means);
TrialGradient *trial_gradient_take(const Spec *spec, const Configured *configured, const GradientMeans *means,
                                   Arena *arena);
typedef struct GradientTrials {
    int count;
    const int32_t *search;          // [count]
    const uint64_t *ordinal;        // [count]
    const double *parameter;        // [count][n_parameters]
    bool (*leaves)(const void *of); // AdjointLanes
    const void *of;
} GradientTrials;
// The derivatives of the fitness of each trial with respect to `parameters`; others that are derived of these follow.
typedef struct GradientSlopes {
    const int *parameters; // [count]
    int count;
    double *slope; // [trials][count]; NaN: the trial has no fitness, or it is that of failed replicates, a constant
    double *each; // [trials][replicates][count] of each replicate's objective; NaN: it does not count; NULL: not wanted
    double *growth; // [trials] (Adjoint.back), the greatest of the replicates; NaN: there is none; NULL: not wanted
} GradientSlopes;
// The bits do not depend on the number of trials in a call, nor on the device; those of the tangent differ by rounding.
// Error (interrupted): trials->leaves returned true. Only a device has other errors.
Error trial_gradients(TrialGradient *gradient, const GradientTrials *trials, const GradientSlopes *out);
// After trial_gradients by the adjoint on the processor: why slopes are missing, and *time (s) of what is the reason;
// NULL: none is.
const char *trial_gradient_trouble(const TrialGradient *gradient, double *time);

// ---- residuals of a trial (search/trial_residuals.c) ---------------------------------------------------------------

// residual[spec_residuals] of a trial with one replicate of each case, whose residuals are all expressions; NaN: it
// failed.
void trial_residuals_of(const Spec *spec, const Replicates *of, double *residual);
// Runs trials of one spec along parameters with dual numbers. configured: from spec_build. trial_residuals_bytes: what
// trial_residuals_take needs of the arena.
typedef struct TrialResiduals TrialResiduals;
size_t trial_residuals_bytes(const Spec *spec, const Configured *configured);
TrialResiduals *trial_residuals_take(const Spec *spec, const Configured *configured, Arena *arena);
// residual[residual_count] and slope[n][residual_count], their derivatives with respect to the parameters p[n]; those
// that are derived of them follow. n: at most Adjoint.directions. Returns how many there are; 0: the trial failed. The
// bits along a parameter depend on the other arguments alone.
int64_t trial_residuals_along(TrialResiduals *residuals, int32_t search, uint64_t ordinal, const double *parameter,
                              const int *p, int n, double *residual, double *slope);
// slopes[n_parameters]: how the parameters change with parameter p, those that are derived of it too.
void parameters_follow(const Spec *spec, const double *parameter, int p, double *slopes);

// ---- what residuals tell (search/information.c) --------------------------------------------------------------------

enum { INFORMATION_MOST = 64 }; // parameters
// The failure of a plan that leaves a combination of its parameters open.
#define UNDETERMINED "undetermined"
// Memory for the information of trials of one spec, whose `configured` is built. NULL, 0: its objective is another.
typedef struct Information Information;
size_t information_bytes(const Spec *spec);
Information *information_take(const Spec *spec, Arena *arena);
// The criterion of a trial; infinite: the residuals leave a combination of the parameters open; NaN: the run failed.
double information_of(Information *information, int32_t search, uint64_t ordinal, const double *parameter);
double information_size(double value); // that errors are relative to
static inline const char *information_criterion(const Spec *spec)
{
    return spec->objective.information.criterion == INFORMATION_A ? "A" : "D";
}

// The violation of a trial: the sum of its constraints that are above 0 (fitness/constraints.c).
double constraints_violation(const double *constraint, int count);
// constraint_is_inequality: the expression is an inequality, or several joined by and, or, not. constraint_value: its
// value for scope[names], <= 0 if it holds.
bool constraint_is_inequality(const Expression *expression);
double constraint_value(const Expression *expression, const double *scope);

// ---- several objectives (fitness/dominance.c, fitness/hypervolume.c) ------------------------------------------------
// Points are costs (spec_cost): less is better. A point dominates another if it is nowhere worse and somewhere better;
// a front is what no other point dominates, equal points included.

// rank[count] <- 0 for points of the front, 1 for the front of the rest, and so on; crowding[count] <- the crowding
// distance within the rank, infinite for the ends. value[count][objectives]: no NaN. room[dominance_bytes(count)].
size_t dominance_bytes(int64_t count);
void dominance_sort(const double *value, int64_t count, int objectives, void *room, int64_t *rank, double *crowding);

// The volume that value[count][objectives] dominates below the reference point. NaN: there are more than
// hypervolume_points(objectives) points, which would take longer than a fraction of a second. room[hypervolume_bytes].
int64_t hypervolume_points(int objectives);
size_t hypervolume_bytes(int64_t count, int objectives);
double hypervolume(const double *value, int64_t count, int objectives, const double *reference, void *room);

// True if the model of the spec has a metric of that name.
bool spec_has_metric(const Spec *spec, const char *name);

#endif
