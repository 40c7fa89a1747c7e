// Guards that count. A guard that moves passes 0: it is 0 at one instant only. One that changes by jumps alone, as
// n - 5 of a held number n, or floor(x), can stay at 0, and what waits for it means that it reaches 0. So its side is
// that of if(guard >= 0, 1, -1) if it rises, and of if(guard <= 0, -1, 1) if it falls. One that crosses has no side at
// 0: it turns where it leaves 0 for its other side.
#include "counters.h"

// Values that move between events in a mode: its states, but for those that rest, and time. Returns their number.
static int counter_moving(const System *system, const SystemMode *mode, TapeValue *moving)
{
    int count = 0;
    double rate;
    for (int i = 0; i < system->n_states; i++) {
        const bool noisy = system->n_sources > 0 && mode->noise[i] != TAPE_NONE;
        if (!noisy && tape_is_number(system->tape, mode->rates[i], &rate) && rate == 0.0) continue;
        moving[count++] = tape_input(system->tape, SYSTEM_STATE(i), TAPE_MOVING);
    }
    moving[count++] = tape_input(system->tape, SYSTEM_TIME, TAPE_MOVING);
    return count;
}

// Whether guard k changes by jumps alone, in all modes that have it. All of a map's do.
static bool counter_is(const System *system, int k, Arena *arena)
{
    Tape *tape = system->tape;
    TapeValue *moving = ARENA_NEW(arena, TapeValue, system->n_states + 1),
              *rate = ARENA_NEW(arena, TapeValue, system->n_states + 1);
    double slope = 0.0;
    bool is = true;
    for (int i = 0; i <= system->n_states; i++) rate[i] = tape_number(tape, 1.0);
    for (int m = 0; m < system->n_modes && is && !system->is_map; m++) {
        const TapeValue guard = system->modes[m].guards[k];
        if (guard == TAPE_NONE) continue;
        const int count = counter_moving(system, &system->modes[m], moving);
        const TapeValue along = tape_slope(tape, guard, moving, rate, count);
        is = along == TAPE_NONE || (tape_is_number(tape, along, &slope) && slope == 0.0);
    }
    return is;
}

static TapeValue counter_side(Tape *tape, TapeValue guard, SystemDirection direction)
{
    const TapeValue zero = tape_number(tape, 0.0), above = tape_number(tape, 1.0), below = tape_number(tape, -1.0);
    if (guard == TAPE_NONE) return guard;
    const bool rises = direction == SYSTEM_RISES;
    const TapeValue reached =
        tape_operation(tape, rises ? PROGRAM_GREATER_EQUAL : PROGRAM_LESS_EQUAL, guard, zero, TAPE_NONE);
    return tape_operation(tape, PROGRAM_IF, reached, rises ? above : below, rises ? below : above);
}

void system_counters(const System *system, Arena *arena, System *out)
{
    SystemMode *modes = ARENA_NEW(arena, SystemMode, system->n_modes);
    TapeValue **guards = ARENA_NEW(arena, TapeValue *, system->n_modes);
    *out = *system;
    for (int m = 0; m < system->n_modes; m++) {
        modes[m] = system->modes[m];
        guards[m] = ARENA_NEW(arena, TapeValue, system->n_guards);
        for (int k = 0; k < system->n_guards; k++) guards[m][k] = modes[m].guards[k];
        modes[m].guards = guards[m];
    }
    for (int k = 0; k < system->n_guards; k++) {
        const SystemDirection direction = system->guards[k].direction;
        if ((direction != SYSTEM_RISES && direction != SYSTEM_FALLS) || !counter_is(system, k, arena)) continue;
        for (int m = 0; m < system->n_modes; m++) guards[m][k] = counter_side(system->tape, guards[m][k], direction);
    }
    out->modes = modes;
}
