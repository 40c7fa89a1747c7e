// Which case of the spec a replicate runs under, and what its objective is (spec/cases.c reads cases).
#include "../experiment.h"

#include <string.h>

static const SpecCase *case_of(const Spec *spec, int replicate) { return &spec->cases[replicate % spec->n_cases]; }

const Spec *spec_case(const Spec *spec, int replicate)
{
    return spec->cases != NULL && replicate % spec->n_cases > 0 ? case_of(spec, replicate)->spec : spec;
}

void case_parameters(const Spec *spec, int replicate, double *parameter)
{
    if (spec->cases != NULL) case_values(case_of(spec, replicate), parameter);
}

void case_values(const SpecCase *of, double *parameter)
{
    for (int i = 0; i < of->n_values; i++)
        parameter[of->parameter[i]] = of->from[i] >= 0 ? parameter[of->from[i]] : of->value[i];
}

void case_directions(const Spec *spec, int replicate, double *direction)
{
    if (spec->cases == NULL) return;
    const SpecCase *of = case_of(spec, replicate);
    for (int i = 0; i < of->n_values; i++)
        direction[of->parameter[i]] = of->from[i] >= 0 ? direction[of->from[i]] : 0.0;
}

void case_pull(const Spec *spec, int replicate, double *gradient)
{
    if (spec->cases == NULL) return;
    const SpecCase *of = case_of(spec, replicate);
    for (int i = 0; i < of->n_values; i++) {
        if (of->from[i] < 0) continue;
        gradient[of->from[i]] += gradient[of->parameter[i]];
        gradient[of->parameter[i]] = 0.0;
    }
}

bool cases_have_own(const Spec *spec)
{
    for (int k = 0; k < spec->n_cases && spec->cases != NULL; k++)
        for (int i = 0; i < spec->cases[k].n_values; i++)
            if (spec->cases[k].from[i] >= 0) return true;
    return false;
}

int spec_fit_cases(const Spec *spec) { return spec->n_cases > 0 ? spec->n_cases : 1; }

const Points *spec_recording(const Spec *spec)
{
    for (int i = 0; i < spec->model->n_options; i++) {
        const Option *option = &spec->model->options[i];
        if (strcmp(option->name, "reference") == 0 && option->type == OPTION_FILE) return &spec->option_points[i];
    }
    return NULL;
}

int spec_residuals(const Spec *spec)
{
    int count = 0;
    for (int k = 0; k < spec_fit_cases(spec); k++) count += spec_case(spec, k)->objective.n_residuals;
    return count;
}

int64_t spec_residual_count(const Spec *spec)
{
    int64_t count = 0;
    for (int k = 0; k < spec_fit_cases(spec); k++) count += spec_case(spec, k)->objective.residual_count;
    return count;
}
