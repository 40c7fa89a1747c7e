// Running a campaign with another spec than its own. It prints the differences and their consequences. It runs nothing
// unless the user asked for an extension and every stored row keeps its meaning: points may be added and removed, but
// the trials themselves may not change. The table `segments` keeps the specs of an extended campaign, in order;
// search/extension.c says which trials they make.
#include "../queries.h"
#include "store.h"
#include "../summary/summary.h"

#include <string.h>

// ---- reading --------------------------------------------------------------------------------------------------------

static Error extend_parse(const char *folder, const char *resolved, Arena *arena, const Spec **out)
{
    Spec *spec = ARENA_NEW(arena, Spec, 1);
    const char *source = arena_format(arena, "%s/" CAMPAIGN_DATABASE, folder);
    *out = spec;
    return spec_parse(source, resolved, NULL, 0, arena, diagnostics_new(arena), spec);
}

Error segments_read(Database *database, const char *folder, Arena *arena, Spec *spec)
{
    int64_t count = 0, i = 0;
    TRY(store_integer(database, "SELECT count(*) FROM segments", 0, &count));
    if (count == 0) return error_none();
    Segment *segments = ARENA_NEW(arena, Segment, count);
    Cursor each = cursor_open(database, "SELECT resolved, first_id, first_point, decided FROM segments ORDER BY id");
    for (; i < count && cursor_next(&each); i++) {
        segments[i] = (Segment){.first_id = cell_integer(&each, 1),
                                .first_point = cell_integer(&each, 2),
                                .decided = cell_integer(&each, 3)};
        if (i + 1 < count) cursor_stop(&each, extend_parse(folder, cell_text(&each, 0), arena, &segments[i].spec));
    }
    spec->segments = segments;
    spec->n_segments = (int)count;
    return cursor_close(&each);
}

// ---- the consequences -----------------------------------------------------------------------------------------------

typedef struct Extension {
    Store *store;
    const Spec *stored; // the campaign's spec now, with its segments
    Spec *given;        // the new one
    Search before, after;
    int64_t done, added, left, dropped,
        unasked; // trials; left: to run still; dropped: done; unasked: not to run any more
    bool estimated;
} Extension;

static Error extend_read_stored(Extension *extension, Arena *arena)
{
    Database *database = extension->store->database;
    Spec *stored = ARENA_NEW(arena, Spec, 1);
    const char *resolved = NULL;
    TRY(store_text(database, "SELECT resolved FROM campaign", arena, &resolved));
    const char *source = arena_format(arena, "%s/" CAMPAIGN_DATABASE, extension->store->folder);
    TRY(spec_parse(source, resolved, NULL, 0, arena, diagnostics_new(arena), stored));
    extension->stored = stored;
    return segments_read(database, extension->store->folder, arena, stored);
}

static Error extend_restore(Store *store, Search *search)
{
    bool found = false;
    TRY(store_search_state(store, search, &found));
    return found ? search->method->restore(search) : error_none();
}

// Appends the given spec to those of the campaign, from the id `first` on, and gives its segment.
static Segment *extend_append(Extension *extension, int64_t first, Arena *arena)
{
    Spec *given = extension->given;
    const Spec *stored = extension->stored;
    const int had = stored->n_segments > 0 ? stored->n_segments : 1;
    Segment *segments = ARENA_NEW(arena, Segment, had + 1);
    for (int i = 0; i < stored->n_segments; i++) segments[i] = stored->segments[i];
    segments[had - 1].spec = stored;
    segments[had] = (Segment){.first_id = first, .decided = extension->before.asked};
    given->segments = segments;
    given->n_segments = had + 1;
    return &segments[had];
}

static Error extend_append_points(Extension *extension, Arena *arena)
{
    const Spec *given = extension->given;
    Segment *segment = extend_append(extension, extension->before.total, arena);
    TRY(search_init(given, arena, &extension->after));
    double *parameter = ARENA_NEW(arena, double, given->configured.n_parameters);
    segment->first_point = segments_first_new(&extension->after, parameter);
    return search_init(given, arena, &extension->after);
}

