// A campaign whose trials people run. `ask` and `tell` open it for an instant: they restore the search, and store in
// one transaction what was asked for, or the results with all that follows from them: the rows of trials that are
// complete, and the state of the search.
//
// A search that learns is told a round at once, when all of it is there, in the order of ids. One that does not learn
// is told the trials before the first one that has no result. So the state depends on the results that are there, and
// not on the order in which they came.
#include "by_hand.h"

#include "../store/commit/rounds.h"
#include "../store/queries.h"
#include "expected.h"

#include <string.h>
#include <time.h>

Error by_hand_check(const Spec *spec)
{
    if (spec->model->by_hand) return error_none();
    return error_make(ERROR_USER, "ask and tell are for `model: manual`; `%s` runs the trials of model %s",
                      command_again(NULL, "run SPEC").text, spec->model->name);
}

// ---- the lock -------------------------------------------------------------------------------------------------------

static Error hand_take_lock(ByHand *hand)
{
    const char *path = arena_format(hand->arena, "%s/" CAMPAIGN_DATABASE, hand->folder);
    if (!hand->options->resume_only)
        return campaign_create_locked(hand->folder, hand->name, false, hand->arena, &hand->lock);
    if (file_missing(path))
        return error_make(ERROR_USER, "there is no campaign %.128s under %.150s: start it with `%s ask`", hand->name,
                          hand->options->results, command_program(hand->arena));
    TRY(folder_check_inside(hand->folder));
    return campaign_lock(hand->folder, hand->name, hand->arena, &hand->lock);
}

// Another ask or tell holds the lock for milliseconds. One that does not give it back is an error.
static Error hand_lock(ByHand *hand)
{
    enum { FREE_TRIES = 20 }; // another process may have given it back before it was looked at
    const double patience = 60.0, start = clock_seconds(); // s
    const struct timespec nap = {.tv_nsec = 2000000};
    const char *path = arena_format(hand->arena, "%s/" CAMPAIGN_LOCK, hand->folder);
    const size_t used = hand->arena->used;
    char holder[160];
    for (int free = 0;; arena_rewind(hand->arena, used)) {
        const Error error = hand_take_lock(hand);
        if (error.kind != ERROR_MACHINE) return error;
        free += lock_holder(path, holder, sizeof holder).kind != OK || holder[0] == '\0';
        if (free == FREE_TRIES || clock_seconds() - start > patience) return error;
        (void)nanosleep(&nap, NULL);
    }
}

// ---- the search -----------------------------------------------------------------------------------------------------

static Error hand_begin_search(ByHand *hand)
{
    bool found = false;
    TRY(search_init(hand->spec, hand->arena, &hand->search));
    TRY(store_search_state(hand->store, &hand->search, &found));
    return found ? hand->search.method->restore(&hand->search) : error_none();
}

// At least one trial, also at limits.trials: so it is known whether there would be more.
static Error hand_draw_round(ByHand *hand)
{
    const int64_t limit = hand->spec->limits.trials;
    bool waiting = false;
    for (int64_t capacity = 256;; capacity *= 4) {
        Trials *trials = &hand->round.trials;
        flight_take(hand->spec, capacity, NULL, hand->arena, &hand->round);
        TRY(hand->search.method->ask(&hand->search, capacity, trials, &waiting));
        const bool all = trials->count < capacity;
        hand->id = trials->count > 0 ? trials->id[0] : 0;
        const int64_t left = limit > hand->id ? limit - hand->id : 0;
        hand->limited = limit > 0 && trials->count > left;
        if (hand->limited) trials->count = left;
        if (all || hand->limited) return error_none();
        TRY(hand_begin_search(hand));
    }
}

Error by_hand_restore(ByHand *hand)
{
    TRY(hand_begin_search(hand));
    return hand->learns ? hand_draw_round(hand) : error_none();
}

// Of a search that learns, a trial of an earlier round is a stored row.
static Error hand_stored_trial(ByHand *hand, int64_t id, Trials *trials, int64_t i, bool *found)
{
    TrialRows row;
    rows_take(hand->spec, 1, hand->arena, &row);
    Cursor rows = trial_rows_by_id(hand->store->database, hand->spec, hand->arena);
    *found = trial_row_at(&rows, id, hand->spec, &row, 0);
    TRY(cursor_close(&rows));
    if (!*found) return error_none();
    trials->search[i] = (int32_t)row.search[0];
    trials->round[i] = (int32_t)row.round[0];
    return search_stored_trial(&hand->search, hand->store->database, &row, 0, &trials->ordinal[i],
                               &trials->parameter[i * hand->spec->configured.n_parameters]);
}

