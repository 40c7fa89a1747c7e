// The hopper under a policy: the network of a file, whose weights may be lane inputs, and what it sees.
#include "../policy_table.h"
#include "configured.h"

#include <string.h>

enum { HOPPER_WEIGHTS_MOST = 1000 }; // that are lane inputs

typedef struct HopperHost {
    PolicyTable policy;
    const double *input; // of policy_inputs; before `choose` NULL
} HopperHost;

Error hopper_take_policy(const Points *file, Arena *arena, Configured *out)
{
    HopperHost *host = ARENA_NEW(arena, HopperHost, 1);
    if (file->count == 0)
        return error_make(ERROR_USER, "control: policy needs control.file, a CSV file with the weights of a network");
    TRY(policy_read(file, HOPPER_N_ACTIONS, arena, &host->policy));
    out->host = host;
    out->policy = true;
    out->nameable = policy_names(&host->policy, arena);
    out->n_nameable = policy_weights(&host->policy.shape);
    return error_none();
}

Error hopper_choose(Configured *configured, const Choice *choice, Arena *arena)
{
    HopperConstants constants;
    if (!configured->policy) return error_none();
    HopperHost *host = ARENA_NEW(arena, HopperHost, 1);
    *host = *(const HopperHost *)configured->host;
    const int64_t weights = policy_weights(&host->policy.shape);
    Parameter *inputs = ARENA_NEW(arena, Parameter, weights);
    double *input = ARENA_NEW(arena, double, weights);
    memcpy(&constants, &configured->constants, sizeof constants);
    hopper_compose(constants.variants, constants.row, NULL, 0, arena, configured);
    const int count = policy_inputs(&host->policy, choice, configured_named(configured), arena, inputs, input);
    if (count > HOPPER_WEIGHTS_MOST)
        return error_make(ERROR_USER, "%d weights of the policy are named, at most %d can be", count,
                          HOPPER_WEIGHTS_MOST);
    hopper_compose(constants.variants, constants.row, inputs, count, arena, configured);
    host->input = input;
    configured->host = host;
    memcpy(&configured->constants, &constants, sizeof constants);
    return error_none();
}

Error hopper_see(Configured *configured, const EnvironmentSetup *see, Arena *arena)
{
    HopperConstants constants;
    const HopperHost *host = configured->host;
    memcpy(&constants, &configured->constants, sizeof constants);
    TRY(policy_lay(&host->policy, see, host->input, arena, configured, &constants.policy));
    memcpy(&configured->constants, &constants, sizeof constants);
    return error_none();
}
