// hopscotch best: the best trials of a campaign, or its front; with none that did not fail, the longest survivors.
#include "command.h"

#include <inttypes.h>
#include <string.h>

enum { BEST_SHOWN = 10 };

// Of what the best ones are listed: of the whole campaign, of each search, of each point of an outer grid.
typedef enum BestPer { BEST_OF_ALL, BEST_PER_SEARCH, BEST_PER_POINT } BestPer;

// What one listing shows: the columns of the table trials, after "rank".
typedef struct BestListing {
    const StoredCampaign *campaign;
    TrialColumns all;
    const char *const *names; // [count]
    int count;
    bool survivors; // of trials that failed
    BestPer per;
} BestListing;

// The failure and the time survived in place of what failed trials have not got.
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

// People see what tells most; programs see every column.
static void best_choose(BestListing *listing, bool machine, Arena *arena)
{
    listing->names = listing->all.names;
    listing->count = listing->all.count;
    if (!machine) listing->count = trial_columns_main(&listing->campaign->spec, arena, &listing->names);
}

// The columns that all trials of a group share.
static const char *best_group(const BestListing *listing, Arena *arena)
{
    const Spec *spec = &listing->campaign->spec;
    const Axis *outer = spec->axes + spec->n_axes + spec->n_derived;
    const char **names = ARENA_NEW(arena, const char *, spec->n_outer + 1);
    for (int i = 0; i < spec->n_outer; i++) names[i] = spec->configured.parameters[outer[i].parameter].name;
    return listing->per == BEST_PER_SEARCH ? "search" : trial_columns_sql(names, spec->n_outer, arena);
}

// Of every group of trials the first ones in the order of best, groups in the order of what they share.
static const char *best_groups_sql(const BestListing *listing, Arena *arena)
{
    const Spec *spec = &listing->campaign->spec;
    const char *group = best_group(listing, arena);
    return arena_format(arena,
                        "SELECT id, %s, place FROM (SELECT *, row_number() OVER (PARTITION BY %s ORDER BY %s) AS place "
                        "FROM trials WHERE %s IS NOT NULL) WHERE place <= ? ORDER BY %s, place",
                        trial_columns_sql(listing->names, listing->count, arena), group, store_best_order(spec),
                        rows_good_name(spec), group);
}

// Best first, as everywhere: violation, fitness, the time survived, the id. The only value is bound.
static const char *best_sql(const BestListing *listing, Arena *arena)
{
    const Spec *spec = &listing->campaign->spec;
    const char *survivors = spec_has_metric(spec, "survived") ? "survived DESC, id" : "id";
    if (listing->per != BEST_OF_ALL && !listing->survivors) return best_groups_sql(listing, arena);
    return arena_format(arena, "SELECT id, %s FROM trials WHERE %s IS %s ORDER BY %s LIMIT ?",
                        trial_columns_sql(listing->names, listing->count, arena), rows_good_name(spec),
                        listing->survivors ? "NULL" : "NOT NULL",
                        listing->survivors ? survivors : store_best_order(spec));
}

// The names as a table shows them; people know an id as a trial.
static const char *const *best_titles(const BestListing *listing, bool machine, Arena *arena)
{
    const char **titles = ARENA_NEW(arena, const char *, listing->count + 1);
    titles[0] = "rank";
    for (int i = 0; i < listing->count; i++)
        titles[1 + i] = !machine && strcmp(listing->names[i], "id") == 0 ? "trial" : listing->names[i];
    return titles;
}

// *first: id of the first row, -1 if there is none; then nothing is printed.
static Error best_rows(const BestListing *listing, int64_t top, TableFormat format, FILE *out, Arena *arena,
                       int64_t *first)
{
    Statement *statement;
    bool row = false;
    *first = -1;
    TRY(database_prepare(listing->campaign->database, best_sql(listing, arena), &statement));
    bind_integer(statement, 1, top);
    Error error = statement_step(statement, &row);
    if (error.kind == OK && row) {
        const bool machine = format != TABLE_TEXT;
        Table *table = table_start(out, format, listing->count + 1, best_titles(listing, machine, arena));
        *first = column_integer(statement, 0);
        for (int64_t rank = 1; error.kind == OK && row; rank++, error = statement_step(statement, &row)) {
            const bool grouped = listing->per != BEST_OF_ALL && !listing->survivors;
            table_integer(table, grouped ? column_integer(statement, listing->count + 1) : rank);
            for (int i = 0; i < listing->count; i++)
                trial_cell(table, statement, i + 1, &listing->all, trial_column_find(&listing->all, listing->names[i]));
        }
        const Error written = table_finish(table);
        if (error.kind == OK) error = written;
    }
    statement_close(statement);
    return error;
}

static Error best_print_survivors(BestListing *listing, int64_t top, FILE *out, Arena *arena)
{
    int64_t survivor;
    listing->survivors = true;
    best_choose_survivors(listing, arena);
    fputs("every trial failed; those that survived longest:\n", out);
    TRY(best_rows(listing, top, TABLE_TEXT, out, arena, &survivor));
    if (survivor < 0) fputs("none: no trial is stored yet\n", out);
    return error_none();
}

static Error best_any_good(const StoredCampaign *campaign, bool *any)
{
    char sql[96];
    int64_t rows = 0;
    snprintf(sql, sizeof sql, "SELECT 1 FROM trials WHERE %s IS NOT NULL LIMIT 1", rows_good_name(&campaign->spec));
    TRY(store_integer(campaign->database, sql, 0, &rows));
    *any = rows > 0;
    return error_none();
}

