// hopscotch compare: campaigns side by side. What differs between their specs; their best trials under the same fresh
// seeds, with intervals; whether one is better than another, and by how much. The best trials are run as campaigns of
// their own, which a second comparison finds again.
#include "../store/store.h"
#include "../analysis/verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COMPARE_MOST = 16, COMPARE_SEEDS = 200 };

// One seed for all comparisons, so that what was run for one serves the next: 52 bits of SHA-256("compare").
static const uint64_t compare_seed = 0x1241626eb8ca5;

typedef struct Compared {
    CampaignPlace place;
    StoredCampaign campaign, run;
    VerifyTask task;
    VerifyOutcome outcome;
    int64_t trials;
    double *search_best; // [n_searches] of each search the best fitness; infinite: none
    int64_t n_searches;
} Compared;

// One of the others against the first, seed by seed. "Better" is less.
typedef struct Verdict {
    RankTest seeds;    // of the runs of the two best trials; those that failed are above all others
    RankTest searches; // of the best of each search, if both campaigns have several
    Interval less;     // by how much, of the seeds that neither failed: the other's fitness less the first's
    int64_t pairs;
} Verdict;

// ---- reading and running --------------------------------------------------------------------------------------------

static Error compare_searches(Compared *side, Arena *arena)
{
    Statement *statement = NULL;
    bool row = false;
    int64_t searches = 0;
    TRY(store_integer(side->campaign.database, "SELECT count(DISTINCT search) FROM trials", 0, &searches));
    side->search_best = ARENA_NEW(arena, double, searches + 1);
    TRY(database_prepare(side->campaign.database, "SELECT min(fitness) FROM trials GROUP BY search", &statement));
    Error error = statement_step(statement, &row);
    for (; error.kind == OK && row && side->n_searches < searches; error = statement_step(statement, &row)) {
        const double best = column_real(statement, 0);
        side->search_best[side->n_searches++] = isnan(best) ? (double)INFINITY : best;
    }
    statement_close(statement);
    return error;
}

static Error compare_open(const CommandLine *line, const char *name, Compared *side)
{
    TRY(campaign_find(line, name, &side->place));
    TRY(campaign_open(side->place.results, side->place.name, line->arena, &side->campaign));
    TRY(store_integer(side->campaign.database, "SELECT count(*) FROM trials", 0, &side->trials));
    side->task = (VerifyTask){.campaign = &side->campaign,
                              .trial = -1,
                              .fitness = (double)NAN,
                              .seed = (uint64_t)switch_integer(line, "seed", (int64_t)compare_seed),
                              .seeds = switch_integer(line, "seeds", COMPARE_SEEDS)};
    TRY(verify_take_trial(&side->task, line->arena));
    if (!verify_draws(&side->campaign.spec)) side->task.seeds = 1;
    return compare_searches(side, line->arena);
}

static Error compare_run_one(const CommandLine *line, Compared *side)
{
    const char *name = arena_format(line->arena, "%s_compare_%" PRId64 "_%" PRId64, side->place.name, side->task.trial,
                                    side->task.seeds);
    if (side->task.seed != compare_seed) name = arena_format(line->arena, "%s_%" PRIu64, name, side->task.seed);
    const RunOptions options = {.results = side->place.results,
                                .name = name,
                                .backend = command_backend(line, side->campaign.spec.device.backend),
                                .progress = (ProgressStyle)switch_choice(line, "progress", PROGRESS_AUTO),
                                .shared_fs = switch_given(line, "shared-fs"),
                                .out = line->messages,
                                .messages = line->messages};
    const char *text = verify_seeds_text(&side->task, name, line->arena);
    TRY(verify_run_text(&side->task, "compares", text, &options, line->arena, &side->run));
    return verify_outcome(&side->run, 0, line->arena, &side->outcome);
}

// ---- what differs ---------------------------------------------------------------------------------------------------

