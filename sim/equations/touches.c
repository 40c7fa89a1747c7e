// Guards that an event sets to 0. Such a guard has not passed 0, so its event does not happen, though it would if the
// guard were a little before 0: a pulse of length 0 never ends. Whether that is meant only the user knows. Whether a
// guard is 0 then only a run knows, but for guards that are 0 for all states. These are found here: the values of `set`
// take the places of what it sets, and the guard is computed at some states that are drawn.
#include "touches.h"

#include "../tape_code.h"
#include "drawing.h"
#include "system.h"

#include <math.h>

enum { TOUCH_STATES = 16, TOUCH_LEAST = 8, TOUCH_NAMES = 3 };
static const int64_t touch_work = 20000000; // values of the tape, in all: a second at most

// An event that sets a guard: the guard after it, and its slope.
typedef struct TouchPair {
    int to; // the mode after it
    int event, guard;
    bool kept; // the mode before it has the guard too
    TapeValue value, slope;
} TouchPair;

// What it takes to compute a guard.
typedef struct Touch {
    const System *system;
    Tape *tape;
    TouchPair pair;
    int32_t *needed; // [n_needed] values of the tape
    int n_needed;
    double *number; // [tape->count] of a value
    int64_t *work;  // what is left
} Touch;

static double touch_compute(const Touch *touch, const TapeNode *node)
{
    const double a = touch->number[node->a], b = node->b != TAPE_NONE ? touch->number[node->b] : a,
                 c = node->c != TAPE_NONE ? touch->number[node->c] : a;
    if (!tape_looks_up(node)) return tape_function(node->operation, a, b, c);
    const bool signal = node->operation >= TAPE_SIGNAL;
    const double *row = touch->tape->tables[(int)node->number]->row;
    return signal ? lookup_signal(row, lookup_shape_of(row), a, b, (LookupWhat)(node->operation - TAPE_SIGNAL))
                  : lookup_value(row, lookup_shape_of(row), a, b, (LookupWhat)(node->operation - TAPE_TABLE));
}

// An input in state k of those that are drawn.
static double touch_input(const Touch *touch, int input, int k, const double *parameter)
{
    const System *s = touch->system;
    const int first = SYSTEM_PARAMETER(s->n_states, s->n_held, 0);
    const RandomKey key = {.search = 0xFFFE, .ordinal = (uint64_t)k, .purpose = RANDOM_SAMPLE};
    if (input >= first && input < first + s->n_parameters) return parameter[input - first];
    const double u = random_uniform(&key, (uint32_t)input);
    if (input == SYSTEM_TIME) return 10.0 * u;
    return (u < 0.5 ? -1.0 : 1.0) * pow(10.0, 4.0 * fabs(u - 0.5) - 1.0);
}

// The signs of the guard and of its slope in one state. False: they are not numbers. Rounding is judged by the greatest
// number of what the guard is made of.
static bool touch_signs(const Touch *touch, int k, const double *parameter, double *guard, double *slope)
{
    double greatest = 0.0;
    for (int i = 0; i < touch->n_needed; i++) {
        const TapeValue value = touch->needed[i];
        const TapeNode *node = &touch->tape->nodes[value];
        double *number = &touch->number[value];
        if (node->operation == PROGRAM_NUMBER)
            *number = node->number;
        else
            *number =
                node->operation == TAPE_INPUT ? touch_input(touch, node->a, k, parameter) : touch_compute(touch, node);
        if (value <= touch->pair.value && fabs(*number) > greatest) greatest = fabs(*number);
    }
    *touch->work -= touch->n_needed;
    *guard = touch->number[touch->pair.value];
    *slope = touch->number[touch->pair.slope];
    if (fabs(*guard) <= 1e-15 * greatest) *guard = 0.0;
    return isfinite(*guard) && isfinite(*slope);
}

static bool touch_counts(SystemDirection direction, double slope)
{
    return direction == SYSTEM_CROSSES ? slope != 0.0 : direction == SYSTEM_RISES ? slope > 0.0 : slope < 0.0;
}

// Whether the guard of a trial is at 0 after the event, and goes from there as it counts, whatever the state is.
static bool touch_is(const Touch *touch, const double *parameter)
{
    const SystemDirection direction = touch->system->guards[touch->pair.guard].direction;
    int known = 0;
    for (int k = 0; k < TOUCH_STATES; k++) {
        double guard, slope;
        if (!touch_signs(touch, k, parameter, &guard, &slope)) continue;
        if (guard != 0.0 || !touch_counts(direction, slope)) return false;
        known++;
    }
    return known >= TOUCH_LEAST;
}

// "D = 0, T = 0.1": parameters that the guard is made of, in a trial.
static const char *touch_trial(const Touch *touch, const double *parameter, Arena *arena)
{
    const System *s = touch->system;
    const int first = SYSTEM_PARAMETER(s->n_states, s->n_held, 0);
    const char *text = "";
    int n = 0;
    for (int i = 0; i < touch->n_needed && n < TOUCH_NAMES; i++) {
        const TapeNode *node = &touch->tape->nodes[touch->needed[i]];
        if (node->operation != TAPE_INPUT || node->a < first || node->a >= first + s->n_parameters) continue;
        text = arena_format(arena, "%s%s%s = %.6g", text, n++ > 0 ? ", " : "", s->parameters[node->a - first].name,
                            parameter[node->a - first]);
    }
    return text;
}

// The name of the event that waits for a guard in a mode.
static const char *touch_waits(const System *system, int mode, int guard)
{
    for (int a = 0; a < system->modes[mode].n_actions; a++)
        if (system->modes[mode].actions[a].guard == guard) return system->events[system->modes[mode].actions[a].event];
    return "an event";
}

