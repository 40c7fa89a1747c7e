// runner: what the user drives. Spec, expressions, search methods, plan, objective, the campaign loop and its store,
// and the commands. The only layer that knows what a campaign is.
#ifndef HOPSCOTCH_RUNNER_H
#define HOPSCOTCH_RUNNER_H

#include "../io/io.h"
#include "../sim/sim.h"
#include "experiment/spec/limits.h"

#define HOPSCOTCH_VERSION "0.1.0"

// ---- expressions (expression/expression.c) --------------------------------------------------------------------------
// + - * / ^, comparisons (< <= > >= = == != ), and/or/not, min max abs sqrt exp log sin cos, numbers, names, and texts
// in single quotes (only compared for equality). Depth <= 64, length <= 4096. Evaluated with our own elementary
// functions, so the same bits everywhere. Truth is 1 and 0.

typedef struct Expression Expression;

// Names that an expression may use, in the order of the values that evaluate() is given.
typedef struct Scope {
    const char *const *names;
    int count;
    const char *const *texts; // names of text columns (only `=` and `!=` with a quoted text), for --where
    int n_texts;
} Scope;

// `at` is the scalar that holds the text; errors are diagnosed at the character. NULL if there was one.
Expression *expression_parse(const Node *at, const Scope *scope, Arena *arena, Diagnostics *diagnostics);
// The same from the command line: error (user) with the text, a caret and the nearest name.
Error expression_parse_text(const char *text, const char *what, const Scope *scope, Arena *arena, Expression **out);
double expression_value(const Expression *expression, const double *values);
bool expression_uses(const Expression *expression, int name);
int64_t expression_cost(const Expression *expression); // additions that its evaluation takes as long as, about
// As SQL with ? for every constant: for `--where` and `--order`. *parameters: what to bind, in order.
typedef struct SqlValue {
    bool is_text;
    double number;
    const char *text;
} SqlValue;
Error expression_sql(const Expression *expression, Arena *arena, const char **sql, SqlValue **values, int *count);
// Canonical text: parsing it again gives the same expression.
const char *expression_text(const Expression *expression, Arena *arena);

// ---- the spec (spec/spec.c, spec/keys.c, spec/values.c, spec/resolve.c) ---------------------------------------------

// Values along an axis, never expanded: value i of `count`.
typedef enum ValuesForm { VALUES_LIST, VALUES_LINSPACE, VALUES_LOGSPACE, VALUES_ARANGE, VALUES_RANGE } ValuesForm;

typedef struct Values {
    ValuesForm form;
    double low, high, step;  // RANGE: bounds; ARANGE: start, greatest value allowed, step
    bool log_scale, integer; // RANGE
    double sigma;            // RANGE, for cmaes: part of it that is the step size at the start; 0: the method's
    const double *list;
    int64_t count; // 0 for RANGE
} Values;

double values_at(const Values *values, int64_t index); // ends exact; logspace by portable exp and log
// The place of x among them, up to rounding; -1: it is none of them. `hint`: where a list is looked at first.
int64_t values_find(const Values *values, double x, int64_t hint);

// A searched parameter: either an axis (values or range) or derived from others.
typedef struct Axis {
    int parameter; // index in configured.parameters
    Values values;
    int zip;                  // axes with the same zip number >= 0 advance together; -1: on its own
    const Expression *derive; // over configured.parameters' names; NULL: an axis
    bool partial;             // some trials have the parameter's fixed value instead
} Axis;

// A block of a union of grids: its values of each axis of the spec.
typedef struct Block {
    const Values *values; // [n_axes]; count 0: the parameter's fixed value
    const int *zip;       // [n_axes] as Axis.zip, within the block
} Block;

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

// Of a campaign's folder: copies of the files that its model reads, under the names of their digests.
#define CAMPAIGN_FILES "files"
// And a results root of its own: the campaigns that verify and compare made of it.
#define CAMPAIGN_MADE "verify"

// A file that the model reads. What it holds is part of the spec's identity, its name is not.
typedef struct SpecFile {
    const char *name; // below the folder of the spec; NULL: none is given
    Sha256Text digest;
} SpecFile;

// What --set says, "key.path=value" each, in the order in which it is applied.
typedef struct Overrides {
    const char **items; // [count]
    int count;
} Overrides;

