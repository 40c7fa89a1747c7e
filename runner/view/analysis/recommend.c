// Recommending a trial after a noisy search. The best of many noisy results is also the luckiest, so its fitness is too
// good (the winner's curse). Therefore the best trials and the mean of the search's distribution race under seeds that
// the search has not used: a campaign of method `list` with `replicates.race`, in the folder that verify's campaigns
// have too. It is resumed and replayed like any other. Nothing of the searched campaign changes, but for an event with
// the name of the new one. `verify --finalists` is the same with other numbers.
#include "../view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RECOMMEND_MOST = 64, RECOMMEND_LEAST = 4, RECOMMEND_START = 2, RECOMMEND_TENTH = 10 };

#define RECOMMEND_PURPOSE "recommends"
#define RECOMMEND_EVENT "recommended"

bool recommend_wanted(const Spec *spec)
{
    const bool can = recommend_refusal(spec) == NULL && spec->part.count == 0;
    return can && (spec->recommend.when == RECOMMEND_ALWAYS ||
                   (spec->recommend.when == RECOMMEND_AUTO && search_learns(spec->method)));
}

// ---- candidates -----------------------------------------------------------------------------------------------------

typedef struct Recommend {
    const StoredCampaign *campaign;
    const CampaignLocation *location;
    const FinalistsAsked *asked; // NULL: what the spec says
    int64_t trials;              // that the campaign has
    Origin *candidates;
    double *parameter; // [count][n_parameters]
    int count;
} Recommend;

// How many of the best: of the default at most a tenth of the trials.
static int64_t recommend_most(const Recommend *task)
{
    const Spec *spec = &task->campaign->spec;
    const int64_t trials = task->trials;
    if (task->asked != NULL) return task->asked->trials;
    if (spec->recommend.when == RECOMMEND_ALWAYS) return spec->recommend.trials;
    const int64_t tenth = trials / RECOMMEND_TENTH;
    return tenth < 1 ? 1 : tenth < RECOMMEND_TENTH ? tenth : RECOMMEND_TENTH;
}

static double *recommend_point(const Recommend *task, int candidate)
{
    return task->parameter + (int64_t)candidate * task->campaign->spec.configured.n_parameters;
}

static void recommend_add(Recommend *task, int64_t trial, double fitness)
{
    task->candidates[task->count++] = (Origin){.purpose = RECOMMEND_PURPOSE,
                                               .campaign = task->campaign->name,
                                               .hash = task->campaign->spec.hash.hex,
                                               .trial = trial,
                                               .fitness = fitness};
}

static Error recommend_add_best(Recommend *task, const Search *search, int64_t most, Arena *arena)
{
    static const char *const columns[] = {"id", "fitness"};
    Cursor best = trials_best(task->campaign, columns, 2, most, arena);
    while (task->count < most && cursor_next(&best)) recommend_add(task, cell_integer(&best, 0), cell_real(&best, 1));
    TRY(cursor_close(&best));
    for (int i = 0; i < task->count; i++)
        TRY(search_read_trial(search, task->campaign->database, task->candidates[i].trial, arena,
                              recommend_point(task, i)));
    return error_none();
}

static Error recommend_add_mean(Recommend *task, Search *search)
{
    bool found = false;
    if (task->campaign->spec.method != &search_cmaes) return error_none();
    TRY(search_read_state(task->campaign->database, search, &found));
    if (found && cmaes_mean(search, recommend_point(task, task->count))) recommend_add(task, -1, (double)NAN);
    return error_none();
}

static Error recommend_find(Recommend *task, Arena *arena)
{
    const Spec *spec = &task->campaign->spec;
    Search search;
    TRY(trials_count(task->campaign->database, &task->trials));
    const int64_t most = recommend_most(task);
    task->candidates = ARENA_NEW(arena, Origin, most + 1);
    task->parameter = ARENA_NEW(arena, double, (most + 1) * spec->configured.n_parameters);
    TRY(search_init(spec, arena, &search));
    TRY(recommend_add_best(task, &search, most, arena));
    return task->count > 0 ? recommend_add_mean(task, &search) : error_none();
}

