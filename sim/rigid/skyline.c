// Chooses per island whether the matrix of its rows (skyline.h) or trees (tree.h) are less work. For the former it
// orders rows so that those which share bodies are near each other, unless rows may be left out: which ones depends on
// the order, and is to be the same for either solver.
#include "islands.h"

#include <string.h>

// An order of an island's rows in which rows that share bodies are near each other.
typedef struct SkylineBand {
    int n_rows;
    RigidRow *rows; // [n_rows]
    int *reach;     // [n_rows]: the first row that shares a moving body with it; itself if none before does
    int *found, *index, *first;
} SkylineBand;

static SkylineBand skyline_new_band(const RigidForest *forest, Arena *arena)
{
    SkylineBand band = {.rows = ARENA_NEW(arena, RigidRow, forest->n_rows),
                        .reach = ARENA_NEW(arena, int, forest->n_rows)};
    band.found = ARENA_NEW(arena, int, forest->n_bodies + 1);
    band.index = ARENA_NEW(arena, int, forest->n_bodies);
    band.first = ARENA_NEW(arena, int, forest->n_bodies);
    return band;
}

static void skyline_meet(SkylineBand *band, int body, int *count)
{
    if (band->index[body] >= 0) return;
    band->index[body] = *count;
    band->found[(*count)++] = body;
}

// found: an island's bodies breadth first from one of them; index: that of each there. Returns the last.
static int skyline_spread(const RigidForest *forest, const RigidIsland *island, int from, SkylineBand *band)
{
    int count = 0;
    for (int b = 0; b < island->count; b++) band->index[forest->order[island->first + b]] = -1;
    skyline_meet(band, from, &count);
    for (int at = 0; at < count; at++) {
        for (int link = forest->first[band->found[at]]; link >= 0; link = forest->next[link % 2][link / 2]) {
            const int other = rigid_other(forest, link);
            if (forest->bodies[other].fixed == 0) skyline_meet(band, other, &count);
        }
    }
    return band->found[count - 1];
}

// The index of the later one of the row's moving bodies.
static int skyline_row_last(const RigidForest *forest, const SkylineBand *band, const RigidRow *row)
{
    const int i = forest->bodies[row->i].fixed == 0 ? band->index[row->i] : -1;
    const int j = forest->bodies[row->j].fixed == 0 ? band->index[row->j] : -1;
    return i > j ? i : j;
}

// Orders rows by their bodies, breadth first from a body at the island's end (one that is farthest from another).
// Source: E. Cuthill & J. McKee, Reducing the bandwidth of sparse symmetric matrices, ACM 1969.
static void skyline_line_up_rows(const RigidForest *forest, const RigidIsland *island, const RigidRow *rows,
                                 SkylineBand *band)
{
    const int end = skyline_spread(forest, island, forest->order[island->first], band);
    (void)skyline_spread(forest, island, end, band);
    const RigidRow *own = rows + island->row;
    int *next = band->found; // next free position of each index
    for (int b = 0; b <= island->count; b++) next[b] = 0;
    for (int k = 0; k < band->n_rows; k++) next[skyline_row_last(forest, band, &own[k]) + 1]++;
    for (int b = 0; b < island->count; b++) next[b + 1] += next[b];
    for (int k = 0; k < band->n_rows; k++) band->rows[next[skyline_row_last(forest, band, &own[k])]++] = own[k];
}

static void skyline_find(const RigidForest *forest, const RigidIsland *island, const RigidRow *rows, SkylineBand *band)
{
    band->n_rows = island->row_end - island->row;
    if (forest->as_trees && island->n_loop_rows > 0)
        memcpy(band->rows, rows + island->row, (size_t)band->n_rows * sizeof *rows);
    else
        skyline_line_up_rows(forest, island, rows, band);
    for (int k = band->n_rows - 1; k >= 0; k--) {
        band->first[band->rows[k].i] = k;
        band->first[band->rows[k].j] = k;
    }
    for (int k = 0; k < band->n_rows; k++) {
        const int i = band->rows[k].i, j = band->rows[k].j;
        const int of_i = forest->bodies[i].fixed == 0 ? band->first[i] : k;
        const int of_j = forest->bodies[j].fixed == 0 ? band->first[j] : k;
        band->reach[k] = of_i < of_j ? of_i : of_j;
    }
}