typedef struct Spec {
    const char *file, *text; // as given
    Overrides overrides;     // of the text, on the command line
    const char *experiment;
    uint64_t seed; // < 2^53
    const Model *model;
    const double *settings;      // [model->n_options]
    const Points *option_points; // [model->n_options + n_lists]: of the options, then of the model's lists
    const SpecFile *files;       // [model->n_options]: of the OPTION_FILEs
    Configured configured;
    const double *fixed; // [n_parameters]: value of each parameter that is not searched

    const SearchMethod *method;
    const double *method_settings;  // [method->n_options]
    const Axis *axes;               // [n_axes + n_derived + n_outer] in the order of the spec: axes, derived, outer
    int n_axes, n_derived, n_outer; // derived ones stand at axes[n_axes ...], outer ones behind them
    struct {                        // of the outer axes (search/outer.c); unused if there are none
        int64_t points, searches;   // searches: of each point
        int64_t first;              // number of the first search
    } outer;
    const Block *blocks; // [n_blocks] of `union`; n_blocks 0: the axes are the grid
    int n_blocks;
    const When *when; // [n_when] in the order in which they are decided
    int n_when;
    const Expression *const *exclude; // over configured.parameters' names
    int n_exclude;
    const double *points; // list: [n_points][n_axes]
    int64_t n_points;
    const double *inject; // cmaes: [n_inject][n_axes] points of its first generation
    int n_inject;
    struct {                             // cmaes: where another campaign says to start (search/cmaes/warm_start.c)
        const char *from;                // its name; NULL: none
        const Node *at;                  // where the spec names it
        const char *hash;                // of its spec
        const double *mean, *covariance; // [n_axes] in coordinates, NULL: not taken yet; [n_axes], or by rows the lower
        bool full;                       // triangle
        double sigma;                    // 0: the option's
    } warm;

    struct {
        int count;
        bool common, store;
        const Perturbation *perturb;
        int n_perturb;
    } replicates;

    struct {
        const Expression *const *expression; // [count] over the metrics' names, then the parameters' names
        int count;                           // several: a trial has no fitness then, but a value of each
        bool maximize[OBJECTIVES_MAX];       // [count] more is better; the minimised ones come first
        const double *reference;             // [count] where hypervolumes are measured from; NULL: the search decides
        Over over;
        double quantile;
        Failed failed;
        double penalty;
    } objective;
    const Expression *const *constraints; // [n_constraints] over the objective's names (fitness/constraints.c)
    int n_constraints;

    struct {
        bool trajectories;         // any
        const char *const *bodies; // [n_bodies] names and patterns of what has columns; n_bodies 0: as the model likes
        int n_bodies;
        Selection select;
        bool all_replicates;          // else the first
        double sample;                // s between samples; a multiple of the tick (spec_sample_ticks)
        int64_t first_tick, end_tick; // of a replay: samples of these ticks only; end 0: of all
        bool float64, gzip;
        struct {
            bool wanted; // any
            Selection select;
            bool failed_only;    // of the lanes that failed
            bool all_replicates; // else the first; those that failed are looked for among all
            double window[2];    // s: what happens in [0] <= t < [1]; both 0: always
            int64_t keep;        // the last so many rows of a lane; 0: all
        } debug;
    } record;

    struct {
        int64_t trials;   // 0: none
        double wall_time; // s; 0: none
        double failures;  // fraction of the trials; 1: none
    } limits;

    struct {
        const char *backend; // auto | cpu | cuda
        int64_t batch;       // lanes; 0: auto
    } device;

    // Of a campaign that was extended: what it was asked for, one spec after the other, this one last (segments.c).
    const struct Segment *segments; // [n_segments]; n_segments 0: it never was
    int n_segments;

    const char *resolved;  // every key with its value, as YAML that reads back to the same spec
    Sha256Text hash;       // of what can change a number (spec_and_search.md), from the canonical text
    const char *canonical; // that text: one "path = value" a line, sorted; two specs are compared line by line
} Spec;

// One of the specs of a campaign that was extended, and the ids of its trials. A point that an earlier one asks for too
// keeps the id that it has there.
typedef struct Segment {
    const Spec *spec; // NULL: the one that holds the segments
    int64_t first_id; // the id of point `first_point` of its search; the points before it have earlier ids
    int64_t first_point;
    int64_t decided; // when it was appended, the ids below this one had been run or dropped: nothing changes them
} Segment;

// Reads, checks and configures. `overrides` are "key.path=value" texts of --set. Every error is in `diagnostics`, found
// in one pass; the returned Error is ERROR_USER with a summary if there were any.
Error spec_load(const char *path, const char *const *overrides, int n_overrides, Arena *arena, Diagnostics *diagnostics,
                Spec *out);
Error spec_parse(const char *file, const char *text, const char *const *overrides, int n_overrides, Arena *arena,
                 Diagnostics *diagnostics, Spec *out);
bool spec_several(const Spec *spec); // several objectives
// Fitness and objectives are stored and shown as the user's expression gives them. What compares them takes their cost,
// of which less is better: the value itself, or its negative if the objective is maximised. Its own inverse; NaN is
// passed through. spec_better: whether a is better than b in objective k; false if one of them is NaN.
double spec_cost(const Spec *spec, int k, double value);
bool spec_better(const Spec *spec, int k, double a, double b);
// Its expression, with "maximise " before it if it is.
const char *objective_text(const Spec *spec, int k, Arena *arena);
const char *model_debug_group(const Model *model); // "debug/newton": where its debug rows stand in a shard
const char *model_debug_name(const Model *model);  // "newton"
// The spec's `configured` with all that a run needs (spec/files.c): what the model builds, from its files. Those lie
// in the folder of the spec's file, or, of a campaign, under the name of their digest in its own CAMPAIGN_FILES. What
// is built is in the arena. Error: a file is not there or has changed (user), or what it holds makes no sense (user).
Error spec_build(const Spec *spec, Arena *arena, Configured *out);
// The spec's `configured` with columns for all things of the model, the bodies of a world, with the same inputs and
// metrics (spec/things.c): what its drawing asks for.
Error spec_choose_all(const Spec *spec, Arena *arena, Configured *out);
// Does a name match a pattern, in which `#` stands for a number? Marks the things that do, of "all" each; gives how
// many. The name that is nearest to a pattern that none matches; NULL: none is near.
bool things_match(const char *pattern, const char *name);
int things_mark(const Configured *configured, const char *pattern, bool *chosen);
const char *things_nearest(const Configured *configured, const char *pattern, Arena *arena);
// Copies of the spec's files in the campaign's folder, where there are none yet.
Error spec_keep_files(const Spec *spec, const char *folder);
// Ticks between two samples of a trajectory; 1 for a model without time.
int64_t spec_sample_ticks(const Spec *spec);
// Debug rows are made in the ticks [*first, *end); a lane makes at most so many, of which it keeps so many.
void spec_debug_ticks(const Spec *spec, int64_t *first, int64_t *end);
int64_t spec_debug_rows(const Spec *spec);
// The JSON schema (draft 2020-12) of specs, all models and methods, from the same tables.
void spec_schema(FILE *out);
// The key table, for `help spec` and the reference page.
void spec_reference(FILE *out);

// What differs between two specs, by key (spec/difference.c).
typedef struct SpecChange {
    const char *key, *from, *to; // NULL: not there
    bool free;                   // an extension may change it: the rows that exist keep their meaning
} SpecChange;
int64_t difference_find(const Spec *stored, const Spec *given, Arena *arena, SpecChange **changes); // sorted; count
void difference_print(const SpecChange *changes, int64_t count, FILE *out);

// ---- search methods (search/search.c and one file a method) ---------------------------------------------------------