// ---- the spec -------------------------------------------------------------------------------------------------------

static uint64_t recommend_seed(const Recommend *task)
{
    const Spec *spec = &task->campaign->spec;
    if (task->asked != NULL && task->asked->seed >= 0) return (uint64_t)task->asked->seed;
    char text[64], digits[14] = "";
    snprintf(text, sizeof text, "recommend %llu", (unsigned long long)spec->seed);
    const Sha256Text hash = sha256_of(text, strlen(text));
    memcpy(digits, hash.hex, 13); // 52 bits
    return strtoull(digits, NULL, 16);
}

// Rungs that halve the candidates down to two.
static int recommend_rungs(const Recommend *task)
{
    int rungs = 1;
    for (int left = task->count; left > 2; left = (left + 1) / 2) rungs++;
    return rungs;
}

// How often the replicates double until the last rung.
static int64_t recommend_growth(const Recommend *task) { return (int64_t)1 << (recommend_rungs(task) - 1); }

// A race whose last rung has `count` replicates; of one or two candidates there is none.
static void recommend_share(const Recommend *task, int64_t count, Spec *out)
{
    const int64_t growth = recommend_growth(task), start = (count + growth - 1) / growth;
    const int64_t first = start > RECOMMEND_START ? start : RECOMMEND_START;
    out->replicates.count = (int)count;
    out->replicates.race.start = task->count > 2 && first < count ? (int)first : 0;
    out->replicates.race.keep = 0.5;
}

// By default all together take about a tenth of the search's simulations, as if in equal shares. The race gives the
// same number to fewer candidates, in every rung as many replicates as it can.
static void recommend_replicates(const Recommend *task, Spec *out)
{
    const Spec *spec = &task->campaign->spec;
    const int64_t own = spec->replicates.count, least = own > RECOMMEND_LEAST ? own : RECOMMEND_LEAST;
    const bool given = spec->recommend.when == RECOMMEND_ALWAYS && spec->recommend.replicates > 0;
    const int64_t share = task->trials * own / RECOMMEND_TENTH / task->count, growth = recommend_growth(task);
    const int64_t capped = share < RECOMMEND_MOST ? share : RECOMMEND_MOST, equal = capped > least ? capped : least;
    const int64_t wanted = task->asked != NULL ? task->asked->replicates : given ? spec->recommend.replicates : equal;
    recommend_share(task, wanted, out);
    for (int64_t start = RECOMMEND_START; start * growth <= REPLICATES_MAX; start++) {
        Spec more = *out;
        if (task->asked != NULL || given || task->count <= 2) break;
        recommend_share(task, start * growth, &more);
        if (race_simulations(&more, task->count) > (double)(equal * task->count)) break;
        if (more.replicates.count > out->replicates.count) *out = more;
    }
}

// The candidates as a table of points: its first line has the names.
static Error recommend_table(const Recommend *task, Arena *arena, const char **table)
{
    const Spec *spec = &task->campaign->spec;
    TextStream text;
    TRY(text_stream_open("the trials to run under fresh seeds", &text));
    for (int a = 0; a < spec->n_axes; a++)
        fprintf(text.out, "%s%s", a > 0 ? "," : "", spec->configured.parameters[spec->axes[a].parameter].name);
    fputc('\n', text.out);
    for (int i = 0; i < task->count; i++) {
        for (int a = 0; a < spec->n_axes; a++) {
            const int p = spec->axes[a].parameter;
            const ValueText value = value_text(configured_choices(&spec->configured, p), recommend_point(task, i)[p]);
            fprintf(text.out, "%s%s", a > 0 ? "," : "", value.text);
        }
        fputc('\n', text.out);
    }
    const Error error = text_stream_close(&text);
    if (error.kind == OK) *table = arena_copy(arena, text.text);
    free(text.text);
    return error;
}

