// The registry of search methods, and the functions that methods share that know all their trials beforehand.
#include "../experiment.h"

#include <string.h>

// ---- registry -------------------------------------------------------------------------------------------------------

#define SEARCH_METHOD_ROW(name) &search_##name,
static const SearchMethod *const search_methods[] = {SEARCH_METHODS(SEARCH_METHOD_ROW)};
#undef SEARCH_METHOD_ROW

int search_method_count(void) { return (int)(sizeof search_methods / sizeof search_methods[0]); }

const SearchMethod *search_method_at(int index) { return search_methods[index]; }

const SearchMethod *search_method_find(const char *name)
{
    for (int i = 0; i < search_method_count(); i++) {
        if (strcmp(search_methods[i]->name, name) == 0) return search_methods[i];
    }
    return NULL;
}

Error search_check(const Spec *spec, const char **key)
{
    *key = "limits.retire";
    TRY(rungs_check(spec));
    *key = "search.method";
    return spec->method->check != NULL ? spec->method->check(spec, key) : error_none();
}

Error search_init(const Spec *spec, Arena *arena, Search *search)
{
    const char *key;
    *search = (Search){.spec = spec, .method = spec->method, .total = -1};
    TRY(search_check(spec, &key));
    if (spec->method->searches != NULL) TRY(part_check_spec(spec, spec->method->searches(spec)));
    TRY(spec->method->init(spec, arena, search));
    if (search_learns(spec->method)) return error_none();
    if (spec->n_segments > 0) TRY(segments_init(search, arena));
    TRY(part_check_spec(spec, search->total));
    enumerated_begin(search);
    return error_none();
}

void search_use_team(Search *search, ThreadTeam *team, Arena *arena)
{
    *arena = (Arena){.purpose = "the threads of a search"};
    search->team = team;
    if (search->method->use_team != NULL) search->method->use_team(search, team, arena);
}

size_t search_gradient_bytes(const Search *search)
{
    return search->method->gradient_bytes != NULL ? search->method->gradient_bytes(search) : 0;
}

int64_t search_gradient_lanes(const Search *search, int threads)
{
    return search->method->gradient_lanes != NULL ? search->method->gradient_lanes(search, threads) : 0;
}

void search_use_gpu(Search *search, AdjointDevice *device, Arena *arena)
{
    if (search->method->use_gpu != NULL) search->method->use_gpu(search, device, arena);
}

uint64_t search_ordinal(const SearchMethod *method, int64_t round, int64_t member)
{
    return method->ordinal != NULL ? method->ordinal(round, member) : search_round_ordinal(round, member);
}

uint64_t search_round_ordinal(int64_t round, int64_t member) { return (uint64_t)round << 24 | (uint64_t)member; }

size_t search_state_most(const Search *search)
{
    return search->state_capacity > 0 ? search->state_capacity : search->state_size;
}

double search_inside(double u) { return u > 0.0 ? (u < 1.0 ? u : 1.0) : 0.0; }

double search_coordinate(const Values *values, double value)
{
    if (!values->log_scale) return search_inside((value - values->low) / (values->high - values->low));
    if (!(value > 0.0)) return 0.0;
    const double low = portable_log(values->low);
    return search_inside((portable_log(value) - low) / (portable_log(values->high) - low));
}

double search_stretch(const Values *values, double value)
{
    if (!values->log_scale) return values->high - values->low;
    return value * (portable_log(values->high) - portable_log(values->low));
}

bool search_learns(const SearchMethod *method) { return method->trial == NULL; }

bool search_predicts(const SearchMethod *method) { return method->model != NULL && method->model->key == NULL; }

int64_t search_takes_residuals(const Spec *spec)
{
    const bool takes = spec->method->takes_residuals != NULL && spec->method->takes_residuals(spec);
    return takes ? spec_residuals(spec) : 0;
}

bool search_takes_values(const Spec *spec)
{
    return spec->method->takes_values != NULL && spec->method->takes_values(spec);
}

static double search_capped(double trials, int64_t limit)
{
    return limit > 0 && trials > (double)limit ? (double)limit : trials;
}

SearchBounds search_bounds(const Search *search)
{
    const int64_t limit = search->spec->limits.trials;
    SearchBounds bounds = {.least = {.trials = (double)search->total}, .most = {.trials = (double)search->total}};
    if (search->method->bounds != NULL) search->method->bounds(search, &bounds);
    if (limit > 0 && bounds.most.trials > (double)limit && search->round_trials > 0) {
        const double rounds = 4.0 + 2.0 * bounds.most.rounds * ((double)limit / bounds.most.trials);
        bounds.most.rounds = rounds < bounds.most.rounds ? rounds : bounds.most.rounds;
    }
    if (limit > 0) bounds.open = false;
    bounds.least.trials = search_capped(bounds.least.trials, limit);
    bounds.most.trials = search_capped(bounds.most.trials, limit);
    return bounds;
}

int search_zip_leader(const Spec *spec, int axis)
{
    if (spec->axes[axis].zip < 0) return axis;
    int leader = 0;
    while (spec->axes[leader].zip != spec->axes[axis].zip) leader++;
    return leader;
}