// A block of trials that belong together: what ask gives and tell takes back.
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
} Trials;

// What a search that learns says of one of its rounds: some numbers that all such methods have, and a row of its own.
typedef struct Round {
    int32_t search, round;
    int64_t population, evaluations; // of the round; of the search so far
    double sigma, condition, best;   // NaN: has no meaning; best: fitness of the search so far
    bool has_front;                  // of several objectives:
    int64_t front;                   // members that no other one dominates
    double hypervolume;              // of these; NaN: there is none
    const char *stop;                // why the search, or a restart of it, ended with this round; NULL: it goes on
} Round;

typedef struct Rounds {
    int64_t count, capacity;
    Round *row;
    double *field; // [capacity][n_round_fields]
} Rounds;

// Why a search ended with its last round, by the budgets that it has now.
typedef struct RoundStop {
    int32_t search, round;
    const char *stop; // NULL: it goes on
} RoundStop;

typedef struct Search {
    const Spec *spec;
    const SearchMethod *method;
    int64_t total;        // trials that it will ask for, ids included that `exclude` drops; -1: unknown
    int64_t round_trials; // of the first round, if the total is unknown
    void *state;          // one versioned, pointer-free block: what is checkpointed after tell
    size_t state_size;
    size_t state_capacity;     // a state that grows: the greatest size; 0: it has always the same
    int64_t asked;             // ids below this were asked for in this process (not part of the state)
    const Field *round_fields; // [n_round_fields] of a row of Rounds; column 0 numbers the rounds
    int n_round_fields;        // 0: the method has no rounds
    Rounds *rounds;            // where tell puts the rounds that end; NULL: nowhere
    RoundStop *stops;          // [n_stops] what restore says of searches whose budgets an extension may change
    int64_t n_stops;
    void *scratch;                    // the method's own, the arena's
    struct SegmentedSearch *segments; // of a campaign that was extended (search/segments.c), else NULL
} Search;

// Blocks of trials that belong together: fitness[blocks][trials of a block], of which chosen[count] count.
typedef struct SensitivityBlocks {
    const double *fitness;
    const int64_t *chosen;
    int64_t count; // >= 2
} SensitivityBlocks;

// What a method says of its parameters once all trials were run (analysis/sensitivity.c).
typedef struct Sensitivity {
    const char *const *measures; // [n_measures] names
    int n_measures, main;        // main: what parameters are ranked by
    int64_t (*block)(const Spec *spec);
    void (*measure)(const Search *search, const SensitivityBlocks *blocks, double *out); // out[n_axes][n_measures]
} Sensitivity;

// How many trials a search that learns runs, and how many generations (of all its searches together): as doubles, for
// they may be beyond any number that is ever run.
typedef struct SearchBudget {
    double trials, rounds;
} SearchBudget;
typedef struct SearchBounds {
    SearchBudget least, most;
    bool open;         // `most` is so far away that it says nothing
    const char *early; // what may end it before: "tolerances"; NULL: it ends with `most`
} SearchBounds;

struct SearchMethod {
    const char *name, *doc;
    const Option *options; // keys of `search:` that belong to it
    int n_options;
    bool wants_values, wants_range, wants_points; // what `over` may hold
    bool wants_sigma, wants_outer;                // a range may have one; it takes an outer grid
    bool whole;                                   // with other options all points are others: can't be extended
    bool several;                                 // for several objectives, and not for one
    // Whether an option of the method (by its name) only says how long it goes on: an extension may change it, and
    // restore heeds it. NULL: none does.
    bool (*budget)(const Spec *spec, const char *option);
    void (*bounds)(const Search *search, SearchBounds *bounds); // of a method that learns, without limits.trials
    const Sensitivity *sensitivity;                             // NULL: it measures none
    // Of settings that can't go together: error (user), and the key of the spec that it is about. NULL: all can.
    Error (*check)(const Spec *spec, const char **key);
    Error (*init)(const Spec *spec, Arena *arena, Search *search); // of a spec that was checked
    // At most `max` more trials; count 0 and *waiting false: there are no more; *waiting: tell first.
    Error (*ask)(Search *search, int64_t max, Trials *trials, bool *waiting);
    // Results in the order of ask. Updates the state.
    Error (*tell)(Search *search, const Trials *trials);
    // After the state was restored from a checkpoint: continue behind what was told.
    Error (*restore)(Search *search);
    // The parameters of one trial id, as ask would give them: for replay and recording. Error if there is no such
    // trial. NULL: they depend on what was told; then they are those of the stored row (search_stored_trial).
    Error (*trial)(const Search *search, int64_t id, uint64_t *ordinal, double *parameter);
    const char *(*stopped)(const Search *search); // reason, NULL while it goes on
    // Trials known beforehand: the number of the point with these values on the axes, -1 if there is none. NULL: points
    // are told by their number, and the values of the axes can't change when a campaign is extended.
    int64_t (*find)(const Search *search, const void *data, const double *parameter, int64_t hint);
};

int search_method_count(void);
const SearchMethod *search_method_at(int index);
const SearchMethod *search_method_find(const char *name);
// What the method has against the spec: error (user), in *key what it is about. search_init checks too.
Error search_check(const Spec *spec, const char **key);
Error search_init(const Spec *spec, Arena *arena, Search *search);
extern const SearchMethod search_grid, search_list, search_csv, search_random, search_latin_hypercube, search_sobol,
    search_centered, search_morris, search_sobol_indices, search_cmaes, search_nsga2;

// u in [0, 1] to a value of a range, both ends included, or to one of its values, each with the same chance.
double search_value(const Values *values, double u);

// The ordinal of the member-th trial of a search's round, for methods that learn. round < 2^24, member < 2^24.
uint64_t search_round_ordinal(int64_t round, int64_t member);
size_t search_state_most(const Search *search);   // bytes that its state may come to
bool search_learns(const SearchMethod *method);   // its trials depend on the results of others
SearchBounds search_bounds(const Search *search); // of all methods, up to limits.trials

