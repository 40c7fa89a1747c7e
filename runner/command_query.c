// hopscotch query: rows of the table trials by a condition (query.h).
#include "query.h"

#include <inttypes.h>
#include <string.h>

enum { QUERY_BUFFER = 1 << 20, QUERY_ROWS_SHOWN = 50 };

static Error query_take_row(void *taker, const Query *query, Statement *row)
{
    for (int c = 0; c < query->count; c++) trial_cell(taker, row, c, &query->all, query->columns[c]);
    return error_none();
}

static Error query_print(const Query *query, TableFormat format, FILE *out, Arena *arena)
{
    Table *table = table_start(out, format, query->count, (const char *const *)query->names);
    const Error error = query_each(query, arena, query_take_row, table);
    const Error written = table_finish(table);
    return error.kind != OK ? error : written;
}

static Error query_campaign(const CommandLine *line, const StoredCampaign *campaign)
{
    const TableFormat format = command_format(line);
    Query query;
    TRY(query_start(line, campaign, format == TABLE_TEXT ? QUERY_ROWS_SHOWN : 0, NULL, &query));
    TRY(query_print(&query, format, line->out, line->arena));
    if (query.limit > 0 && query.n_ids > query.limit && format == TABLE_TEXT)
        fprintf(line->messages, "the first %" PRId64 " rows; more match: --limit 0 prints all\n", query.limit);
    return error_none();
}

static Error query_run(const CommandLine *line)
{
    StoredCampaign campaign;
    TRY(campaign_open_named(line, line->arguments[0], &campaign));
    setvbuf(line->out, NULL, _IOFBF, QUERY_BUFFER);
    const Error error = query_campaign(line, &campaign);
    campaign_close(&campaign);
    return error;
}

const Command command_query = {
    .name = "query",
    .arguments = "CAMPAIGN",
    .doc = "trials by a condition on their parameters, metrics, fitness and failure",
    .examples =
        "  hopscotch query gains --where \"k_fp > 100 and failure = 'none'\" --order velocity_error --limit 20\n"
        "  hopscotch query gains --where \"failure = 'fell'\" --order survived:desc --columns id,k_fp,survived\n"
        "  hopscotch query gains --columns all --format csv > trials.csv\n",
    .least = 1,
    .most = 1,
    .switches = {&switches_select, &switches_format},
    .run = query_run,
};
