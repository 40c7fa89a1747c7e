// The limited-memory quasi-Newton core (quasi_newton.h).
#include "quasi_newton.h"

#include <math.h>
#include <string.h>

static const double quasi_newton_curvature = 1e-12; // least s'y/(|s| |y|)

double quasi_newton_dot(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

bool quasi_newton_keep(double *pairs, int64_t *count, int64_t memory, const double *pair, int n)
{
    const double *s = pair, *y = pair + n;
    const double curvature = quasi_newton_dot(s, y, n);
    const double lengths = sqrt(quasi_newton_dot(s, s, n)) * sqrt(quasi_newton_dot(y, y, n));
    if (!(curvature > quasi_newton_curvature * lengths) || isinf(curvature)) return false;
    if (*count < memory) ++*count;
    memmove(pairs + 2 * n, pairs, (size_t)(2 * (*count - 1) * n) * sizeof *pairs);
    memcpy(pairs, pair, (size_t)(2 * (int64_t)n) * sizeof *pairs);
    return true;
}

static double quasi_newton_free_dot(const double *free, const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += free[i] * a[i] * b[i];
    return sum;
}

double quasi_newton_longest(const double *pairs, int64_t count, const double *free, int n)
{
    double longest = 0.0;
    for (int64_t k = 0; k < count; k++) {
        const double *s = pairs + 2 * k * n, *y = s + n, sy = quasi_newton_free_dot(free, s, y, n);
        const double gamma = sy > 0.0 ? quasi_newton_free_dot(free, s, s, n) / sy : 0.0;
        if (gamma > longest) longest = gamma;
    }
    return longest;
}

void quasi_newton_multiply(const double *pairs, int64_t count, const double *free, double gamma, double *q, int n)
{
    double factor[QUASI_NEWTON_MEMORY_MAX];
    for (int64_t k = 0; k < count; k++) {
        const double *s = pairs + 2 * k * n, *y = s + n, sy = quasi_newton_free_dot(free, s, y, n);
        factor[k] = sy > 0.0 ? quasi_newton_free_dot(free, s, q, n) / sy : 0.0;
        if (sy > 0.0 && gamma == 0.0) gamma = sy / quasi_newton_free_dot(free, y, y, n);
        for (int i = 0; i < n; i++) q[i] -= factor[k] * free[i] * y[i];
    }
    for (int i = 0; i < n; i++) q[i] *= gamma;
    for (int64_t k = count - 1; k >= 0; k--) {
        const double *s = pairs + 2 * k * n, *y = s + n, sy = quasi_newton_free_dot(free, s, y, n);
        const double back = sy > 0.0 ? factor[k] - quasi_newton_free_dot(free, y, q, n) / sy : 0.0;
        for (int i = 0; i < n; i++) q[i] += back * free[i] * s[i];
    }
}

// ---- a minimum within bounds ----------------------------------------------------------------------------------------

enum { BOUNDED_MEMORY = 8, BOUNDED_HALVINGS = 12 };
static const double bounded_decrease = 1e-4; // c1 of equation 3.4

typedef struct BoundedRoom {
    double *pairs, *gradient, *next, *next_gradient, *direction, *free, *pair;
} BoundedRoom;

int64_t bounded_minimum_room(int n) { return (int64_t)n * (2 * BOUNDED_MEMORY + 8); }

static BoundedRoom bounded_room(double *room, int n)
{
    double *at = room + 2 * BOUNDED_MEMORY * n;
    return (BoundedRoom){room, at, at + n, at + 2 * n, at + 3 * n, at + 4 * n, at + 5 * n};
}

static double bounded_inside(const BoundedMinimum *problem, int i, double x)
{
    return x > problem->low[i] ? (x < problem->high[i] ? x : problem->high[i]) : problem->low[i]; // also NaN
}

// Marks the coordinates that the gradient does not hold at a bound. Returns their greatest derivative.
static double bounded_release(const BoundedMinimum *problem, const double *x, const BoundedRoom *room)
{
    double greatest = 0.0;
    for (int i = 0; i < problem->n; i++) {
        const double slope = room->gradient[i];
        const bool held = (x[i] <= problem->low[i] && slope > 0.0) || (x[i] >= problem->high[i] && slope < 0.0) ||
                          problem->low[i] >= problem->high[i];
        room->free[i] = held ? 0.0 : 1.0;
        if (!held && fabs(slope) > greatest) greatest = fabs(slope);
    }
    return greatest;
}

// -H g; if that does not lead down, or there are no pairs, the steepest descent: a tenth of the ranges long, at most.
static void bounded_aim(const BoundedMinimum *problem, const BoundedRoom *room, int64_t *pairs, double greatest)
{
    const int n = problem->n;
    for (int i = 0; i < n; i++) room->direction[i] = room->free[i] * room->gradient[i];
    if (*pairs > 0) quasi_newton_multiply(room->pairs, *pairs, room->free, 0.0, room->direction, n);
    const double down = quasi_newton_dot(room->direction, room->gradient, n);
    if (*pairs > 0 && down > 0.0 && isfinite(down)) {
        for (int i = 0; i < n; i++) room->direction[i] = -room->direction[i];
        return;
    }
    *pairs = 0;
    for (int i = 0; i < n; i++)
        room->direction[i] = -0.1 * (problem->high[i] - problem->low[i]) * room->free[i] * room->gradient[i] / greatest;
}

// The first of x + d, x + d/2, ... with sufficient decrease, into room->next with its gradient. False: there is none.
static bool bounded_step(const BoundedMinimum *problem, const double *x, double value, const BoundedRoom *room,
                         double *next_value)
{
    double factor = 1.0;
    for (int k = 0; k < BOUNDED_HALVINGS; k++, factor *= 0.5) {
        double slope = 0.0;
        for (int i = 0; i < problem->n; i++) {
            room->next[i] = bounded_inside(problem, i, x[i] + factor * room->direction[i]);
            slope += room->gradient[i] * (room->next[i] - x[i]);
        }
        *next_value = problem->value(problem->of, room->next, room->next_gradient);
        if (slope < 0.0 && *next_value <= value + bounded_decrease * slope) return true;
    }
    return false;
}

double bounded_minimum(const BoundedMinimum *problem, double *x, double *room_)
{
    const int n = problem->n;
    const BoundedRoom room = bounded_room(room_, n);
    int64_t pairs = 0;
    double value = problem->value(problem->of, x, room.gradient), next_value;
    for (int k = 0; k < problem->iterations && isfinite(value); k++) {
        const double greatest = bounded_release(problem, x, &room);
        if (!(greatest > problem->tolerance)) break;
        bounded_aim(problem, &room, &pairs, greatest);
        if (!bounded_step(problem, x, value, &room, &next_value)) {
            if (pairs == 0) break;
            pairs = 0; // once more, along the gradient
            continue;
        }
        for (int i = 0; i < n; i++) {
            room.pair[i] = room.next[i] - x[i];
            room.pair[n + i] = room.next_gradient[i] - room.gradient[i];
        }
        (void)quasi_newton_keep(room.pairs, &pairs, BOUNDED_MEMORY, room.pair, n);
        const bool slow = value - next_value <= problem->tolerance * (fabs(value) + 1e-3 * problem->tolerance);
        memcpy(x, room.next, (size_t)n * sizeof *x);
        memcpy(room.gradient, room.next_gradient, (size_t)n * sizeof *x);
        value = next_value;
        if (slow) break;
    }
    return value;
}
