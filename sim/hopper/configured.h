// What hopper.c and policy.c put into a Configured. Kernels do not include it: a kernel made for a campaign (sim/made)
// knows neither Arena nor Error.
#ifndef HOPSCOTCH_HOPPER_CONFIGURED_H
#define HOPSCOTCH_HOPPER_CONFIGURED_H

#include "hopper.h"

// Collects the lanes' inputs for these variants: the plain ones, those of any of the variants, and more[n_more]. row:
// as in HopperConstants.
void hopper_compose(int32_t variants, int16_t *row, const Parameter *more, int n_more, Arena *arena, Configured *out);

extern const Adjoint hopper_adjoint; // gradient.c

enum { HOPPER_N_ACTIONS = 2 }; // u1, u2

// The network of the file. Error (user): it is none.
Error hopper_take_policy(const Points *file, Arena *arena, Configured *out);
// As in Model.
Error hopper_choose(Configured *configured, const Choice *choice, Arena *arena);
Error hopper_see(Configured *configured, const EnvironmentSetup *see, Arena *arena);

#endif
