// The trial that is verified, and the run of a spec that was derived for it, as a campaign.
#include "../view.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// The best of a noisy search is also the luckiest: where fresh seeds recommend another trial, that one counts.
static Error verify_take_recommended(VerifyTask *task, Arena *arena)
{
    Recommendation recommendation;
    TRY(recommendation_read(task->campaign, arena, &recommendation));
    const int64_t best = task->trial;
    task->trial = recommended_trial(&recommendation, best);
    task->recommended = task->trial != best;
    task->best = best;
    return error_none();
}

static Error verify_best_trial(VerifyTask *task, Arena *arena)
{
    static const char *const id[] = {"id"};
    Cursor best = trials_best(task->campaign, id, 1, 1, arena);
    const bool any = next_integer(&best, &task->trial);
    TRY(cursor_close(&best));
    if (any) return verify_take_recommended(task, arena);
    return error_make(
        ERROR_USER,
        "no trial of %.100s has a fitness, so there is no best one; verify --trial ID takes one that failed",
        task->campaign->name);
}

// A trial that keeps no row (record.rows)
static Error verify_compute(VerifyTask *task, Arena *arena)
{
    const BackendOptions backend = {.name = "cpu"};
    TrialRows row;
    TRY(campaign_simulate(task->campaign, task->trial, &backend, arena, &row));
    task->fitness = row.fitness[0];
    return error_none();
}

Error verify_take_trial(VerifyTask *task, Arena *arena)
{
    const StoredCampaign *campaign = task->campaign;
    Search search;
    bool there = false;
    double *parameter = ARENA_NEW(arena, double, campaign->spec.configured.n_parameters);
    task->parameter = parameter;
    if (task->trial < 0 && campaign->spec.objective.count > 1)
        return error_make(ERROR_USER,
                          "%.100s has %d objectives and so no best trial: name one of its front with verify --trial "
                          "(%s); the first objective is its fitness then",
                          campaign->name, campaign->spec.objective.count,
                          command_again(folder_of(campaign->folder, arena), "best %.100s", campaign->name).text);
    if (task->trial < 0) TRY(verify_best_trial(task, arena));
    TRY(trial_fitness(campaign->database, task->trial, &task->fitness, &there));
    bool without_row = false;
    if (!there) TRY(kept_covers(campaign->database, task->trial, &without_row));
    if (without_row) TRY(verify_compute(task, arena));
    if (!there && !without_row)
        return error_make(ERROR_USER, "campaign %.100s has no trial %" PRId64 "; %s lists the best", campaign->name,
                          task->trial,
                          command_again(folder_of(campaign->folder, arena), "best %.100s", campaign->name).text);
    TRY(search_init(&campaign->spec, arena, &search));
    return search_read_trial(&search, campaign->database, task->trial, arena, parameter);
}

void verify_take_defaults(VerifyTask *task, Arena *arena)
{
    const Spec *spec = &task->campaign->spec;
    double *parameter = ARENA_NEW(arena, double, spec->configured.n_parameters);
    memcpy(parameter, spec->fixed, (size_t)spec->configured.n_parameters * sizeof *parameter);
    for (int a = 0; a < spec->n_axes; a++)
        parameter[spec->axes[a].parameter] = spec->configured.parameters[spec->axes[a].parameter].value;
    task->parameter = parameter;
    task->trial = -1;
    task->fitness = (double)NAN;
}

Error verify_run_spec(const VerifyTask *task, const char *purpose, Spec *spec, const RunOptions *options, Arena *arena,
                      StoredCampaign *out)
{
    RunSummary summary;
    const char *folder = NULL, *name = options->name;
    Diagnostics *diagnostics = diagnostics_new(arena);
    const Error completed = spec_complete(spec, arena, diagnostics);
    diagnostics_print(diagnostics, options->messages, terminal_colour(options->messages));
    TRY(completed);
    TRY(doctor_mend(options, name, arena));
    TRY(campaign_run(spec, options, arena, &summary));
    TRY(campaign_folder(options->results, name, arena, &folder));
    const CampaignLocation location = {.results = options->results, .name = name, .folder = folder};
    const Origin origin = {.purpose = purpose,
                           .campaign = task->campaign->name,
                           .hash = task->campaign->spec.hash.hex,
                           .trial = task->trial,
                           .fitness = task->fitness};
    TRY(origin_note(&location, options->shared_fs, &origin, 1, arena));
    return campaign_open(options->results, name, arena, out);
}