Error by_hand_trial(ByHand *hand, int64_t id, Trials *trials, int64_t i, bool *found)
{
    const int n = hand->spec->configured.n_parameters;
    const Trials *round = &hand->round.trials;
    const int64_t at = id - hand->id;
    trials->id[i] = id;
    *found = true;
    if (!hand->learns) {
        trials->search[i] = trials->round[i] = 0;
        *found =
            hand->search.method->trial(&hand->search, id, &trials->ordinal[i], &trials->parameter[i * n]).kind == OK;
        return error_none();
    }
    if (at < 0 || at >= round->count) return hand_stored_trial(hand, id, trials, i, found);
    trials->search[i] = round->search[at];
    trials->round[i] = round->round[at];
    trials->ordinal[i] = round->ordinal[at];
    memcpy(&trials->parameter[i * n], &round->parameter[at * n], (size_t)n * sizeof *trials->parameter);
    return error_none();
}

Error by_hand_parameters(ByHand *hand, int64_t trial, const double **parameter)
{
    Flight one;
    bool found = false;
    flight_take(hand->spec, 1, NULL, hand->arena, &one);
    TRY(by_hand_trial(hand, trial, &one.trials, 0, &found));
    *parameter = found ? one.trials.parameter : NULL;
    return error_none();
}

// ---- results --------------------------------------------------------------------------------------------------------

static Batch hand_batch(const Spec *spec, int64_t lanes, Arena *arena)
{
    return (Batch){.stride = lanes,
                   .parameter = ARENA_NEW(arena, double, lanes * spec->configured.n_parameters),
                   .metric = ARENA_NEW(arena, double, lanes * spec->configured.n_metrics),
                   .status = ARENA_NEW(arena, int32_t, lanes)};
}

// The lane gets what was told.
static Error hand_fill_lane(ByHand *hand, AskedLane *told, int64_t lane, Batch *batch)
{
    bool found = false;
    TRY(asked_read(hand->store->database, hand->spec, told, &found));
    if (!found || !told->told)
        return error_make(ERROR_MACHINE, "bug: trial %lld was collected before it was told", (long long)told->trial);
    for (int m = 0; m < hand->spec->configured.n_metrics; m++)
        batch->metric[m * batch->stride + lane] = told->metric[m];
    batch->status[lane] = LANE_DONE + told->failure;
    return error_none();
}

Error by_hand_collect(ByHand *hand, Flight *flight, Commit *commit)
{
    const Spec *spec = hand->spec;
    const Trials *trials = &flight->trials;
    AskedLane told = {.metric = ARENA_NEW(hand->arena, double, spec->configured.n_metrics)};
    Batch batch = hand_batch(spec, trials->count * spec->replicates.count, hand->arena);
    commit_take(spec, trials->count, 0, 0, 0, hand->arena, commit);
    flight_fill(spec, flight, &batch);
    for (int64_t t = 0; t < trials->count; t++) {
        for (told.trial = trials->id[t], told.replicate = 0; told.replicate < spec->replicates.count; told.replicate++)
            TRY(hand_fill_lane(hand, &told, flight_lane(spec, flight, t, told.replicate), &batch));
    }
    flight_collect(spec, flight, &batch, commit);
    commit->kernel = "general";
    snprintf(commit->backend, sizeof commit->backend, "hand");
    snprintf(commit->device, sizeof commit->device, "by hand");
    return error_none();
}

// ---- the end --------------------------------------------------------------------------------------------------------

static Error hand_has_more(ByHand *hand, bool *more)
{
    bool waiting = true;
    if (hand->learns) {
        *more = hand->round.trials.count > 0 || hand->limited;
        return error_none();
    }
    Flight one;
    flight_take(hand->spec, 1, NULL, hand->arena, &one);
    while (waiting && one.trials.count == 0) TRY(hand->search.method->ask(&hand->search, 1, &one.trials, &waiting));
    *more = one.trials.count > 0;
    return hand_begin_search(hand);
}

static Error hand_end(ByHand *hand, const char *state, const char *reason, int64_t trials)
{
    const char *stop = hand->search.method->stopped(&hand->search);
    TRY(store_index_fitness(hand->store, hand->arena));
    TRY(rounds_record(hand->store, &hand->search));
    if (strcmp(state, "done") == 0) TRY(sensitivity_record(hand->store, &hand->search));
    if (reason == NULL) reason = stop;
    return store_set_state(
        hand->store,
        &(StoreState){.state = state,
                      .reason = reason,
                      .stop_reason = stop,
                      .event = state,
                      .text = arena_format(hand->arena, "%lld trial%s%s%s", (long long)trials, trials == 1 ? "" : "s",
                                           reason != NULL ? "; " : "", reason != NULL ? reason : ""),
                      .trials_total = trials});
}

