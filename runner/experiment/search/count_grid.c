// How many trials a grid has, exactly, however many ids. Conditions are `exclude`, the range of a derived parameter and
// the condition of an axis (`when`). Axes that one condition uses are of one component; the count is the product of the
// components' counts. Only axes that conditions use are enumerated. Any other axis counts with all its values; with a
// condition of its own, with all of them where it holds and with one elsewhere.
#include "../experiment.h"

#include <string.h>

typedef struct CountGrid {
    const Spec *spec;
    double *parameter, *base;                   // [n_parameters] of a point; values that depend on no axis
    bool *derived_uses;                         // [n_derived][n_axes] directly or through other derived parameters
    bool *used;                                 // [n_axes] by a condition
    int *component;                             // [n_axes] the least axis of its component
    int *derived_component, *exclude_component; // [n_derived], [n_exclude] of the axes that each uses; -1: uses no axis
    int64_t *index; // [n_axes] index of the point's value; zipped axes use that of the first
} CountGrid;

// ---- what uses what -------------------------------------------------------------------------------------------------

static bool count_grid_uses(const CountGrid *grid, const Expression *expression, int axis)
{
    const Spec *spec = grid->spec;
    if (expression_uses(expression, spec->axes[axis].parameter)) return true;
    for (int d = 0; d < spec->n_derived; d++) {
        if (grid->derived_uses[d * spec->n_axes + axis] &&
            expression_uses(expression, spec->axes[spec->n_axes + d].parameter))
            return true;
    }
    return false;
}

// A derived parameter may use those before it.
static void count_grid_trace_derived(CountGrid *grid)
{
    const Spec *spec = grid->spec;
    for (int d = 0; d < spec->n_derived; d++) {
        for (int a = 0; a < spec->n_axes; a++)
            grid->derived_uses[d * spec->n_axes + a] = count_grid_uses(grid, spec->axes[spec->n_axes + d].derive, a);
    }
}

static void count_grid_join(CountGrid *grid, int a, int b)
{
    const int from = grid->component[a] > grid->component[b] ? grid->component[a] : grid->component[b];
    const int to = grid->component[a] > grid->component[b] ? grid->component[b] : grid->component[a];
    for (int i = 0; i < grid->spec->n_axes; i++) {
        if (grid->component[i] == from) grid->component[i] = to;
    }
}

// Joins the axes that a condition uses. Returns the first of them; -1: it uses none.
static int count_grid_mark(CountGrid *grid, const Expression *expression)
{
    int first = -1;
    for (int a = 0; a < grid->spec->n_axes; a++) {
        if (!count_grid_uses(grid, expression, a)) continue;
        grid->used[a] = true;
        if (first < 0) first = a;
        count_grid_join(grid, first, a);
    }
    return first;
}

static void count_grid_divide(CountGrid *grid)
{
    const Spec *spec = grid->spec;
    for (int a = 0; a < spec->n_axes; a++) grid->component[a] = a;
    for (int d = 0; d < spec->n_derived; d++)
        grid->derived_component[d] = count_grid_mark(grid, spec->axes[spec->n_axes + d].derive);
    for (int i = 0; i < spec->n_exclude; i++) grid->exclude_component[i] = count_grid_mark(grid, spec->exclude[i]);
    for (int w = 0; w < spec->n_when; w++) {
        const int first = count_grid_mark(grid, spec->when[w].condition);
        if (first >= 0) count_grid_join(grid, first, spec->when[w].axis);
    }
    for (int a = 0; a < spec->n_axes; a++) { // zipped axes have one index
        const int leader = search_zip_leader(spec, a);
        grid->used[leader] |= grid->used[a];
        count_grid_join(grid, leader, a);
    }
    for (int d = 0; d < spec->n_derived; d++)
        if (grid->derived_component[d] >= 0) grid->derived_component[d] = grid->component[grid->derived_component[d]];
    for (int i = 0; i < spec->n_exclude; i++)
        if (grid->exclude_component[i] >= 0) grid->exclude_component[i] = grid->component[grid->exclude_component[i]];
}

// ---- a point of a component -----------------------------------------------------------------------------------------

static bool count_grid_derive(const CountGrid *grid, int d, double *parameter)
{
    const Axis *derived = &grid->spec->axes[grid->spec->n_axes + d];
    const Parameter *row = &grid->spec->configured.parameters[derived->parameter];
    const double value = expression_value(derived->derive, parameter);
    parameter[derived->parameter] = value;
    return value >= row->low && value <= row->high; // not NaN
}

// How many trials a point of the component's used axes stands for: 0 if it is dropped, else the product of the other
// axes whose condition holds. The same steps as in search_complete and search_grid_repeats, in their order.
static int64_t count_grid_weight(const CountGrid *grid, int component)
{
    const Spec *spec = grid->spec;
    double *parameter = grid->parameter;
    int64_t weight = 1;
    for (int w = 0; w < spec->n_when; w++) {
        const int axis = spec->when[w].axis, p = spec->axes[axis].parameter;
        if (grid->component[axis] != component) continue;
        const bool counts = search_counts(spec, w, parameter);
        if (!counts) parameter[p] = spec->fixed[p];
        if (!counts && grid->used[axis] && grid->index[axis] > 0) return 0;
        if (counts && !grid->used[axis]) weight *= spec->axes[axis].values.count;
    }
    for (int d = 0; d < spec->n_derived; d++) {
        if (grid->derived_component[d] == component && !count_grid_derive(grid, d, parameter)) return 0;
    }
    for (int i = 0; i < spec->n_exclude; i++) {
        if (grid->exclude_component[i] == component && expression_holds(spec->exclude[i], parameter)) return 0;
    }
    return weight;
}

