// hopscotch index: indexes of the table trials, so that a query need not read all of it. SQLite keeps them up as rows
// come, which costs time: they are best made when a campaign is done.
#include "command.h"

#include <string.h>

enum { INDEX_COLUMNS_MAX = 8 };

// "k_fp,thrust": the columns of one index.
static Error index_read(const TrialColumns *all, const char *text, Arena *arena, const char **columns, int *count)
{
    char *rest = arena_copy(arena, text);
    *count = 0;
    for (char *column; (column = strsep(&rest, ",")) != NULL;) {
        const char *nearest = nearest_name(column, all->names, all->count);
        if (trial_column_find(all, column) < 0)
            return error_make(ERROR_USER, "there is no column '%.60s'%s%.60s%s", column,
                              nearest != NULL ? "; did you mean '" : "; query --columns all --limit 1 shows them",
                              nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
        if (*count == INDEX_COLUMNS_MAX)
            return error_make(ERROR_USER, "an index over more than %d columns is of no use", INDEX_COLUMNS_MAX);
        columns[(*count)++] = column;
    }
    return error_none();
}

static Error index_change(const CommandLine *line, CampaignEdit *edit)
{
    Arena *arena = line->arena;
    Database *database = edit->store.database;
    TrialColumns all;
    TRY(trial_columns(database, arena, &all));
    for (int i = 1; i < line->n_arguments; i++) {
        const char *columns[INDEX_COLUMNS_MAX];
        int count;
        TRY(index_read(&all, line->arguments[i], arena, columns, &count));
        TRY(switch_given(line, "drop") ? trials_index_drop(database, columns, count, arena)
                                       : trials_index_make(database, columns, count, arena));
    }
    return seal_schema(database);
}

static Error index_list(const CommandLine *line, const CampaignPlace *place)
{
    Database *database;
    const char *declaration;
    TRY(store_peek(place, line->arena, &database));
    Cursor indexes = trials_indexes(database);
    while (next_text(&indexes, &declaration)) {
        put_visible(line->out, declaration);
        fputc('\n', line->out);
    }
    const Error error = cursor_close(&indexes);
    store_leave(database);
    return error;
}

static Error index_run(const CommandLine *line)
{
    CampaignPlace place;
    CampaignEdit edit;
    TRY(campaign_find(line, line->arguments[0], &place));
    if (line->n_arguments == 1) return index_list(line, &place);
    TRY(edit_begin(&place, switch_given(line, "shared-fs"), line->arena, &edit));
    return edit_end(&edit, index_change(line, &edit));
}

static const Switch index_rows[] = {{"drop", SWITCH_FLAG, NULL, 0, 0, "take these indexes away"}};
static const Switches index_switches = {index_rows, 1};

const Command command_index = {
    .name = "index",
    .arguments = "CAMPAIGN [A,B...]",
    .doc = "make the table of trials quick to ask for some columns, together or alone; or list its indexes",
    .examples = "  hopscotch index raibert_gains k_fp,velocity_error\n"
                "  hopscotch index raibert_gains k_fp,velocity_error --drop\n"
                "  hopscotch index raibert_gains\n",
    .least = 1,
    .most = 64,
    .switches = {&index_switches, &switches_shared_fs},
    .run = index_run,
};