// Counts the ids of the stored spec: done and no longer asked for, still to run, not run any more.
static void extend_count_old(Extension *extension, Arena *arena)
{
    const Search *before = &extension->before, *after = &extension->after;
    const int64_t ids = before->total, looked_at = count_looked_at(after, 0, ids);
    double *parameter = ARENA_NEW(arena, double, extension->given->configured.n_parameters);
    int64_t dropped = 0, left = 0, unasked = 0;
    for (int64_t i = 0; i < looked_at; i++) {
        const int64_t id = looked_at == ids ? i : count_sampled_id(before, 0, ids, i);
        if (!count_has(before, id, parameter)) continue;
        const bool decided = id < before->asked, asked = segments_asked_last(after, parameter, id);
        dropped += decided && !asked;
        left += !decided && asked;
        unasked += !decided && !asked;
    }
    const double scale = looked_at > 0 ? (double)ids / (double)looked_at : 1.0;
    extension->dropped = (int64_t)((double)dropped * scale);
    extension->left = (int64_t)((double)left * scale);
    extension->unasked = (int64_t)((double)unasked * scale);
    extension->estimated |= looked_at < ids;
}

static Error extend_measure(Extension *extension, Arena *arena)
{
    StoreCounts counts;
    TRY(store_counts(extension->store, &counts));
    extension->done = counts.trials;
    TRY(search_init(extension->stored, arena, &extension->before));
    TRY(extend_restore(extension->store, &extension->before));
    if (search_learns(extension->given->method)) { // it continues from its state
        (void)extend_append(extension, extension->before.asked, arena);
        return error_none();
    }
    TRY(extend_append_points(extension, arena));
    double *parameter = ARENA_NEW(arena, double, extension->given->configured.n_parameters);
    extension->added = count_trials(&extension->after, extension->before.total, extension->after.total, parameter,
                                    &extension->estimated);
    extend_count_old(extension, arena);
    return error_none();
}

static void extend_report(const Extension *extension, FILE *out)
{
    if (out == NULL) return;
    if (search_learns(extension->given->method)) {
        fprintf(out, "  %s trials done; the searches go on from there\n", text_count(extension->done).text);
        return;
    }
    fprintf(out, "  %s trials done, ", text_count(extension->done).text);
    if (extension->estimated && extension->added == 0)
        fputs("few or no new ones (a sample has none)", out);
    else
        fprintf(out, "%s%s new", extension->estimated ? "about " : "", text_count(extension->added).text);
    if (extension->left > 0) fprintf(out, ", %s still to run", text_count(extension->left).text);
    if (extension->unasked > 0) fprintf(out, ", %s not run any more", text_count(extension->unasked).text);
    if (extension->dropped > 0)
        fprintf(out, ", %s done and no longer asked for (their rows stay)", text_count(extension->dropped).text);
    fputc('\n', out);
}

// ---- refusing -------------------------------------------------------------------------------------------------------

// The keys that can't change: "seed, simulation.dt and 3 more"; NULL: none
static const char *extend_forbidden(const SpecChange *changes, int64_t count, Arena *arena)
{
    enum { NAMED_MAX = 4 };
    const char *text = "";
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++) {
        if (changes[i].free) continue;
        if (found++ < NAMED_MAX) text = arena_format(arena, "%s%s%s", text, found > 1 ? ", " : "", changes[i].key);
    }
    if (found > NAMED_MAX) text = arena_format(arena, "%s and %lld more", text, (long long)(found - NAMED_MAX));
    return found > 0 ? text : NULL;
}

static Error extend_refuse(const Store *store, const char *forbidden)
{
    if (forbidden != NULL) {
        return error_make(ERROR_USER,
                          "campaign %s exists with another spec, and %.200s can't change in it: its rows would mean "
                          "something else. Give the new one its own name with --name",
                          store->name, forbidden);
    }
    return error_make(ERROR_USER,
                      "campaign %s exists with another spec, and nothing was run: --extend runs what is new in the "
                      "same campaign, --name starts another one",
                      store->name);
}

