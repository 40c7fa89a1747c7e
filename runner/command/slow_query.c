// After a slow query, makes an SQLite index that makes the next one fast. The answer is already printed, so a failure
// (read-only results, a campaign that runs, a full disk) gives no message and leaves the exit code. Ctrl-C ends it.
#include "command.h"

void index_after_slow_query(const CommandLine *line, const StoredCampaign *answered, const TrialOrder *columns,
                            int count)
{
    const CampaignPlace place = {
        .results = folder_of(answered->folder, line->arena), .name = answered->name, .folder = answered->folder};
    const double started = clock_seconds();
    bool made = false;
    if (count == 0 || fflush(line->out) != 0) return;
    interrupt_install();
    const Error error = trials_index_make(&place, columns, count, interrupt_requested, line->arena, &made);
    if (error.kind == OK && made)
        fprintf(line->messages, "the query was slow; made an index over %s in %.1f s, so the next one is fast\n",
                trials_index_columns(columns, count, false, line->arena), clock_seconds() - started);
}
