// From parents and children to the next population (sections III-C and VI), and how good its front is.
#include "nsga2.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Orders two members: lower rank first, then larger crowding distance, then position in the pool (parents before
// children).
static int nsga2_order(const void *left, const void *right)
{
    const Nsga2Order *a = left, *b = right;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    if (a->crowding != b->crowding) return a->crowding > b->crowding ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

// Sets rank, crowding and value of the feasible members. Returns their number.
static int64_t nsga2_sort(Nsga2 *nsga2, double *members, int64_t count)
{
    const int objectives = nsga2->objectives;
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++) {
        const Nsga2Member member = nsga2_member(nsga2, members, i);
        if (!nsga2_feasible(&member)) continue;
        memcpy(nsga2->value + n * objectives, member.objective, (size_t)objectives * sizeof(double));
        nsga2->feasible[n++] = i;
    }
    dominance_sort(nsga2->value, n, objectives, nsga2->room, nsga2->rank, nsga2->crowding);
    return n;
}

// The order of a member of the pool that is not feasible.
static Nsga2Order nsga2_behind(const Nsga2 *nsga2, int64_t index)
{
    const Nsga2Member member = nsga2_member(nsga2, nsga2->pool, index);
    if (nsga2_failed(&member)) return (Nsga2Order){NSGA2_RANK_FAILED, member.rest[NSGA2_SURVIVED], index};
    return (Nsga2Order){NSGA2_RANK_VIOLATES, -member.rest[NSGA2_VIOLATION], index};
}

void nsga2_select(Nsga2 *nsga2, const Nsga2View *view, int64_t count)
{
    const int64_t all = view->run->members + count;
    const int64_t kept = all < nsga2->population ? all : nsga2->population,
                  n_feasible = nsga2_sort(nsga2, nsga2->pool, all);
    for (int64_t i = 0; i < all; i++) nsga2->order[i] = nsga2_behind(nsga2, i);
    for (int64_t g = 0; g < n_feasible; g++) {
        nsga2->order[nsga2->feasible[g]].rank = (double)nsga2->rank[g];
        nsga2->order[nsga2->feasible[g]].crowding = nsga2->crowding[g];
    }
    qsort(nsga2->order, (size_t)all, sizeof *nsga2->order, nsga2_order);
    for (int64_t i = 0; i < kept; i++) {
        const Nsga2Member from = nsga2_member(nsga2, nsga2->pool, nsga2->order[i].index);
        const Nsga2Member to = nsga2_member(nsga2, view->member, i);
        memcpy(to.gene, from.gene, (size_t)nsga2->member_doubles * sizeof(double));
        to.rest[NSGA2_RANK] = nsga2->order[i].rank;
        to.rest[NSGA2_CROWDING] = nsga2->order[i].crowding;
    }
    view->run->members = kept;
}

// The spec's reference point, or the worst values of the first generation that has a feasible member.
static void nsga2_set_reference(Nsga2 *nsga2, const Nsga2View *view)
{
    const int objectives = nsga2->objectives;
    bool any = false;
    for (int k = 0; k < objectives && nsga2->spec->objective.reference != NULL; k++)
        view->reference[k] = spec_cost(nsga2->spec, k, nsga2->spec->objective.reference[k]);
    for (int64_t i = 0; i < view->run->members && nsga2->spec->objective.reference == NULL; i++) {
        const Nsga2Member member = nsga2_member(nsga2, view->member, i);
        if (!nsga2_feasible(&member)) continue;
        for (int k = 0; k < objectives; k++) {
            const double x = member.objective[k];
            if (!any || x > view->reference[k]) view->reference[k] = x;
        }
        any = true;
    }
    view->run->has_reference = any || nsga2->spec->objective.reference != NULL;
}

void nsga2_measure(Nsga2 *nsga2, const Nsga2View *view)
{
    Nsga2Run *run = view->run;
    const int objectives = nsga2->objectives;
    if (run->has_reference == 0) nsga2_set_reference(nsga2, view);
    run->front = 0;
    while (run->front < run->members) { // they lead the population
        const Nsga2Member member = nsga2_member(nsga2, view->member, run->front);
        if (member.rest[NSGA2_RANK] > 0.0) break;
        memcpy(nsga2->value + run->front * objectives, member.objective, (size_t)objectives * sizeof(double));
        run->front++;
    }
    run->hypervolume =
        run->front > 0 ? hypervolume(nsga2->value, run->front, objectives, view->reference, nsga2->room) : (double)NAN;
    const double grown = run->best + nsga2->settings[NSGA2_STOP_TOLERANCE] * fabs(run->best);
    if (!isnan(run->hypervolume) && !(run->hypervolume <= grown)) { // also when there was none before
        run->best = run->hypervolume;
        run->best_round = run->round;
    }
}