bool search_counts(const Spec *spec, int w, const double *parameter)
{
    return expression_holds(spec->when[w].condition, parameter);
}

bool search_drops(const Spec *spec)
{
    return spec->n_exclude > 0 || spec->n_derived > 0 || spec->n_segments > 0 || spec->n_when > 0 || spec->n_grids > 1;
}

bool search_complete(const Spec *spec, double *parameter)
{
    for (int w = 0; w < spec->n_when; w++) {
        const int conditional = spec->axes[spec->when[w].axis].parameter;
        if (!search_counts(spec, w, parameter)) parameter[conditional] = spec->fixed[conditional];
    }
    const Axis *derived = spec->axes + spec->n_axes;
    for (int i = 0; i < spec->n_derived; i++) {
        const Parameter *row = &spec->configured.parameters[derived[i].parameter];
        const double value = expression_value(derived[i].derive, parameter);
        if (!(value >= row->low && value <= row->high)) return false; // also NaN
        parameter[derived[i].parameter] = value;
    }
    for (int i = 0; i < spec->n_exclude; i++) {
        if (expression_holds(spec->exclude[i], parameter)) return false;
    }
    return true;
}

// ---- states ---------------------------------------------------------------------------------------------------------

Error search_state_of_other(const Search *search, int version)
{
    return error_make(
        ERROR_USER,
        "the stored state of search method %s is not of version %d, the one that this program reads; resume "
        "with the version of the program that wrote it",
        search->method->name, version);
}

Error search_state_damaged(const Search *search)
{
    return error_make(ERROR_MACHINE,
                      "the stored state of search method %s is damaged; doctor CAMPAIGN --repair computes it again",
                      search->method->name);
}

Error search_told_wrong(const Search *search, const Trials *trials, int64_t index)
{
    return error_make(ERROR_MACHINE, "bug: trial %lld of search %lld was told to %s out of order",
                      (long long)trials->id[index], (long long)trials->search[index], search->method->name);
}

// ---- trials known beforehand ----------------------------------------------------------------------------------------

enum { ENUMERATED_STATE_VERSION = 1 };
static const int64_t enumerated_examined_max = 1000000; // ids that one call of ask looks at

// The checkpoint: raw bytes of this struct, no padding.
typedef struct EnumeratedState {
    uint32_t version, reserved;
    int64_t next; // the id after the last one told
} EnumeratedState;

static int64_t search_spec_cost(const Spec *spec)
{
    enum { AXIS = 4 };
    const int64_t grids = spec->n_grids > 1 ? spec->n_grids : 1;
    int64_t cost = 1 + (int64_t)AXIS * spec->n_axes * grids;
    for (int b = 0; b < spec->n_grids && grids > 1; b++) { // a list is looked through for its values
        for (int a = 0; a < spec->n_axes; a++) {
            const Values *values = &spec->grids[b].values[a];
            if (values->form == NULL) cost += values->count;
        }
    }
    for (int i = 0; i < spec->n_when; i++) cost += (grids + 1) * expression_cost(spec->when[i].condition);
    for (int i = 0; i < spec->n_exclude; i++) cost += expression_cost(spec->exclude[i]);
    for (int i = 0; i < spec->n_derived; i++) cost += expression_cost(spec->axes[spec->n_axes + i].derive);
    return cost;
}

// How many trials can be counted in about a second. A campaign that was extended has several specs, and each trial id
// is checked against every pair of them.
int64_t search_affordable(const Search *search, int64_t most)
{
    const int64_t steps = 50000000;
    const Spec *spec = search->spec;
    const int64_t pairs = spec->n_segments > 1 ? (int64_t)spec->n_segments * spec->n_segments : 1;
    int64_t cost = search_spec_cost(spec);
    for (int i = 0; i < spec->n_segments; i++) {
        const int64_t own = spec->segments[i].spec != NULL ? search_spec_cost(spec->segments[i].spec) : 0;
        if (own > cost) cost = own;
    }
    const int64_t afforded = steps / pairs / cost;
    return afforded < 1 ? 1 : afforded < most ? afforded : most;
}

Error enumerated_check_total(int64_t total)
{
    if (total <= TRIALS_MAX) return error_none();
    return error_make(ERROR_USER, "%s trials are more than the 2^48 possible ids; use fewer",
                      total < INT64_MAX ? text_count(total).text : "more than 2^63");
}

Error enumerated_init(const Spec *spec, Arena *arena, Search *search)
{
    if (spec->method->prepare != NULL)
        TRY(spec->method->prepare(spec, arena, search));
    else
        search->total = (int64_t)spec->method_settings[0];
    TRY(enumerated_check_total(search->total));
    EnumeratedState *state = ARENA_NEW(arena, EnumeratedState, 1);
    state->version = ENUMERATED_STATE_VERSION;
    search->state = state;
    search->state_size = sizeof *state;
    return error_none();
}

void enumerated_begin(Search *search)
{
    EnumeratedState *state = search->state;
    part_units(search->spec->part, search->total, &search->first, &search->end);
    state->next = search->asked = search->first;
}