const char *cmaes_taken_text(const Spec *spec, Arena *arena);
bool warm_is_alike(const Spec *spec, const Spec *other, Arena *arena);
bool warm_from_state(Spec *spec, const Search *other, Arena *arena);
int warm_shared(const Spec *spec, const Spec *other, Arena *arena);
void warm_from_trials(Spec *spec, const Spec *other, const double *parameter, int count, Arena *arena);
// The complete parameters of a trial that is stored (store/stored_trial.c).
Error search_read_trial(const Search *search, Database *database, int64_t id, Arena *arena, double *parameter);

// Of `most` ids so many can be looked at in less than half a second, whatever the spec excludes; at least one.
int64_t search_affordable(const Search *search, int64_t most);

// Trials among the ids [first, end) of a search; *estimated: from a sample of them (search/count.c), in which there may
// have been none. Here and below
// parameter[n_parameters] is for the trials that are looked at.
int64_t count_trials(const Search *search, int64_t first, int64_t end, double *parameter, bool *estimated);
// Of a whole grid, exactly, if the axes that its conditions use have few points (search/count_grid.c). False: it can't
// say.
bool count_grid(const Search *search, int64_t *trials);
bool count_has(const Search *search, int64_t id, double *parameter); // its own parameters, if there is such a trial
// For other counts over so many ids: how many are looked at, and the index-th of them if that is not all. The sample is
// the same for the same seed, and apart from every search's own draws.
int64_t count_looked_at(const Search *search, int64_t first, int64_t end);
int64_t count_sampled_id(const Search *search, int64_t first, int64_t end, int64_t index);

// What every method does to a point: `parameter` holds the fixed values and the axes' values; axes that do not count
// there (`when`) get their fixed value, and the derived ones are filled in, in order. False: there is no such trial,
// because `exclude` or the range of a derived parameter drops it.
bool search_complete(const Spec *spec, double *parameter);
// Whether the w-th conditional axis counts at this point.
bool search_counts(const Spec *spec, int w, const double *parameter);
bool search_drops(const Spec *spec); // some ids may stand for no trial
// The first of the axes that are zipped with this one; the axis itself if it stands alone.
int search_zip_leader(const Spec *spec, int axis);

// What `restore` says of a state that is not of the version that this program reads, or not whole; what `tell` says of
// trials[index] if it is not what was asked for, which only a bug could make.
Error search_state_of_other(const Search *search, int version);
Error search_state_damaged(const Search *search);
Error search_told_wrong(const Search *search, const Trials *trials, int64_t index);
// What the model says of the trials of a spec before they run (plan/explain.c): remarks[REMARKS_MAX]; at most a few
// thousand trials are looked at. And its warnings, a line each.
Error explain(const Spec *spec, const Search *search, Arena *arena, Remark *remarks, int *count);
Error explain_warn(const Spec *spec, Arena *arena, FILE *out);

// Outer grids (search/outer.c): what a search of that number has for the outer axes; the number that its random
// numbers are keyed by, the one that it would have without an outer grid.
void search_outer_fill(const Spec *spec, int64_t search, double *parameter);
uint32_t search_key(const Spec *spec, int64_t search);

// Methods whose trials are known beforehand (grid, list, random): a trial is a pure function of spec and id, its
// ordinal is its id, and the state is the id after the last one told. A method gives `point`, which writes the axes'
// values of an id, and may give `repeats`, which says that an id's point (complete) is that of another id; `data` (the
// arena's) is for them. A call of ask examines a bounded number of ids: if all were dropped,
// it gives none and *waiting, and the next call goes on.
typedef struct Enumeration {
    void (*point)(const Search *search, const void *data, int64_t id, double *parameter);
    const void *data;
    bool (*repeats)(const Search *search, const void *data, int64_t id, const double *parameter); // NULL: none does
} Enumeration;
Error enumerated_init(Enumeration enumeration, int64_t total, Arena *arena, Search *search); // total <= 2^48
Error enumerated_ask(Search *search, int64_t max, Trials *trials, bool *waiting);
Error enumerated_tell(Search *search, const Trials *trials);
Error enumerated_restore(Search *search);
Error enumerated_trial(const Search *search, int64_t id, uint64_t *ordinal, double *parameter);
const char *enumerated_stopped(const Search *search); // never: they end when ask has no more
#define ENUMERATED_METHOD                                                                                              \
    .ask = enumerated_ask, .tell = enumerated_tell, .restore = enumerated_restore, .trial = enumerated_trial,          \
    .stopped = enumerated_stopped
Error enumerated_check_total(int64_t total);
// The complete parameters of a point of this search alone, extended or not; false if it is dropped.
bool enumerated_point(const Search *search, int64_t point, double *parameter);
int64_t enumerated_find(const Search *search, const double *parameter, int64_t hint); // -1: no such point

// Of a search whose spec has segments (search/segments.c).
Error segments_init(Search *search, Arena *arena);
bool segments_fill(const Search *search, int64_t id, double *parameter); // false: there is no such trial
// Whether the last spec asks for the point; the first of its points that no earlier segment has.
bool segments_asked_last(const Search *search, const double *parameter, int64_t hint);
int64_t segments_first_new(const Search *search, double *parameter);
// Whether the s-th segment still says which trials come and which ids they get, when all ids below `next` are decided.
// If none does, the trials to come are those that the last spec alone has at the ids from `next` on.
bool segments_counts(const Search *search, int s, int64_t next, Arena *arena);

// ---- objective and replicates (fitness/objective.c, fitness/replicates.c) -------------------------------------------

// Parameters of one lane: the trial's, with the perturbations of this replicate. lane[n_parameters].
void replicate_parameters(const Spec *spec, int32_t search, uint64_t ordinal, int replicate, const double *trial,
                          double *lane);

