// hopscotch best: the best trials of a campaign, or its front; if all trials failed, those that survived longest.
#include "command.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { BEST_SHOWN = 10 };

// The groups whose best trials are listed: the whole campaign, each search, each point of an outer grid.
typedef enum BestPer { BEST_OF_ALL, BEST_PER_SEARCH, BEST_PER_POINT } BestPer;

// What one listing shows: the columns of the table trials, after "rank".
typedef struct BestListing {
    const StoredCampaign *campaign;
    TrialColumns all;
    const char *const *names; // [count]
    int count;
    bool survivors; // only trials that failed, by the time they survived
    BestPer per;
    Recommendation recommendation; // with one, last columns have the fitness under fresh seeds, and their number
} BestListing;

// Failed trials have no metrics or fitness: their columns are the failure and the time survived.
static void best_choose_survivors(BestListing *listing, Arena *arena)
{
    const Spec *spec = &listing->campaign->spec;
    const char **names = ARENA_NEW(arena, const char *, 3 + rows_searched(spec));
    listing->count = 0;
    listing->names = names;
    names[listing->count++] = "id";
    names[listing->count++] = "failure";
    if (spec_has_metric(spec, "survived")) names[listing->count++] = "survived";
    for (int i = 0; i < rows_searched(spec); i++)
        names[listing->count++] = spec->configured.parameters[spec->axes[i].parameter].name;
}

// A table for people has the main columns; CSV and JSON have all.
static void best_choose(BestListing *listing, bool machine, Arena *arena)
{
    listing->names = listing->all.names;
    listing->count = listing->all.count;
    if (!machine) listing->count = trial_columns_main(&listing->campaign->spec, arena, &listing->names);
}

// The columns whose values a group shares: the search, or the parameters of the outer grid.
static int best_groups(const BestListing *listing, Arena *arena, const char *const **groups)
{
    static const char *const by_search[] = {"search"};
    const Spec *spec = &listing->campaign->spec;
    const Axis *outer = spec->axes + spec->n_axes + spec->n_derived;
    const char **names = ARENA_NEW(arena, const char *, spec->n_outer + 1);
    for (int i = 0; i < spec->n_outer; i++) names[i] = spec->configured.parameters[outer[i].parameter].name;
    *groups = listing->per == BEST_PER_SEARCH ? by_search : names;
    return listing->per == BEST_PER_SEARCH ? 1 : spec->n_outer;
}

// Best first: by violation, fitness, time survived, id. Groups are sorted by the values they share.
static Cursor best_trials(const BestListing *listing, int64_t top, Arena *arena)
{
    const char *const *groups;
    if (listing->survivors) return trials_survivors(listing->campaign, listing->names, listing->count, top, arena);
    if (listing->per == BEST_OF_ALL) return trials_best(listing->campaign, listing->names, listing->count, top, arena);
    const int n_groups = best_groups(listing, arena, &groups);
    return trials_best_of_groups(listing->campaign, listing->names, listing->count, groups, n_groups, top, arena);
}

// Titles of the columns; a table for people says "trial" for "id".
static const char *const *best_titles(const BestListing *listing, bool machine, Arena *arena)
{
    const char **titles = ARENA_NEW(arena, const char *, listing->count + 3);
    titles[0] = "rank";
    titles[1 + listing->count] = "fresh";
    titles[2 + listing->count] = "seeds";
    for (int i = 0; i < listing->count; i++)
        titles[1 + i] = !machine && strcmp(listing->names[i], "id") == 0 ? "trial" : listing->names[i];
    return titles;
}

static bool best_has_fresh(const BestListing *listing) { return listing->recommendation.best >= 0; }

static void best_fresh_cell(const BestListing *listing, int64_t trial, Table *table)
{
    if (!best_has_fresh(listing)) return;
    const Recommended *candidate = recommendation_of(&listing->recommendation, trial);
    table_number(table, candidate != NULL ? candidate->fresh : (double)NAN);
    table_number(table, candidate != NULL ? (double)candidate->seeds : (double)NAN);
}

// *first: id of the first row; -1 without rows, and then nothing is printed. The first column must be the id.
static Error best_rows(const BestListing *listing, int64_t top, TableFormat format, FILE *out, Arena *arena,
                       int64_t *first)
{
    const bool machine = format != TABLE_TEXT, grouped = listing->per != BEST_OF_ALL && !listing->survivors;
    Table *table = NULL;
    *first = -1;
    Cursor trials = best_trials(listing, top, arena);
    for (int64_t rank = 1; cursor_next(&trials); rank++) {
        const int count = listing->count + 1 + 2 * best_has_fresh(listing);
        if (rank == 1) table = table_start(out, format, count, best_titles(listing, machine, arena));
        if (rank == 1) *first = cell_integer(&trials, 0);
        table_integer(table, grouped ? cell_integer(&trials, listing->count) : rank);
        for (int i = 0; i < listing->count; i++)
            trial_cell(table, &trials, i, &listing->all, trial_column_find(&listing->all, listing->names[i]));
        best_fresh_cell(listing, cell_integer(&trials, 0), table);
    }
    cursor_stop(&trials, *first >= 0 ? table_finish(table) : error_none());
    return cursor_close(&trials);
}

