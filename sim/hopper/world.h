// What a kernel of the hopper needs besides the lanes' state: constants that all lanes share, and the parameters of
// each lane.
#ifndef HOPSCOTCH_HOPPER_WORLD_H
#define HOPSCOTCH_HOPPER_WORLD_H

#include "../portable_math.h"
#include "../real.h"
#include "../spatial/terrain.h"
#include "hopper.h"

typedef struct HopperParameters {
#define HOPPER_MEMBER(name, ...) real name;
    HOPPER_PARAMETERS(HOPPER_MEMBER)
    HOPPER_VARIANT_PARAMETERS(HOPPER_MEMBER)
#undef HOPPER_MEMBER
    real inverse_m, inverse_m_l, inverse_J, inverse_J_l;
    real gust_phase; // turns, drawn by lane_seed
} HopperParameters;

// `full` is a literal in every call. The plain kernel has flat ground, three states, no disturbance, no terms of the
// energy balance and the corrected equations, and is compiled without the code for the others.
typedef struct HopperWorld {
    HopperConstants c;
    HopperParameters p;
    const double *assets;
    bool full;
    bool clocked; // a literal too: in an environment, where each lane has its own clock and actions
} HopperWorld;

// True if one of these variants (HOPPER_WITH_...) is selected. The same for all lanes.
HD bool hopper_with(const HopperWorld *world, int32_t variants)
{
    return world->full && (world->c.variants & variants) != 0;
}

// True if actions stand in place of Raibert's control, or add to it.
HD bool hopper_acts(const HopperWorld *world) { return world->clocked || hopper_with(world, HOPPER_WITH_EXTERNAL); }

#endif