// What users read in its spec.yaml.
static Error recommend_describe(const Recommend *task, Arena *arena, Spec *spec)
{
    static const char *const keys[] = {"model",           "simulation",        "initial",           "parameters",
                                       "objective",       "constraints",       "search.method",     "search.over",
                                       "search.points",   "replicates.count",  "replicates.common", "replicates.store",
                                       "replicates.race", "replicates.perturb"};
    TextStream text;
    TRY(text_stream_open("the spec of the recommendation", &text));
    fprintf(text.out,
            "# hopscotch: the best trials of %s, and the mean of its search, under fresh seeds.\n"
            "version: 1\nexperiment: \"%s\"\nseed: %llu\n",
            task->campaign->name, spec->experiment, (unsigned long long)spec->seed);
    spec_write(spec, &task->campaign->spec, keys, (int)(sizeof keys / sizeof *keys), arena, text.out);
    const Error error = text_stream_close(&text);
    if (error.kind == OK) spec->text = arena_copy(arena, text.text);
    free(text.text);
    return error;
}

// Whether failures decide before the fitness: where one fails a trial of the search, or if the search says so.
static bool recommend_by_failures(const Spec *spec)
{
    return spec->objective.failed == FAILED_ANY || (spec_races(spec) && spec->replicates.race.by == RACE_BY_FAILURES);
}

// The objective is the search's, but a failed replicate is left out where it would fail the trial: with more replicates
// more fail.
static Error recommend_spec(const Recommend *task, Arena *arena, Diagnostics *diagnostics, Spec *out)
{
    const Spec *spec = &task->campaign->spec;
    const char *table = NULL;
    TRY(recommend_table(task, arena, &table));
    TRY(spec_derive_points(spec, arena_format(arena, "%s/recommend (made by hopscotch)", task->campaign->folder),
                           "recommend", table, arena, diagnostics, out));
    TRY(spec_strip(out, arena));
    out->seed = recommend_seed(task);
    out->replicates.race.by = recommend_by_failures(spec) ? RACE_BY_FAILURES : RACE_BY_FITNESS;
    if (out->objective.failed == FAILED_ANY) out->objective.failed = FAILED_IGNORE;
    recommend_replicates(task, out);
    out->replicates.common = true;
    out->replicates.store = true;
    out->replicates.perturb = spec->replicates.perturb;
    out->replicates.n_perturb = spec->replicates.n_perturb;
    TRY(spec_complete(out, arena, diagnostics));
    out->experiment = arena_format(arena, "recommend_%.12s", out->hash.hex);
    return recommend_describe(task, arena, out);
}

// ---- the run --------------------------------------------------------------------------------------------------------

// The name of the last campaign that was run; NULL: none. *ran: whether `wanted` is one of them.
static Error recommend_last(Database *database, const char *wanted, Arena *arena, const char **name, bool *ran)
{
    *name = NULL;
    *ran = false;
    Cursor events = store_events(database);
    while (cursor_next(&events)) {
        if (strcmp(cell_text(&events, 1), RECOMMEND_EVENT) != 0) continue;
        *name = arena_copy(arena, cell_text(&events, 2));
        *ran |= strcmp(*name, wanted) == 0;
    }
    return cursor_close(&events);
}

