// hopscotch list: campaigns, one line each, by name, tag or state; or the keys in which their specs differ.
#include "command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct ListEntry {
    const StatusReport *report;
    const CampaignLocation *location;
    int64_t bytes;
} ListEntry;

static int list_by_name(const void *a, const void *b)
{
    return strcmp(((const ListEntry *)a)->report->location.name, ((const ListEntry *)b)->report->location.name);
}

// The newest first.
static int list_by_date(const void *a, const void *b)
{
    const int order = strcmp(((const ListEntry *)b)->report->committed, ((const ListEntry *)a)->report->committed);
    return order != 0 ? order : list_by_name(a, b);
}

static int list_by_size(const void *a, const void *b)
{
    const int64_t left = ((const ListEntry *)a)->bytes, right = ((const ListEntry *)b)->bytes;
    return left != right ? (left < right) - (left > right) : list_by_name(a, b);
}

// First campaigns that minimise, the least best fitness first; then those that maximise, the greatest first; then those
// without a best trial.
static int list_by_best(const void *a, const void *b)
{
    const StatusReport *left = ((const ListEntry *)a)->report, *right = ((const ListEntry *)b)->report;
    const int order = (left->best > right->best) - (left->best < right->best);
    if (isnan(left->best) != isnan(right->best)) return isnan(left->best) - isnan(right->best);
    if (left->maximizes != right->maximizes && !isnan(left->best)) return left->maximizes - right->maximizes;
    return order == 0 ? list_by_name(a, b) : left->maximizes ? -order : order;
}

#define LIST_SORTS "name|date|size|best"
static int (*const list_sorts[])(const void *, const void *) = {list_by_name, list_by_date, list_by_size, list_by_best};

