// Going on from a checkpoint: whether the state is possible, and what the current budgets say of it.
#include "cmaes.h"

// Whether the counts are small enough that no computation with them overflows.
static bool cmaes_counts_are_possible(const CmaesRun *run)
{
    const int64_t most = (int64_t)1 << 53;
    const int64_t counts[] = {run->round,
                              run->evaluations,
                              run->restart,
                              run->first_round,
                              run->first_evaluations,
                              run->eigen_evaluations,
                              run->failed_generations,
                              run->large_restarts,
                              run->large_evaluations,
                              run->small_evaluations,
                              run->last_large_evaluations,
                              run->history_count,
                              run->history_stride,
                              run->recent_count,
                              run->span_count};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i] < 0 || counts[i] > most) return false;
    return run->history_count <= CMAES_HISTORY && run->history_stride >= 1 && run->first_round <= run->round &&
           run->first_evaluations <= run->evaluations && run->eigen_evaluations <= run->evaluations;
}

bool cmaes_is_whole(const Search *search)
{
    const Cmaes *cmaes = search->scratch;
    const CmaesState *state = search->state;
    const SideProgress *progress = &state->progress;
    if (state->dimension != (uint32_t)cmaes->n) return false;
    for (int64_t s = 0; s < cmaes->side.searches; s++) {
        const CmaesView view = cmaes_view(search, s);
        const CmaesRun *run = view.run;
        const int64_t round =
            progress->round + (s < progress->search); // those before the next one have told it already
        const int64_t told = cmaes_rounds(cmaes, &view);
        if (run->stop == CMAES_GOES_ON && (told < round || told > INT32_MAX)) return false;
        if (run->stop == CMAES_GOES_ON && s == progress->search && told != round) return false;
        if (cmaes->surrogate && !surrogate_is_whole(cmaes, &view)) return false;
        if (cmaes->race && !cmaes_race_is_whole(cmaes, &view)) return false;
        if (run->lambda < 4 || run->lambda > cmaes->lambda_max || run->stop < 0 || run->stop >= CMAES_STOPS)
            return false;
        if (!cmaes_counts_are_possible(run) || run->large_restarts > (int64_t)cmaes->settings[CMAES_RESTARTS_MAX])
            return false;
        if (!(run->evaluations_each >= 1.0 && run->evaluations_each <= cmaes->settings[CMAES_UNCERTAINTY_MAX]))
            return false;
    }
    return true;
}

int64_t cmaes_reconsider_run(const Search *search, int64_t s)
{
    const CmaesView view = cmaes_view(search, s);
    const Cmaes *cmaes = search->scratch;
    if (view.run->round == view.run->first_round) return -1; // no generation of this run has ended
    if (cmaes->surrogate && view.surrogate->evaluated > 0) return -1;
    if (cmaes->race && view.race->turn > 0) return -1;
    return cmaes_reconsider(search->scratch, &view, s);
}