static Error recommend_run_spec(const Recommend *task, Spec *spec, const RunOptions *options, Arena *arena)
{
    RunSummary summary;
    RunOptions own = {.results = campaign_nested_root(task->location, arena),
                      .name = spec->experiment,
                      .backend = options->backend,
                      .progress = options->progress == PROGRESS_JSON ? PROGRESS_NONE : options->progress,
                      .nested = true,
                      .again = options->again,
                      .shared_fs = options->shared_fs,
                      .fallback_cpu = options->fallback_cpu,
                      .accept_version = options->accept_version,
                      .out = options->out,
                      .messages = options->messages};
    const CampaignLocation there = {
        .results = own.results, .name = own.name, .folder = arena_format(arena, "%s/%s", own.results, own.name)};
    const Error error = campaign_run(spec, &own, arena, &summary);
    if (error.kind == ERROR_INTERRUPTED)
        return error_make(ERROR_INTERRUPTED,
                          "interrupted while the best trials ran under fresh seeds; continue with `%s`",
                          task->asked != NULL && options->again != NULL
                              ? options->again
                              : command_again(task->location->results, "resume %.128s%s", task->location->name,
                                              command_allow(task->campaign->spec.model))
                                    .text);
    TRY(error);
    TRY(origin_note(&there, options->shared_fs, task->candidates, task->count, arena));
    return event_note(task->location, options->shared_fs, RECOMMEND_EVENT, spec->experiment, arena);
}

// Whether there is something to run: candidates that were not run yet, and no other process runs them.
static Error recommend_prepare(Recommend *task, const RunOptions *options, Arena *arena, Spec *spec, bool *due)
{
    const char *last = NULL;
    bool ran = false;
    char holder[256] = "";
    Diagnostics *diagnostics = diagnostics_new(arena);
    TRY(recommend_find(task, arena));
    *due = false;
    if (task->count == 0) return error_none();
    const Error error = recommend_spec(task, arena, diagnostics, spec);
    if (options->messages != NULL)
        diagnostics_print(diagnostics, options->messages, terminal_colour(options->messages));
    TRY(error);
    TRY(recommend_last(task->campaign->database, spec->experiment, arena, &last, &ran));
    if (task->asked != NULL) ran = last != NULL && strcmp(last, spec->experiment) == 0; // it shall be the last
    const char *there = arena_format(arena, "%s/%s/", campaign_nested_root(task->location, arena), spec->experiment);
    const char *lock = arena_format(arena, "%s" CAMPAIGN_LOCK, there);
    const bool done = ran && !file_missing(arena_format(arena, "%s" CAMPAIGN_DATABASE, there));
    if (!file_missing(lock)) TRY(lock_holder(lock, holder, sizeof holder));
    *due = holder[0] == '\0' && !done;
    return error_none();
}

static Error recommend_run_asked(const CampaignLocation *location, const RunOptions *options,
                                 const FinalistsAsked *asked, Arena *arena)
{
    StoredCampaign campaign;
    Spec spec;
    bool due = false;
    TRY(campaign_open(location->results, location->name, arena, &campaign));
    Recommend task = {.campaign = &campaign, .location = location, .asked = asked};
    const Error error = asked != NULL || recommend_wanted(&campaign.spec)
                            ? recommend_prepare(&task, options, arena, &spec, &due)
                            : error_none();
    campaign_close(&campaign);
    TRY(error);
    if (due && asked == NULL && options->messages != NULL)
        fprintf(options->messages, "%s: the best trials run under fresh seeds (recommend)\n", location->name);
    return due ? recommend_run_spec(&task, &spec, options, arena) : error_none();
}

// As run_has_ended of a run: not where a budget of time or of failures stopped the search.
static Error recommend_search_ended(const CampaignLocation *location, Arena *arena, bool *ended)
{
    StatusReport report;
    TRY(status_read(location, arena, &report));
    const bool by_trials = strncmp(report.reason, "limits.trials", 13) == 0;
    *ended = strcmp(report.state, "done") == 0 || (strcmp(report.state, "stopped") == 0 && by_trials);
    return error_none();
}

