// hopscotch sensitivity: prints the measures of a campaign of morris or sobol_indices.
#include "command.h"

#include <string.h>

static Error sensitivity_print(Database *database, TableFormat format, FILE *out, int64_t *rows)
{
    static const char *const columns[] = {"parameter", "measure", "value", "low", "high", "blocks", "left_out"};
    StoredMeasure row;
    Cursor each = sensitivity_by_parameter(database);
    if (each.error.kind != OK) return cursor_close(&each);
    Table *table = table_start(out, format, (int)(sizeof columns / sizeof *columns), columns);
    for (*rows = 0; sensitivity_next(&each, &row); ++*rows) {
        table_text(table, row.parameter);
        table_text(table, row.measure);
        table_number(table, row.value);
        table_number(table, row.low);
        table_number(table, row.high);
        table_integer(table, row.blocks);
        table_integer(table, row.left_out);
    }
    cursor_stop(&each, table_finish(table));
    return cursor_close(&each);
}

static Error sensitivity_run(const CommandLine *line)
{
    StoredCampaign campaign;
    int64_t rows = 0;
    TRY(campaign_open_named(line, line->arguments[0], &campaign));
    Error error = error_none();
    if (campaign.spec.method->sensitivity == NULL)
        error = error_make(ERROR_USER,
                           "campaign %.100s is of method %s, which measures no sensitivity; morris and "
                           "sobol_indices do",
                           campaign.name, campaign.spec.method->name);
    if (error.kind == OK) error = sensitivity_print(campaign.database, command_format(line), line->out, &rows);
    if (error.kind == OK && rows == 0)
        fprintf(line->messages,
                "no measures yet: they are computed when the campaign is done, from blocks without a failure\n");
    campaign_close(&campaign);
    return error;
}

const Command command_sensitivity = {
    .name = "sensitivity",
    .arguments = "CAMPAIGN",
    .doc = "print the effect of each parameter with 95 % intervals (methods morris, sobol_indices)",
    .examples = "  hopscotch sensitivity sensitivity_morris\n"
                "  hopscotch sensitivity indices --format csv\n",
    .least = 1,
    .most = 1,
    .switches = {&switches_format},
    .run = sensitivity_run,
};