// Where only some trials keep a row, the sums go on if their bins stay.
static Error extend_compare_sums(const Extension *extension, Arena *arena)
{
    const Store *store = extension->store;
    const char *axis = NULL;
    if (!kept_partly(store->database) || summary_same_axes(extension->stored, extension->given, arena, &axis))
        return error_none();
    return kept_refuse(
        store->database, store->name,
        arena_format(arena, "the bins of its sums by %.100s would change, so it can't be extended", axis), arena);
}

// ---- storing --------------------------------------------------------------------------------------------------------

static Error extend_insert(Database *database, int64_t id, const Segment *segment, const Spec *spec)
{
    Cursor insert = cursor_open(database, "INSERT INTO segments VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
    with_integer(&insert, id);
    with_text(&insert, spec->text);
    with_text(&insert, spec->resolved);
    with_text(&insert, spec->hash.hex);
    with_integer(&insert, segment->first_id);
    with_integer(&insert, segment->first_point);
    with_integer(&insert, segment->decided);
    with_text(&insert, clock_utc().text);
    return cursor_run(&insert);
}

static Error extend_renew_campaign(Database *database, const Spec *spec)
{
    Cursor update = cursor_open(database, "UPDATE campaign SET spec = ?, resolved = ?, canonical = ?, hash = ?, "
                                          "state = 'stopped', reason = NULL");
    with_text(&update, spec->text);
    with_text(&update, spec->resolved);
    with_text(&update, spec->canonical);
    with_text(&update, spec->hash.hex);
    return cursor_run(&update);
}

static Error extend_store_all(const Extension *extension, Arena *arena)
{
    Database *database = extension->store->database;
    const Spec *given = extension->given;
    const int last = given->n_segments - 1;
    if (last == 1) TRY(extend_insert(database, 0, &given->segments[0], extension->stored)); // the first spec
    TRY(extend_insert(database, last, &given->segments[last], given));
    TRY(overrides_keep(database, &given->overrides, true, arena));
    return extend_renew_campaign(database, given);
}

static Error extend_store(const Extension *extension, Arena *arena)
{
    Store *store = extension->store;
    TRY(store_begin(store));
    TRY(store_end(store, extend_store_all(extension, arena)));
    return store_event(store, "extended", "%lld trials done, %lld new; spec %.12s", (long long)extension->done,
                       (long long)extension->added, extension->given->hash.hex);
}

// Says which keys --extend would keep from earlier runs.
static Error extend_report_kept(const Extension *extension, FILE *out, Arena *arena)
{
    Overrides stored;
    TRY(overrides_read(extension->store->database, arena, &stored));
    const Overrides kept = overrides_without(&stored, &extension->given->overrides, arena);
    if (out != NULL && kept.count > 0)
        fprintf(out, "  set by earlier runs, and kept by --extend: %s\n", overrides_text(&kept, arena));
    return error_none();
}

Error store_extend(Store *store, Spec *given, const RunOptions *options, Arena *arena)
{
    Extension extension = {.store = store, .given = given};
    SpecChange *changes = NULL;
    FILE *out = options->messages;
    TRY(extend_read_stored(&extension, arena));
    const int64_t count = difference_find(extension.stored, given, arena, &changes);
    const char *forbidden = extend_forbidden(changes, count, arena);
    if (out != NULL) fprintf(out, "%s is another spec now:\n", store->name);
    if (out != NULL) difference_print(changes, count, out);
    if (spec_has_rungs(extension.stored) || spec_has_rungs(given))
        return error_make(ERROR_USER,
                          "campaign %s compares trials in groups (limits.retire), which other trials would change: "
                          "run the spec under a new name with --name",
                          store->name);
    if (race_of_all(extension.stored))
        return error_make(ERROR_USER,
                          "campaign %s is a race (replicates.race): which trials have more replicates was decided "
                          "among its own, so it can't be extended; run the spec under a new name with --name",
                          store->name);
    if (forbidden == NULL && !options->extend && !options->resume_only) TRY(extend_report_kept(&extension, out, arena));
    if (forbidden == NULL) {
        TRY(extend_measure(&extension, arena));
        extend_report(&extension, out);
    }
    if (forbidden != NULL || !options->extend) return extend_refuse(store, forbidden);
    TRY(extend_compare_sums(&extension, arena));
    return extend_store(&extension, arena);
}
