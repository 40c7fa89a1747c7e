// hopscotch compare: prints the differences between the specs of campaigns, runs their best trials under the same fresh
// seeds, and tests whether one is better than another, and by how much. The runs are stored as campaigns, so that a
// second comparison finds them again. Campaigns of different tasks are not tested.
#include "command.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COMPARE_MOST = 16, COMPARE_SEEDS = 200 };

// One seed for all comparisons, so that they share runs: 52 bits of SHA-256("compare").
static const uint64_t compare_seed = 0x1241626eb8ca5;

typedef struct Compared {
    CampaignLocation location;
    StoredCampaign campaign, run;
    const char *run_name; // as the user names it
    VerifyTask task;
    VerifyOutcome outcome;
    int64_t trials;
    double *search_best; // [n_searches] cost of each search's best trial; infinite: it has none
    int64_t n_searches;
} Compared;

// How the task of a campaign differs from that of the first, apart from choices of the search. Fitnesses of different
// tasks cannot be compared.
typedef struct Relation {
    const char *task;   // keys in which the tasks differ, "simulation.duration, ..."; "": none
    bool same_kind;     // the objectives are equal
    bool same_evidence; // the stored fitnesses are over the same replicates
    bool draws;         // a run depends on its seed
    SpecChange *changes;
    int64_t n_changes;
} Relation;

// Another campaign against the first, seed by seed. "Better" is a lower cost (spec_cost).
typedef struct Verdict {
    RankTest seeds;        // of the runs of the two best trials; a failed run ranks above all others
    SignedRankTest paired; // of the same runs, seed by seed
    RankTest searches;     // of the best trial of each search, if both campaigns have several searches
    Interval less;         // the other's fitness minus the first's, over the seeds where neither failed
    int64_t pairs;
    bool equal; // both trials give the same result under every seed
} Verdict;

// ---- reading and running --------------------------------------------------------------------------------------------

static Error compare_searches(Compared *side, Arena *arena)
{
    TRY(searches_best(&side->campaign, arena, &side->search_best, &side->n_searches));
    for (int64_t i = 0; i < side->n_searches; i++) {
        const double best = spec_cost(&side->campaign.spec, 0, side->search_best[i]);
        side->search_best[i] = isnan(best) ? (double)INFINITY : best;
    }
    return error_none();
}

static Error compare_open(const CommandLine *line, const char *name, Compared *side)
{
    TRY(campaign_find(line, name, &side->location));
    TRY(campaign_open(side->location.results, side->location.name, line->arena, &side->campaign));
    TRY(command_program_remark(line, &side->campaign));
    TRY(trials_count(side->campaign.database, &side->trials));
    side->task = (VerifyTask){.campaign = &side->campaign,
                              .trial = -1,
                              .fitness = (double)NAN,
                              .seed = (uint64_t)switch_integer(line, "seed", (int64_t)compare_seed),
                              .seeds = switch_integer(line, "seeds", COMPARE_SEEDS)};
    TRY(verify_take_trial(&side->task, line->arena));
    if (!verify_draws(&side->campaign.spec)) side->task.seeds = 1; // all runs would be equal
    return compare_searches(side, line->arena);
}

static Error compare_run_one(const CommandLine *line, Compared *side)
{
    const char *name = arena_format(line->arena, "compare_%" PRId64 "_%" PRId64, side->task.trial, side->task.seeds);
    if (side->task.seed != compare_seed) name = arena_format(line->arena, "%s_%" PRIu64, name, side->task.seed);
    side->run_name = campaign_nested_name(&side->location, name, line->arena);
    RunOptions options = command_run_options(line, &side->campaign.spec);
    Spec spec;
    options.results = campaign_nested_root(&side->location, line->arena);
    options.name = name;
    options.nested = true;
    options.again = command_line_again(line);
    TRY(verify_seeds_spec(&side->task, name, line->arena, &spec));
    TRY(verify_run_spec(&side->task, "compares", &spec, &options, line->arena, &side->run));
    return verify_outcome(&side->run, 0, line->arena, &side->outcome);
}

// ---- what differs ---------------------------------------------------------------------------------------------------