static bool compare_starts(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

// Whether the same seed gives both the same disturbances, and whether their fitnesses are of one kind.
static void compare_kinds(const Compared *first, const Compared *other, Arena *arena, bool *pairs, bool *same_kind)
{
    SpecChange *changes;
    const int64_t count = difference_find(&first->campaign.spec, &other->campaign.spec, arena, &changes);
    *pairs = first->task.seeds == other->task.seeds;
    *same_kind = true;
    for (int64_t i = 0; i < count; i++) {
        if (compare_starts(changes[i].key, "replicates.perturb") || strcmp(changes[i].key, "model") == 0)
            *pairs = false;
        if (compare_starts(changes[i].key, "objective.minimize") || compare_starts(changes[i].key, "objective.over") ||
            strcmp(changes[i].key, "model") == 0)
            *same_kind = false;
    }
}

static Verdict compare_judge(const Compared *first, const Compared *other, bool pairs, Arena *arena)
{
    const VerifyOutcome *a = &first->outcome, *b = &other->outcome;
    Verdict verdict = {.seeds = rank_test(a->value, a->n, b->value, b->n, arena)};
    double *less = ARENA_NEW(arena, double, a->n + 1);
    for (int64_t i = 0; pairs && i < a->n && i < b->n; i++) {
        if (isfinite(a->value[i]) && isfinite(b->value[i])) less[verdict.pairs++] = b->value[i] - a->value[i];
    }
    verdict.less = interval_of_mean(less, verdict.pairs);
    verdict.searches = (RankTest){.p = (double)NAN};
    if (first->n_searches > 1 && other->n_searches > 1)
        verdict.searches =
            rank_test(first->search_best, first->n_searches, other->search_best, other->n_searches, arena);
    return verdict;
}

// ---- for people -----------------------------------------------------------------------------------------------------

static double compare_percent(double part) { return round(1000.0 * part) / 10.0; }

static void compare_print_specs(const Compared *sides, int count, FILE *out, Arena *arena)
{
    for (int i = 1; i < count; i++) {
        SpecChange *changes;
        const int64_t n = difference_find(&sides[0].campaign.spec, &sides[i].campaign.spec, arena, &changes);
        fprintf(out, "%s -> %s: %s\n", sides[0].campaign.name, sides[i].campaign.name,
                n == 0 ? "the same spec" : "another spec");
        difference_print(changes, n, out);
    }
    fputc('\n', out);
}

static Error compare_print_table(const Compared *sides, int count, FILE *out)
{
    static const char *const columns[] = {"campaign",  "trials", "best trial", "its fitness",
                                          "success %", "from",   "to",         "fitness on common seeds",
                                          "from ",     "to "};
    Table *table = table_start(out, TABLE_TEXT, (int)(sizeof columns / sizeof *columns), columns);
    for (int i = 0; table != NULL && i < count; i++) {
        const VerifyOutcome *outcome = &sides[i].outcome;
        table_text(table, sides[i].campaign.name);
        table_integer(table, sides[i].trials);
        table_integer(table, sides[i].task.trial);
        table_number(table, sides[i].task.fitness);
        table_number(table, compare_percent(outcome->rate.value));
        table_number(table, compare_percent(outcome->rate.low));
        table_number(table, compare_percent(outcome->rate.high));
        table_number(table, outcome->fitness.value);
        table_number(table, outcome->fitness.low);
        table_number(table, outcome->fitness.high);
    }
    return table_finish(table);
}

static const char *compare_chance(double p, Arena *arena)
{
    return p < 1e-4 ? "p < 0.0001" : arena_format(arena, "p = %.4f", p);
}

static void compare_print_test(const char *what, const RankTest *test, FILE *out, Arena *arena)
{
    if (isnan(test->p)) return;
    fprintf(out, "  %s: better with a chance of %.1f %%, %s (Mann-Whitney, %s)\n", what, 100.0 * test->superior,
            compare_chance(test->p, arena), test->exact ? "exact" : "normal, ties corrected");
}

static void compare_print_verdict(const Compared *first, const Compared *other, FILE *out, Arena *arena)
{
    bool pairs, same_kind;
    compare_kinds(first, other, arena, &pairs, &same_kind);
    const Verdict verdict = compare_judge(first, other, pairs, arena);
    fprintf(out, "\n%s against %s\n", other->campaign.name, first->campaign.name);
    if (!same_kind) fputs("  their objectives differ: their fitnesses are not of one kind\n", out);
    if (!pairs) fputs("  they draw other disturbances: the same seed is no pair\n", out);
    compare_print_test("a run of its best trial", &verdict.seeds, out, arena);
    compare_print_test("the best of one of its searches", &verdict.searches, out, arena);
    if (verdict.pairs == 0) return;
    fprintf(out, "  fitness, seed by seed: %+.6g", verdict.less.value);
    if (!isnan(verdict.less.low)) fprintf(out, " (95 %%: %+.6g to %+.6g)", verdict.less.low, verdict.less.high);
    fprintf(out, " over %s seeds that neither failed\n", text_count(verdict.pairs).text);
}

static Error compare_print(const CommandLine *line, const Compared *sides, int count)
{
    compare_print_specs(sides, count, line->out, line->arena);
    TRY(compare_print_table(sides, count, line->out));
    for (int i = 1; i < count; i++) compare_print_verdict(&sides[0], &sides[i], line->out, line->arena);
    return error_none();
}

// ---- for programs ---------------------------------------------------------------------------------------------------

static void compare_json_interval(Json *json, const char *name, const Interval *interval)
{
    json_object(json, name);
    json_number(json, "value", interval->value);
    json_number(json, "low", interval->low);
    json_number(json, "high", interval->high);
    json_close(json, '}');
}

static void compare_json_test(Json *json, const char *name, const RankTest *test)
{
    if (isnan(test->p)) return;
    json_object(json, name);
    json_number(json, "u", test->u);
    json_number(json, "p", test->p);
    json_number(json, "chance_better", test->superior);
    json_boolean(json, "exact", test->exact);
    json_close(json, '}');
}

static void compare_json_side(const Compared *side, Json *json)
{
    json_object(json, NULL);
    json_text(json, "campaign", side->campaign.name);
    json_text(json, "run", side->run.name);
    json_integer(json, "trials", side->trials);
    json_integer(json, "best_trial", side->task.trial);
    json_number(json, "best_fitness", side->task.fitness);
    json_integer(json, "runs", side->outcome.n);
    json_integer(json, "succeeded", side->outcome.good);
    compare_json_interval(json, "success", &side->outcome.rate);
    compare_json_interval(json, "fitness", &side->outcome.fitness);
    json_close(json, '}');
}

static void compare_json_verdict(const Compared *first, const Compared *other, Json *json, Arena *arena)
{
    bool pairs, same_kind;
    SpecChange *changes;
    compare_kinds(first, other, arena, &pairs, &same_kind);
    const Verdict verdict = compare_judge(first, other, pairs, arena);
    const int64_t count = difference_find(&first->campaign.spec, &other->campaign.spec, arena, &changes);
    json_object(json, NULL);
    json_text(json, "campaign", other->campaign.name);
    json_text(json, "against", first->campaign.name);
    json_array(json, "differences");
    for (int64_t i = 0; i < count; i++) {
        json_object(json, NULL);
        json_text(json, "key", changes[i].key);
        json_text(json, "from", changes[i].from);
        json_text(json, "to", changes[i].to);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_boolean(json, "same_objective", same_kind);
    compare_json_test(json, "runs", &verdict.seeds);
    compare_json_test(json, "searches", &verdict.searches);
    json_integer(json, "pairs", verdict.pairs);
    compare_json_interval(json, "difference", &verdict.less);
    json_close(json, '}');
}

static void compare_print_json(const CommandLine *line, const Compared *sides, int count)
{
    Json json;
    json_start(&json, line->out, true);
    json_object(&json, NULL);
    json_array(&json, "campaigns");
    for (int i = 0; i < count; i++) compare_json_side(&sides[i], &json);
    json_close(&json, ']');
    json_array(&json, "comparisons");
    for (int i = 1; i < count; i++) compare_json_verdict(&sides[0], &sides[i], &json, line->arena);
    json_close(&json, ']');
    json_close(&json, '}');
}

// ---- the command ----------------------------------------------------------------------------------------------------

static Error compare_all(const CommandLine *line, Compared *sides)
{
    const int count = line->n_arguments;
    for (int i = 0; i < count; i++) TRY(compare_open(line, line->arguments[i], &sides[i]));
    interrupt_install();
    for (int i = 0; i < count; i++) TRY(compare_run_one(line, &sides[i]));
    if (!switch_given(line, "json")) return compare_print(line, sides, count);
    compare_print_json(line, sides, count);
    return error_none();
}

static Error compare_run(const CommandLine *line)
{
    Compared *sides = ARENA_NEW(line->arena, Compared, line->n_arguments);
    const Error error = compare_all(line, sides);
    for (int i = 0; i < line->n_arguments; i++) {
        campaign_close(&sides[i].run);
        campaign_close(&sides[i].campaign);
    }
    return error;
}

static const Switch compare_rows[] = {
    {"seeds", SWITCH_INTEGER, "N", 1, REPLICATES_MAX,
     "how many fresh seeds the best trials are run under (default 200)"},
    {"seed", SWITCH_INTEGER, "S", 0, INTEGER_MAX, "that they come from (default: the same for all comparisons)"},
    {"progress", SWITCH_CHOICE, "auto|bar|plain|json|none", 0, 0, "how to show it (default auto)"},
    {"shared-fs", SWITCH_FLAG, NULL, 0, 0, "allow a network file system (slower, safer SQLite settings)"},
};
static const Switches compare_switches = {compare_rows, sizeof compare_rows / sizeof *compare_rows};

const Command command_compare = {
    .name = "compare",
    .arguments = "CAMPAIGN CAMPAIGN...",
    .doc = "what differs between campaigns, and whether the best trial of one is better under common fresh seeds",
    .examples = "  hopscotch compare gains_coarse gains_fine\n"
                "  hopscotch compare defaults raibert_gains raibert_cmaes --seeds 1000 --json\n",
    .least = 2,
    .most = COMPARE_MOST,
    .switches = {&compare_switches, &switches_backend, &switches_json},
    .run = compare_run,
};
