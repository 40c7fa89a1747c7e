// Where a campaign of `backend: auto` runs, if this build knows GPUs. It begins on the CPU, at once: to open a GPU
// takes a third of a second, in which most campaigns end. If more is left, a pilot in a thread of its own opens the GPU
// and times the campaign there, and the run goes on where the rest takes less time. No bit depends on the device.
#include "choice.h"

#include "rungs.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

// A GPU is looked for after `patience` seconds, as the first batches say little, if the CPU's kernels need `enough`
// seconds for the rest; a move pays from the ratio `gain` of times on.
static const double choice_patience = 0.25, choice_enough = 1.0, choice_gain = 1.1;

void choice_start(const Spec *spec, RunOptions *options, DeviceChoice *choice)
{
    *choice = (DeviceChoice){.spec = spec, .options = *options, .open = plan_may_choose(spec, options)};
    if (!choice->open) return;
    choice->options.backend.name = backend_gpu_name();
    options->backend.name = "cpu";
}

// ---- the pilot of the GPU -------------------------------------------------------------------------------------------

static void *choice_pilot(void *argument)
{
    DeviceChoice *choice = argument;
    choice->error = plan_make(choice->spec, &choice->options, &choice->arena, &choice->plan);
    atomic_store(&choice->ended, true);
    return NULL;
}

// Without a thread or memory the CPU goes on.
static void choice_look(DeviceChoice *choice)
{
    sigset_t all, before;
    choice->open = arena_create_growing(&choice->arena, (size_t)1 << 30, "the pilot of a GPU").kind == OK;
    if (!choice->open) return;
    sigfillset(&all); // signals belong to the loop
    pthread_sigmask(SIG_SETMASK, &all, &before);
    choice->started = thread_start(&choice->thread, choice_pilot, choice) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    choice->open = choice->started;
    if (!choice->started) arena_destroy(&choice->arena);
}

void choice_end(DeviceChoice *choice)
{
    if (!choice->started) return;
    pthread_join(choice->thread, NULL);
    arena_destroy(&choice->arena);
    choice->started = choice->open = false;
}

// ---- the decision ---------------------------------------------------------------------------------------------------

// Trials that are computed, with parts of those in flight, and the time of the kernels that computed them, s.
static double choice_done(const Loop *loop, double *seconds)
{
    const double whole = (double)loop->spec->configured.ticks * loop->spec->replicates.count;
    double trials = (double)(loop->told - loop->before.trials);
    *seconds = loop->kernel_seconds;
    if (loop->spec->configured.steps_max > 0) return trials; // how far a lane is, is not known
    for (int i = 0; i < loop->in_flight; i++) {
        const LoopSlot *slot = &loop->slots[(loop->oldest + i) % loop->n_slots];
        trials += rungs_ticks(loop, slot) / whole;
        *seconds += slot->flight.kernel_seconds;
    }
    return trials;
}

// Trials that are left. Where that is not known: as many as were computed.
static double choice_left(const Loop *loop, double done)
{
    const int64_t total = loop_total(loop);
    return total > 0 ? (double)(total - loop->before.trials) - done : done;
}

static bool choice_decide(DeviceChoice *choice, double left, double each)
{
    const Plan *plan = &choice->plan;
    const double there = plan->seconds_open + left * (plan->seconds - plan->seconds_open) / (double)plan->trials;
    const bool moves = backend_gpu_is_faster(choice_gain * there, left * each);
    snprintf(choice->text, sizeof choice->text, "%s %s: the rest takes about %s there, and %s on the CPU",
             moves ? "the run goes on on" : "the run stays on the CPU, with", plan->device, text_duration(there).text,
             text_duration(left * each).text);
    return moves;
}

// A GPU that fails is not used without a word; where there is none, there is nothing to say.
static bool choice_hear(DeviceChoice *choice, double left, double each)
{
    choice->open = false;
    if (choice->error.kind == ERROR_MACHINE || choice->error.kind == ERROR_INTERRUPTED) return false;
    if (choice->error.kind == OK && choice->plan.refusal[0] == '\0') return choice_decide(choice, left, each);
    snprintf(choice->text, sizeof choice->text, "the run stays on the CPU: %.200s",
             choice->error.kind != OK ? choice->error.text : choice->plan.refusal);
    return false;
}

bool choice_moves(void *of, const Loop *loop)
{
    DeviceChoice *choice = of;
    double seconds = 0;
    if (!choice->open) return false;
    const double done = choice_done(loop, &seconds);
    if (loop->ending) return false;
    const double each = done > 0 ? seconds / done : 0, left = choice_left(loop, done);
    const double took = clock_seconds() - loop->started, rest = done > 0 ? left * each : took;
    if (!choice->started && took > choice_patience && rest > choice_enough) choice_look(choice);
    return done > 0 && choice->started && atomic_load(&choice->ended) && choice_hear(choice, left, each);
}