static bool compare_starts(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

// What a difference in a key means, by the start of the key. All other keys belong to the task.
typedef enum Meaning { MEANS_TASK, MEANS_CHOICE, MEANS_FIXED, MEANS_OBJECTIVE, MEANS_EVIDENCE } Meaning;
static const struct {
    const char *start;
    Meaning meaning;
} compare_meanings[] = {
    {"search.", MEANS_CHOICE},
    {"seed", MEANS_CHOICE},
    {"parameters.", MEANS_FIXED}, // part of the task if neither campaign searches it
    {"initial.", MEANS_FIXED},
    {"objective.", MEANS_OBJECTIVE},
    {"replicates.count", MEANS_EVIDENCE},
    {"replicates.common", MEANS_EVIDENCE},
    {"replicates.race", MEANS_EVIDENCE},
};

// Another step or integrator computes the same motion, with another error.
static bool compare_is_numerics(const char *key, const Model *model)
{
    static const char section[] = "simulation.";
    return compare_starts(key, section) && model_is_numerics(model, key + sizeof section - 1);
}

static Meaning compare_meaning(const SpecChange *change, const Model *model)
{
    if (compare_is_numerics(change->key, model)) return MEANS_CHOICE;
    for (size_t i = 0; i < sizeof compare_meanings / sizeof *compare_meanings; i++) {
        if (!compare_starts(change->key, compare_meanings[i].start)) continue;
        if (compare_meanings[i].meaning != MEANS_FIXED) return compare_meanings[i].meaning;
        return change->from != NULL && change->to != NULL ? MEANS_TASK : MEANS_CHOICE; // one campaign searches it
    }
    return MEANS_TASK;
}

static const char *compare_task_keys(const SpecChange *changes, int64_t count, const Model *model, Arena *arena)
{
    const char *keys = "";
    for (int64_t i = 0; i < count; i++) {
        const Meaning meaning = compare_meaning(&changes[i], model);
        if (meaning == MEANS_TASK || meaning == MEANS_OBJECTIVE)
            keys = arena_format(arena, "%s%s%s", keys, keys[0] != '\0' ? ", " : "", changes[i].key);
    }
    return keys;
}

const char *compare_tasks(const Spec *first, const Spec *other, Arena *arena)
{
    SpecChange *changes;
    const int64_t count = difference_find(first, other, arena, &changes);
    return compare_task_keys(changes, count, first->model, arena);
}

// The value of the parameter `name` in the best trial; NaN: there is no such parameter.
static double compare_value(const Compared *side, const char *name)
{
    const Configured *configured = &side->campaign.spec.configured;
    for (int p = 0; p < configured->n_parameters; p++) {
        if (strcmp(configured->parameters[p].name, name) == 0) return side->task.parameter[p];
    }
    return (double)NAN;
}

// Each point of an outer grid is a task: the best trials may lie at different points.
static void compare_outer(const Compared *side, const Compared *against, Relation *relation, Arena *arena)
{
    const Spec *spec = &side->campaign.spec;
    const Axis *outer = spec->axes + spec->n_axes + spec->n_derived;
    for (int i = 0; i < spec->n_outer; i++) {
        const char *name = spec->configured.parameters[outer[i].parameter].name;
        if (compare_value(side, name) == compare_value(against, name) || strstr(relation->task, name) != NULL) continue;
        relation->task = arena_format(arena, "%s%s%s of the best trial", relation->task,
                                      relation->task[0] != '\0' ? ", " : "", name);
    }
}

static Relation compare_relation(const Compared *first, const Compared *other, Arena *arena)
{
    Relation relation = {.task = "",
                         .same_kind = true,
                         .same_evidence = true,
                         .draws = verify_draws(&first->campaign.spec) || verify_draws(&other->campaign.spec)};
    relation.n_changes = difference_find(&first->campaign.spec, &other->campaign.spec, arena, &relation.changes);
    for (int64_t i = 0; i < relation.n_changes; i++) {
        const Meaning meaning = compare_meaning(&relation.changes[i], first->campaign.spec.model);
        if (meaning == MEANS_EVIDENCE) relation.same_evidence = false;
        if (meaning == MEANS_OBJECTIVE) relation.same_kind = false;
    }
    relation.task = compare_task_keys(relation.changes, relation.n_changes, first->campaign.spec.model, arena);
    compare_outer(first, other, &relation, arena);
    compare_outer(other, first, &relation, arena);
    return relation;
}

static bool compare_same_runs(const VerifyOutcome *a, const VerifyOutcome *b)
{
    bool same = a->n == b->n;
    for (int64_t i = 0; i < a->n && same; i++) same = a->value[i] == b->value[i];
    return same;
}

// The campaigns must have the same task.
static Verdict compare_judge(const Compared *first, const Compared *other, const Relation *relation, Arena *arena)
{
    const VerifyOutcome *a = &first->outcome, *b = &other->outcome;
    Verdict verdict = {.seeds = {.p = (double)NAN},
                       .paired = {.p = (double)NAN},
                       .searches = {.p = (double)NAN},
                       .equal = compare_same_runs(a, b)};
    double *less = ARENA_NEW(arena, double, a->n + 1);
    if (relation->draws && !verdict.equal) {
        verdict.seeds = rank_test(a->value, a->n, b->value, b->n, arena);
        verdict.paired = signed_rank_test(a->value, b->value, a->n < b->n ? a->n : b->n, arena);
    }
    for (int64_t i = 0; i < a->n && i < b->n; i++) {
        if (isfinite(a->value[i]) && isfinite(b->value[i])) less[verdict.pairs++] = b->value[i] - a->value[i];
    }
    const Interval cost = interval_of_mean(less, verdict.pairs);
    verdict.less = verify_shown(&first->campaign.spec, &cost);
    if (first->n_searches > 1 && other->n_searches > 1 && relation->same_evidence &&
        strcmp(first->location.folder, other->location.folder) != 0)
        verdict.searches =
            rank_test(first->search_best, first->n_searches, other->search_best, other->n_searches, arena);
    return verdict;
}

// ---- for people -----------------------------------------------------------------------------------------------------

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

// "fitness on common seeds" if all campaigns have the same task.
static const char *compare_fitness_title(const Compared *sides, int count, Arena *arena)
{
    bool common = true, draws = false;
    for (int i = 0; i < count; i++) {
        common = common && compare_relation(&sides[0], &sides[i], arena).task[0] == '\0';
        draws = draws || verify_draws(&sides[i].campaign.spec);
    }
    return !draws ? "fitness of a run" : common ? "fitness on common seeds" : "fitness on fresh seeds";
}

static Error compare_print_table(const Compared *sides, int count, FILE *out, Arena *arena)
{
    const char *const columns[] = {"campaign",  "trials", "best trial", "its fitness",
                                   "success %", "from",   "to",         compare_fitness_title(sides, count, arena),
                                   "from ",     "to "};
    Table *table = table_start(out, TABLE_TEXT, (int)(sizeof columns / sizeof *columns), columns);
    for (int i = 0; table != NULL && i < count; i++) {
        const VerifyOutcome *outcome = &sides[i].outcome;
        const bool sampled = verify_draws(&sides[i].campaign.spec); // else there is one run
        table_text(table, sides[i].campaign.name);
        table_integer(table, sides[i].trials);
        table_integer(table, sides[i].task.trial);
        table_number(table, sides[i].task.fitness);
        table_number(table, verify_percent(outcome->rate.value));
        table_number(table, sampled ? verify_percent(outcome->rate.low) : (double)NAN);
        table_number(table, sampled ? verify_percent(outcome->rate.high) : (double)NAN);
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

static void compare_print_paired(const SignedRankTest *test, FILE *out, Arena *arena)
{
    if (isnan(test->p)) return;
    fprintf(out, "  seed by seed: better under %s seeds, worse under %s", text_count(test->less).text,
            text_count(test->greater).text);
    if (test->equal > 0) fprintf(out, ", equal under %s, which are left out", text_count(test->equal).text);
    fprintf(out, "; %s (Wilcoxon's signed ranks, %s)\n", compare_chance(test->p, arena),
            test->exact ? "exact" : "normal, ties corrected");
}

// Results that do not depend on the seed: one run of each campaign, and no test.
static void compare_print_certain(const Compared *first, const Compared *other, FILE *out)
{
    const Spec *spec = &first->campaign.spec;
    const double a = first->outcome.value[0], b = other->outcome.value[0];
    fputs("  results do not depend on the seed (no replicates.perturb): one run is enough, there is nothing to test\n",
          out);
    if (isinf(a) || isinf(b))
        fprintf(out, "  its best trial %s, the best trial of the other %s\n", isinf(b) ? "fails" : "does not fail",
                isinf(a) ? "fails" : "does not");
    else
        fprintf(out, "  its best trial %s: %s against %s (%s is better)\n",
                b < a   ? "is better"
                : b > a ? "is worse"
                        : "gives the same",
                text_number(spec_cost(spec, 0, b)).text, text_number(spec_cost(spec, 0, a)).text,
                spec->objective.maximize[0] ? "more" : "less");
}

static void compare_print_sampled(const Verdict *verdict, const VerifyOutcome *first, const VerifyOutcome *other,
                                  FILE *out, Arena *arena)
{
    if (first->succeeded == 0 && other->succeeded == 0)
        fputs("  every run of both failed: there is nothing to test\n", out);
    else if (verdict->equal)
        fputs("  the two best trials give the same result under every seed: there is nothing to test\n", out);
    else
        compare_print_test("a run of its best trial", &verdict->seeds, out, arena);
    compare_print_paired(&verdict->paired, out, arena);
    if (verdict->pairs == 0 || verdict->equal) return;
    fprintf(out, "  fitness, seed by seed: %+.6g", verdict->less.value);
    if (!isnan(verdict->less.low)) fprintf(out, " (95 %%: %+.6g to %+.6g)", verdict->less.low, verdict->less.high);
    fprintf(out, " over %s seeds where neither failed\n", text_count(verdict->pairs).text);
}

static void compare_print_verdict(const Compared *first, const Compared *other, FILE *out, Arena *arena)
{
    const Relation relation = compare_relation(first, other, arena);
    fprintf(out, "\n%s against %s\n", other->campaign.name, first->campaign.name);
    if (!relation.same_kind) fputs("  their objectives differ: their fitnesses measure different things\n", out);
    if (relation.task[0] != '\0') {
        fputs("  the tasks differ: nothing is tested, because a difference of fitnesses would have no meaning\n", out);
        return;
    }
    const Verdict verdict = compare_judge(first, other, &relation, arena);
    if (relation.draws)
        compare_print_sampled(&verdict, &first->outcome, &other->outcome, out, arena);
    else
        compare_print_certain(first, other, out);
    compare_print_test("the best of one of its searches", &verdict.searches, out, arena);
}

// Printed first: warns if the tasks differ, or the replicates of the stored fitnesses.
static void compare_print_warnings(const Compared *sides, int count, FILE *out, Arena *arena)
{
    bool any = false;
    for (int i = 1; i < count; i++) {
        const Relation relation = compare_relation(&sides[0], &sides[i], arena);
        const char *first = sides[0].campaign.name, *other = sides[i].campaign.name;
        if (relation.task[0] != '\0')
            fprintf(
                out,
                "warning: %s and %s have different tasks, and their fitnesses can't be compared: they differ in %s\n",
                first, other, relation.task);
        else if (!relation.same_evidence)
            fprintf(out,
                    "warning: the stored fitnesses of %s and %s are over different replicates (%s, %s); the fitnesses "
                    "under fresh seeds can be compared\n",
                    first, other, replicates_each(&sides[0].campaign.spec).text,
                    replicates_each(&sides[i].campaign.spec).text);
        any = any || relation.task[0] != '\0' || !relation.same_evidence;
    }
    if (any) fputc('\n', out);
}

static Error compare_print(const CommandLine *line, const Compared *sides, int count)
{
    compare_print_warnings(sides, count, line->out, line->arena);
    compare_print_specs(sides, count, line->out, line->arena);
    TRY(compare_print_table(sides, count, line->out, line->arena));
    for (int i = 1; i < count; i++) compare_print_verdict(&sides[0], &sides[i], line->out, line->arena);
    return error_none();
}

// ---- for programs ---------------------------------------------------------------------------------------------------

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

static void compare_json_paired(Json *json, const SignedRankTest *test)
{
    if (isnan(test->p)) return;
    json_object(json, "signed_ranks");
    json_number(json, "w", test->w);
    json_number(json, "p", test->p);
    json_integer(json, "better", test->less);
    json_integer(json, "worse", test->greater);
    json_integer(json, "equal", test->equal);
    json_boolean(json, "exact", test->exact);
    json_close(json, '}');
}

static void compare_json_side(const Compared *side, Json *json)
{
    json_object(json, NULL);
    json_text(json, "campaign", side->campaign.name);
    json_text(json, "run", side->run_name);
    json_integer(json, "trials", side->trials);
    json_integer(json, "best_trial", side->task.trial);
    json_number(json, "best_fitness", side->task.fitness);
    json_integer(json, "runs", side->outcome.n);
    json_integer(json, "succeeded", side->outcome.succeeded);
    verify_interval_json(json, "success", &side->outcome.rate);
    verify_interval_json(json, "fitness", &side->outcome.fitness);
    json_close(json, '}');
}

static void compare_json_tests(const Compared *first, const Compared *other, const Relation *relation, Json *json,
                               Arena *arena)
{
    const Verdict verdict = compare_judge(first, other, relation, arena);
    compare_json_test(json, "runs", &verdict.seeds);
    compare_json_paired(json, &verdict.paired);
    compare_json_test(json, "searches", &verdict.searches);
    json_boolean(json, "equal", verdict.equal);
    json_integer(json, "pairs", verdict.pairs);
    verify_interval_json(json, "difference", &verdict.less);
}

static void compare_json_verdict(const Compared *first, const Compared *other, Json *json, Arena *arena)
{
    const Relation relation = compare_relation(first, other, arena);
    json_object(json, NULL);
    json_text(json, "campaign", other->campaign.name);
    json_text(json, "against", first->campaign.name);
    json_array(json, "differences");
    for (int64_t i = 0; i < relation.n_changes; i++) {
        const Meaning meaning = compare_meaning(&relation.changes[i], first->campaign.spec.model);
        json_object(json, NULL);
        json_text(json, "key", relation.changes[i].key);
        json_text(json, "from", relation.changes[i].from);
        json_text(json, "to", relation.changes[i].to);
        json_boolean(json, "of_task", meaning == MEANS_TASK || meaning == MEANS_OBJECTIVE);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_boolean(json, "same_task", relation.task[0] == '\0');
    json_boolean(json, "same_objective", relation.same_kind);
    json_boolean(json, "draws", relation.draws);
    if (relation.task[0] == '\0') compare_json_tests(first, other, &relation, json, arena);
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

static Error compare_all(const CommandLine *line, const char *const *names, int count, Compared *sides)
{
    for (int i = 0; i < count; i++) TRY(compare_open(line, names[i], &sides[i]));
    for (int i = 1; i < count; i++) {
        const char *first = sides[0].campaign.spec.model->name, *other = sides[i].campaign.spec.model->name;
        if (strcmp(first, other) != 0)
            return error_make(ERROR_USER,
                              "%.100s runs model %s and %.100s runs %s: only campaigns of one model can be compared",
                              sides[0].campaign.name, first, sides[i].campaign.name, other);
    }
    interrupt_install();
    for (int i = 0; i < count; i++) TRY(compare_run_one(line, &sides[i]));
    if (!switch_given(line, "json")) return compare_print(line, sides, count);
    compare_print_json(line, sides, count);
    return error_none();
}

static Error compare_run(const CommandLine *line)
{
    const char *const *names;
    int count;
    TRY(campaign_arguments(line, 2, &names, &count));
    if (count > COMPARE_MOST)
        return error_make(ERROR_USAGE, "compare takes at most %d campaigns, and these are %d", COMPARE_MOST, count);
    Compared *sides = ARENA_NEW(line->arena, Compared, count);
    const Error error = compare_all(line, names, count, sides);
    for (int i = 0; i < count; i++) {
        campaign_close(&sides[i].run);
        campaign_close(&sides[i].campaign);
    }
    return error;
}

static const Switch compare_rows[] = {
    {"seeds", SWITCH_INTEGER, "N", 1, REPLICATES_MAX, "number of fresh seeds for each best trial (default 200)"},
    {"seed", SWITCH_INTEGER, "S", 0, INTEGER_MAX,
     "seed that generates the fresh seeds (default: one for all comparisons)"},
};
static const Switches compare_switches = {compare_rows, sizeof compare_rows / sizeof *compare_rows};

const Command command_compare = {
    .name = "compare",
    .arguments = "CAMPAIGN CAMPAIGN...",
    .doc = "compare the specs of campaigns, and their best trials under common fresh seeds",
    .examples = "  hopscotch compare gains_coarse gains_fine\n"
                "  hopscotch compare defaults raibert_gains raibert_cmaes --seeds 1000 --json\n"
                "  hopscotch compare results/try*     (a pattern of the shell)\n",
    .least = 2,
    .most = CAMPAIGN_ARGUMENTS_MOST,
    .switches = {&compare_switches, &switches_campaign, &switches_backend, &switches_json},
    .run = compare_run,
};