Error recommendation_left(const StoredCampaign *campaign, Arena *arena, bool *left)
{
    const CampaignLocation location = {
        .results = folder_of(campaign->folder, arena), .name = campaign->name, .folder = campaign->folder};
    const RunOptions silent = {.messages = NULL};
    Recommend task = {.campaign = campaign, .location = &location};
    Spec spec;
    *left = false;
    if (!recommend_wanted(&campaign->spec) || !database_has(campaign->database, "events", NULL)) return error_none();
    TRY(recommend_search_ended(&location, arena, left));
    return *left ? recommend_prepare(&task, &silent, arena, &spec, left) : error_none();
}

Error recommend_run(const CampaignLocation *location, const RunOptions *options, Arena *arena)
{
    return recommend_run_asked(location, options, NULL, arena);
}

Error finalists_run(const CampaignLocation *location, const RunOptions *options, const FinalistsAsked *asked,
                    Arena *arena)
{
    return recommend_run_asked(location, options, asked, arena);
}

// ---- reading --------------------------------------------------------------------------------------------------------

static Error recommend_read_candidates(const StoredCampaign *run, Arena *arena, Recommendation *out)
{
    out->candidates = ARENA_NEW(arena, Recommended, run->spec.n_points);
    Cursor origins = origins_for(run->database, RECOMMEND_PURPOSE);
    while (out->count < run->spec.n_points && cursor_next(&origins)) {
        out->candidates[out->count] = (Recommended){.trial = cell_is_null(&origins, 0) ? -1 : cell_integer(&origins, 0),
                                                    .fitness = cell_real(&origins, 1),
                                                    .there = out->count,
                                                    .fresh = (double)NAN};
        out->count++;
    }
    return cursor_close(&origins);
}

static Error recommend_read_results(const StoredCampaign *run, Arena *arena, Recommendation *out)
{
    out->value = ARENA_NEW(arena, const double *, out->count);
    for (int i = 0; i < out->count; i++) {
        Recommended *candidate = &out->candidates[i];
        VerifyOutcome outcome;
        bool found = false;
        TRY(trial_fitness(run->database, i, &candidate->fresh, &found));
        TRY(verify_outcome(run, i, arena, &outcome));
        candidate->interval = outcome.fitness;
        candidate->failed = outcome.n - outcome.succeeded;
        candidate->seeds = outcome.n;
        out->simulations += outcome.n;
        out->value[i] = outcome.value;
        if (candidate->failed > 0 && run->spec.objective.failed == FAILED_PENALTY)
            candidate->interval = (Interval){candidate->fresh, (double)NAN, (double)NAN};
    }
    if (run->spec.n_constraints == 0) return error_none();
    static const char *const column[] = {"violation"};
    Cursor trials = trials_by_id(run->database, column, 1, arena);
    for (int i = 0; i < out->count && trial_at(&trials, i); i++) out->candidates[i].violation = cell_real(&trials, 0);
    return cursor_close(&trials);
}

// The order of the race (store/trials/rank.c), which a run of one or two candidates has not: without a value is worst;
// then more seeds, fewer failures, where these decide, less violation, more fitness.
bool recommended_is_better(const Recommendation *of, const Recommended *a, const Recommended *b)
{
    if (isnan(a->fresh) || isnan(b->fresh)) return !isnan(a->fresh) && isnan(b->fresh);
    if (a->seeds != b->seeds) return a->seeds > b->seeds;
    if (of->by_failures && a->failed != b->failed) return a->failed < b->failed;
    if (a->violation != b->violation) return a->violation < b->violation;
    return of->maximize ? a->fresh > b->fresh : a->fresh < b->fresh;
}

// Why there is no probability; NULL: there is.
static const char *recommend_unknown(const StoredCampaign *campaign, const Recommendation *out)
{
    const Spec *spec = &campaign->spec;
    int64_t failed = 0;
    for (int i = 0; i < out->count; i++) failed += out->candidates[i].failed;
    if (spec->objective.over != OVER_MEAN) return "objective.over is not the mean";
    if (spec->objective.failed == FAILED_PENALTY && failed > 0) return "failed replicates count as a penalty";
    if (out->candidates[out->best].violation > 0.0) return "all violate a constraint";
    return NULL;
}

