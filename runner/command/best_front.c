// What `best` prints with several objectives: the front, i.e. the trials that no other trial beats in all objectives.
// A table for people has at most --top of them, spread evenly from one end to the other; CSV and JSON have all, with
// every column.
#include "command.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// What one listing shows: columns of the table trials.
typedef struct FrontListing {
    const StoredCampaign *campaign;
    const FrontColumns *by;
    TrialColumns all;
    const char **names; // [count]
    int count;
} FrontListing;

// ---- what the user asked --------------------------------------------------------------------------------------------

static Error front_column(const TrialColumns *all, const char *name, const char **column)
{
    const int found = trial_column_find(all, name);
    const char *nearest = nearest_name(name, all->names, all->count);
    if (found < 0 && nearest != NULL)
        return error_make(ERROR_USER, "--objectives: there is no column '%.60s'; did you mean '%.60s'?", name, nearest);
    if (found < 0)
        return error_make(ERROR_USER, "--objectives: there is no column '%.60s'; %s shows all columns", name,
                          command_again(NULL, "query CAMPAIGN --columns all --limit 1").text);
    if (all->is_text[found])
        return error_make(ERROR_USER, "--objectives: column %.60s is a text; objectives must be numbers", name);
    *column = all->names[found];
    return error_none();
}

Error front_columns(const StoredCampaign *campaign, const char *text, Arena *arena, FrontColumns *by)
{
    TrialColumns all;
    char *rest = text != NULL ? arena_copy(arena, text) : NULL;
    *by = (FrontColumns){.own = text == NULL};
    if (text == NULL && !spec_several(&campaign->spec))
        return error_make(ERROR_USER,
                          "%.100s has one objective, so its front is its best trial; name two columns or more, "
                          "e.g. --objectives %.60s,%.60s",
                          campaign->name, campaign->spec.configured.metrics[0].name, "fitness");
    for (int k = 0; text == NULL && k < campaign->spec.objective.count; k++)
        by->names[by->count++] = rows_objective_name(k);
    if (text == NULL) return error_none();
    TRY(trial_columns(campaign->database, &campaign->spec, arena, &all));
    for (char *name; (name = strsep(&rest, ",")) != NULL;) {
        if (by->count == OBJECTIVES_MAX)
            return error_make(ERROR_USER, "--objectives: a front has at most %d columns", OBJECTIVES_MAX);
        TRY(front_column(&all, text_stripped(name), &by->names[by->count++]));
    }
    if (by->count >= 2) return error_none();
    return error_make(ERROR_USER, "--objectives: a front needs two columns or more; %s sorts by one",
                      command_again(folder_of(campaign->folder, arena), "query %.60s --order %.60s", campaign->name,
                                    command_quoted(by->names[0], arena))
                          .text);
}

// ---- columns --------------------------------------------------------------------------------------------------------

static void front_show(FrontListing *listing, const char *name)
{
    for (int i = 0; i < listing->count; i++) {
        if (strcmp(listing->names[i], name) == 0) return;
    }
    if (trial_column_find(&listing->all, name) >= 0) listing->names[listing->count++] = name;
}

// A table for people has the objectives first, then the main columns.
static void front_choose(FrontListing *listing, bool machine, Arena *arena)
{
    const char *const *main_names;
    const int count = trial_columns_main(&listing->campaign->spec, arena, &main_names);
    listing->names = ARENA_NEW(arena, const char *, listing->all.count + 1);
    front_show(listing, "id");
    for (int k = 0; k < listing->by->count && !machine; k++) front_show(listing, listing->by->names[k]);
    for (int i = 0; i < count && !machine; i++) front_show(listing, main_names[i]);
    for (int i = 0; i < listing->all.count && machine; i++) front_show(listing, listing->all.names[i]);
}

static const char *const *front_titles(const FrontListing *listing, bool machine, Arena *arena)
{
    const char **titles = ARENA_NEW(arena, const char *, listing->count);
    for (int i = 0; i < listing->count; i++)
        titles[i] = !machine && strcmp(listing->names[i], "id") == 0 ? "trial" : listing->names[i];
    return titles;
}

// ---- rows -----------------------------------------------------------------------------------------------------------

