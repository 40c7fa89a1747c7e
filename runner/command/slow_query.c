// After a slow answer: an index, with which the next one is quick. The answer has been printed, so what fails here is
// not said, and the exit code stays: results that only can be read, a campaign that is run, a full disk. The user may
// end it (Ctrl-C).
#include "command.h"

void index_after_slow_query(const CommandLine *line, const StoredCampaign *answered, const TrialOrder *columns, int count)
{
    const CampaignPlace place = {
        .results = folder_of(answered->folder, line->arena), .name = answered->name, .folder = answered->folder};
    const double started = clock_seconds();
    bool made = false;
    if (count == 0 || fflush(line->out) != 0) return;
    interrupt_install();
    const Error error = trials_index_make(&place, columns, count, interrupt_requested, line->arena, &made);
    if (error.kind == OK && made)
        fprintf(line->messages, "the database took long; made an index over %s in %.1f s: such a query is fast now\n",
                trials_index_columns(columns, count, false, line->arena), clock_seconds() - started);
}
