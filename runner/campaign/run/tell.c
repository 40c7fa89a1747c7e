// Results of trials that people ran: one transaction stores them, the rows of trials that are complete, and what the
// search learns.
#include "by_hand.h"

#include "../store/commit/retries.h"
#include "../store/queries.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- what is known --------------------------------------------------------------------------------------------------

static bool tell_is_same(const Spec *spec, const AskedLane *stored, const Told *told)
{
    bool same = stored->failure == told->failure;
    for (int m = 0; m < spec->configured.n_metrics; m++) {
        const double a = stored->metric[m], b = told->metric[m];
        same = same && (a == b || (isnan(a) && isnan(b)));
    }
    return same;
}

static const char *tell_words(const Spec *spec, const AskedLane *lane, Arena *arena)
{
    const char *text =
        lane->failure != 0 ? arena_format(arena, "failure=%s", spec->configured.failures[lane->failure]) : "";
    for (int m = 0; m < spec->configured.n_metrics; m++) {
        if (!isnan(lane->metric[m]))
            text = arena_format(arena, "%s%s%s=%.12g", text, text[0] != '\0' ? " " : "",
                                spec->configured.metrics[m].name, lane->metric[m]);
    }
    return text;
}

Error by_hand_compare(ByHand *hand, const Told *told, ToldBefore *before, const char **stored)
{
    bool found = false;
    AskedLane lane = {.trial = told->trial,
                      .replicate = told->replicate,
                      .metric = ARENA_NEW(hand->arena, double, hand->spec->configured.n_metrics)};
    TRY(asked_read(hand->store->database, hand->spec, &lane, &found));
    *stored = found && lane.told ? tell_words(hand->spec, &lane, hand->arena) : "";
    *before = !found                                  ? TOLD_UNKNOWN
              : !lane.told                            ? TOLD_NEVER
              : tell_is_same(hand->spec, &lane, told) ? TOLD_SAME
                                                      : TOLD_OTHERS;
    return error_none();
}

// ---- results --------------------------------------------------------------------------------------------------------

static Error tell_correct(ByHand *hand, const Told *told, const char *stored, const char *time)
{
    const AskedLane lane = {.trial = told->trial,
                            .replicate = told->replicate,
                            .failure = told->failure,
                            .metric = (double *)(uintptr_t)told->metric};
    TRY(asked_keep_old(hand->store, &lane, time));
    return store_event(hand->store, "corrected", "trial %lld: %.160s; it was %.160s", (long long)told->trial,
                       tell_words(hand->spec, &lane, hand->arena), stored);
}

// *same: as it was stored before.
static Error tell_lane(ByHand *hand, const Told *told, const char *time, TellSummary *summary, bool *same)
{
    ToldBefore before;
    const char *stored = "";
    double *metric = ARENA_NEW(hand->arena, double, hand->spec->configured.n_metrics);
    TRY(by_hand_compare(hand, told, &before, &stored));
    if (before == TOLD_UNKNOWN)
        return error_make(ERROR_MACHINE, "bug: trial %lld was told and not asked for", (long long)told->trial);
    *same = before == TOLD_SAME;
    summary->same += *same;
    summary->stored += before == TOLD_NEVER;
    summary->corrected += before == TOLD_OTHERS;
    if (*same) return error_none();
    if (before == TOLD_OTHERS) TRY(tell_correct(hand, told, stored, time));
    memcpy(metric, told->metric, (size_t)hand->spec->configured.n_metrics * sizeof *metric);
    return asked_tell(
        hand->store,
        &(AskedLane){.trial = told->trial, .replicate = told->replicate, .failure = told->failure, .metric = metric},
        time);
}

// ---- rows -----------------------------------------------------------------------------------------------------------

// The ids of trials that were told of, sorted, each once.
static int tell_ascending(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int64_t tell_trials(const Told *told, int64_t count, int64_t *ids)
{
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++) ids[i] = told[i].trial;
    qsort(ids, (size_t)count, sizeof *ids, tell_ascending);
    for (int64_t i = 0; i < count; i++) {
        if (n == 0 || ids[n - 1] != ids[i]) ids[n++] = ids[i];
    }
    return n;
}

// Of these trials, those whose replicates are all told.
static Error tell_gather(ByHand *hand, const int64_t *ids, int64_t count, Flight *flight)
{
    Trials *trials = &flight->trials;
    bool found = false;
    for (int64_t i = 0; i < count; i++) {
        int64_t lanes = 0, told = 0;
        TRY(asked_of_trial(hand->store->database, ids[i], &lanes, &told));
        if (told < lanes) continue;
        TRY(by_hand_trial(hand, ids[i], trials, trials->count, &found));
        if (!found) return error_make(ERROR_MACHINE, "bug: trial %lld was asked for, and is none", (long long)ids[i]);
        trials->count++;
    }
    return error_none();
}

