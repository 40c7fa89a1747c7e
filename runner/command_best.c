// hopscotch best: the best trials of a campaign; with none that did not fail, the longest survivors.
#include "runner.h"

#include <inttypes.h>
#include <string.h>

// What one listing shows: the columns of the table trials, after "rank".
typedef struct BestListing {
    const StoredCampaign *campaign;
    TrialColumns all;
    const char *const *names; // [count]
    int count;
    bool survivors; // of the trials without fitness
} BestListing;

// People see what tells most, with the failure where there is no fitness; programs see every column.
static void best_choose(BestListing *listing, bool machine, Arena *arena)
{
    const Spec *spec = &listing->campaign->spec;
    const char *const *main_names;
    listing->names = listing->all.names;
    listing->count = listing->all.count;
    if (machine) return;
    const int count = trial_columns_main(spec, arena, &main_names);
    const char **names = ARENA_NEW(arena, const char *, count + 2);
    listing->count = 0;
    listing->names = names;
    for (int i = 0; i < count; i++) {
        const bool fitness = strcmp(main_names[i], "fitness") == 0, failure = strcmp(main_names[i], "failure") == 0;
        if (listing->survivors && failure) continue;
        names[listing->count++] = listing->survivors && fitness ? "failure" : main_names[i];
        if (listing->survivors && fitness && spec_has_metric(spec, "survived")) names[listing->count++] = "survived";
    }
}

// Best first, as everywhere: fitness, then the time survived, then the id. The only value is bound.
static const char *best_sql(const BestListing *listing, Arena *arena)
{
    const char *survived = spec_has_metric(&listing->campaign->spec, "survived") ? "survived DESC, " : "";
    return arena_format(arena, "SELECT id, %s FROM trials WHERE fitness IS %s ORDER BY %s%sid LIMIT ?",
                        trial_columns_sql(listing->names, listing->count, arena),
                        listing->survivors ? "NULL" : "NOT NULL", listing->survivors ? "" : "fitness, ", survived);
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
            table_integer(table, rank);
            for (int i = 0; i < listing->count; i++)
                trial_cell(table, statement, i + 1, &listing->all, trial_column_find(&listing->all, listing->names[i]));
        }
        const Error written = table_finish(table);
        if (error.kind == OK) error = written;
    }
    statement_close(statement);
    return error;
}

Error best_print(const StoredCampaign *campaign, int64_t top, TableFormat format, FILE *out, Arena *arena,
                 int64_t *best)
{
    BestListing listing = {.campaign = campaign};
    int64_t survivor;
    TRY(trial_columns(campaign->database, arena, &listing.all));
    best_choose(&listing, format != TABLE_TEXT, arena);
    TRY(best_rows(&listing, top, format, out, arena, best));
    if (*best >= 0) return error_none();
    if (format != TABLE_TEXT) // no rows: only the header, an empty array
        return table_finish(table_start(out, format, listing.count + 1, best_titles(&listing, true, arena)));
    listing.survivors = true;
    best_choose(&listing, false, arena);
    fputs("no trial has a fitness; those that survived longest:\n", out);
    TRY(best_rows(&listing, top, format, out, arena, &survivor));
    if (survivor < 0) fputs("none: no trial is stored yet\n", out);
    return error_none();
}

static Error best_run(const CommandLine *line)
{
    CampaignPlace place;
    StoredCampaign campaign;
    int64_t best = -1;
    const TableFormat format = command_format(line);
    TRY(campaign_find(line, line->arguments[0], &place));
    TRY(campaign_open(place.results, place.name, line->arena, &campaign));
    const Error error = best_print(&campaign, switch_integer(line, "top", 10), format, line->out, line->arena, &best);
    const char *root = command_results_option(place.results, line->arena);
    if (error.kind == OK && format == TABLE_TEXT && best >= 0)
        fprintf(line->out, "\nnext  hopscotch show %s/%" PRId64 "%s\n      hopscotch replay %s/%" PRId64 "%s\n",
                place.name, best, root, place.name, best, root);
    campaign_close(&campaign);
    return error;
}

static const Switch best_switch_rows[] = {
    {"top", SWITCH_INTEGER, "N", 1, 1000000000, "how many (default 10)"},
};
static const Switches best_switches = {best_switch_rows, 1};

const Command command_best = {
    .name = "best",
    .arguments = "CAMPAIGN",
    .doc = "the best trials: least fitness first, failed ones never above others",
    .examples = "  hopscotch best raibert_gains\n"
                "  hopscotch best raibert_gains --top 100 --format csv > best.csv     (every column)\n"
                "  hopscotch best results/raibert_gains/ --json\n",
    .least = 1,
    .most = 1,
    .switches = {&best_switches, &switches_format},
    .run = best_run,
};
