// Rungs of limits.retire (experiment/search/rungs.c) in the loop. A batch has whole groups of trials. Its flight runs
// all of them up to the first rung, then those that are better up to the next one, at last the best to their end. Their
// results are gathered as rows, where those of the next flight replace those before, and are committed once, when the
// batch has ended. So no result depends on the batches, and a batch that is abandoned leaves nothing.
#include "rungs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- memory ---------------------------------------------------------------------------------------------------------

typedef struct RungTrial {
    double violation, cost;
    int64_t t; // in the flight
} RungTrial;

void rungs_take(Loop *loop, Arena *arena)
{
    const Spec *spec = loop->spec;
    const int64_t trials = loop->batch_trials;
    loop->ends = NULL;
    if (!spec_has_rungs(spec)) return;
    loop->ends = ARENA_NEW(arena, Spec, spec->limits.rungs.count + 1);
    for (int rung = 0; rung <= spec->limits.rungs.count; rung++) loop->ends[rung] = rungs_passed(spec, rung);
    for (int i = 0; i < loop->n_slots; i++) {
        RungBatch *own = &loop->slots[i].batch;
        own->row = ARENA_NEW(arena, int64_t, trials);
        own->order = ARENA_NEW(arena, RungTrial, trials);
        flight_take_trials(spec, trials, arena, &own->some);
        commit_take(spec, trials, 0, 0, 0, arena, &own->gathered);
    }
}

// ---- a batch --------------------------------------------------------------------------------------------------------

const Spec *rungs_spec(const Loop *loop, const LoopSlot *own)
{
    return loop->ends != NULL ? &loop->ends[own->batch.rung] : loop->spec;
}

// Room for further trials behind the first `count`.
static Trials rungs_rest(const Trials *trials, int64_t count, int n_parameters)
{
    Trials rest = *trials;
    rest.capacity -= count;
    rest.id += count;
    rest.ordinal += count;
    rest.search += count;
    rest.round += count;
    rest.parameter += count * n_parameters;
    return rest;
}

Error rungs_ask(Loop *loop, int64_t room, Trials *trials, bool *waiting)
{
    Search *search = loop->search;
    int64_t count = 0, got = 0;
    do {
        Trials rest = rungs_rest(trials, count, loop->spec->configured.n_parameters);
        TRY(search->method->ask(search, room - count, &rest, waiting));
        got = rest.count;
        count += got;
    } while ((got > 0 || *waiting) && count < room && count % loop->spec->limits.rungs.of != 0 &&
             interrupt_requested() == 0);
    trials->count = count;
    if (interrupt_requested() == 0 || count == 0) return error_none();
    trials->count = 0; // a group may be incomplete, and the run ends
    *waiting = true;
    return error_none();
}

void rungs_start(LoopSlot *own)
{
    RungBatch *batch = &own->batch;
    batch->rung = 0;
    batch->all = own->flight.trials;
    batch->lanes = 0;
    batch->ticks = batch->kernel = batch->wait = batch->copy = 0;
    own->flight.row = NULL;
}

static void rungs_gather(const Loop *loop, LoopSlot *own, Batch *lanes)
{
    Flight *flight = &own->flight;
    RungBatch *batch = &own->batch;
    const Spec *spec = rungs_spec(loop, own);
    flight_collect(spec, flight, lanes, &batch->gathered);
    batch->lanes += flight->lanes;
    batch->ticks += (double)flight->lanes * (double)spec->configured.ticks;
    batch->kernel += flight->kernel_seconds;
    batch->wait += flight->wait_seconds;
    batch->copy += flight->copy_seconds;
}

// Less violation of the constraints, then less cost, then the earlier trial.
static int rungs_compare(const void *left, const void *right)
{
    const RungTrial *a = left, *b = right;
    if (a->violation != b->violation) return a->violation < b->violation ? -1 : 1;
    if (a->cost != b->cost) return a->cost < b->cost ? -1 : 1;
    return a->t < b->t ? -1 : 1;
}

static int rungs_compare_ids(const void *left, const void *right)
{
    const RungTrial *a = left, *b = right;
    return a->t < b->t ? -1 : 1;
}