// What is stored of a trial.
typedef struct TrialResult {
    double fitness;    // NaN: failed, or there are several objectives
    double *objective; // [spec->objective.count] of several, NaN all of them: failed; else not used
    bool good;         // has a fitness, or its objectives
    int failure;       // code of the first failed replicate; 0: none
    int n_failed;      // replicates that failed
    double *metric;    // [n_metrics] mean over replicates
    double *spread;    // [n_metrics] standard deviation (n - 1) over replicates; NULL with one replicate
    double *value;     // [replicates] room for the objective of each: there may be too many for a stack
} TrialResult;

// metric[r*n_metrics + m], failure[r] of the replicates; parameter[n_parameters] of the trial.
void trial_result(const Spec *spec, const double *parameter, const double *metric, const int *failure,
                  TrialResult *result);

// Its constraints: out[n_constraints] <= 0: met; NaN: every replicate failed (fitness/constraints.c). Their violation
// is the sum of those above 0.
void trial_constraints(const Spec *spec, const double *parameter, const double *metric, const int *failure,
                       double *out);
double constraints_violation(const double *constraint, int count);
// Whether an expression is an inequality, or several with and, or, not; what it is then for scope[names].
bool constraint_is_inequality(const Expression *expression);
double constraint_value(const Expression *expression, const double *scope);

// ---- several objectives (fitness/dominance.c, fitness/hypervolume.c, analysis/front.c) ------------------------------
// Points are costs (spec_cost): less is better. A point dominates another if it is nowhere worse and somewhere better;
// a front is what no other point dominates, equal points included.

// Of value[count][objectives], none NaN: rank 0 for the front, 1 for the front of the rest, and so on; and each point's
// crowding distance within its rank, infinite for the ends. Room: dominance_bytes(count).
size_t dominance_bytes(int64_t count);
void dominance_sort(const double *value, int64_t count, int objectives, void *room, int64_t *rank, double *crowding);

// The volume that value[count][objectives] dominates below the reference point. NaN: there are more points than can be
// measured in a fraction of a second, which are hypervolume_points(objectives). Room: hypervolume_bytes.
int64_t hypervolume_points(int objectives);
size_t hypervolume_bytes(int64_t count, int objectives);
double hypervolume(const double *value, int64_t count, int objectives, const double *reference, void *room);

// The trials of a campaign that none of its others dominates, by the first objective, the second, ..., the id.
typedef struct Front {
    int64_t count, capacity;
    int objectives;
    bool maximize[OBJECTIVES_MAX]; // [objectives]
    int64_t *id;                   // [count]
    double *value;                 // [count][objectives], costs: of a maximised column the negative
} Front;
double front_value(const Front *front, int64_t place, int k); // as it is stored

// By these columns of the table trials, of the trials that did not fail and meet the constraints. Trials that miss one
// of them are left out.
Error front_read(Database *database, const Spec *spec, const char *const *columns, int objectives, Arena *arena,
                 Front *front);
Error front_read_objectives(Database *database, const Spec *spec, Arena *arena, Front *front); // the spec's own
void front_free(Front *front);
// The i-th of `wanted` points, spread evenly over the front with both its ends.
int64_t front_spread(const Front *front, int64_t wanted, int64_t i);

// ---- the store of a campaign (store/store.c): campaign.db, shards, catalogue ----------------------------------------
//
//   campaign     one row: id = 1, name, experiment, model, spec, resolved, canonical, hash, seed, program_version,
//                numerics_version, compiler, commit_id, host, created, started, finished, state ('running',
//                'interrupted', 'stopped', 'done'), reason, trials_total (NULL: not known), replicates, trials_most (at
//                most so many, where the total is not known)
//   searches     id, method, state BLOB (after the last tell), previous BLOB, stop_reason
//   rounds       search, round, debug BLOB (a row of doubles), population, evaluations, sigma, condition, best, stop:
//                of methods that learn, a row a generation; stop: why the search, or a restart of it, ended with it
//   fronts       search, round, front, hypervolume: of the rounds of methods for several objectives
//   batches      id, first_trial, last_trial, trials, failures, lanes, backend, device, version, numerics_version,
//                kernel_seconds, wait_seconds, wall_seconds, committed, copy_seconds, search_seconds, hdf5_seconds,
//                sqlite_seconds (store/timings.c)
//   trials       id, search, round, one REAL column a searched parameter (in the spec's order, derived ones too),
//                fitness REAL, of several objectives objective_1 REAL, objective_2 REAL, ..., with constraints
//                violation REAL (0: all are met), constraint_1 REAL, ..., failure TEXT NOT NULL ('none'), n_failed
//                INTEGER, one REAL column a metric, and with several replicates one `<metric>_std` each. STRICT. NULL:
//                failed; with several objectives fitness always is.
//   replicates   trial, replicate, failure, one REAL column a metric; when the spec stores them
//   shards       id, name, bytes, sha256
//   trajectories trial, replicate, shard, row, samples, recipe: where a trajectory is, and how it was sampled
//   debug_rows   the same columns: where debug rows are
//   outer_points search, parameter, value: what a search of an outer grid has for the outer parameters
//   round_rows   search, first, last, shard, row: the rounds that a lane of a shard holds
//   sensitivity  parameter, measure, value, low, high, blocks, left_out: of morris and sobol_indices
//   segments     id, spec, resolved, hash, first_id, first_point, decided, time: the specs of a campaign that was
//                extended, in order; none if it never was
//   overrides    id, key, value: what --set changed in the spec, and an extension keeps (store/overrides.c)
//   retries      id, kinds, next, end, trials, recovered, changed, time, finished: requests to run failed trials again
//   events       id, time, kind, text
//   tags         tag;  notes  time, text
//   origin       purpose, campaign, hash, trial, fitness, time: of what it was made (store/origin.c)
//   digests      name (of a table), block, rows, digest: what `doctor` compares the rows with (store/seal.c)
//
// Best first is always: ORDER BY fitness IS NULL, violation, fitness, survived DESC, id; `fitness DESC` if the spec
// maximises it.