// tags: "fast, paper".
static bool list_has_tag(const char *tags, const char *tag)
{
    const size_t length = strlen(tag);
    for (const char *at = tags; *at != '\0'; at += strcspn(at, ",") + (strchr(at, ',') != NULL)) {
        while (*at == ' ') at++;
        if (strncmp(at, tag, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
    }
    return false;
}

static bool list_wants(const CommandLine *line, const StatusReport *report)
{
    int count = 0;
    const char *const *tags = switch_all(line, "tag", &count);
    const char *state = switch_text(line, "state", NULL);
    const bool cut = strcmp(report->state, "interrupted") == 0 || strcmp(report->state, "killed") == 0;
    bool wanted = state == NULL || strcmp(state, report->state) == 0 || (cut && strcmp(state, "unfinished") == 0);
    for (int i = 0; i < count; i++) wanted = wanted && list_has_tag(report->tags, tags[i]);
    return wanted;
}

static Error list_add(const CommandLine *line, StatusEntry *read, ListEntry *entries, int *count)
{
    ListEntry *entry = &entries[*count];
    if (read->error != NULL) fprintf(line->messages, "hopscotch: %s\n", text_visible(read->error, line->arena));
    if (!list_wants(line, &read->report)) return error_none();
    read->report.location.name = read->name;
    entry->report = &read->report;
    entry->location = &read->location;
    (*count)++;
    return folder_bytes(read->location.folder, &entry->bytes);
}

// Campaigns; with --all, each followed by those that verify and compare ran for it. *n_nested: the number of these.
static Error list_find(const CommandLine *line, const StatusEntry *hosts, int n_hosts, StatusEntry **out, int *count,
                       int *n_nested)
{
    const bool all = switch_given(line, "all");
    NestedCampaign **nested = ARENA_NEW(line->arena, NestedCampaign *, n_hosts + 1);
    int *below = ARENA_NEW(line->arena, int, n_hosts + 1);
    *n_nested = *count = 0;
    for (int i = 0; i < n_hosts; i++) {
        TRY(campaign_nested(&hosts[i].location, line->arena, &nested[i], &below[i]));
        *n_nested += below[i];
    }
    StatusEntry *entries = ARENA_NEW(line->arena, StatusEntry, n_hosts + (all ? *n_nested : 0) + 1);
    for (int i = 0; i < n_hosts; i++) {
        entries[(*count)++] = hosts[i];
        for (int k = 0; k < below[i] && all; k++)
            entries[(*count)++] = (StatusEntry){.location = nested[i][k].location, .name = nested[i][k].name};
    }
    *out = entries;
    return error_none();
}

static Error list_read_root(const CommandLine *line, StatusEntry **read, int *n_found, int *n_nested)
{
    const char *const *names;
    int n_names;
    TRY(campaign_names(line->results, line->arena, &names, &n_names));
    StatusEntry *hosts = ARENA_NEW(line->arena, StatusEntry, n_names + 1);
    for (int i = 0; i < n_names; i++)
        hosts[i] = (StatusEntry){.name = names[i], .location = campaign_location(line, names[i])};
    TRY(list_find(line, hosts, n_names, read, n_found, n_nested));
    return catalogue_read(line->results, *read, *n_found, names, n_names, line->arena);
}

// Campaigns outside of the results root are called by their folders.
static const char *list_name(const CommandLine *line, const CampaignLocation *location)
{
    const char *root = folder_absolute(line->results, line->arena);
    return strcmp(folder_absolute(location->results, line->arena), root) == 0 ? location->name : location->folder;
}

// The campaigns that the arguments name. The catalogue is of a whole root; so each state is read.
static Error list_read_named(const CommandLine *line, StatusEntry **read, int *n_found, int *n_nested)
{
    const char *const *names;
    int n_names;
    TRY(campaign_arguments(line, 0, &names, &n_names));
    StatusEntry *hosts = ARENA_NEW(line->arena, StatusEntry, n_names + 1);
    for (int i = 0; i < n_names; i++) {
        TRY(campaign_find(line, names[i], &hosts[i].location));
        hosts[i].name = list_name(line, &hosts[i].location);
    }
    TRY(list_find(line, hosts, n_names, read, n_found, n_nested));
    for (int i = 0; i < *n_found; i++) {
        const Error error = status_read(&(*read)[i].location, line->arena, &(*read)[i].report);
        if (error.kind != OK) (*read)[i].error = arena_copy(line->arena, error.text);
    }
    return error_none();
}

// *n_found: the number of campaigns before tags and states are chosen.
static Error list_read(const CommandLine *line, ListEntry **out, int *count, int *n_found, int *n_nested)
{
    StatusEntry *read = NULL;
    *count = *n_found = *n_nested = 0;
    Error error = line->n_arguments > 0 ? list_read_named(line, &read, n_found, n_nested)
                                        : list_read_root(line, &read, n_found, n_nested);
    ListEntry *entries = ARENA_NEW(line->arena, ListEntry, *n_found + 1);
    for (int i = 0; i < *n_found && error.kind == OK; i++) error = list_add(line, &read[i], entries, count);
    TRY(error);
    qsort(entries, (size_t)*count, sizeof *entries, list_sorts[switch_choice(line, "sort", 0)]);
    *out = entries;
    return error_none();
}

// A text that is longer than `width` bytes ends in "...", between two characters.
static const char *list_short(const char *text, int width, Arena *arena)
{
    if ((int)strlen(text) <= width) return text;
    int size = width - 3;
    while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80) size--;
    return arena_format(arena, "%.*s...", size, text);
}

// The number of trials in all. Text names a bound where only a bound is known; other formats have no value then.
static void list_total(const StatusReport *report, TableFormat format, Table *table)
{
    char most[32];
    snprintf(most, sizeof most, "<= %lld", (long long)report->most);
    if (report->total > 0)
        table_integer(table, report->total);
    else
        table_text(table, format != TABLE_TEXT ? NULL : report->most > 0 ? most : "open");
}

static void list_row(const ListEntry *entry, TableFormat format, Table *table, Arena *arena)
{
    enum { LIST_OBJECTIVE_WIDTH = 60 }; // bytes, for people
    const StatusReport *report = entry->report;
    table_text(table, report->location.name);
    table_text(table, report->state);
    table_integer(table, report->trials);
    list_total(report, format, table);
    table_integer(table, report->failures);
    table_number(table, report->best);
    if (format == TABLE_TEXT)
        table_text(table, text_bytes((double)entry->bytes).text);
    else
        table_integer(table, entry->bytes);
    table_text(table, report->committed[0] != '\0' ? report->committed : NULL);
    table_text(table, report->model);
    table_text(table, report->tags[0] != '\0' ? report->tags : NULL);
    table_text(table, report->origin[0] != '\0' ? report->origin : NULL);
    table_text(table, report->method[0] != '\0' ? report->method : NULL);
    const char *objective = report->objective[0] != '\0' ? report->objective : NULL;
    if (objective != NULL && format == TABLE_TEXT) objective = list_short(objective, LIST_OBJECTIVE_WIDTH, arena);
    table_text(table, objective);
}

// ---- what differs ---------------------------------------------------------------------------------------------------

enum {
    DIFFER_COLUMNS = 8,     // keys in columns; more keys are lines, for people
    DIFFER_WIDTH = 40,      // bytes of a value, for people
    DIFFER_MOST = 1000,     // keys that are shown at all
    DIFFER_NAME_COLUMNS = 2 // before those of the keys
};

typedef struct ListDiffer {
    const ListEntry **entries; // [count] whose specs are known
    int count;
    SpecVariety *varieties; // [shown]
    int64_t found, shown;
} ListDiffer;

static Error list_differ_find(const CommandLine *line, const ListEntry *entries, int count, ListDiffer *differ)
{
    const char **canonical = ARENA_NEW(line->arena, const char *, count + 1);
    *differ = (ListDiffer){.entries = ARENA_NEW(line->arena, const ListEntry *, count + 1)};
    for (int i = 0; i < count; i++) {
        const char *text = NULL;
        const Error error = campaign_canonical(entries[i].location, line->arena, &text);
        if (error.kind != OK || text == NULL) {
            fprintf(line->messages, "%s is left out: its spec can't be read\n",
                    text_visible(entries[i].report->location.name, line->arena));
            continue;
        }
        canonical[differ->count] = text;
        differ->entries[differ->count++] = &entries[i];
    }
    differ->found = difference_among(canonical, differ->count, DIFFER_MOST, line->arena, &differ->varieties);
    differ->shown = differ->found < DIFFER_MOST ? differ->found : DIFFER_MOST;
    return error_none();
}

static const char *list_differ_value(const char *value, Arena *arena)
{
    return value != NULL ? text_visible(list_short(value, DIFFER_WIDTH, arena), arena) : "(none)";
}

static Error list_differ_table(const CommandLine *line, const ListDiffer *differ, TableFormat format)
{
    const char **columns = ARENA_NEW(line->arena, const char *, DIFFER_NAME_COLUMNS + differ->shown);
    columns[0] = "campaign";
    columns[1] = "best";
    for (int64_t k = 0; k < differ->shown; k++) columns[DIFFER_NAME_COLUMNS + k] = differ->varieties[k].key;
    Table *table = table_start(line->out, format, DIFFER_NAME_COLUMNS + (int)differ->shown, columns);
    for (int i = 0; table != NULL && i < differ->count; i++) {
        table_text(table, differ->entries[i]->report->location.name);
        table_number(table, differ->entries[i]->report->best);
        for (int64_t k = 0; k < differ->shown; k++) {
            const char *value = differ->varieties[k].value[i];
            table_text(table, format == TABLE_TEXT ? list_differ_value(value, line->arena) : value);
        }
    }
    return table_finish(table);
}

// Each campaign with its values; keys that its spec does not have are left out.
static void list_differ_lines(const CommandLine *line, const ListDiffer *differ)
{
    for (int i = 0; i < differ->count; i++) {
        fprintf(line->out, "%s\n", text_visible(differ->entries[i]->report->location.name, line->arena));
        for (int64_t k = 0; k < differ->shown; k++) {
            const SpecVariety *variety = &differ->varieties[k];
            if (variety->value[i] != NULL)
                fprintf(line->out, "  %s: %s\n", text_visible(variety->key, line->arena),
                        list_differ_value(variety->value[i], line->arena));
        }
    }
}

static bool list_differ_same_hash(const ListDiffer *differ)
{
    for (int i = 1; i < differ->count; i++) {
        if (strcmp(differ->entries[i]->report->hash, differ->entries[0]->report->hash) != 0) return false;
    }
    return true;
}

// --differ: the keys whose values are not the same in all campaigns of the list.
static Error list_differ(const CommandLine *line, const ListEntry *entries, int count, TableFormat format)
{
    ListDiffer differ;
    TRY(list_differ_find(line, entries, count, &differ));
    if (differ.found > differ.shown)
        fprintf(line->messages, "%s keys differ; these are the first %s\n", text_count(differ.found).text,
                text_count(differ.shown).text);
    if (format != TABLE_TEXT || (differ.found > 0 && differ.found <= DIFFER_COLUMNS))
        return list_differ_table(line, &differ, format);
    if (differ.count < 2)
        fprintf(line->out, "nothing to compare: the list has %s campaign\n", differ.count == 0 ? "no" : "one");
    else if (differ.found == 0)
        fprintf(line->out, "the specs of these %d campaigns %s\n", differ.count,
                list_differ_same_hash(&differ) ? "are equal" : "differ in the order of their entries alone");
    else
        list_differ_lines(line, &differ);
    return error_none();
}

// ---- the command ----------------------------------------------------------------------------------------------------

static void list_print_nothing(const CommandLine *line, bool any)
{
    if (line->n_arguments > 0) {
        fputs("none of these campaigns matches\n", line->out);
        return;
    }
    fprintf(line->out, "no campaign under %s ", text_visible(line->results, line->arena));
    if (any)
        fputs("matches\n", line->out);
    else
        fprintf(line->out, "yet; %s run SPEC starts one\n", command_program(line->arena));
}

Error list_campaigns(const CommandLine *line)
{
    static const char *const columns[] = {"campaign",    "state", "trials", "of",     "failures", "best",     "size",
                                          "last_commit", "model", "tags",   "origin", "method",   "objective"};
    const TableFormat format = command_format(line);
    ListEntry *entries;
    int count, found, nested;
    if (switch_given(line, "results") && file_missing(line->results))
        return error_make(ERROR_USER, "there is no folder %.200s; name the root folder with --results",
                          text_visible(line->results, line->arena));
    TRY(list_read(line, &entries, &count, &found, &nested));
    if (count == 0 && format == TABLE_TEXT) {
        list_print_nothing(line, found > 0);
        return error_none();
    }
    if (switch_given(line, "differ")) return list_differ(line, entries, count, format);
    Table *table = table_start(line->out, format, (int)(sizeof columns / sizeof *columns), columns);
    for (int i = 0; table != NULL && i < count; i++) list_row(&entries[i], format, table, line->arena);
    TRY(table_finish(table));
    if (format == TABLE_TEXT && nested > 0 && !switch_given(line, "all"))
        fprintf(line->out, "\n--all also lists %d campaign%s of verify, compare and recommend\n", nested,
                nested == 1 ? "" : "s");
    return error_none();
}

static const Switch list_rows[] = {
    {"all", SWITCH_FLAG, NULL, 0, 0, "also list the campaigns that verify and compare ran for each campaign"},
    {"differ", SWITCH_FLAG, NULL, 0, 0, "show only the keys in which the specs of the listed campaigns differ"},
    {"tag", SWITCH_TEXTS, "TAG", 0, 0, "only campaigns with this tag; repeatable: with all these tags"},
    {"state", SWITCH_CHOICE, "running|interrupted|stopped|done|killed|unreadable|unfinished|waiting", 0, 0,
     "only campaigns in this state; unfinished: interrupted or killed, which resume continues; waiting: for `tell`"},
    {"sort", SWITCH_CHOICE, LIST_SORTS, 0, 0,
     "order (default name); date: newest first, size: largest first, best: best first"},
};
static const Switches list_switches = {list_rows, sizeof list_rows / sizeof *list_rows};

const Command command_list = {
    .name = "list",
    .arguments = "[CAMPAIGN...]",
    .doc = "list campaigns, or all under the results root: state, trials, best, size, tags, origin, method, objective",
    .examples = "  hopscotch list --sort date\n"
                "  hopscotch list --tag paper --format csv > campaigns.csv\n"
                "  hopscotch list results/try* --differ     (what differs between their specs)\n",
    .least = 0,
    .most = CAMPAIGN_ARGUMENTS_MOST,
    .switches = {&list_switches, &switches_format},
    .run = list_campaigns,
};
