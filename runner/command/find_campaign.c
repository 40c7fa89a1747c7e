// Finding what was stored: campaigns by name or path, their trials, and the columns of their table.
#include "../campaign/store/rows.h"
#include "../campaign/store/store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// ---- campaigns ------------------------------------------------------------------------------------------------------

static bool campaign_is_folder(const char *folder, Arena *arena)
{
    return file_exists(arena_format(arena, "%s/" CAMPAIGN_DATABASE, folder));
}

Error campaign_names(const char *results, Arena *arena, const char *const **names, int *count)
{
    char **entries = NULL;
    int n_entries = 0;
    *count = 0;
    *names = NULL;
    if (!file_exists(results)) return error_none();
    TRY(folder_list(results, arena, &entries, &n_entries));
    const char **found = ARENA_NEW(arena, const char *, n_entries + 1);
    for (int i = 0; i < n_entries; i++) {
        if (entries[i][0] == '.') continue; // on its way out (remove.c)
        if (campaign_is_folder(arena_format(arena, "%s/%s", results, entries[i]), arena))
            found[(*count)++] = entries[i];
    }
    *names = found;
    return error_none();
}

static Error campaign_read_resolved(Database *database, Arena *arena, const char **resolved)
{
    Statement *statement = NULL;
    bool row = false;
    TRY(database_prepare(database, "SELECT resolved FROM campaign", &statement));
    const Error error = statement_step(statement, &row);
    if (row) *resolved = arena_copy(arena, column_text(statement, 0));
    statement_close(statement);
    return error;
}

static Error campaign_unknown(const CommandLine *line, const char *text)
{
    const char *const *names;
    int count;
    TRY(campaign_names(line->results, line->arena, &names, &count));
    const char *nearest = nearest_name(text, names, count), *slash = strchr(text, '/');
    for (int i = 0; i < count && slash != NULL; i++) {
        if (strncmp(names[i], text, (size_t)(slash - text)) == 0 && names[i][slash - text] == '\0')
            return error_make(
                ERROR_USER, "there is no campaign '%.100s', and there is %.100s: write that, or %.100s/41 for a trial",
                text, names[i], names[i]);
    }
    if (count == 0)
        return error_make(ERROR_USER,
                          "there is no campaign under %.200s; run a spec first, or name the root folder with --results",
                          line->results);
    if (nearest != NULL)
        return error_make(ERROR_USER, "there is no campaign '%.100s' under %.200s; did you mean '%.100s'?", text,
                          line->results, nearest);
    return error_make(ERROR_USER, "there is no campaign '%.100s' under %.100s; %s lists them", text, line->results,
                      command_again(line->results, "status").text);
}

static Error campaign_check_link(const char *folder)
{
    if (!file_is_link(folder)) return error_none();
    return error_make(ERROR_USER,
                      "%.300s is a link, and none is followed below a results root: name the folder of the campaign "
                      "that it leads to with --results",
                      folder);
}

// A path comes from the shell's completion ("results/gains"): a slash makes it one. It is split in place.
static Error campaign_at_path(char *path, Arena *arena, CampaignPlace *place, bool *found)
{
    char *slash = strrchr(path, '/');
    *found = slash != NULL && campaign_is_folder(path, arena);
    if (!*found) return error_none();
    place->folder = arena_copy(arena, path);
    place->name = slash + 1;
    *slash = '\0';
    place->results = slash == path ? "/" : path;
    TRY(inside_add_root(place->results));
    return campaign_check_link(place->folder);
}

// "gains/verify/trial_41": below the results root.
static Error campaign_below(const CommandLine *line, const char *name, CampaignPlace *place, bool *found)
{
    *found = false;
    if (name[0] == '/' || strchr(name, '/') == NULL) return error_none();
    return campaign_at_path(arena_format(line->arena, "%s/%s", line->results, name), line->arena, place, found);
}