// What lies in a campaign's folder, and the catalogue beside the folders.
#define CAMPAIGN_DATABASE "campaign.db"
#define CAMPAIGN_LOCK "campaign.lock"
#define CAMPAIGN_SHARDS "shards"
#define CAMPAIGN_QUARANTINE "quarantine" // shards that recovery put aside
#define CAMPAIGN_STOP "stop"             // asks the run to end (campaign/interrupt.c)
#define CATALOGUE_DATABASE "index.db"
#define CATALOGUE_LOCK "index.lock"

#define STORE_APPLICATION_ID 0x484F5053 // "HOPS"
#define STORE_SCHEMA_VERSION 7          // steps from older ones: store/migration.c

typedef struct Store Store;

typedef struct StoreRecovery {
    int temporary_files, orphan_shards, missing_shards;
} StoreRecovery;

// results/NAME: names are 1-128 of [A-Za-z0-9._-], not starting with '.' or '-'. Error (user) otherwise.
Error campaign_folder(const char *results, const char *name, Arena *arena, const char **folder);
bool campaign_name_taken(const char *name); // a file of the catalogue has it, or may have it
Error campaign_name_check(const char *name);

// ---- campaigns (campaign/campaign.c) --------------------------------------------------------------------------------

typedef struct RunOptions {
    const char *results; // root folder
    const char *name;    // NULL: the experiment's
    BackendOptions backend;
    int64_t batch; // lanes; 0: the spec's or auto
    int64_t slice; // ticks a slice; 0: chosen by time
    ProgressStyle progress;
    bool resume_only;  // `resume`: the campaign must exist
    bool made;         // of another campaign, by verify or compare: in its folder, which must be there
    const char *retry; // kinds of failures that are run again; NULL: none
    bool extend;       // another spec than the campaign's adds its trials to it
    bool shared_fs;    // allow a network file system
    bool ignore_space; // run even if the disk is too small
    bool fallback_cpu; // go on on the CPU if the device fails
    FILE *out, *messages;
} RunOptions;

typedef struct RunSummary {
    int64_t trials_total, trials_done, trials_before, lanes_run, failures;
    double wall_seconds, kernel_seconds, first_launch_to_last_commit;
    double record_seconds, index_seconds; // after the last commit: arrays by rank, the fitness index
    double best_fitness;
    int64_t best_trial, first_batch; // first_batch: of this run
    const char *state, *reason;
    char folder[512], device[128];
} RunSummary;

// Runs or continues the campaign; returns when it is done, stopped by a limit, or interrupted (ERROR_INTERRUPTED after
// committing what is complete). Errors of the machine leave everything committed readable.
Error campaign_run(const Spec *spec, const RunOptions *options, Arena *arena, RunSummary *summary);

// A stored campaign opened for reading: its database, and its spec read from resolved text.
typedef struct StoredCampaign {
    Database *database;
    const char *folder, *name;
    Spec spec;
    int numerics_version;
    const char *program_version;
    const char *hash; // of the spec, as it was stored
} StoredCampaign;
Error campaign_open(const char *results, const char *name, Arena *arena, StoredCampaign *out);
// Error: one of the folders in a campaign's folder is none, or a link, which could lead anywhere.
Error campaign_check_folders(const char *folder, Arena *arena);
// Error (user): this program understands the stored spec otherwise than the one that stored it, so its rows have other
// columns.
Error campaign_check_meaning(const StoredCampaign *campaign);
void campaign_close(StoredCampaign *campaign);

// SHA-256 over trials, searches' states and trajectories' values, in id order; without times, batches and machines.
Error campaign_digest(const StoredCampaign *campaign, Sha256Text *digest);

// Re-simulates a stored trial with all its replicates and compares fitness, failure and metrics to the bit.
// `difference` names the first field that differs, with both values; empty if all are equal.
typedef struct ReplayResult {
    int64_t trial;
    double fitness, stored_fitness;
    bool equal;
    char difference[256];
} ReplayResult;
Error campaign_replay(const StoredCampaign *campaign, int64_t trial, const BackendOptions *backend, Arena *arena,
                      ReplayResult *result);
// The same, and what one replicate did meanwhile: samples of its trajectory, or a row an iteration of its solver.
typedef struct ReplayRequest {
    int64_t trial;
    int replicate;
    bool debug;                // rows of the solver
    const char *rows;          // what they are called
    double sample;             // s between two samples; 0: as the spec records them
    bool coarser;              // or more, where they would take too much memory
    double window[2];          // s: rows with [0] <= time <= [1]; both 0: all
    bool drawn;                // with all that the model's drawing asks for
    const char *const *bodies; // [n_bodies] names and patterns of what is shown; n_bodies 0: as the spec records
    int n_bodies;
} ReplayRequest;
typedef struct ReplayTrace {
    const StoredCampaign *campaign;
    ReplayRequest request;
    const Configured *configured; // the spec's, with the columns that there are
    const Field *columns;         // [n_columns], the first is time (s)
    int n_columns;
    const int *shown; // [n_shown] the columns that people asked for, the first is the time's
    int n_shown;
    double *row;   // [count][n_columns]
    double *point; // [n_points][2] of the drawing: trace_points's
    int64_t count;
    double *parameter;   // [n_parameters] of the replicate
    double fitness;      // of the trial; NaN: it failed
    const char *failure; // of the replicate
    double level;        // m: where the ground is drawn of a motion that has none
} ReplayTrace;
// Error (user): there is no such replicate, the model has no such rows, they would not fit in memory.
Error campaign_trace(const StoredCampaign *campaign, const ReplayRequest *request, const BackendOptions *backend,
                     Arena *arena, ReplayResult *result, ReplayTrace *trace);

// Where the time of a campaign's batches went, in s, summed from table `batches` (store/timings.c).
typedef struct Timings {
    double wall;         // from the start of each run, or the end of a batch, to the end of the next
    double kernel;       // the device at work
    double copy, search; // the loop: lanes filled and gathered, to the device and back; ask and tell
    double hdf5, sqlite; // the writer, beside the device
} Timings;
// Of the batches from `first` on. What a database of an older schema does not hold reads as 0.
Error timings_read(Database *database, int64_t first, Arena *arena, Timings *timings);
void timings_print(const Timings *timings, FILE *out); // "kernel 2 s, idle 0.1 s; ...", a line
void timings_json(const Timings *timings, Json *json);