static Error best_print_survivors(BestListing *listing, int64_t top, FILE *out, Arena *arena)
{
    int64_t survivor, stored = 0;
    listing->survivors = true;
    best_choose_survivors(listing, arena);
    TRY(trials_count(listing->campaign->database, &stored));
    if (stored == 0) {
        fputs("no trial is stored yet\n", out);
        return error_none();
    }
    fputs("every trial failed; the trials that survived longest:\n", out);
    TRY(best_rows(listing, top, TABLE_TEXT, out, arena, &survivor));
    if (survivor < 0) fputs("none has a row\n", out);
    return error_none();
}

// objectives: names of columns; NULL: the spec's.
static Error best_print_front(const StoredCampaign *campaign, const char *objectives, int64_t top, TableFormat format,
                              FILE *out, Arena *arena, int64_t *best)
{
    BestListing listing = {.campaign = campaign, .recommendation = {.best = -1}};
    FrontColumns by;
    bool any = false;
    TRY(front_columns(campaign, objectives, arena, &by));
    if (top == 0) top = format == TABLE_TEXT ? BEST_SHOWN : -1;
    TRY(front_print(campaign, &by, top, format, out, arena, best));
    if (*best >= 0 || format != TABLE_TEXT) return error_none();
    TRY(trials_any_success(campaign, &any));
    if (any)
        fprintf(
            out, "no trial meets the constraints; `%s` lists the smallest violations\n",
            command_again(folder_of(campaign->folder, arena), "query %.128s --order violation", campaign->name).text);
    if (any) return error_none();
    TRY(trial_columns(campaign->database, &campaign->spec, arena, &listing.all));
    return best_print_survivors(&listing, top, out, arena);
}

// A campaign without such groups would be one group; --per then is probably a mistake, so it is refused.
static Error best_check_groups(const StoredCampaign *campaign, BestPer per)
{
    if (per != BEST_OF_ALL && spec_several(&campaign->spec))
        return error_make(ERROR_USER, "--per: campaign %.128s has several objectives, so it has no single best trial",
                          campaign->name);
    if (per == BEST_PER_POINT && campaign->spec.n_outer == 0)
        return error_make(ERROR_USER,
                          "--per point: campaign %.128s has no outer grid (cmaes.outer); --per search lists "
                          "the best of each search",
                          campaign->name);
    if (per == BEST_PER_SEARCH && !search_learns(campaign->spec.method))
        return error_make(ERROR_USER, "--per search: campaign %.128s (method %s) has one search only; leave out --per",
                          campaign->name, campaign->spec.method->name);
    return error_none();
}

// If a campaign stores rows of its best N trials (record.rows), only N trials can be listed in order. Other trials with
// a row are not necessarily the next ones.
static Error best_limit(const StoredCampaign *campaign, FILE *messages, int64_t *top)
{
    KeptChoice choice;
    TRY(kept_choice(campaign->database, &choice));
    if (choice.best == 0 || *top <= choice.best) return error_none();
    *top = choice.best;
    if (messages != NULL)
        fprintf(messages, "these are the best %s: the campaign stores no rows of other trials (record.rows)\n",
                text_count(choice.best).text);
    return error_none();
}

static Error best_print_verdict(const StoredCampaign *campaign, int64_t best, FILE *out, Arena *arena)
{
    Verified verified;
    TRY(verified_read(campaign, best, arena, &verified));
    if (verified.run != NULL) fprintf(out, "\nverified  %s: %s\n", verified.run, verified_text(&verified, arena));
    return error_none();
}

// top 0: the default number of trials.
static Error best_print_per(const StoredCampaign *campaign, BestPer per, int64_t top, TableFormat format, FILE *out,
                            Arena *arena, int64_t *best)
{
    BestListing listing = {.campaign = campaign, .per = per, .recommendation = {.best = -1}};
    TRY(best_check_groups(campaign, per));
    if (spec_several(&campaign->spec)) return best_print_front(campaign, NULL, top, format, out, arena, best);
    if (top == 0) top = per == BEST_OF_ALL ? BEST_SHOWN : 1;
    TRY(best_limit(campaign, NULL, &top));
    TRY(trial_columns(campaign->database, &campaign->spec, arena, &listing.all));
    best_choose(&listing, format != TABLE_TEXT, arena);
    TRY(recommendation_read(campaign, arena, &listing.recommendation));
    TRY(best_rows(&listing, top, format, out, arena, best));
    if (format == TABLE_TEXT) recommended_print(&listing.recommendation, out);
    if (format == TABLE_TEXT && *best >= 0) recommended_print_left(campaign, out, arena);
    const int64_t first = *best; // of the search, which the recommended trial may replace
    if (per == BEST_OF_ALL && first >= 0) *best = recommended_trial(&listing.recommendation, first);
    if (format == TABLE_TEXT && first >= 0) TRY(best_print_verdict(campaign, first, out, arena));
    if (format == TABLE_TEXT && first != *best) TRY(best_print_verdict(campaign, *best, out, arena));
    if (*best >= 0) return error_none();
    if (format != TABLE_TEXT) // no rows: only the header, an empty array
        return table_finish(table_start(out, format, listing.count + 1, best_titles(&listing, true, arena)));
    return best_print_survivors(&listing, top, out, arena);
}