Error campaign_find(const CommandLine *line, const char *text, CampaignPlace *place)
{
    const char *folder;
    char *name = arena_copy(line->arena, text);
    for (size_t length = strlen(name); length > 1 && name[length - 1] == '/'; length--) name[length - 1] = '\0';
    bool found = false;
    TRY(campaign_at_path(name, line->arena, place, &found));
    if (!found) TRY(campaign_below(line, name, place, &found));
    if (found) return error_none();
    if (strchr(name, '/') != NULL) TRY(campaign_check_link(name));
    if (strchr(name, '/') != NULL) return campaign_unknown(line, text);
    TRY(campaign_folder(line->results, name, line->arena, &folder));
    TRY(campaign_check_link(folder));
    if (!campaign_is_folder(folder, line->arena)) return campaign_unknown(line, name);
    *place = (CampaignPlace){.results = line->results, .name = name, .folder = folder};
    return error_none();
}

// ---- what verify and compare made of a campaign ---------------------------------------------------------------------

enum { CAMPAIGN_MADE_MOST = 100000, CAMPAIGN_MADE_DEPTH = 4 };

const char *campaign_made_root(const CampaignPlace *place, Arena *arena)
{
    return arena_format(arena, "%s/" CAMPAIGN_MADE, place->folder);
}

const char *campaign_made_name(const CampaignPlace *of, const char *name, Arena *arena)
{
    return arena_format(arena, "%s/" CAMPAIGN_MADE "/%s", of->name, name);
}

// Those of `place`, which is called `name`, each followed by what was made of it. made NULL: they are counted.
static Error campaign_add_made(const CampaignPlace *place, const char *name, int depth, int most, Arena *arena,
                               CampaignMade *made, int *count)
{
    const char *root = campaign_made_root(place, arena);
    const char *const *names;
    int n_names;
    TRY(campaign_names(root, arena, &names, &n_names));
    for (int i = 0; i < n_names && *count < most; i++) {
        const CampaignMade one = {
            .place = {.results = root, .name = names[i], .folder = arena_format(arena, "%s/%s", root, names[i])},
            .name = arena_format(arena, "%s/" CAMPAIGN_MADE "/%s", name, names[i])};
        if (made != NULL) made[*count] = one;
        (*count)++;
        if (depth < CAMPAIGN_MADE_DEPTH)
            TRY(campaign_add_made(&one.place, one.name, depth + 1, most, arena, made, count));
    }
    return error_none();
}

Error campaign_made(const CampaignPlace *place, Arena *arena, CampaignMade **made, int *count)
{
    int room = 0;
    *count = 0;
    *made = NULL;
    TRY(campaign_add_made(place, place->name, 1, CAMPAIGN_MADE_MOST, arena, NULL, &room));
    if (room == 0) return error_none();
    *made = ARENA_NEW(arena, CampaignMade, room);
    return campaign_add_made(place, place->name, 1, room, arena, *made, count); // others may have come meanwhile
}

Error campaign_made_is_idle(const CampaignPlace *place, const char *action, Arena *arena)
{
    CampaignMade *made;
    char holder[160];
    int count;
    TRY(campaign_made(place, arena, &made, &count));
    for (int i = 0; i < count; i++) {
        TRY(lock_holder(arena_format(arena, "%s/" CAMPAIGN_LOCK, made[i].place.folder), holder, sizeof holder));
        if (holder[0] != '\0')
            return error_make(ERROR_USER, "%.100s works in %.150s, which was made of it: %s %.100s when that has ended",
                              holder, made[i].name, action, place->name);
    }
    return error_none();
}

Error campaign_resolved(const CampaignPlace *place, Arena *arena, const char **resolved)
{
    Database *database = NULL;
    Statement *statement = NULL;
    bool row = false;
    *resolved = NULL;
    TRY(database_open(arena_format(arena, "%s/" CAMPAIGN_DATABASE, place->folder), DATABASE_READ, &database));
    Error error = database_prepare(database, "SELECT count(*) FROM sqlite_schema WHERE name = 'campaign'", &statement);
    if (error.kind == OK) error = statement_step(statement, &row);
    const bool there = row && column_integer(statement, 0) > 0;
    if (statement != NULL) statement_close(statement);
    if (error.kind == OK && there) error = campaign_read_resolved(database, arena, resolved);
    database_close(database);
    return error;
}