Error by_hand_settle(ByHand *hand)
{
    const int64_t limit = hand->spec->limits.trials;
    int64_t asked = 0, open = 0;
    bool more = false;
    TRY(asked_count_open(hand->store->database, &open));
    if (open > 0) return error_none();
    TRY(hand_has_more(hand, &more));
    if (more && limit == 0) return error_none();
    TRY(asked_count(hand->store->database, &asked));
    if (more && asked < limit) return error_none();
    const char *state = more ? "stopped" : "done";
    if (strcmp(hand->store->state, state) == 0) return error_none();
    const char *text = arena_format(hand->arena, "limits.trials: %s trial%s run", text_count(asked).text,
                                    asked == 1 ? " was" : "s were");
    return hand_end(hand, state, more ? text : NULL, asked);
}

Error by_hand_reason(const ByHand *hand, const char **reason)
{
    CampaignRow row;
    bool found = false;
    TRY(campaign_row_read(hand->store->database, hand->arena, &row, &found));
    *reason = found && row.reason != NULL && row.reason[0] != '\0' ? row.reason : NULL;
    return error_none();
}

// ---- open and close -------------------------------------------------------------------------------------------------

static Error hand_note_start(ByHand *hand)
{
    const int64_t limit = hand->spec->limits.trials;
    int64_t most = 0;
    int64_t total = expected_trials(&hand->search, 0, hand->arena, &most);
    if (limit > 0 && total > limit) total = limit;
    return store_set_state(hand->store, &(StoreState){.state = STORE_WAITING,
                                                      .event = "started",
                                                      .text = "by hand",
                                                      .trials_total = total > 0 ? total : 0,
                                                      .trials_most = most});
}

static Error hand_open_store(ByHand *hand, const Spec *spec)
{
    StoreRecovery recovery;
    TRY(store_open(hand->folder, hand->name, spec, hand->options, hand->arena, &hand->store));
    hand->spec = hand->store->spec;
    hand->learns = search_learns(hand->spec->method);
    TRY(store_recover(hand->store, &recovery, hand->options->messages));
    TRY(by_hand_restore(hand));
    return hand->store->created ? hand_note_start(hand) : error_none();
}

Error by_hand_open(const Spec *spec, const RunOptions *options, Arena *arena, ByHand **out)
{
    ByHand *hand = ARENA_NEW(arena, ByHand, 1);
    *hand = (ByHand){.options = options,
                     .arena = arena,
                     .name = options->name != NULL ? options->name : spec->experiment,
                     .lock = {.descriptor = -1}};
    *out = hand;
    TRY(by_hand_check(spec));
    TRY(campaign_folder(options->results, hand->name, arena, &hand->folder));
    TRY(campaign_refuse_network(hand->folder, options->shared_fs));
    TRY(hand_lock(hand));
    const Error error = hand_open_store(hand, spec);
    return error.kind == OK ? error : by_hand_close(hand, error);
}

Error by_hand_close(ByHand *hand, Error error)
{
    const bool changed = hand->store != NULL && error.kind == OK;
    if (hand->store != NULL) {
        const Error closing = store_close(hand->store);
        if (error.kind == OK) error = closing;
    }
    if (changed) catalogue_note(hand->options->results, hand->options->shared_fs, hand->name, hand->arena);
    hand->store = NULL;
    lock_release(&hand->lock);
    return error;
}

const Spec *by_hand_spec(const ByHand *hand) { return hand->spec; }

// ---- what is awaited ------------------------------------------------------------------------------------------------

Error awaited_read(Database *database, Awaited *awaited)
{
    int64_t id = 0, count = 0;
    *awaited = (Awaited){0};
    if (!asked_exists(database)) return error_none();
    TRY(asked_count(database, &awaited->asked));
    TRY(asked_count_open(database, &awaited->open));
    Cursor open = asked_open(database, NULL);
    while (count < AWAITED_SHOWN && next_integer(&open, &id)) {
        if (count == 0 || awaited->first[count - 1] != id) awaited->first[count++] = id;
    }
    return cursor_close(&open);
}

Error by_hand_awaited(const ByHand *hand, Awaited *awaited) { return awaited_read(hand->store->database, awaited); }

const char *awaited_text(const Awaited *awaited, Arena *arena)
{
    const int64_t shown = awaited->open < AWAITED_SHOWN ? awaited->open : AWAITED_SHOWN;
    const char *text = awaited->open == 1 ? "trial" : "trials";
    for (int64_t i = 0; i < shown; i++) {
        const bool last = i + 1 == shown && awaited->open == shown;
        text = arena_format(arena, "%s%s %lld", text, i == 0 ? "" : last ? " and" : ",", (long long)awaited->first[i]);
    }
    return awaited->open > shown ? arena_format(arena, "%s and %s more", text, text_count(awaited->open - shown).text)
                                 : text;
}
