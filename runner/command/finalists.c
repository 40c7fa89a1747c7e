// hopscotch verify --finalists: the best trials of a campaign race under fresh seeds (view/analysis/recommend.c).
#include "command.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { FINALISTS_SEEDS = 200, FINALISTS_SHOWN = 10 };

static Error finalists_check_line(const CommandLine *line)
{
    static const char *const others[] = {"trial", "defaults", "gains", "physics", "grid", "grid-over", "name"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (switch_given(line, others[i]))
            return error_make(ERROR_USAGE,
                              "--finalists runs several trials as they are, and --%s is for one: leave one of them out",
                              others[i]);
    }
    return error_none();
}

static Error finalists_check(const StoredCampaign *campaign)
{
    const char *refusal = recommend_refusal(&campaign->spec);
    if (campaign->spec.part.count > 0)
        refusal = "it is a part, whose best trials are known when all parts are gathered";
    if (refusal == NULL) return error_none();
    return error_make(ERROR_USER, "--finalists runs the best trials of %.100s under fresh seeds, and %s",
                      campaign->name, refusal);
}

// ---- printing -------------------------------------------------------------------------------------------------------

static int finalists_by_rank(const void *a, const void *b, void *of)
{
    const Recommendation *found = of;
    const int x = *(const int *)a, y = *(const int *)b;
    if (recommended_is_better(found, &found->candidates[x], &found->candidates[y])) return -1;
    if (recommended_is_better(found, &found->candidates[y], &found->candidates[x])) return 1;
    return x - y;
}

static int *finalists_ranked(const Recommendation *found, Arena *arena)
{
    int *order = ARENA_NEW(arena, int, found->count);
    for (int i = 0; i < found->count; i++) order[i] = i;
    qsort_r(order, (size_t)found->count, sizeof *order, finalists_by_rank, (void *)(uintptr_t)found);
    return order;
}

static Error finalists_print(const CommandLine *line, const CampaignLocation *location, const Recommendation *found)
{
    static const char *const columns[] = {"rank", "trial", "fitness", "from", "to", "failed", "seeds", "in the search"};
    const int *order = finalists_ranked(found, line->arena);
    FILE *out = line->out;
    fprintf(out, "%s: %d finalists under fresh seeds (seed %" PRIu64 "); from, to: 95 %% intervals\n\n", location->name,
            found->count, found->seed);
    Table *table = table_start(out, TABLE_TEXT, (int)(sizeof columns / sizeof *columns), columns);
    for (int i = 0; i < found->count && i < FINALISTS_SHOWN; i++) {
        const Recommended *one = &found->candidates[order[i]];
        table_integer(table, i + 1);
        if (one->trial >= 0)
            table_integer(table, one->trial);
        else
            table_text(table, "mean");
        table_number(table, one->fresh);
        table_number(table, one->interval.low);
        table_number(table, one->interval.high);
        table_integer(table, one->failed);
        table_integer(table, one->seeds);
        table_number(table, one->fitness);
    }
    TRY(table_finish(table));
    if (found->count > FINALISTS_SHOWN)
        fprintf(out, "      and %d more, which ended the race earlier\n", found->count - FINALISTS_SHOWN);
    recommended_print(found, out);
    fprintf(out, "\n%-9s %s best %s%s\n", "next", command_program(line->arena), found->run,
            command_results_option(location->results, line->arena));
    return error_none();
}

static void finalists_print_json(const CommandLine *line, const CampaignLocation *location, const Recommendation *found)
{
    Json json;
    json_start(&json, line->out, true);
    json_object(&json, NULL);
    json_text(&json, "verifies", location->name);
    json_integer(&json, "seed", (int64_t)found->seed);
    recommended_json(found, &json);
    json_close(&json, '}');
}

// ---- the command ----------------------------------------------------------------------------------------------------

Error finalists_verify(const CommandLine *line, const CampaignLocation *location, const StoredCampaign *campaign)
{
    const FinalistsAsked asked = {.trials = switch_integer(line, "finalists", 0),
                                  .replicates = switch_integer(line, "seeds", FINALISTS_SEEDS),
                                  .seed = switch_integer(line, "seed", -1)};
    RunOptions options = command_run_options(line, &campaign->spec);
    Recommendation found;
    TRY(finalists_check_line(line));
    TRY(finalists_check(campaign));
    interrupt_install();
    options.again = command_line_again(line);
    TRY(finalists_run(location, &options, &asked, line->arena));
    TRY(recommendation_read(campaign, line->arena, &found));
    if (found.best < 0)
        return error_make(ERROR_USER, "no trial of %.100s has a fitness under fresh seeds: there is no best one",
                          location->name);
    if (!switch_given(line, "json")) return finalists_print(line, location, &found);
    finalists_print_json(line, location, &found);
    return error_none();
}
