// hopscotch reindex: rebuilds the list of campaigns of a results root from their folders.
#include "command.h"

static Error reindex_run(const CommandLine *line)
{
    int campaigns = 0;
    if (!file_exists(line->results))
        return error_make(ERROR_USER, "there is no folder %.300s; name the root folder with --results", line->results);
    TRY(catalogue_rebuild(line->results, switch_given(line, "shared-fs"), line->messages, line->arena, &campaigns));
    if (switch_given(line, "json")) {
        Json json;
        json_start(&json, line->out, true);
        json_object(&json, NULL);
        json_text(&json, "catalogue", arena_format(line->arena, "%s/" CATALOGUE_DATABASE, line->results));
        json_integer(&json, "campaigns", campaigns);
        json_close(&json, '}');
        return error_none();
    }
    fprintf(line->out, "%s/" CATALOGUE_DATABASE ": %d campaign%s\n", text_visible(line->results, line->arena),
            campaigns, campaigns == 1 ? "" : "s");
    return error_none();
}

const Command command_reindex = {
    .name = "reindex",
    .arguments = "",
    .doc = "rebuild the list of campaigns (" CATALOGUE_DATABASE ") from their folders; a run rebuilds a damaged list",
    .examples = "  hopscotch reindex\n"
                "  hopscotch reindex --results /data/results\n",
    .least = 0,
    .most = 0,
    .switches = {&switches_shared_fs, &switches_json},
    .run = reindex_run,
};