// What the batch that computed a trial took, of which no lane is timed alone.
typedef struct BatchTiming {
    const char *device; // in the arena; NULL: not known
    int64_t lanes;
    double lane_seconds; // the kernels' time, shared evenly
} BatchTiming;

Error timings_of_trial(Database *database, int64_t trial, Arena *arena, BatchTiming *timing);

// What a run of this spec would take (plan/plan.c).
typedef struct Plan {
    // `trials`, and all that follows from it: what will be run; where a search may end early at most so many; where it
    // is open (it ends by itself, some time) those of one generation.
    int64_t trials_least, rounds; // rounds: generations of all searches together, at most; 0: the method has none
    bool trials_open;
    const char *early;    // what may end it early, or NULL
    int64_t round_trials; // of a generation; 0: the method has none
    int64_t trials, excluded, lanes, batch_lanes, batches, traced_lanes;
    double host_bytes, device_bytes, hdf5_bytes, sqlite_bytes, disk_free;
    double seconds, seconds_low, seconds_high; // expected, and between which it should be
    char device[128], warning[1024];
    char refusal[512];       // why it would not do; empty: it would
    bool excluded_estimated; // `excluded` (and all that follows from it) comes from a sample of a large grid
    int64_t looked_at;       // > 0: of a sample of so many ids none is a trial; `trials` are the most that may be there
} Plan;
Error plan_make(const Spec *spec, const RunOptions *options, Arena *arena, Plan *plan);
// Trials, lanes and bytes on disk alone, without a device; at once if the excluded trials are counted as if they ran.
Error plan_count(const Spec *spec, const RunOptions *options, bool count_excluded, Arena *arena, Plan *plan);

// Lanes of a batch: whole trials with all their replicates, at least one trial, and so few that the trace of those that
// `every` records stays within its 64 MiB. `requested`: 0 lets the machine decide. *traced_max: lanes of a batch that
// may be traced, in whole trials too; 0 if the spec records no trajectories.
int64_t plan_batch_lanes(const Spec *spec, const Backend *backend, int64_t requested, int64_t *traced_max);

// ---- commands (commands/: the table is commands.c, their lines are read in command_line.c; one file each) -----------

// One --option: `--name VALUE` or `--name=VALUE`; checked against its row before the command runs.
typedef enum SwitchType { SWITCH_FLAG, SWITCH_TEXT, SWITCH_INTEGER, SWITCH_CHOICE, SWITCH_DEVICES } SwitchType;
typedef struct Switch {
    const char *name; // without the dashes
    SwitchType type;
    const char *argument; // how help names the value; a choice: "table|csv|json"; NULL for a flag
    int64_t low, high;    // SWITCH_INTEGER: inclusive range
    const char *doc;
} Switch;
typedef struct Switches {
    const Switch *rows;
    int count;
} Switches;
extern const Switches switches_common; // of every command: --results, --no-color, --help
extern const Switches switches_spec;   // --set
extern const Switches switches_backend;
extern const Switches switches_format; // --format, --json
extern const Switches switches_json;   // --json alone
extern const Switches switches_shared_fs;

enum { COMMAND_SWITCHES_MAX = 4 };
typedef struct CommandLine CommandLine;
typedef struct Command {
    const char *name, *arguments, *doc, *examples;
    int least, most; // arguments besides options
    const Switches *switches[COMMAND_SWITCHES_MAX];
    Error (*run)(const CommandLine *line);
} Command;

// A command line that agrees with the command's row.
struct CommandLine {
    const Command *command;
    const char **arguments; // [n_arguments]
    int n_arguments;
    const Switch **given; // [n_given] in the order given
    const char **values;  // [n_given]; a flag's is ""
    int n_given;
    const char *results; // root folder
    FILE *out, *messages;
    Arena *arena;
};

int command_count(void);
const Command *command_at(int index);
const char *command_group(int index);          // of the first command of a group: the group's name; else NULL
const Command *command_find(const char *name); // NULL if there is none
int hopscotch_main(int argc, char **argv);     // exit code

// Error: usage, with the nearest name and where to read on.
Error command_line_parse(int argc, char **argv, Arena *arena, CommandLine *line);
bool switch_given(const CommandLine *line, const char *name);
// Of the option's last occurrence, else the fallback.
const char *switch_text(const CommandLine *line, const char *name, const char *fallback);
int64_t switch_integer(const CommandLine *line, const char *name, int64_t fallback);
int switch_choice(const CommandLine *line, const char *name, int fallback); // place among the choices
// Of all its occurrences, in order. *count of them.
const char *const *switch_all(const CommandLine *line, const char *name, int *count);
void command_help(const Command *command, FILE *out);
// The groups of a command's options, the common ones last. NULL after the last. command NULL: the common ones.
const Switches *command_switches(const Command *command, int index);
// A page for man(1): of a command, of the program (NULL). The spec's, in section 5 (commands/manual.c).
void manual_command(const Command *command, FILE *out);
void manual_spec(FILE *out);
// What a shell sources to complete words (commands/completion.c).
void completion_bash(FILE *out);
void completion_zsh(FILE *out);
int command_threads(const CommandLine *line);                                  // --threads, else as many as are allowed
BackendOptions command_backend(const CommandLine *line, const char *fallback); // fallback: without --backend
TableFormat command_format(const CommandLine *line);
// A file that the user asked for, written whole at its end unless there was an error; "-": standard output
// (commands/output_file.c). Its path and size are told.
typedef struct CommandOutput {
    const char *path;
    TextStream stream;
} CommandOutput;
Error command_output_start(const char *path, CommandOutput *output);
Error command_output_finish(const CommandLine *line, CommandOutput *output, Error error);
// " --results DIR" for a command that is shown to the user, empty where it is not needed.
const char *command_results_option(const char *results, Arena *arena);
const char *command_quoted(const char *text, Arena *arena); // as one word of a shell
const char *command_default_results(void);
const char *command_program(Arena *arena); // this program as the user typed it: what works if typed again
// A command to type, for a message: the program, the words, and --results where it is needed (NULL: never). One that is
// too long ends in "--results ...".
typedef struct CommandText {
    char text[320];
} CommandText;
CommandText command_again(const char *results, const char *format, ...) PRINTF_LIKE(2, 3);
// The spec of the first argument, with --set; its errors go to `messages`.
Error command_spec(const CommandLine *line, const char *path, Spec *spec);
// With other overrides before those that the command line gives, and another one last (or NULL).
Error command_spec_with(const CommandLine *line, const char *path, const Overrides *first, const char *last,
                        Spec *spec);
