// The next trials of a campaign by hand, which are stored as asked for before anybody sees them.
#include "by_hand.h"

#include <string.h>

static void ask_put(Asked *asked, int64_t trial, int replicate, bool again, const double *parameter)
{
    asked->lanes[asked->count++] =
        (ToRun){.trial = trial, .replicate = replicate, .again = again, .parameter = parameter};
}

// Replicates that were given before and not told. Returns their trials in *given.
static Error ask_again(ByHand *hand, const AskRequest *request, Asked *asked, int64_t *given)
{
    int64_t trial = 0, last = -1;
    const double *parameter = NULL;
    *given = 0;
    Cursor open = asked_open(hand->store->database, request->before);
    while (next_integer(&open, &trial)) {
        if (trial != last && *given == request->trials) break;
        if (trial != last) cursor_stop(&open, by_hand_parameters(hand, trial, &parameter));
        *given += trial != last;
        last = trial;
        if (parameter != NULL) ask_put(asked, trial, (int)cell_integer(&open, 1), true, parameter);
    }
    return cursor_close(&open);
}

// Trials that were never given, behind the last one that was.
static Error ask_new(ByHand *hand, int64_t most, Flight *fresh)
{
    Trials *trials = &fresh->trials;
    int64_t last = -1;
    bool waiting = true, found = true;
    TRY(asked_last(hand->store->database, &last));
    if (hand->learns) {
        const int64_t end = hand->id + hand->round.trials.count;
        for (int64_t id = last + 1; id < end && trials->count < most; id++)
            TRY(by_hand_trial(hand, id, trials, trials->count++, &found));
        return error_none();
    }
    if (last + 1 > hand->search.asked) hand->search.asked = last + 1;
    while (waiting && trials->count == 0) TRY(hand->search.method->ask(&hand->search, most, trials, &waiting));
    return error_none();
}

// How many trials may be given, by limits.trials.
static Error ask_room(const ByHand *hand, int64_t wanted, int64_t *room)
{
    const int64_t limit = hand->spec->limits.trials;
    int64_t trials = 0;
    if (limit > 0) TRY(asked_count(hand->store->database, &trials));
    const int64_t left = limit > trials ? limit - trials : 0;
    *room = limit > 0 && left < wanted ? left : wanted;
    return error_none();
}

static Error ask_store(ByHand *hand, const Asked *asked)
{
    const Text32 now = clock_utc();
    TRY(store_begin(hand->store));
    Error error = error_none();
    for (int64_t i = 0; i < asked->count && error.kind == OK; i++) {
        if (i == 0 || asked->lanes[i].trial != asked->lanes[i - 1].trial)
            error = asked_note(hand->store, asked->lanes[i].trial, now.text);
    }
    return store_end(hand->store, error);
}

static Error ask_choose(ByHand *hand, const AskRequest *request, Asked *asked)
{
    const int replicates = hand->spec->replicates.count, n = hand->spec->configured.n_parameters;
    int64_t given = 0, room = 0;
    Flight fresh;
    asked->lanes = ARENA_NEW(hand->arena, ToRun, request->trials * replicates);
    if (request->again || request->before != NULL) TRY(ask_again(hand, request, asked, &given));
    TRY(ask_room(hand, request->trials - given, &room));
    if (room == 0) return error_none();
    flight_take(hand->spec, room, NULL, hand->arena, &fresh);
    TRY(ask_new(hand, room, &fresh));
    for (int64_t t = 0; t < fresh.trials.count; t++) {
        for (int r = 0; r < replicates; r++)
            ask_put(asked, fresh.trials.id[t], r, false, &fresh.trials.parameter[t * n]);
    }
    return error_none();
}

Error by_hand_ask(ByHand *hand, const AskRequest *request, Asked *asked)
{
    *asked = (Asked){0};
    TRY(ask_choose(hand, request, asked));
    if (asked->count > 0 && strcmp(hand->store->state, STORE_WAITING) != 0) // a limit was raised
        TRY(store_set_state(hand->store, &(StoreState){.state = STORE_WAITING}));
    if (asked->count > 0) TRY(ask_store(hand, asked));
    if (asked->count == 0) TRY(by_hand_settle(hand));
    asked->state = arena_copy(hand->arena, hand->store->state);
    return by_hand_reason(hand, &asked->reason);
}
