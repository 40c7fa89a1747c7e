// hopscotch list: the campaigns under a results root, one line each, by tag or state.
#include "command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct ListEntry {
    const StatusReport *report;
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
    bool wanted = state == NULL || strcmp(state, report->state) == 0;
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
    (*count)++;
    return folder_bytes(read->location.folder, &entry->bytes);
}

// The campaigns of the root; with --all, each followed by those that verify and compare ran for it. *n_nested: the
// number of these.
static Error list_find(const CommandLine *line, const char *const *names, int n_names, StatusEntry **out, int *count,
                       int *n_nested)
{
    const bool all = switch_given(line, "all");
    NestedCampaign **nested = ARENA_NEW(line->arena, NestedCampaign *, n_names + 1);
    int *below = ARENA_NEW(line->arena, int, n_names + 1);
    *n_nested = *count = 0;
    for (int i = 0; i < n_names; i++) {
        const CampaignLocation location = campaign_location(line, names[i]);
        TRY(campaign_nested(&location, line->arena, &nested[i], &below[i]));
        *n_nested += below[i];
    }
    StatusEntry *entries = ARENA_NEW(line->arena, StatusEntry, n_names + (all ? *n_nested : 0) + 1);
    for (int i = 0; i < n_names; i++) {
        entries[(*count)++] = (StatusEntry){.name = names[i], .location = campaign_location(line, names[i])};
        for (int k = 0; k < below[i] && all; k++)
            entries[(*count)++] = (StatusEntry){.location = nested[i][k].location, .name = nested[i][k].name};
    }
    *out = entries;
    return error_none();
}

// *n_found: the number of campaigns before tags and states are chosen.
static Error list_read(const CommandLine *line, ListEntry **out, int *count, int *n_found, int *n_nested)
{
    const char *const *names;
    int n_names;
    StatusEntry *read;
    *count = *n_found = *n_nested = 0;
    TRY(campaign_names(line->results, line->arena, &names, &n_names));
    TRY(list_find(line, names, n_names, &read, n_found, n_nested));
    Error error = catalogue_read(line->results, read, *n_found, names, n_names, line->arena);
    ListEntry *entries = ARENA_NEW(line->arena, ListEntry, *n_found + 1);
    for (int i = 0; i < *n_found && error.kind == OK; i++) error = list_add(line, &read[i], entries, count);
    TRY(error);
    qsort(entries, (size_t)*count, sizeof *entries, list_sorts[switch_choice(line, "sort", 0)]);
    *out = entries;
    return error_none();
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

static void list_row(const ListEntry *entry, TableFormat format, Table *table)
{
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
}

static void list_print_nothing(const CommandLine *line, bool any)
{
    fprintf(line->out, "no campaign under %s ", text_visible(line->results, line->arena));
    if (any)
        fputs("matches\n", line->out);
    else
        fprintf(line->out, "yet; %s run SPEC starts one\n", command_program(line->arena));
}

Error list_campaigns(const CommandLine *line)
{
    static const char *const columns[] = {"campaign", "state",       "trials", "of",   "failures", "best",
                                          "size",     "last_commit", "model",  "tags", "origin"};
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
    Table *table = table_start(line->out, format, (int)(sizeof columns / sizeof *columns), columns);
    for (int i = 0; table != NULL && i < count; i++) list_row(&entries[i], format, table);
    TRY(table_finish(table));
    if (format == TABLE_TEXT && nested > 0 && !switch_given(line, "all"))
        fprintf(line->out, "\n--all also lists %d campaign%s of verify, compare and recommend\n", nested,
                nested == 1 ? "" : "s");
    return error_none();
}

static const Switch list_rows[] = {
    {"all", SWITCH_FLAG, NULL, 0, 0, "also list the campaigns that verify and compare ran for each campaign"},
    {"tag", SWITCH_TEXTS, "TAG", 0, 0, "only campaigns with this tag; repeatable: with all these tags"},
    {"state", SWITCH_CHOICE, "running|interrupted|stopped|done|killed|unreadable", 0, 0,
     "only campaigns in this state"},
    {"sort", SWITCH_CHOICE, LIST_SORTS, 0, 0,
     "order (default name); date: newest first, size: largest first, best: best first"},
};
static const Switches list_switches = {list_rows, sizeof list_rows / sizeof *list_rows};

const Command command_list = {
    .name = "list",
    .arguments = "",
    .doc = "list the campaigns under the results root: state, trials, best, size, tags, origin",
    .examples = "  hopscotch list --sort date\n"
                "  hopscotch list --tag paper --format csv > campaigns.csv\n",
    .least = 0,
    .most = 0,
    .switches = {&list_switches, &switches_format},
    .run = list_campaigns,
};