// A trial that has a row was corrected.
static Error tell_replace(ByHand *hand, const Commit *all, int64_t row, const TrialRows *stored, TellSummary *summary)
{
    TrialRows room;
    rows_take(hand->spec, 1, hand->arena, &room);
    summary->learned += hand->learns && all->rows.id[row] < hand->id;
    TRY(trial_forget(hand->store, all->rows.id[row], (all->rows.failure[row] != 0) - (stored->failure[0] != 0)));
    return store_replace_rows(hand->store, &all->rows, &row, 1, &room);
}

// Rows whose ids follow each other are a batch, so that no two batches overlap.
static Error tell_rows(ByHand *hand, const Commit *all, TellSummary *summary)
{
    TrialRows stored;
    const TrialRows *rows = &all->rows;
    int64_t first = 0;
    rows_take(hand->spec, 1, hand->arena, &stored);
    for (int64_t i = 0; i <= rows->count; i++) {
        bool there = false;
        if (i < rows->count) {
            Cursor row = trial_rows_by_id(hand->store->database, hand->spec, hand->arena);
            there = trial_row_at(&row, rows->id[i], hand->spec, &stored, 0);
            TRY(cursor_close(&row));
        }
        if (i > first && (i == rows->count || there || rows->id[i] != rows->id[i - 1] + 1)) {
            TRY(store_put_batch(hand->store, all, first, i));
            summary->complete += i - first;
            first = i;
        }
        if (there) TRY(tell_replace(hand, all, i, &stored, summary));
        if (there) first = i + 1;
    }
    return error_none();
}

// ---- the search -----------------------------------------------------------------------------------------------------

// A search that learns: the whole round, when it is there, or what limits.trials leaves of it, as `run` does.
static Error tell_round(ByHand *hand, bool *told, Rounds *rounds)
{
    Commit round;
    Flight *flight = &hand->round;
    int64_t complete = 0;
    if (flight->trials.count == 0) return error_none();
    TRY(asked_complete(hand->store->database, hand->id, &complete));
    if (complete < flight->trials.count) return error_none();
    TRY(by_hand_collect(hand, flight, &round));
    commit_take_rounds(&hand->search, flight->trials.count, hand->arena, &round);
    hand->search.rounds = &round.rounds;
    *told = true;
    TRY(hand->search.method->tell(&hand->search, &flight->trials));
    *rounds = round.rounds;
    hand->search.rounds = NULL;
    return error_none();
}

// Any other: the trials before the first one without a row.
static Error tell_prefix(ByHand *hand, bool *told)
{
    enum { PIECE = 256 };
    Flight flight;
    Trials *trials = &flight.trials;
    bool waiting = true, gap = false;
    const char *id[] = {"id"};
    flight_take(hand->spec, PIECE, NULL, hand->arena, &flight);
    TRY(hand->search.method->restore(&hand->search));
    Cursor rows = trials_by_id(hand->store->database, id, 1, hand->arena);
    Error error = error_none();
    while (!gap && error.kind == OK && (waiting || trials->count > 0)) {
        int64_t count = 0;
        error = hand->search.method->ask(&hand->search, PIECE, trials, &waiting);
        while (count < trials->count && trial_at(&rows, trials->id[count])) count++;
        gap = count < trials->count;
        trials->count = count;
        *told |= count > 0;
        if (error.kind == OK && count > 0) error = hand->search.method->tell(&hand->search, trials);
    }
    const Error closing = cursor_close(&rows);
    return error.kind != OK ? error : closing;
}

static Error tell_search(ByHand *hand)
{
    Rounds rounds = {.count = 0};
    bool told = false;
    TRY(hand->learns ? tell_round(hand, &told, &rounds) : tell_prefix(hand, &told));
    return told ? store_put_search(hand->store, &hand->search, &rounds) : error_none();
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static Error tell_all(ByHand *hand, const Told *told, int64_t count, TellSummary *summary)
{
    const Text32 now = clock_utc();
    int64_t *ids = ARENA_NEW(hand->arena, int64_t, count);
    Told *changed = ARENA_NEW(hand->arena, Told, count);
    Flight flight;
    Commit commit;
    int64_t changes = 0;
    for (int64_t i = 0; i < count; i++) {
        bool same = false;
        TRY(tell_lane(hand, &told[i], now.text, summary, &same));
        if (!same) changed[changes++] = told[i];
    }
    const int64_t trials = tell_trials(changed, changes, ids);
    flight_take(hand->spec, trials, NULL, hand->arena, &flight);
    TRY(tell_gather(hand, ids, trials, &flight));
    TRY(by_hand_collect(hand, &flight, &commit));
    TRY(tell_rows(hand, &commit, summary));
    return tell_search(hand);
}

Error by_hand_tell(ByHand *hand, const Told *told, int64_t count, TellSummary *summary)
{
    *summary = (TellSummary){0};
    TRY(store_begin(hand->store));
    TRY(store_end(hand->store, tell_all(hand, told, count, summary)));
    TRY(by_hand_restore(hand));
    TRY(by_hand_settle(hand));
    summary->state = arena_copy(hand->arena, hand->store->state);
    return by_hand_reason(hand, &summary->reason);
}
