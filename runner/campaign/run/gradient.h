// What the files that derive the fitness of a stored trial share (gradient.c, slopes.c).
#ifndef HOPSCOTCH_GRADIENT_H
#define HOPSCOTCH_GRADIENT_H

#include "../campaign.h"
#include "../store/ground/rows.h"

typedef struct GradientRun {
    const StoredCampaign *campaign;
    const Spec *spec;
    Arena *arena;
    Backend *backend;
    TrialRows stored;
    uint64_t ordinal;
    double *parameter; // [n_parameters] of the trial
    double fitness;
    Configured configured; // with all that the model builds
    AdjointDevice *device; // gradient_open_device; NULL: the processor computes derivatives
} GradientRun;

// Finds the trial, opens a backend for `most` trials at once, runs the trial again, and does the work. Error (user):
// the trial has no fitness, or several. Error (machine): its fitness is not the stored one.
Error gradient_at_trial(const StoredCampaign *campaign, int64_t trial, int64_t most, const BackendOptions *backend,
                        Arena *arena, Error (*work)(GradientRun *run, void *result), void *result);
// The gradient of the backend's device, for `lanes` lanes at once or fewer, where it has one and memory for it. It is
// closed with the backend.
Error gradient_open_device(GradientRun *run, int64_t lanes);
// Runs `count` trials of the stored one's seeds: parameter[count][n_parameters], fitness[count]; of a search that takes
// them also values[count][replicates], else NULL; metrics[count][n_metrics], means over replicates, NULL: not wanted. A
// trial whose parameters are left out of the search has NaN.
Error gradient_fly(GradientRun *run, const double *parameter, int64_t count, double *fitness, double *values,
                   double *metrics);

// The runs of the differences of one parameter: at row->value plus and minus row->steps[k].
typedef struct GradientSamples {
    double centre;                      // the fitness at the value itself
    double fitness[2 * GRADIENT_STEPS]; // 2 k: above, 2 k + 1: below
    bool out[2 * GRADIENT_STEPS];       // there is no run
} GradientSamples;
// Fills curve, difference, error, step and remark of the row (plateau.c). At the end of its range a parameter has
// differences of one side.
void gradient_plateau(GradientRow *row, const GradientSamples *samples);

#endif
