// The expressions of environments in kernels.
#ifndef HOPSCOTCH_ENVIRONMENT_CODE_H
#define HOPSCOTCH_ENVIRONMENT_CODE_H

#include "lanes.h"
#include "tape_code.h"

// Evaluates a code for the sample whose columns are the first numbers of the frame. failed: 1 or 0.
HD void environment_code_run(const double *assets, const EnvironmentCode *of, const LaneGroup *group, real failed,
                             Frame frame)
{
    const int first = of->n_columns + 1;
    frame_set(frame, of->n_columns, failed);
    for (int k = 0; k < of->n_parameters; k++)
        frame_set(frame, first + k, lanes_parameter(group, (int)asset_integer(assets, of->parameters + k)));
    tape_begin(assets, &of->code, frame);
    tape_step(assets, &of->code, frame);
}

// Its output k.
HD real environment_code_output(const double *assets, const EnvironmentCode *of, int k, Frame frame)
{
    return frame_get(frame, (int)asset_integer(assets, of->outputs + k));
}

#endif
