// Derivatives of a system (derivatives.h) for another memory than the host's.
#include "derivatives.h"

#include <string.h>

typedef struct DerivativeBlock {
    char *to;       // NULL: only their size is counted
    const char *at; // the address of it where it is used
    size_t used;
} DerivativeBlock;

// Room for `size` bytes, at *place of the block.
static const void *derivative_room(DerivativeBlock *block, size_t size, size_t *place)
{
    *place = block->used;
    block->used += (size + 7) / 8 * 8;
    return block->at + *place;
}

// Copies from[size]; returns where it will be. NULL stays NULL.
static const void *derivative_put(DerivativeBlock *block, const void *from, size_t size)
{
    size_t place;
    if (from == NULL) return NULL;
    const void *there = derivative_room(block, size, &place);
    if (block->to != NULL && size > 0) memcpy(block->to + place, from, size);
    return there;
}

static const DerivativeCode *derivative_put_codes(DerivativeBlock *block, const DerivativeCode *codes, int count)
{
    return derivative_put(block, codes, (size_t)count * sizeof *codes);
}

static const DerivativeAction *derivative_put_actions(DerivativeBlock *block, const DerivativeAction *actions,
                                                      int64_t count, int settable)
{
    size_t place;
    const void *there = derivative_room(block, (size_t)count * sizeof *actions, &place);
    for (int64_t a = 0; a < count; a++) {
        DerivativeAction action = actions[a];
        action.sets = derivative_put(block, action.sets, (size_t)settable * sizeof *action.sets);
        if (block->to != NULL) memcpy(block->to + place + (size_t)a * sizeof action, &action, sizeof action);
    }
    return there;
}

static int64_t derivative_integer(const double *assets, int64_t k)
{
    int64_t value;
    memcpy(&value, assets + k, sizeof value);
    return value;
}

static DerivativeMode derivative_put_mode(DerivativeBlock *block, const DerivativeMode *from,
                                          const EquationsConstants *c, int64_t n_actions)
{
    DerivativeMode mode = *from;
    mode.guard = derivative_put_codes(block, mode.guard, c->n_guards);
    mode.guard_pull = derivative_put_codes(block, mode.guard_pull, c->n_guards);
    mode.guard_push = derivative_put_codes(block, mode.guard_push, c->n_guards);
    mode.watches = derivative_put(block, mode.watches, (size_t)c->n_metrics * sizeof *mode.watches);
    mode.watched = derivative_put_codes(block, mode.watched, c->n_metrics);
    mode.watched_pull = derivative_put_codes(block, mode.watched_pull, c->n_metrics);
    mode.watched_push = derivative_put_codes(block, mode.watched_push, c->n_metrics);
    mode.actions = derivative_put_actions(block, mode.actions, n_actions, c->n_states + c->n_held);
    return mode;
}

size_t equations_derivatives_copy(const EquationsDerivatives *derivatives, const EquationsConstants *constants,
                                  const double *assets, const void *at, void *block)
{
    DerivativeBlock of = {.to = block, .at = at};
    EquationsDerivatives copy = *derivatives;
    size_t first, modes;
    const int n_modes = constants->n_modes, n_switches = copy.n_rows - constants->n_guards;
    (void)derivative_room(&of, sizeof copy, &first);
    copy.refusal = copy.jumping = NULL;
    copy.jumps = NULL;
    copy.assets = derivative_put(&of, copy.assets, (size_t)copy.n_assets * sizeof *copy.assets);
    copy.modes = derivative_room(&of, (size_t)n_modes * sizeof *copy.modes, &modes);
    for (int m = 0; m < n_modes; m++) {
        const int64_t row = constants->modes + (int64_t)m * EQUATIONS_MODE;
        const DerivativeMode mode = derivative_put_mode(&of, &derivatives->modes[m], constants,
                                                        derivative_integer(assets, row + EQUATIONS_MODE_N_ACTIONS));
        if (of.to != NULL) memcpy(of.to + modes + (size_t)m * sizeof mode, &mode, sizeof mode);
    }
    copy.instant = derivative_put_codes(&of, copy.instant, constants->n_instants);
    copy.instant_pull = derivative_put_codes(&of, copy.instant_pull, constants->n_instants);
    copy.instant_push = derivative_put_codes(&of, copy.instant_push, constants->n_instants);
    copy.switch_pull = derivative_put_codes(&of, copy.switch_pull, n_switches);
    copy.switch_push = derivative_put_codes(&of, copy.switch_push, n_switches);
    if (of.to != NULL) memcpy(of.to + first, &copy, sizeof copy);
    return of.used;
}
