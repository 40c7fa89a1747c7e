// Draws of NSGA-II: the first members, and children by tournament, crossover and mutation. Every random number is keyed
// by search, round, pair, attempt and purpose. So a generation can be drawn again from the same state, and does not
// depend on other searches.
//
// Sources: simulated binary crossover, K. Deb, R. B. Agrawal, "Simulated binary crossover for continuous search space",
// Complex Systems 9, 1995; polynomial mutation, K. Deb, M. Goyal, "A combined genetic adaptive search (GeneAS) for
// engineering design", Computer Science and Informatics 26(4), 1996; both with the spread limited by the bounds, K.
// Deb, S. Agrawal, "A niched-penalty approach for constraint handling in genetic algorithms", ICANNGA 1999.
#include "nsga2.h"

#include <math.h>
#include <string.h>

static const double nsga2_alike = 1e-14; // genes so near are not crossed

// Which of its uniform random numbers a pair uses for what; those of a gene stand behind.
enum { NSGA2_DRAW_FATHER, NSGA2_DRAW_MOTHER = 2, NSGA2_DRAW_CROSS = 4, NSGA2_DRAW_GENES = 8 };
enum {
    NSGA2_DRAW_GENE_CROSS,
    NSGA2_DRAW_SPREAD,
    NSGA2_DRAW_SWAP,
    NSGA2_DRAW_MUTATE, // of the first child, then of the second
    NSGA2_DRAW_STEP = 5,
    NSGA2_DRAWS_A_GENE = 8
};

static double nsga2_draw(const RandomKey *key, int gene, int what)
{
    return random_uniform(key, (uint32_t)(NSGA2_DRAW_GENES + gene * NSGA2_DRAWS_A_GENE + what));
}

static RandomKey nsga2_key(const Nsga2 *nsga2, int64_t search, int64_t round, int64_t member, int attempt)
{
    return (RandomKey){.seed = nsga2->spec->seed,
                       .search = (uint32_t)(search + nsga2->side.first),
                       .ordinal = search_round_ordinal(round, member),
                       .replicate = (uint32_t)attempt,
                       .purpose = RANDOM_SAMPLE};
}

// ---- parents --------------------------------------------------------------------------------------------------------

static int64_t nsga2_pick(double u, int64_t count)
{
    const int64_t picked = (int64_t)(u * (double)count);
    return picked < count ? picked : count - 1;
}

// The better of two different members by the crowded comparison (section III-B): the lower rank, then the wider gap.
static Nsga2Member nsga2_tournament(const Nsga2 *nsga2, const Nsga2View *view, const RandomKey *key, int draw)
{
    const int64_t members = view->run->members, first = nsga2_pick(random_uniform(key, (uint32_t)draw), members);
    int64_t second = first;
    if (members > 1) second = nsga2_pick(random_uniform(key, (uint32_t)draw + 1), members - 1);
    if (members > 1 && second >= first) second++;
    const Nsga2Member a = nsga2_member(nsga2, view->member, first), b = nsga2_member(nsga2, view->member, second);
    if (a.rest[NSGA2_RANK] != b.rest[NSGA2_RANK]) return a.rest[NSGA2_RANK] < b.rest[NSGA2_RANK] ? a : b;
    return b.rest[NSGA2_CROWDING] > a.rest[NSGA2_CROWDING] ? b : a;
}

// ---- crossover and mutation -----------------------------------------------------------------------------------------

// Distance of a child from the middle over the parents' distance: its density falls with power eta from the parents
// outwards, and is cut off at the bound, which is `room` beyond the nearer parent.
static double nsga2_spread(double u, double room, double distance, double eta)
{
    const double beta = 1.0 + 2.0 * room / distance, alpha = 2.0 - portable_pow(beta, -(eta + 1.0));
    const double x = u <= 1.0 / alpha ? u * alpha : 1.0 / (2.0 - u * alpha);
    return portable_pow(x, 1.0 / (eta + 1.0));
}

static double nsga2_inside(double x) { return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x; }

static void nsga2_cross_gene(const RandomKey *key, int gene, double eta, double *a, double *b)
{
    const double low = *a < *b ? *a : *b, high = *a < *b ? *b : *a, distance = high - low;
    if (nsga2_draw(key, gene, NSGA2_DRAW_GENE_CROSS) > 0.5 || distance <= nsga2_alike) return;
    const double u = nsga2_draw(key, gene, NSGA2_DRAW_SPREAD), middle = low + high;
    const double below = 0.5 * (middle - nsga2_spread(u, low, distance, eta) * distance);
    const double above = 0.5 * (middle + nsga2_spread(u, 1.0 - high, distance, eta) * distance);
    const bool swap = nsga2_draw(key, gene, NSGA2_DRAW_SWAP) < 0.5;
    *a = nsga2_inside(swap ? above : below);
    *b = nsga2_inside(swap ? below : above);
}