// Whether candidate i fails more often than the best one under the same seeds.
static bool recommend_fails_more(const Recommendation *out, int i)
{
    int64_t failed = 0;
    for (int64_t r = 0; r < out->candidates[i].seeds; r++) failed += !isfinite(out->value[out->best][r]);
    return out->candidates[i].failed > failed;
}

// Among those that can be the best: they violate no constraint and, where failures decide, do not fail more often. The
// fitness of the replicates that did not fail decides among these.
static void recommend_estimate(const StoredCampaign *campaign, Arena *arena, Recommendation *out)
{
    int *had = ARENA_NEW(arena, int, out->count);
    const double **value = ARENA_NEW(arena, const double *, out->count);
    FinalistRuns runs = {.had = had, .value = value, .seed = out->seed};
    out->unknown = recommend_unknown(campaign, out);
    for (int i = 0; i < out->count && out->unknown == NULL; i++) {
        const Recommended *one = &out->candidates[i];
        const bool violates = one->violation > 0.0, fails = out->by_failures && recommend_fails_more(out, i);
        out->violating += violates;
        out->failing += fails;
        if (isnan(one->fresh) || violates || fails) continue;
        if (i == out->best) runs.named = runs.count;
        had[runs.count] = (int)one->seeds;
        value[runs.count++] = out->value[i];
    }
    if (out->unknown != NULL) return;
    out->probability = runs.count > 1 ? finalists_probability(&runs, arena) : (double)NAN;
    out->compared = runs.count;
    if (!isnan(out->probability)) return;
    const bool fail = out->count > 1 && out->failing == out->count - 1;
    out->unknown = fail ? "all others fail more often" : "there is no other one to compare it with";
}

Error recommendation_read(const StoredCampaign *campaign, Arena *arena, Recommendation *out)
{
    const CampaignLocation location = {
        .results = folder_of(campaign->folder, arena), .name = campaign->name, .folder = campaign->folder};
    StoredCampaign run;
    const char *name = NULL;
    bool ran = false;
    *out = (Recommendation){.best = -1,
                            .probability = (double)NAN,
                            .maximize = campaign->spec.objective.maximize[0],
                            .by_failures = recommend_by_failures(&campaign->spec)};
    if (!database_has(campaign->database, "events", NULL)) return error_none();
    TRY(recommend_last(campaign->database, "", arena, &name, &ran));
    const char *root = campaign_nested_root(&location, arena);
    if (name == NULL || campaign_name_check(name).kind != OK) return error_none();
    if (file_missing(arena_format(arena, "%s/%s/" CAMPAIGN_DATABASE, root, name))) return error_none();
    TRY(campaign_open(root, name, arena, &run));
    Error error = recommend_read_candidates(&run, arena, out);
    if (error.kind == OK) error = recommend_read_results(&run, arena, out);
    for (int i = 0; i < out->count && error.kind == OK; i++) {
        if (out->best < 0 || recommended_is_better(out, &out->candidates[i], &out->candidates[out->best]))
            out->best = i;
    }
    out->seeds = out->best >= 0 ? out->candidates[out->best].seeds : 0;
    out->seed = run.spec.seed;
    if (error.kind == OK && out->best >= 0) recommend_estimate(campaign, arena, out);
    if (out->count > 0) out->run = campaign_nested_name(&location, name, arena);
    campaign_close(&run);
    return error;
}

const Recommended *recommendation_of(const Recommendation *recommendation, int64_t trial)
{
    for (int i = 0; i < recommendation->count; i++) {
        if (recommendation->candidates[i].trial == trial) return &recommendation->candidates[i];
    }
    return NULL;
}

int64_t recommended_trial(const Recommendation *recommendation, int64_t best)
{
    const int at = recommendation->best;
    return at >= 0 && recommendation->candidates[at].trial >= 0 ? recommendation->candidates[at].trial : best;
}