// About the time of a step of an island (ns on one core; tests/bench/NOTES.md) by the matrix of its rows, and by trees.
static double skyline_cost(const RigidIsland *island, const SkylineBand *band)
{
    double cost = 100.0 * island->count;
    for (int k = 0; k < band->n_rows; k++) {
        const double width = k + 1 - band->reach[k];
        cost += 75.0 + 4.0 * width + 0.35 * width * width;
    }
    return cost;
}

static double skyline_tree_bodies(const RigidForest *forest, const RigidRow *row)
{
    const RigidBody *i = &forest->bodies[row->i], *j = &forest->bodies[row->j];
    const double of_i = i->fixed == 0 ? i->tree_count : 0.0, of_j = j->fixed == 0 ? j->tree_count : 0.0;
    return i->fixed == 0 && j->fixed == 0 && i->tree == j->tree ? of_i : of_i + of_j;
}

// For each row that closes a loop, all its trees are solved and its row of G is factored.
static double skyline_tree_cost(const RigidForest *forest, const RigidIsland *island, const RigidRow *rows)
{
    const RigidRow *loops = rows + (island->row_end - island->n_loop_rows);
    double cost = 250.0 * island->count + 150.0 * (island->row_end - island->row);
    for (int l = 0; l < island->n_loop_rows; l++) {
        const double width = l + 1 - loops[l].reach;
        cost += 280.0 * skyline_tree_bodies(forest, &loops[l]) + 40.0 * width + 0.7 * width * width;
    }
    return cost;
}

static int64_t skyline_entries(const SkylineBand *band)
{
    int64_t entries = 0;
    for (int k = 0; k < band->n_rows; k++) entries += k + 1 - band->reach[k];
    return entries;
}

static void skyline_take(RigidForest *forest, RigidIsland *island, const SkylineBand *band, RigidRow *rows)
{
    RigidRow *own = rows + island->row;
    island->skyline = 1;
    island->n_loop_rows = 0; // they are rows as all are
    for (int k = 0; k < band->n_rows; k++) {
        own[k] = band->rows[k];
        own[k].reach = island->row + band->reach[k];
    }
    for (int b = 0; b < island->count; b++) forest->bodies[forest->order[island->first + b]].skyline = 1;
}

Error rigid_choose_solvers(RigidForest *forest, RigidRow *rows, RigidSolver solver, Arena *arena)
{
    SkylineBand band = skyline_new_band(forest, arena);
    int64_t entries = 0;
    for (int i = 0; i < forest->n_islands; i++) {
        RigidIsland *island = &forest->islands[i];
        skyline_find(forest, island, rows, &band);
        const double by_rows = skyline_cost(island, &band), by_trees = skyline_tree_cost(forest, island, rows);
        const bool wanted = solver == RIGID_SKYLINE || (solver == RIGID_AUTO && by_rows <= by_trees);
        const int64_t more = wanted ? entries + skyline_entries(&band) : entries;
        if (solver == RIGID_SKYLINE && more > RIGID_ENTRIES_MAX)
            return error_make(ERROR_USER,
                              "the matrix of the constraints' rows has more than %d entries within its skyline; "
                              "`solver: trees` has none",
                              RIGID_ENTRIES_MAX);
        const bool chosen = wanted && more <= RIGID_ENTRIES_MAX;
        island->cost = chosen ? by_rows : by_trees;
        entries = chosen ? more : entries;
        if (chosen) skyline_take(forest, island, &band, rows);
        forest->n_loop_rows += island->n_loop_rows;
    }
    if (forest->n_loop_rows > RIGID_LOOP_ROWS_MAX)
        return error_make(ERROR_USER, "the constraints close loops with %d rows, at most %d are allowed",
                          forest->n_loop_rows, RIGID_LOOP_ROWS_MAX);
    return error_none();
}