// objectives: names of columns, NULL: the spec's.
static Error best_print_front(const StoredCampaign *campaign, const char *objectives, int64_t top, TableFormat format,
                              FILE *out, Arena *arena, int64_t *best)
{
    BestListing listing = {.campaign = campaign};
    FrontColumns by;
    bool any = false;
    TRY(front_columns(campaign, objectives, arena, &by));
    if (top == 0) top = format == TABLE_TEXT ? BEST_SHOWN : -1;
    TRY(front_print(campaign, &by, top, format, out, arena, best));
    if (*best >= 0 || format != TABLE_TEXT) return error_none();
    TRY(best_any_good(campaign, &any));
    if (any)
        fprintf(
            out, "no trial meets the constraints; `%s` shows how near they come\n",
            command_again(folder_of(campaign->folder, arena), "query %.128s --order violation", campaign->name).text);
    if (any) return error_none();
    TRY(trial_columns(campaign->database, arena, &listing.all));
    return best_print_survivors(&listing, top, out, arena);
}

// A campaign without such groups is one itself, but who asks for them expects others.
static Error best_check_groups(const StoredCampaign *campaign, BestPer per)
{
    if (per != BEST_OF_ALL && spec_several(&campaign->spec))
        return error_make(ERROR_USER, "--per: campaign %.128s has several objectives, and so no best trial",
                          campaign->name);
    if (per == BEST_PER_POINT && campaign->spec.n_outer == 0)
        return error_make(ERROR_USER,
                          "--per point: campaign %.128s has no outer grid (cmaes.outer); --per search lists "
                          "the best of each search",
                          campaign->name);
    if (per == BEST_PER_SEARCH && !search_learns(campaign->spec.method))
        return error_make(ERROR_USER, "--per search: campaign %.128s is one search, of method %s; leave --per out",
                          campaign->name, campaign->spec.method->name);
    return error_none();
}

// top 0: as many as is usual.
static Error best_print_per(const StoredCampaign *campaign, BestPer per, int64_t top, TableFormat format, FILE *out,
                            Arena *arena, int64_t *best)
{
    BestListing listing = {.campaign = campaign, .per = per};
    TRY(best_check_groups(campaign, per));
    if (spec_several(&campaign->spec)) return best_print_front(campaign, NULL, top, format, out, arena, best);
    if (top == 0) top = per == BEST_OF_ALL ? BEST_SHOWN : 1;
    TRY(trial_columns(campaign->database, arena, &listing.all));
    best_choose(&listing, format != TABLE_TEXT, arena);
    TRY(best_rows(&listing, top, format, out, arena, best));
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

static Error best_run(const CommandLine *line)
{
    CampaignPlace place;
    StoredCampaign campaign;
    int64_t best = -1;
    const TableFormat format = command_format(line);
    TRY(campaign_find(line, line->arguments[0], &place));
    TRY(campaign_open(place.results, place.name, line->arena, &campaign));
    const int64_t top = switch_integer(line, "top", switch_integer(line, "limit", 0));
    const char *objectives = switch_text(line, "objectives", NULL);
    const BestPer per = !switch_given(line, "per")           ? BEST_OF_ALL
                        : switch_choice(line, "per", 0) == 0 ? BEST_PER_SEARCH
                                                             : BEST_PER_POINT;
    const Error error = objectives != NULL || switch_given(line, "pareto")
                            ? best_print_front(&campaign, objectives, top, format, line->out, line->arena, &best)
                            : best_print_per(&campaign, per, top, format, line->out, line->arena, &best);
    const char *root = command_results_option(place.results, line->arena), *program = command_program(line->arena);
    if (error.kind == OK && format == TABLE_TEXT && best >= 0)
        fprintf(line->out, "\nnext  %s show %s/%" PRId64 "%s\n      %s replay %s/%" PRId64 "%s\n", program, place.name,
                best, root, program, place.name, best, root);
    campaign_close(&campaign);
    return error;
}

static const Switch best_switch_rows[] = {
    {"top", SWITCH_INTEGER, "N", 1, 1000000000,
     "how many (default 10; with --per 1 of each; of a front, in CSV and JSON, all)"},
    {"limit", SWITCH_INTEGER, "N", 1, 1000000000, "the same as --top"},
    {"per", SWITCH_CHOICE, "search|point", 0, 0, "the best of each search, or of each point of an outer grid"},
    {"pareto", SWITCH_FLAG, NULL, 0, 0, "the trials that no other one beats in all objectives, as with several always"},
    {"objectives", SWITCH_TEXT, "A,B", 0, 0,
     "--pareto by these columns; less is better, but of what the spec maximises"},
};
static const Switches best_switches = {best_switch_rows, sizeof best_switch_rows / sizeof *best_switch_rows};

const Command command_best = {
    .name = "best",
    .arguments = "CAMPAIGN",
    .doc = "the best trials: least fitness first (greatest if it is maximised), failed ones never above others",
    .examples = "  hopscotch best raibert_gains\n"
                "  hopscotch best raibert_gains --top 100 --format csv > best.csv     (every column)\n"
                "  hopscotch best results/raibert_gains/ --json\n"
                "  hopscotch best speed_tracking_cmaes --per point     (one gait a speed)\n"
                "  hopscotch best pareto_speed_energy --pareto --format csv > front.csv\n"
                "  hopscotch best raibert_gains --objectives velocity_error,cost_of_transport\n",
    .least = 1,
    .most = 1,
    .switches = {&best_switches, &switches_format},
    .run = best_run,
};