Error best_print(const StoredCampaign *campaign, int64_t top, TableFormat format, FILE *out, Arena *arena,
                 int64_t *best)
{
    return best_print_per(campaign, BEST_OF_ALL, top, format, out, arena, best);
}

// A pattern and a name may give a campaign twice.
static const char *const *best_each_once(const CommandLine *line, const char *const *names, int *count)
{
    enum { LOOKED_AT = 1000 }; // more are refused
    const char **once = ARENA_NEW(line->arena, const char *, *count + 1);
    int n = 0;
    if (*count > LOOKED_AT) return names;
    for (int i = 0; i < *count; i++) {
        bool again = false;
        for (int k = 0; k < n; k++) again |= strcmp(once[k], names[i]) == 0;
        if (!again) once[n++] = names[i];
    }
    *count = n;
    return once;
}

static Error best_run(const CommandLine *line)
{
    CampaignLocation location;
    StoredCampaign campaign;
    int64_t best = -1;
    const char *const *names;
    int n_names;
    const TableFormat format = command_format(line);
    TRY(campaign_arguments(line, 1, &names, &n_names));
    names = best_each_once(line, names, &n_names);
    if (n_names > 1) return best_of_several(line, names, n_names);
    TRY(campaign_find(line, names[0], &location));
    TRY(campaign_open(location.results, location.name, line->arena, &campaign));
    int64_t top = switch_integer(line, "top", switch_integer(line, "limit", 0));
    const char *objectives = switch_text(line, "objectives", NULL);
    const BestPer per = !switch_given(line, "per")           ? BEST_OF_ALL
                        : switch_choice(line, "per", 0) == 0 ? BEST_PER_SEARCH
                                                             : BEST_PER_POINT;
    const bool front = objectives != NULL || switch_given(line, "pareto");
    Error error = front ? command_report_rows(line, &campaign) : best_limit(&campaign, line->messages, &top);
    if (error.kind == OK)
        error = front ? best_print_front(&campaign, objectives, top, format, line->out, line->arena, &best)
                      : best_print_per(&campaign, per, top, format, line->out, line->arena, &best);
    const char *root = command_results_option(location.results, line->arena), *program = command_program(line->arena);
    if (error.kind == OK && format == TABLE_TEXT && best >= 0)
        fprintf(line->out, "\nnext  %s show %s/%" PRId64 "%s\n", program, location.name, best, root);
    if (error.kind == OK && format == TABLE_TEXT && best >= 0 && !campaign.spec.model->by_hand)
        fprintf(line->out, "      %s replay %s/%" PRId64 "%s%s\n", program, location.name, best,
                command_allow(campaign.spec.model), root);
    campaign_close(&campaign);
    return error;
}

static const Switch best_switch_rows[] = {
    {"top", SWITCH_INTEGER, "N", 1, 1000000000,
     "number of trials (default 10; with --per: 1 per group; of several campaigns: 1 of each; a front as CSV or JSON: "
     "all)"},
    {"limit", SWITCH_INTEGER, "N", 1, 1000000000, "the same as --top"},
    {"per", SWITCH_CHOICE, "search|point", 0, 0, "the best trials of each search, or of each point of an outer grid"},
    {"pareto", SWITCH_FLAG, NULL, 0, 0, "the front: the trials that no other trial beats in all objectives"},
    {"objectives", SWITCH_TEXT, "A,B", 0, 0,
     "the front of these columns; less is better, except where the spec maximises"},
};
static const Switches best_switches = {best_switch_rows, sizeof best_switch_rows / sizeof *best_switch_rows};

const Command command_best = {
    .name = "best",
    .arguments = "CAMPAIGN...",
    .doc = "list the best trials: least fitness first, or greatest if the spec maximises; failed trials last",
    .examples = "  hopscotch best raibert_gains\n"
                "  hopscotch best raibert_gains --top 100 --format csv > best.csv     (every column)\n"
                "  hopscotch best results/raibert_gains/ --json\n"
                "  hopscotch best results/try*     (the best of each, if all have one objective)\n"
                "  hopscotch best speed_tracking_cmaes --per point     (one gait per speed)\n"
                "  hopscotch best pareto_speed_energy --pareto --format csv > front.csv\n"
                "  hopscotch best raibert_gains --objectives velocity_error,cost_of_transport\n",
    .least = 1,
    .most = CAMPAIGN_ARGUMENTS_MOST,
    .switches = {&best_switches, &switches_format},
    .run = best_run,
};