// Whether the axis is enumerated: the first of those that are zipped, of the component, and used.
static bool count_grid_turns(const CountGrid *grid, int axis, int component)
{
    return grid->component[axis] == component && grid->used[axis] && search_zip_leader(grid->spec, axis) == axis;
}

static void count_grid_set_point(const CountGrid *grid, int component)
{
    const Spec *spec = grid->spec;
    memcpy(grid->parameter, grid->base, (size_t)spec->configured.n_parameters * sizeof(double));
    for (int a = 0; a < spec->n_axes; a++) {
        if (grid->component[a] == component && grid->used[search_zip_leader(spec, a)])
            grid->parameter[spec->axes[a].parameter] =
                values_at(&spec->axes[a].values, grid->index[search_zip_leader(spec, a)]);
    }
}

// The next point, the last axis first; false: there is none.
static bool count_grid_turn(const CountGrid *grid, int component)
{
    const Spec *spec = grid->spec;
    for (int a = spec->n_axes - 1; a >= 0; a--) {
        if (!count_grid_turns(grid, a, component)) continue;
        if (++grid->index[a] < spec->axes[a].values.count) return true;
        grid->index[a] = 0;
    }
    return false;
}

static int64_t count_grid_component(const CountGrid *grid, int component)
{
    int64_t trials = 0;
    memset(grid->index, 0, (size_t)grid->spec->n_axes * sizeof *grid->index);
    do {
        count_grid_set_point(grid, component);
        trials += count_grid_weight(grid, component);
    } while (count_grid_turn(grid, component));
    return trials;
}

// ---- all of them ----------------------------------------------------------------------------------------------------

// Points to be enumerated: the product of the used axes of each component, summed; `most` if there are more.
static int64_t count_grid_points(const CountGrid *grid, int64_t most)
{
    int64_t sum = 0;
    for (int component = 0; component < grid->spec->n_axes; component++) {
        int64_t points = 1;
        for (int a = 0; a < grid->spec->n_axes && points < most; a++) {
            if (!count_grid_turns(grid, a, component)) continue;
            const int64_t count = grid->spec->axes[a].values.count;
            points = count < most / points + 1 ? points * count : most;
        }
        sum += points;
        if (sum >= most) return most;
    }
    return sum;
}

// Conditions without any axis: false if one of them drops every trial. Fills in constant derived parameters.
static bool count_grid_constants(const CountGrid *grid)
{
    const Spec *spec = grid->spec;
    memcpy(grid->base, spec->fixed, (size_t)spec->configured.n_parameters * sizeof(double));
    for (int d = 0; d < spec->n_derived; d++) {
        if (grid->derived_component[d] < 0 && !count_grid_derive(grid, d, grid->base)) return false;
    }
    for (int i = 0; i < spec->n_exclude; i++) {
        if (grid->exclude_component[i] < 0 && expression_holds(spec->exclude[i], grid->base)) return false;
    }
    return true;
}

static bool count_grid_has_when(const Spec *spec, int axis)
{
    for (int w = 0; w < spec->n_when; w++) {
        if (spec->when[w].axis == axis) return true;
    }
    return false;
}

// The product over the components. The component of an axis that no condition uses is that axis alone.
static int64_t count_grid_product(const CountGrid *grid)
{
    const Spec *spec = grid->spec;
    int64_t trials = count_grid_constants(grid) ? 1 : 0;
    for (int a = 0; a < spec->n_axes && trials > 0; a++) {
        const bool alone = search_zip_leader(spec, a) == a && !grid->used[a] && !count_grid_has_when(spec, a);
        if (alone)
            trials *= spec->axes[a].values.count;
        else if (grid->component[a] == a)
            trials *= count_grid_component(grid, a);
    }
    return trials;
}

bool count_grid(const Search *search, int64_t *trials)
{
    const Spec *spec = search->spec;
    const int64_t most = search_affordable(search, (int64_t)1 << 40), n = spec->n_axes;
    const size_t parameters = (size_t)spec->configured.n_parameters;
    Arena arena;
    if (search->method != &search_grid || search->segments != NULL || spec->n_grids > 0) return false;
    const size_t bytes = 2 * parameters * sizeof(double) + (size_t)(n * (spec->n_derived + 32)) +
                         sizeof(int) * (size_t)(spec->n_derived + spec->n_exclude) + 4096;
    if (arena_create(&arena, bytes, "counting trials").kind != OK) return false;
    CountGrid grid = {.spec = spec,
                      .parameter = ARENA_NEW(&arena, double, parameters),
                      .base = ARENA_NEW(&arena, double, parameters),
                      .derived_uses = ARENA_NEW(&arena, bool, spec->n_derived *n),
                      .used = ARENA_NEW(&arena, bool, n),
                      .component = ARENA_NEW(&arena, int, n),
                      .derived_component = ARENA_NEW(&arena, int, spec->n_derived),
                      .exclude_component = ARENA_NEW(&arena, int, spec->n_exclude),
                      .index = ARENA_NEW(&arena, int64_t, n)};
    count_grid_trace_derived(&grid);
    count_grid_divide(&grid);
    const bool few = count_grid_points(&grid, most) < most;
    if (few) *trials = count_grid_product(&grid);
    arena_destroy(&arena);
    return few;
}