static Error front_rows(const FrontListing *listing, const Front *front, int64_t shown, TableFormat format, FILE *out,
                        Arena *arena)
{
    Cursor trials = trials_by_id(listing->campaign->database, listing->names, listing->count, arena);
    if (trials.error.kind != OK) return cursor_close(&trials);
    Table *table = table_start(out, format, listing->count, front_titles(listing, format != TABLE_TEXT, arena));
    for (int64_t i = 0; table != NULL && i < shown; i++) {
        if (!trial_at(&trials, front->id[front_spread(front, shown, i)])) continue;
        for (int c = 0; c < listing->count; c++)
            trial_cell(table, &trials, c, &listing->all, trial_column_find(&listing->all, listing->names[c]));
    }
    cursor_stop(&trials, table_finish(table));
    return cursor_close(&trials);
}

// ---- words ----------------------------------------------------------------------------------------------------------

// "hypervolume 0.476 below (2, 1.5)": the point is the spec's reference
static Error front_print_hypervolume(const Front *front, const Spec *spec, FILE *out)
{
    Arena arena;
    if (spec->objective.reference == NULL || front->count > hypervolume_points(front->objectives)) return error_none();
    TRY(arena_create(&arena, hypervolume_bytes(front->count, front->objectives) + 4096, "a hypervolume"));
    double *room = ARENA_NEW(&arena, double, (front->count + 1) * front->objectives * front->objectives);
    double reference[OBJECTIVES_MAX];
    bool below = true;
    for (int k = 0; k < front->objectives; k++) reference[k] = spec_cost(spec, k, spec->objective.reference[k]);
    for (int k = 0; k < front->objectives; k++) below = below && !spec->objective.maximize[k];
    const double volume = hypervolume(front->value, front->count, front->objectives, reference, room);
    fprintf(out, "hypervolume %s %s (", text_number(volume).text, below ? "below" : "better than");
    for (int k = 0; k < front->objectives; k++)
        fprintf(out, "%s%s", k > 0 ? ", " : "", text_number(spec->objective.reference[k]).text);
    fputs(")\n", out);
    arena_destroy(&arena);
    return error_none();
}

static void front_print_head(const FrontListing *listing, const Front *front, int64_t shown, FILE *out, Arena *arena)
{
    const Spec *spec = &listing->campaign->spec;
    const char *all = front->count == 1 ? "" : shown < front->count ? "; some are listed" : "; all are listed";
    if (!listing->by->own) {
        fprintf(out, "%s trial%s on the Pareto front of these columns%s:\n\n", text_count(front->count).text,
                front->count == 1 ? "" : "s", all);
        return;
    }
    fprintf(out, "%d objectives: %s trial%s on the Pareto front%s:\n", spec->objective.count,
            text_count(front->count).text, front->count == 1 ? "" : "s", all);
    for (int k = 0; k < spec->objective.count; k++)
        fprintf(out, "  %s  %s\n", rows_objective_name(k), objective_text(spec, k, arena));
    fputc('\n', out);
}

static Error front_print_all(FrontListing *listing, const Front *front, int64_t top, TableFormat format, FILE *out,
                             Arena *arena)
{
    const bool people = format == TABLE_TEXT;
    const int64_t shown = top < 0 || front->count < top ? front->count : top;
    TRY(trial_columns(listing->campaign->database, &listing->campaign->spec, arena, &listing->all));
    front_choose(listing, !people, arena);
    if (people) front_print_head(listing, front, shown, out, arena);
    TRY(front_rows(listing, front, shown, format, out, arena));
    if (people && shown < front->count)
        fprintf(out, "\n--top %" PRId64 " lists all; these are spread evenly along the first objective\n",
                front->count);
    return people && listing->by->own ? front_print_hypervolume(front, &listing->campaign->spec, out) : error_none();
}

Error front_print(const StoredCampaign *campaign, const FrontColumns *by, int64_t top, TableFormat format, FILE *out,
                  Arena *arena, int64_t *first)
{
    FrontListing listing = {.campaign = campaign, .by = by};
    Front front;
    *first = -1;
    TRY(front_read(campaign->database, &campaign->spec, by->names, by->count, arena, &front));
    Error error = error_none();
    if (front.count > 0) *first = front.id[0];
    if (front.count > 0 || format != TABLE_TEXT) error = front_print_all(&listing, &front, top, format, out, arena);
    front_free(&front);
    return error;
}