// The trials [first, end) of the flight, a group: writes those that go on, in the order of ids. Returns their number.
static int64_t rungs_choose(const Loop *loop, const LoopSlot *own, int64_t first, int64_t end, RungTrial *chosen)
{
    const Spec *spec = loop->spec;
    const Trials *trials = &own->flight.trials;
    const int n = spec->n_constraints;
    const int64_t most = rungs_kept(spec, own->batch.rung, end - first);
    int64_t count = 0;
    for (int64_t t = first; t < end; t++) {
        if (isnan(trials->fitness[t])) continue;
        chosen[count++] = (RungTrial){.t = t,
                                      .cost = spec_cost(spec, 0, trials->fitness[t]),
                                      .violation = n > 0 ? constraints_violation(&trials->constraint[t * n], n) : 0.0};
    }
    qsort(chosen, (size_t)count, sizeof *chosen, rungs_compare);
    if (count > most) count = most;
    qsort(chosen, (size_t)count, sizeof *chosen, rungs_compare_ids);
    return count;
}

static void rungs_copy(const Trials *from, int64_t t, int n_parameters, Trials *to, int64_t at)
{
    to->id[at] = from->id[t];
    to->ordinal[at] = from->ordinal[t];
    to->search[at] = from->search[t];
    to->round[at] = from->round[t];
    memmove(&to->parameter[at * n_parameters], &from->parameter[t * n_parameters],
            (size_t)n_parameters * sizeof *to->parameter);
}

// The place of a trial of the flight in the batch.
static int64_t rungs_place(const LoopSlot *own, int64_t t) { return own->flight.row != NULL ? own->flight.row[t] : t; }

// Fills `some` and `row`, which the flight may have: a trial moves only to the front. Returns their number.
static int64_t rungs_choose_all(const Loop *loop, LoopSlot *own)
{
    const int64_t of = loop->spec->limits.rungs.of, trials = own->flight.trials.count;
    RungBatch *batch = &own->batch;
    RungTrial *chosen = batch->order;
    int64_t count = 0;
    for (int64_t first = 0, end; first < trials; first = end) {
        const int64_t group = rungs_place(own, first) / of;
        for (end = first + 1; end < trials && rungs_place(own, end) / of == group;) end++;
        const int64_t kept = rungs_choose(loop, own, first, end, chosen);
        for (int64_t i = 0; i < kept; i++, count++) {
            const int64_t place = rungs_place(own, chosen[i].t);
            rungs_copy(&own->flight.trials, chosen[i].t, loop->spec->configured.n_parameters, &batch->some, count);
            batch->row[count] = place;
        }
    }
    return count;
}

bool rungs_go_on(Loop *loop, int slot)
{
    LoopSlot *own = &loop->slots[slot];
    RungBatch *batch = &own->batch;
    rungs_gather(loop, own, backend_batch(loop->backend, slot));
    batch->some.count = batch->rung < loop->spec->limits.rungs.count ? rungs_choose_all(loop, own) : 0;
    if (batch->some.count > 0) {
        own->flight.trials = batch->some;
        own->flight.row = batch->row;
        batch->rung++;
        return true;
    }
    own->flight.trials = batch->all;
    own->flight.kernel_seconds = batch->kernel;
    return false;
}

void rungs_collect(LoopSlot *own, Commit *commit)
{
    RungBatch *batch = &own->batch;
    const TrialRows rows = batch->gathered.rows;
    batch->gathered.rows = commit->rows;
    commit->rows = rows;
    commit->rows.count = batch->all.count;
    commit->kind = own->flight.kind;
    commit->failures = commit->n_lanes = 0;
    for (int64_t i = 0; i < commit->rows.count; i++) commit->failures += commit->rows.failure[i] != 0;
    commit->lanes_run = batch->lanes;
    commit->kernel_seconds = batch->kernel;
    commit->wait_seconds = batch->wait;
    commit->copy_seconds = batch->copy;
    commit->search_seconds = own->flight.search_seconds;
}

// ---- progress -------------------------------------------------------------------------------------------------------

double rungs_ticks(const Loop *loop, const LoopSlot *own)
{
    const int64_t ended = own->flight.ticks - (own->pending ? own->slice : 0);
    const int64_t all = rungs_spec(loop, own)->configured.ticks;
    const double before = loop->ends != NULL ? own->batch.ticks : 0.0;
    if (own->done && loop->ends != NULL) return before;
    return before + (double)(ended < all ? ended : all) * (double)own->flight.lanes;
}

double rungs_ticks_most(const Loop *loop, const LoopSlot *own)
{
    return rungs_simulated(loop->spec, own->batch.all.count) * (double)loop->spec->configured.ticks *
           loop->spec->replicates.count;
}