Error campaign_open_named(const CommandLine *line, const char *text, StoredCampaign *campaign)
{
    CampaignPlace place;
    TRY(campaign_find(line, text, &place));
    return campaign_open(place.results, place.name, line->arena, campaign);
}

// Trials that have names besides their ids.
static const struct {
    const char *name, *where, *none;
    bool reversed; // in the order of worst, else of best
} trial_names[] = {
    {"best", "fitness IS NOT NULL", "no trial has a fitness", false},
    {"worst", "fitness IS NOT NULL", "no trial has a fitness", true},
    {"failed", "failure <> 'none'", "no trial failed", false}, // the first by id
};

static Error trial_of_name(const StoredCampaign *campaign, int which, Arena *arena, int64_t *trial)
{
    const char *order = "id";
    const bool ranked = strcmp(trial_names[which].name, "failed") != 0;
    if (ranked && spec_several(&campaign->spec))
        return error_make(ERROR_USER, "%.100s has several objectives and so no %s trial; %s shows its front",
                          campaign->name, trial_names[which].name,
                          command_again(folder_of(campaign->folder, arena), "best %.100s", campaign->name).text);
    if (ranked)
        order = trial_names[which].reversed ? store_worst_order(&campaign->spec) : store_best_order(&campaign->spec);
    const char *sql =
        arena_format(arena, "SELECT id FROM trials WHERE %s ORDER BY %s LIMIT 1", trial_names[which].where, order);
    TRY(store_integer(campaign->database, sql, -1, trial));
    if (*trial >= 0) return error_none();
    return error_make(ERROR_USER, "%.100s has no %s trial: %s", campaign->name, trial_names[which].name,
                      trial_names[which].none);
}

enum { TRIAL_NAMES = sizeof trial_names / sizeof *trial_names };

// Its place among the names; TRIAL_NAMES: it is none.
static int trial_name_find(const char *text)
{
    int which = 0;
    while (which < TRIAL_NAMES && strcmp(text, trial_names[which].name) != 0) which++;
    return which;
}

bool trial_is_named(const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    return (digits > 0 && digits <= 18 && text[digits] == '\0') || trial_name_find(text) < TRIAL_NAMES;
}

Error campaign_open_trial(const CommandLine *line, const char *text, StoredCampaign *campaign, int64_t *trial)
{
    const char *slash = strrchr(text, '/');
    if (slash == NULL || !trial_is_named(slash + 1))
        return error_make(ERROR_USAGE,
                          "'%.100s' names no trial; write CAMPAIGN/TRIAL, e.g. %.100s/41, or best, worst or failed in "
                          "place of the number",
                          text, slash == NULL ? text : "raibert_gains");
    char *name = arena_copy(line->arena, text);
    name[slash - text] = '\0';
    TRY(campaign_open_named(line, name, campaign));
    const int which = trial_name_find(slash + 1);
    *trial = which == TRIAL_NAMES ? strtoll(slash + 1, NULL, 10) : -1;
    if (which == TRIAL_NAMES) return error_none();
    const Error error = trial_of_name(campaign, which, line->arena, trial);
    if (error.kind != OK) campaign_close(campaign);
    return error;
}

Error campaign_failures(Database *database, FILE *out)
{
    Statement *statement;
    bool row = false, any = false;
    TRY(database_prepare(
        database, "SELECT failure, count(*) AS n FROM trials WHERE failure <> 'none' GROUP BY failure ORDER BY n DESC",
        &statement));
    Error error = statement_step(statement, &row);
    for (; error.kind == OK && row; error = statement_step(statement, &row)) {
        fprintf(out, "%s%s ", any ? ", " : "", text_count(column_integer(statement, 1)).text);
        put_visible(out, column_text(statement, 0));
        any = true;
    }
    statement_close(statement);
    if (!any) fputs("none", out);
    return error;
}