bool enumerated_point(const Search *search, int64_t point, double *parameter)
{
    const Spec *spec = search->spec;
    memcpy(parameter, spec->fixed, (size_t)spec->configured.n_parameters * sizeof *parameter);
    search->method->point(search, point, parameter);
    if (!search_complete(spec, parameter)) return false;
    return search->method->repeats == NULL || !search->method->repeats(search, point, parameter);
}

int64_t enumerated_find(const Search *search, const double *parameter, int64_t hint)
{
    if (search->method->find == NULL) return hint < search->total ? hint : -1;
    return search->method->find(search, parameter, hint);
}

// The complete parameters of an id; false if the trial is dropped.
static bool enumerated_fill(const Search *search, int64_t id, double *parameter)
{
    return search->segments != NULL ? segments_fill(search, id, parameter) : enumerated_point(search, id, parameter);
}

// A run of ids from `first_id` on, whose trials follow each other from `first_trial` on.
typedef struct EnumeratedRun {
    const Search *search;
    Trials *trials;
    int64_t first_id, first_trial;
} EnumeratedRun;

// The id -1 marks those that are dropped.
static void enumerated_fill_range(void *context, int thread, int64_t first, int64_t end)
{
    const EnumeratedRun *run = context;
    const Trials *trials = run->trials;
    const int n = run->search->spec->configured.n_parameters;
    (void)thread;
    for (int64_t i = first; i < end; i++) {
        const int64_t id = run->first_id + i, t = run->first_trial + i;
        trials->id[t] = enumerated_fill(run->search, id, trials->parameter + t * n) ? id : -1;
        trials->ordinal[t] = (uint64_t)id;
        trials->search[t] = 0;
        trials->round[t] = 0;
    }
}

// Closes the gaps of dropped ids in [first_trial, first_trial + count). Returns how many are left.
static int64_t enumerated_pack(const EnumeratedRun *run, int64_t count)
{
    const Trials *trials = run->trials;
    const int n = run->search->spec->configured.n_parameters;
    int64_t to = run->first_trial;
    for (int64_t t = run->first_trial; t < run->first_trial + count; t++) {
        if (trials->id[t] < 0) continue;
        if (to < t) {
            trials->id[to] = trials->id[t];
            trials->ordinal[to] = trials->ordinal[t];
            memcpy(trials->parameter + to * n, trials->parameter + t * n, (size_t)n * sizeof *trials->parameter);
        }
        to++;
    }
    return to - run->first_trial;
}

// A search of segments compares points in memory of its own, so one thread asks it.
Error enumerated_ask(Search *search, int64_t max, Trials *trials, bool *waiting)
{
    enum { LEAST = 128 }; // ids of a range of a thread
    const int64_t wanted = max < trials->capacity ? max : trials->capacity;
    const int64_t left = search->end - search->asked;
    const int64_t examined = search_affordable(search, enumerated_examined_max);
    const int64_t end = search->asked + (left < examined ? left : examined);
    ThreadTeam *team = search->segments == NULL ? search->team : NULL;
    trials->count = 0;
    while (trials->count < wanted && search->asked < end) {
        EnumeratedRun run = {search, trials, search->asked, trials->count};
        const int64_t room = wanted - trials->count, ids = end - search->asked, count = room < ids ? room : ids;
        thread_team_for(team, count, LEAST, enumerated_fill_range, &run);
        trials->count += enumerated_pack(&run, count);
        search->asked += count;
    }
    *waiting = trials->count == 0 && search->asked < search->end;
    return error_none();
}

Error enumerated_tell(Search *search, const Trials *trials)
{
    EnumeratedState *state = search->state;
    int64_t next = state->next;
    for (int64_t i = 0; i < trials->count; i++) {
        if (trials->id[i] < next || trials->id[i] >= search->asked) return search_told_wrong(search, trials, i);
        next = trials->id[i] + 1;
    }
    state->next = next;
    return error_none();
}

Error enumerated_restore(Search *search)
{
    const EnumeratedState *state = search->state;
    if (state->version != ENUMERATED_STATE_VERSION) return search_state_of_other(search, ENUMERATED_STATE_VERSION);
    if (state->next < search->first || state->next > search->end) return search_state_damaged(search);
    search->asked = state->next;
    return error_none();
}

Error enumerated_trial(const Search *search, int64_t id, uint64_t *ordinal, double *parameter)
{
    if (id < search->first || id >= search->end) {
        return error_make(ERROR_USER, "there is no trial %lld: this %s has the ids %lld to %lld", (long long)id,
                          search->method->name, (long long)search->first, (long long)search->end - 1);
    }
    if (!enumerated_fill(search, id, parameter)) {
        return error_make(
            ERROR_USER,
            "there is no trial %lld: `exclude`, the range of a derived parameter, `when` or `union` leaves it out",
            (long long)id);
    }
    *ordinal = (uint64_t)id;
    return error_none();
}

const char *enumerated_stopped(const Search *search)
{
    (void)search;
    return NULL;
}
