// The front of a stored campaign: the trials that no other trial dominates, for every search method. Trials are read in
// lexicographic order, in which no trial is dominated by a later one. So each is kept or dropped when it is read, and
// is compared only with the minimal points of the other objectives so far. With two objectives that is a single number
// (H. T. Kung, F. Luccio, F. P. Preparata, "On finding the maxima of a set of vectors", Journal of the ACM 22(4),
// 1975).
#include "../ground/rows.h"
#include "rank.h"
#include "../queries.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The minimal points so far in all objectives but the first: [count] indices in the front, the most useful ones first.
typedef struct FrontLeast {
    int64_t *index;
    int64_t count, capacity;
} FrontLeast;

static Error front_reserve(Front *front, FrontLeast *least)
{
    if (front->count < front->capacity) return error_none();
    const int64_t capacity = front->capacity > 0 ? 2 * front->capacity : 1024;
    int64_t *id = realloc(front->id, (size_t)capacity * sizeof *id);
    if (id != NULL) front->id = id;
    double *value = realloc(front->value, (size_t)(capacity * front->objectives) * sizeof *value);
    if (value != NULL) front->value = value;
    int64_t *index = realloc(least->index, (size_t)capacity * sizeof *index);
    if (index != NULL) least->index = index;
    if (id == NULL || value == NULL || index == NULL)
        return error_make(ERROR_MACHINE, "not enough memory for a front of %lld trials", (long long)capacity);
    front->capacity = capacity;
    return error_none();
}

// a[1 ...] nowhere worse than b[1 ...]
static bool front_covers(const double *a, const double *b, int objectives)
{
    for (int k = 1; k < objectives; k++) {
        if (a[k] > b[k]) return false;
    }
    return true;
}

// Whether an earlier point dominates this one. The point that does moves forward, so that later tests find it sooner.
static bool front_dominated(const Front *front, FrontLeast *least, const double *point)
{
    for (int64_t i = 0; i < least->count; i++) {
        const double *earlier = front->value + least->index[i] * front->objectives;
        if (!front_covers(earlier, point, front->objectives)) continue;
        if (memcmp(earlier, point, (size_t)front->objectives * sizeof *point) == 0) return false; // its equal
        const int64_t index = least->index[i];
        least->index[i] = least->index[i / 2];
        least->index[i / 2] = index;
        return true;
    }
    return false;
}

static void front_drop_covered(const Front *front, FrontLeast *least, const double *point)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < least->count; i++) {
        const double *earlier = front->value + least->index[i] * front->objectives;
        if (!front_covers(point, earlier, front->objectives)) least->index[kept++] = least->index[i];
    }
    least->count = kept;
}

// The next point in lexicographic order.
static Error front_add(Front *front, FrontLeast *least, int64_t id, const double *point)
{
    if (front_dominated(front, least, point)) return error_none();
    TRY(front_reserve(front, least));
    front_drop_covered(front, least, point);
    least->index[least->count++] = front->count;
    front->id[front->count] = id;
    memcpy(front->value + front->count * front->objectives, point, (size_t)front->objectives * sizeof *point);
    front->count++;
    return error_none();
}

static const char *front_sql(const Spec *spec, const char *const *columns, const bool *maximize, int objectives,
                             Arena *arena)
{
    const char *where = arena_format(arena, "%s IS NOT NULL%s", rows_outcome_name(spec), rank_meets(spec));
    const char *list = trial_columns_sql(columns, objectives, arena), *order = "";
    for (int k = 0; k < objectives; k++) {
        const char *column = sql_identifier(arena, columns[k]);
        where = arena_format(arena, "%s AND %s IS NOT NULL", where, column);
        order = arena_format(arena, "%s%s%s, ", order, column, maximize[k] ? " DESC" : "");
    }
    return arena_format(arena, "SELECT id, %s FROM trials WHERE %s ORDER BY %sid", list, where, order);
}

double front_value(const Front *front, int64_t index, int k)
{
    const double cost = front->value[index * front->objectives + k];
    return front->maximize[k] ? 0.0 - cost : cost;
}

// Whether the column is an objective, or the fitness, that the spec maximises.
static bool front_maximizes(const Spec *spec, const char *column)
{
    for (int k = 0; k < rows_objectives(spec); k++) {
        if (strcmp(rows_objective_name(k), column) == 0) return spec->objective.maximize[k];
    }
    return !spec_several(spec) && spec->objective.maximize[0] && strcmp(column, "fitness") == 0;
}

Error front_read(Database *database, const Spec *spec, const char *const *columns, int objectives, Arena *arena,
                 Front *front)
{
    double point[OBJECTIVES_MAX];
    FrontLeast least = {.count = 0};
    *front = (Front){.objectives = objectives};
    for (int k = 0; k < objectives; k++) front->maximize[k] = front_maximizes(spec, columns[k]);
    Cursor trials = cursor_open(database, front_sql(spec, columns, front->maximize, objectives, arena));
    while (cursor_next(&trials)) {
        for (int k = 0; k < objectives; k++) {
            const double value = cell_real(&trials, 1 + k) + 0.0;
            point[k] = front->maximize[k] ? 0.0 - value : value;
        }
        cursor_stop(&trials, front_add(front, &least, cell_integer(&trials, 0), point));
    }
    free(least.index);
    const Error error = cursor_close(&trials);
    if (error.kind != OK) front_free(front);
    return error;
}

Error front_read_objectives(Database *database, const Spec *spec, Arena *arena, Front *front)
{
    const char *columns[OBJECTIVES_MAX];
    for (int k = 0; k < spec->objective.count; k++) columns[k] = rows_objective_name(k);
    return front_read(database, spec, columns, spec->objective.count, arena, front);
}

void front_free(Front *front)
{
    free(front->id);
    free(front->value);
    *front = (Front){.count = 0};
}

int64_t front_spread(const Front *front, int64_t wanted, int64_t i)
{
    if (wanted >= front->count) return i;
    return wanted < 2 ? 0 : i * (front->count - 1) / (wanted - 1);
}
