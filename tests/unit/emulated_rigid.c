// See emulated_rigid.h.
#include "emulated_team.h"

#include "../../sim/rigid/advance.h"
#include "emulated_rigid.h"

typedef struct EmulatedLane {
    const Configured *configured;
    const LaneGroup *group;
} EmulatedLane;

static void emulated_advance(void *context)
{
    const EmulatedLane *lane = context;
    rigid_large(&lane->configured->constants, lane->configured->assets, lane->group, false);
}

void emulated_rigid(const Configured *configured, const LaneGroup *group, int threads, bool backwards)
{
    EmulatedLane lane = {configured, group};
    emulated_run(threads, backwards, emulated_advance, &lane);
}