static double nsga2_mutated(double x, double u, double eta)
{
    const double rest = u < 0.5 ? 1.0 - x : x; // so that u = 0 leads to the lower bound, and u = 1 to the upper one
    const double scaled = portable_pow(rest, eta + 1.0), power = 1.0 / (eta + 1.0);
    if (u < 0.5) return nsga2_inside(x + portable_pow(2.0 * u + (1.0 - 2.0 * u) * scaled, power) - 1.0);
    return nsga2_inside(x + 1.0 - portable_pow(2.0 * (1.0 - u) + (2.0 * u - 1.0) * scaled, power));
}

// Both children of a pair, side by side in child[2][n].
static void nsga2_draw_pair(const Nsga2 *nsga2, const Nsga2View *view, const RandomKey *key, double *child)
{
    const int n = nsga2->n;
    const double *settings = nsga2->settings;
    const double rate = settings[NSGA2_MUTATION] > 0.0 ? settings[NSGA2_MUTATION] : 1.0 / n;
    const Nsga2Member father = nsga2_tournament(nsga2, view, key, NSGA2_DRAW_FATHER);
    const Nsga2Member mother = nsga2_tournament(nsga2, view, key, NSGA2_DRAW_MOTHER);
    const bool cross = random_uniform(key, NSGA2_DRAW_CROSS) < settings[NSGA2_CROSSOVER];
    for (int i = 0; i < n; i++) {
        double *const genes[] = {&child[i], &child[n + i]};
        *genes[0] = father.gene[i];
        *genes[1] = mother.gene[i];
        if (cross) nsga2_cross_gene(key, i, settings[NSGA2_ETA_CROSSOVER], genes[0], genes[1]);
        for (int c = 0; c < 2; c++) {
            if (nsga2_draw(key, i, NSGA2_DRAW_MUTATE + c) >= rate) continue;
            *genes[c] = nsga2_mutated(*genes[c], nsga2_draw(key, i, NSGA2_DRAW_STEP + c), settings[NSGA2_ETA_MUTATION]);
        }
    }
}

// ---- a generation ---------------------------------------------------------------------------------------------------

// A first member anywhere, or a child of a pair. Draws again while the spec drops the point. False: it dropped all
// draws.
static bool nsga2_draw_child(const Nsga2 *nsga2, const Nsga2View *view, int64_t search, int64_t child, double *gene)
{
    const int n = nsga2->n;
    double pair[2 * NSGA2_GENES_MAX];
    for (int attempt = 0; attempt < SIDE_ATTEMPTS; attempt++) {
        if (view->run->members == 0) {
            const RandomKey key = nsga2_key(nsga2, search, view->run->round, child, attempt);
            for (int i = 0; i < n; i++) gene[i] = random_uniform(&key, (uint32_t)i);
        } else {
            const RandomKey key = nsga2_key(nsga2, search, view->run->round, child / 2, attempt);
            nsga2_draw_pair(nsga2, view, &key, pair);
            memcpy(gene, pair + (child % 2) * n, (size_t)n * sizeof *gene);
        }
        if (nsga2_point(nsga2, gene)) return true;
    }
    return false;
}

Nsga2Brood *nsga2_brood(const Search *search, int64_t run)
{
    const Nsga2 *nsga2 = search->scratch;
    return &nsga2->broods[run % nsga2->side.kept];
}

void nsga2_draw_children(const Search *search, void *worker, int64_t run, int64_t first, int64_t end)
{
    const Nsga2 *nsga2 = worker;
    const Nsga2View view = nsga2_view(search, run);
    Nsga2Brood *brood = nsga2_brood(search, run);
    for (int64_t c = first; c < end; c++)
        brood->drawn.left_out[c] = !nsga2_draw_child(nsga2, &view, run, c, brood->gene + c * nsga2->n);
}

void nsga2_list(const Search *search, void *worker, int64_t run)
{
    (void)worker;
    side_list_members(&nsga2_brood(search, run)->drawn, ((const Nsga2 *)search->scratch)->population);
}