static const char *touch_text(const Touch *touch, const double *trial, int trials, int count, Arena *arena)
{
    const System *s = touch->system;
    const TouchPair *pair = &touch->pair;
    const SystemDirection direction = s->guards[pair->guard].direction;
    const char *motion = direction == SYSTEM_RISES ? "rises from" : direction == SYSTEM_FALLS ? "falls from" : "leaves";
    const char *side = direction == SYSTEM_RISES   ? "below 0"
                       : direction == SYSTEM_FALLS ? "above 0"
                                                   : "on the other side";
    const char *mode = s->n_modes > 1 ? arena_format(arena, " in %s", s->modes[pair->to].name) : "",
               *unless = pair->kept ? arena_format(arena, ", unless it was %s before", side) : "",
               *waits = touch_waits(s, pair->to, pair->guard), *known = touch_trial(touch, trial, arena);
    return arena_format(arena,
                        "%s sets the guard of %s to 0%s: %s does not happen then, because its guard %s 0 and has not "
                        "passed it%s (%d of %d trials%s%s)",
                        s->events[pair->event], waits, mode, waits, motion, unless, trials, count,
                        *known != '\0' ? ", such as " : "", known);
}

// Looks at the trials. NULL: none is touched.
static const char *touch_look(Touch *touch, const double *point, int count, int stride, Arena *arena)
{
    const TapeValue both[] = {touch->pair.value, touch->pair.slope};
    const bool *needed = tape_needs(touch->tape, both, 2);
    int trials = 0, looked_at = 0;
    const double *first = NULL;
    touch->n_needed = 0;
    if (needed == NULL) return NULL;
    touch->needed = ARENA_NEW(arena, int32_t, touch->tape->count);
    touch->number = ARENA_NEW(arena, double, touch->tape->count);
    for (TapeValue i = 0; i < touch->tape->count; i++)
        if (needed[i]) touch->needed[touch->n_needed++] = i;
    for (int p = 0; p<count && * touch->work> 0; p++, looked_at++) {
        const double *parameter = point + (int64_t)p * stride;
        if (!touch_is(touch, parameter)) continue;
        if (trials++ == 0) first = parameter;
    }
    return trials > 0 ? touch_text(touch, first, trials, looked_at, arena) : NULL;
}

// The guard k of a mode after what an action sets. False: the action does not set it.
static bool touch_pair(const System *system, int mode, const SystemAction *action, int k, int64_t *work, Arena *arena,
                       TouchPair *out)
{
    Tape *tape = system->tape;
    const int n = system->n_states, settable = n + system->n_held, to = action->to >= 0 ? action->to : mode;
    const TapeValue guard = system->modes[to].guards[k];
    *work -= 8 * (int64_t)tape->count;
    if (guard == TAPE_NONE || system->guards[k].direction == SYSTEM_FOLLOWED) return false;
    TapeValue *from = ARENA_NEW(arena, TapeValue, settable), *along = ARENA_NEW(arena, TapeValue, n + 1),
              *rate = ARENA_NEW(arena, TapeValue, n + 1);
    for (int i = 0; i < settable; i++) from[i] = tape_input(tape, 1 + i, TAPE_MOVING);
    for (int i = 0; i < n; i++) {
        along[i] = from[i];
        rate[i] = system->modes[to].rates[i];
    }
    along[n] = tape_input(tape, SYSTEM_TIME, TAPE_MOVING);
    rate[n] = tape_number(tape, 1.0);
    TapeValue both[] = {guard, tape_slope(tape, guard, along, rate, n + 1)}; // TAPE_NONE: the guard rests
    tape_replace(tape, both, 2, from, action->set, settable);
    if (both[0] == guard || both[1] == TAPE_NONE) return false;
    *out = (TouchPair){.to = to, .event = action->event, .guard = k, .value = both[0], .slope = both[1]};
    out->kept = system->modes[mode].guards[k] == guard;
    return !tape->full;
}

// Where an event and a guard have been reported, of another mode; `count`: nowhere.
static int touch_place(const TouchPair *reported, int count, const TouchPair *pair)
{
    int at = 0;
    while (at < count &&
           (reported[at].event != pair->event || reported[at].guard != pair->guard || reported[at].to != pair->to))
        at++;
    return at;
}

int equations_touches(const Configured *configured, const double *point, int count, Arena *arena, Remark *remarks,
                      int most)
{
    const System *system = equations_system(configured);
    const bool full = system->tape->full; // what is added here may fill it
    TouchPair *reported = ARENA_NEW(arena, TouchPair, most);
    int64_t work = touch_work;
    int n = 0;
    if (system->is_map || system->n_sources > 0) return 0; // noise takes a guard to both sides of 0
    system->tape->work = 0;
    for (int m = 0; m < system->n_modes; m++)
        for (int a = 0; a < system->modes[m].n_actions; a++) {
            const SystemAction *action = &system->modes[m].actions[a];
            for (int k = 0; k < system->n_guards && action->set != NULL && n < most && work > 0; k++) {
                Touch touch = {.system = system, .tape = system->tape, .work = &work};
                if (!touch_pair(system, m, action, k, &work, arena, &touch.pair)) continue;
                const char *text = touch_look(&touch, point, count, configured->n_parameters, arena);
                const int at = touch_place(reported, n, &touch.pair);
                if (text == NULL || (at < n && touch.pair.kept)) continue;
                reported[at] = touch.pair;
                remarks[at] = (Remark){.name = "touch", .text = text, .warning = true};
                n += at == n;
            }
        }
    system->tape->full = full;
    return n;
}