// ---- columns of the table trials ------------------------------------------------------------------------------------

enum { CAMPAIGN_COLUMNS_MAX = 2000 }; // SQLite's own limit

Error trial_columns(Database *database, Arena *arena, TrialColumns *columns)
{
    Statement *statement;
    bool row = false;
    TRY(database_prepare(database, "SELECT name, type FROM pragma_table_info('trials') ORDER BY cid", &statement));
    columns->count = 0;
    columns->names = ARENA_NEW(arena, const char *, CAMPAIGN_COLUMNS_MAX);
    columns->is_text = ARENA_NEW(arena, bool, CAMPAIGN_COLUMNS_MAX);
    columns->is_integer = ARENA_NEW(arena, bool, CAMPAIGN_COLUMNS_MAX);
    Error error = statement_step(statement, &row);
    for (; error.kind == OK && row && columns->count < CAMPAIGN_COLUMNS_MAX; error = statement_step(statement, &row)) {
        const int i = columns->count++;
        columns->names[i] = arena_copy(arena, column_text(statement, 0));
        columns->is_text[i] = strcmp(column_text(statement, 1), "TEXT") == 0;
        columns->is_integer[i] = strcmp(column_text(statement, 1), "INTEGER") == 0;
    }
    statement_close(statement);
    return error;
}

int trial_column_find(const TrialColumns *columns, const char *name)
{
    for (int i = 0; i < columns->count; i++) {
        if (strcmp(columns->names[i], name) == 0) return i;
    }
    return -1;
}

bool spec_has_metric(const Spec *spec, const char *name)
{
    for (int i = 0; i < spec->configured.n_metrics; i++) {
        if (strcmp(spec->configured.metrics[i].name, name) == 0) return true;
    }
    return false;
}

int trial_columns_main(const Spec *spec, Arena *arena, const char *const **names)
{
    const Configured *configured = &spec->configured;
    const int n_searched = spec->n_axes + spec->n_derived + spec->n_outer;
    const char **chosen = ARENA_NEW(arena, const char *, 4 + OBJECTIVES_MAX + n_searched + configured->n_metrics);
    int count = 0;
    chosen[count++] = "id";
    if (!spec_several(spec)) chosen[count++] = "fitness";
    for (int i = 0; i < rows_objectives(spec); i++) chosen[count++] = rows_objective_name(i);
    if (spec->n_constraints > 0) chosen[count++] = "violation";
    if (spec->objective.failed != FAILED_ANY) chosen[count++] = "failure"; // else a fitness says that there was none
    for (int i = 0; i < n_searched; i++) chosen[count++] = configured->parameters[spec->axes[i].parameter].name;
    for (int i = 0; i < configured->n_metrics; i++) {
        bool used = false;
        for (int k = 0; k < spec->objective.count; k++) used |= expression_uses(spec->objective.expression[k], i);
        if (used) chosen[count++] = configured->metrics[i].name;
    }
    *names = chosen;
    return count;
}

const char *trial_columns_sql(const char *const *names, int count, Arena *arena)
{
    const char *sql = "";
    for (int i = 0; i < count; i++)
        sql = arena_format(arena, "%s%s%s", sql, i > 0 ? ", " : "", sql_identifier(arena, names[i]));
    return sql;
}

void trial_cell(Table *table, Statement *statement, int index, const TrialColumns *columns, int column)
{
    if (columns->is_text[column])
        table_text(table, column_is_null(statement, index) ? NULL : column_text(statement, index));
    else if (columns->is_integer[column] && !column_is_null(statement, index))
        table_integer(table, column_integer(statement, index));
    else
        table_number(table, column_real(statement, index));
}