Overrides command_overrides(const CommandLine *line); // all that --set says, and --seed
// What a search takes from the campaign that it starts from, for a campaign of that name: the value of `cmaes.taken`,
// NULL: nothing. What is wrong with the other one is said where the spec names it.
Error command_taken(const CommandLine *line, const Spec *spec, const char *name, const char **taken);

// Stored campaigns, by name under the results root or by path (commands/find_campaign.c). Error (user): there is none,
// with the nearest name.
typedef struct CampaignPlace {
    const char *results, *name, *folder;
} CampaignPlace;
Error find_campaign(const char *results, const char *text, Arena *arena, CampaignPlace *place);
Error campaign_find(const CommandLine *line, const char *text, CampaignPlace *place);
// A trial by its id, or as best, worst or failed (the first).
Error find_trial(const StoredCampaign *campaign, const char *text, Arena *arena, int64_t *trial);
// The resolved spec that its database holds; NULL if it was killed before it held one.
Error campaign_resolved(const CampaignPlace *place, Arena *arena, const char **resolved);
Error campaign_names(const char *results, Arena *arena, const char *const **names, int *count); // sorted
// Where verify and compare put what they make of a campaign; what they have made, each followed by what was made of it.
typedef struct CampaignMade {
    CampaignPlace place;
    const char *name; // as the user writes it: "gains/verify/trial_41"
} CampaignMade;
const char *campaign_made_root(const CampaignPlace *place, Arena *arena);
Error campaign_made(const CampaignPlace *place, Arena *arena, CampaignMade **made, int *count);
Error campaign_made_is_idle(const CampaignPlace *place, const char *action, Arena *arena); // else error (user)
// Its name as seen from the results root of `of`: what the user writes.
const char *campaign_made_name(const CampaignPlace *of, const char *name, Arena *arena);
Error campaign_open_named(const CommandLine *line, const char *text, StoredCampaign *campaign);
// CAMPAIGN/ID, or best, worst or failed (the first) in place of the id; trial_is_named: whether it is one of these.
Error campaign_open_trial(const CommandLine *line, const char *text, StoredCampaign *campaign, int64_t *trial);
bool trial_is_named(const char *text);
Error campaign_failures(Database *database, FILE *out); // "120 fell, 3 solver", "none"

// Columns of the table trials, as they are in the file.
typedef struct TrialColumns {
    const char **names;
    bool *is_text, *is_integer;
    int count;
} TrialColumns;
Error trial_columns(Database *database, Arena *arena, TrialColumns *columns);
int trial_column_find(const TrialColumns *columns, const char *name); // -1 if there is none
// The columns that tell most: id, fitness, what was searched, and the metrics that the objective uses.
int trial_columns_main(const Spec *spec, Arena *arena, const char *const **names);
bool spec_has_metric(const Spec *spec, const char *name);
// Columns as a list for SELECT, quoted; one cell of a trial, by its column's type.
const char *trial_columns_sql(const char *const *names, int count, Arena *arena);
struct Cursor;
void trial_cell(Table *table, const struct Cursor *trial, int place, const TrialColumns *columns, int column);
// The columns that a front is of (commands/best_front.c): those of a list "a,b", or, with NULL, the spec's objectives.
typedef struct FrontColumns {
    const char *names[OBJECTIVES_MAX];
    int count;
    bool own; // the spec's
} FrontColumns;
Error front_columns(const StoredCampaign *campaign, const char *text, Arena *arena, FrontColumns *by);
// Prints `top` of its trials (-1: all), nothing in a text if there are none; *first: the first one's id, or -1.
Error front_print(const StoredCampaign *campaign, const FrontColumns *by, int64_t top, TableFormat format, FILE *out,
                  Arena *arena, int64_t *first);
// Prints the best trials, or of several objectives the front; *best: the first one's id. With none that did not fail,
// the longest survivors, and -1. CSV and JSON have every column, and no survivors. top 0: 10, or a whole front for
// programs.
Error best_print(const StoredCampaign *campaign, int64_t top, TableFormat format, FILE *out, Arena *arena,
                 int64_t *best);

// Requests to end a run, and to say how it does (campaign/interrupt.c): SIGINT, SIGTERM, a control file; SIGUSR1.
enum { INTERRUPT_STOP = -1 };
void interrupt_install(void);
// From now on an empty file at `path`, or one that names the lock's holder, ends this process's run; one that lies
// there for an earlier run is removed. And no longer; a request that was there is removed.
Error interrupt_watch(const char *path, const char *holder);
Error interrupt_unwatch(void);
int interrupt_requested(void);     // 0, the signal, or INTERRUPT_STOP
const char *interrupt_words(void); // "interrupted by the user": why it ends
bool interrupt_asks_status(void);  // once a question

const Drawing *trace_drawing(const ReplayTrace *trace);
const double *trace_points(const ReplayTrace *trace, int64_t i);
void trace_find_level(ReplayTrace *trace); // once, before the others
extern const Switches switches_select;
struct Query;
Error command_select(const CommandLine *line, const StoredCampaign *campaign, int64_t limit, const char *columns,
                     struct Query *query);

#endif
