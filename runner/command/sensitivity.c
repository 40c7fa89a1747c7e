// hopscotch sensitivity: what a campaign of morris or sobol_indices says of its parameters.
#include "command.h"

#include <string.h>

static Error sensitivity_print(Database *database, TableFormat format, FILE *out, int64_t *rows)
{
    static const char *const columns[] = {"parameter", "measure", "value", "low", "high", "blocks", "left_out"};
    Statement *statement = NULL;
    bool row = false;
    TRY(database_prepare(database,
                         "SELECT parameter, measure, value, low, high, blocks, left_out FROM sensitivity s "
                         "ORDER BY (SELECT max(abs(value)) FROM sensitivity m WHERE m.parameter = s.parameter AND "
                         "m.measure IN ('mu_star', 'total')) DESC, parameter, measure",
                         &statement));
    Table *table = table_start(out, format, (int)(sizeof columns / sizeof *columns), columns);
    Error error = statement_step(statement, &row);
    for (*rows = 0; error.kind == OK && row; error = statement_step(statement, &row)) {
        for (int i = 0; table != NULL && i < 2; i++) table_text(table, column_text(statement, i));
        for (int i = 2; table != NULL && i < 5; i++) table_number(table, column_real(statement, i));
        for (int i = 5; table != NULL && i < 7; i++) table_integer(table, column_integer(statement, i));
        ++*rows;
    }
    statement_close(statement);
    const Error finished = table_finish(table);
    return error.kind == OK ? finished : error;
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
        fprintf(line->messages, "nothing yet: it is computed when the campaign is done, of blocks without a failure\n");
    campaign_close(&campaign);
    return error;
}

const Command command_sensitivity = {
    .name = "sensitivity",
    .arguments = "CAMPAIGN",
    .doc = "effects or indices of each parameter, with intervals of 95 %: campaigns of morris and sobol_indices",
    .examples = "  hopscotch sensitivity sensitivity_morris\n"
                "  hopscotch sensitivity indices --format csv\n",
    .least = 1,
    .most = 1,
    .switches = {&switches_format},
    .run = sensitivity_run,
};
