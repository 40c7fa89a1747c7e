// See rigid_kkt.h.
#include "rigid_kkt.h"

#include <math.h>
#include <string.h>

// ---- random worlds --------------------------------------------------------------------------------------------------

double kkt_random(uint64_t *state, double low, double high)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u; // Knuth's
    return low + (high - low) * (double)(*state >> 11) / 9007199254740992.0;
}

static int kkt_below(uint64_t *state, int end) { return (int)kkt_random(state, 0.0, (double)end); }

static void kkt_random3(uint64_t *state, double most, double *out)
{
    for (int k = 0; k < 3; k++) out[k] = kkt_random(state, -most, most);
}

int kkt_rows_of(KktType type) { return type == KKT_WELD ? 6 : type == KKT_BALL ? 3 : 1; }

static void kkt_point(const KktWorld *world, int body, const double *at, double *out)
{
    for (int k = 0; k < 3; k++) out[k] = at[k] + (body >= 0 ? world->bodies[body].p[k] : 0.0);
}

static void kkt_join(KktWorld *world, KktType type, int a, int b, bool errors, uint64_t *state)
{
    KktConstraint *to = &world->constraints[world->n_constraints++];
    double point[3], other[3], squares = 0.0;
    const bool turned = b < 0 && kkt_below(state, 2) == 0; // the world may be end a or end b
    *to = (KktConstraint){.type = type, .a = turned ? b : a, .b = turned ? a : b, .axis = {0.6, 0.0, 0.8}};
    kkt_random3(state, 0.5, to->at_a);
    kkt_point(world, to->a, to->at_a, point);
    kkt_point(world, to->b, (const double[3]){0, 0, 0}, other);
    for (int k = 0; k < 3; k++) to->at_b[k] = point[k] - other[k] + (errors ? kkt_random(state, -0.01, 0.01) : 0.0);
    if (type == KKT_DISTANCE || type == KKT_ALONG) kkt_random3(state, 0.5, to->at_b);
    if (type == KKT_ALONG) { // the axis has any direction
        kkt_random3(state, 1.0, to->axis);
        for (int k = 0; k < 3; k++) squares += to->axis[k] * to->axis[k];
        for (int k = 0; k < 3; k++) to->axis[k] /= sqrt(squares);
        return; // the distance along the axis keeps its value at the start
    }
    kkt_point(world, to->b, to->at_b, other);
    for (int k = 0; k < 3; k++) squares += (point[k] - other[k]) * (point[k] - other[k]);
    to->length = sqrt(squares) * (errors ? kkt_random(state, 0.98, 1.02) : 1.0);
}

static void kkt_body(KktWorld *world, bool moves, double heavy, uint64_t *state)
{
    KktBody *body = &world->bodies[world->n_bodies++];
    *body = (KktBody){.mass = heavy * kkt_random(state, 0.5, 3.0)};
    for (int k = 0; k < 3; k++) body->inertia[k] = heavy * kkt_random(state, 0.2, 0.5);
    for (int k = 3; k < 6; k++) body->inertia[k] = heavy * kkt_random(state, -0.08, 0.08);
    kkt_random3(state, 2.0, body->p);
    if (!moves) return;
    kkt_random3(state, 1.0, body->v);
    kkt_random3(state, 1.0, body->w);
}

// Picks another body of the island, or the world unless the island floats.
static int kkt_other(const KktDraw *draw, int first, int a, uint64_t *state)
{
    if (draw->bodies == 1 || (draw->trees > 0 && kkt_below(state, 4) == 0)) return -1;
    const int b = first + kkt_below(state, draw->bodies - 1);
    return b < a ? b : b + 1;
}

void kkt_island(KktWorld *world, const KktDraw *draw, uint64_t *state)
{
    static const KktType joints[] = {KKT_BALL, KKT_DISTANCE, KKT_BALL, KKT_ALONG, KKT_WELD, KKT_BALL};
    const int first = world->n_bodies;
    for (int b = 0; b < draw->bodies; b++) {
        kkt_body(world, draw->errors, draw->heavy > 0.0 ? draw->heavy : 1.0, state);
        if (b < draw->trees)
            kkt_join(world, KKT_BALL, first + b, -1, draw->errors, state);
        else if (b > 0)
            kkt_join(world, joints[kkt_below(state, 6)], first + b, first + kkt_below(state, b), draw->errors, state);
    }
    for (int l = 0; l < draw->loops; l++) {
        const int a = first + kkt_below(state, draw->bodies), b = kkt_other(draw, first, a, state);
        const KktType type = l % 4 == 3 ? KKT_BALL : l % 2 == 0 ? KKT_DISTANCE : KKT_ALONG;
        if (draw->dependent && l % 3 == 2) {
            world->constraints[world->n_constraints] = world->constraints[world->n_constraints - 1];
            world->n_constraints++;
        } else if (l < draw->trees - 1) { // joins all trees of the island
            kkt_join(world, type, first + l, first + l + 1, draw->errors, state);
        } else {
            kkt_join(world, type, a, b, draw->errors, state);
        }
    }
}

// ---- as a spec ------------------------------------------------------------------------------------------------------

static const char *kkt_numbers(const double *x, int count, Arena *arena)
{
    const char *text = "[";
    for (int k = 0; k < count; k++) text = arena_format(arena, "%s%s%.17g", text, k > 0 ? ", " : "", x[k]);
    return arena_format(arena, "%s]", text);
}

static const char *kkt_body_text(const KktBody *body, int number, Arena *arena)
{
    return arena_format(arena, "{name: b%d, mass: %.17g, inertia: %s, position: %s, velocity: %s, spin: %s}", number,
                        body->mass, kkt_numbers(body->inertia, 6, arena), kkt_numbers(body->p, 3, arena),
                        kkt_numbers(body->v, 3, arena), kkt_numbers(body->w, 3, arena));
}

static const char *kkt_constraint_text(const KktConstraint *constraint, int number, Arena *arena)
{
    static const char *const types[] = {"distance", "along", "ball", "weld"};
    const char *a = constraint->a < 0 ? "post" : arena_format(arena, "b%d", constraint->a);
    const char *b = constraint->b < 0 ? "" : arena_format(arena, ", b: b%d", constraint->b);
    const char *more = "";
    if (constraint->type == KKT_DISTANCE) more = arena_format(arena, ", length: %.17g", constraint->length);
    if (constraint->type == KKT_ALONG)
        more = arena_format(arena, ", axis: %s", kkt_numbers(constraint->axis, 3, arena));
    return arena_format(arena, "{name: c%d, type: %s, a: %s%s, at_a: %s, at_b: %s%s}", number, types[constraint->type],
                        a, b, kkt_numbers(constraint->at_a, 3, arena), kkt_numbers(constraint->at_b, 3, arena), more);
}

const char *kkt_spec(const KktWorld *world, Arena *arena)
{
    const char *bodies = "", *constraints = "";
    for (int b = 0; b < world->n_bodies; b++)
        bodies = arena_format(arena, "%s%s%s", bodies, b > 0 ? ", " : "", kkt_body_text(&world->bodies[b], b, arena));
    for (int c = 0; c < world->n_constraints; c++)
        constraints = arena_format(arena, "%s%s%s", constraints, c > 0 ? ", " : "",
                                   kkt_constraint_text(&world->constraints[c], c, arena));
    return arena_format(arena, "{bodies: [%s, {name: post, fixed: true}], constraints: [%s]}", bodies, constraints);
}

// ---- its rows -------------------------------------------------------------------------------------------------------

static double kkt_dot(const double *a, const double *b, int count)
{
    double sum = 0.0;
    for (int k = 0; k < count; k++) sum += a[k] * b[k];
    return sum;
}

static void kkt_cross(const double *a, const double *b, double *out)
{
    for (int k = 0; k < 3; k++) out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

typedef struct KktRow {
    int body[2];
    double J[2][6], C, bias; // bias: J' v
} KktRow;

typedef struct KktEnds {
    const double *r[2], *v[2], *w[2];
    double d[3], u[3], spin[3];
} KktEnds;

static void kkt_ends(const KktWorld *world, const KktConstraint *of, KktEnds *ends)
{
    static const double zero[3] = {0, 0, 0};
    const int body[2] = {of->a, of->b};
    *ends = (KktEnds){.r = {of->at_a, of->at_b}};
    for (int side = 0; side < 2; side++) {
        const double sign = side == 0 ? 1.0 : -1.0, *r = ends->r[side];
        double point[3], turning[3], spin[3];
        ends->v[side] = body[side] < 0 ? zero : world->bodies[body[side]].v;
        ends->w[side] = body[side] < 0 ? zero : world->bodies[body[side]].w;
        kkt_point(world, body[side], r, point);
        kkt_cross(ends->w[side], r, turning);
        kkt_cross(ends->w[side], turning, spin);
        for (int k = 0; k < 3; k++) {
            ends->d[k] += sign * point[k];
            ends->u[k] += sign * (ends->v[side][k] + turning[k]);
            ends->spin[k] += sign * spin[k];
        }
    }
}

static KktRow kkt_row_along(const KktConstraint *of, const KktEnds *ends, const double *e)
{
    KktRow row = {.body = {of->a, of->b}, .bias = kkt_dot(e, ends->spin, 3)};
    for (int side = 0; side < 2; side++) {
        double moment[3];
        kkt_cross(ends->r[side], e, moment);
        for (int k = 0; k < 3; k++) {
            row.J[side][k] = side == 0 ? e[k] : -e[k];
            row.J[side][3 + k] = side == 0 ? moment[k] : -moment[k];
        }
    }
    return row;
}

// Axis k of a and axis k + 1 of b, equal to the world's at the start, stay perpendicular.
static KktRow kkt_row_perpendicular(const KktConstraint *of, const KktEnds *ends, int k)
{
    KktRow row = {.body = {of->a, of->b}};
    double a[3] = {0}, b[3] = {0}, a_moves[3], b_moves[3], one[3], other[3];
    a[k] = b[(k + 1) % 3] = 1.0;
    row.J[0][3 + (k + 2) % 3] = 1.0;
    row.J[1][3 + (k + 2) % 3] = -1.0;
    kkt_cross(ends->w[0], a, a_moves);
    kkt_cross(ends->w[1], b, b_moves);
    kkt_cross(a_moves, b, one);
    kkt_cross(a, b_moves, other);
    for (int i = 0; i < 3; i++) row.bias += (ends->w[0][i] - ends->w[1][i]) * (one[i] + other[i]);
    return row;
}

static int kkt_rows(const KktWorld *world, KktRow *rows, int *constraint)
{
    static const double e[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int n = 0;
    for (int c = 0; c < world->n_constraints; c++) {
        const KktConstraint *of = &world->constraints[c];
        KktEnds ends;
        kkt_ends(world, of, &ends);
        for (int k = 0; k < kkt_rows_of(of->type) && n < KKT_ROWS; k++, n++) {
            constraint[n] = c;
            if (of->type == KKT_DISTANCE) {
                rows[n] = kkt_row_along(of, &ends, ends.d);
                rows[n].C = 0.5 * (kkt_dot(ends.d, ends.d, 3) - of->length * of->length);
                rows[n].bias += kkt_dot(ends.u, ends.u, 3);
            } else if (of->type == KKT_ALONG) {
                rows[n] = kkt_row_along(of, &ends, of->axis);
            } else if (k < 3) {
                rows[n] = kkt_row_along(of, &ends, e[k]);
                rows[n].C = ends.d[k];
            } else {
                rows[n] = kkt_row_perpendicular(of, &ends, k - 3);
            }
        }
    }
    return n;
}

// ---- the system -----------------------------------------------------------------------------------------------------

// M^-1 x of a body; the inverse of its inertia by the adjugate.
static void kkt_lighten(const KktBody *body, const double *x, double *out)
{
    const double *I = body->inertia;
    const double row[3][3] = {{I[0], I[3], I[4]}, {I[3], I[1], I[5]}, {I[4], I[5], I[2]}};
    double adjoint[3][3];
    for (int k = 0; k < 3; k++) kkt_cross(row[(k + 1) % 3], row[(k + 2) % 3], adjoint[k]);
    const double determinant = kkt_dot(row[0], adjoint[0], 3);
    for (int k = 0; k < 3; k++) {
        out[k] = x[k] / body->mass;
        out[3 + k] = kkt_dot(adjoint[k], x + 3, 3) / determinant;
    }
}

// Accelerations by weight and by -w x I w.
static void kkt_free(const KktBody *body, double gravity, double *a)
{
    const double *I = body->inertia, *w = body->w;
    const double momentum[3] = {I[0] * w[0] + I[3] * w[1] + I[4] * w[2], I[3] * w[0] + I[1] * w[1] + I[5] * w[2],
                                I[4] * w[0] + I[5] * w[1] + I[2] * w[2]};
    double force[6] = {0, 0, -gravity * body->mass};
    kkt_cross(momentum, w, force + 3);
    kkt_lighten(body, force, a);
}

// J x; x has 6 numbers per body.
static double kkt_times(const KktRow *row, double (*x)[6])
{
    double sum = 0.0;
    for (int side = 0; side < 2; side++) {
        if (row->body[side] >= 0) sum += kkt_dot(row->J[side], x[row->body[side]], 6);
    }
    return sum;
}

// x += s M^-1 J'
static void kkt_push(const KktWorld *world, const KktRow *row, double s, double (*x)[6])
{
    for (int side = 0; side < 2; side++) {
        double of_row[6];
        if (row->body[side] < 0) continue;
        kkt_lighten(&world->bodies[row->body[side]], row->J[side], of_row);
        for (int k = 0; k < 6; k++) x[row->body[side]][k] += s * of_row[k];
    }
}

// Solves A x = b by Gauss-Jordan. The pivot is the diagonal element that is greatest relative to its original value.
// Rows below 1e-9 of it depend on the others and get x = 0. Returns the number of these rows; *least: the smallest
// relative pivot of the other rows.
static int kkt_eliminate(double (*A)[KKT_ROWS + 1], int n, double *x, double *least)
{
    double diagonal[KKT_ROWS];
    bool done[KKT_ROWS] = {false};
    *least = 1.0;
    for (int k = 0; k < n; k++) diagonal[k] = A[k][k];
    for (int left = n; left > 0; left--) {
        int p = -1;
        for (int k = 0; k < n; k++) {
            if (!done[k] && (p < 0 || A[k][k] / diagonal[k] > A[p][p] / diagonal[p])) p = k;
        }
        const double part = A[p][p] / diagonal[p];
        if (part < 1e-9) return left;
        *least = fmin(*least, part);
        done[p] = true;
        for (int k = 0; k < n; k++) {
            const double factor = A[k][p] / A[p][p];
            for (int j = 0; k != p && j <= KKT_ROWS; j++) A[k][j] -= factor * A[p][j];
        }
        for (int k = 0; k < n; k++) x[k] = done[k] ? A[k][KKT_ROWS] / A[k][k] : 0.0;
    }
    return 0;
}

void kkt_solve(const KktWorld *world, const KktGains *gains, double gravity, KktAnswer *answer)
{
    static double A[KKT_ROWS][KKT_ROWS + 1];
    KktRow rows[KKT_ROWS];
    double v[KKT_BODIES][6];
    *answer = (KktAnswer){.n_rows = kkt_rows(world, rows, answer->constraint)};
    kkt_rows(world, rows, answer->constraint);
    for (int b = 0; b < world->n_bodies; b++) {
        kkt_free(&world->bodies[b], gravity, answer->a[b]);
        memcpy(v[b], world->bodies[b].v, sizeof world->bodies[b].v);
        memcpy(v[b] + 3, world->bodies[b].w, sizeof world->bodies[b].w);
    }
    for (int k = 0; k < answer->n_rows; k++) {
        double column[KKT_BODIES][6] = {{0}};
        answer->C[k] = rows[k].C;
        answer->Jv[k] = kkt_times(&rows[k], v);
        kkt_push(world, &rows[k], 1.0, column);
        for (int j = 0; j < answer->n_rows; j++) A[j][k] = kkt_times(&rows[j], column);
        A[k][k] *= 1.0 + gains->cfm;
        A[k][KKT_ROWS] =
            -gains->s * rows[k].bias - gains->c * answer->Jv[k] - gains->k * rows[k].C - kkt_times(&rows[k], answer->a);
    }
    answer->n_dependent = kkt_eliminate(A, answer->n_rows, answer->lambda, &answer->least);
    for (int k = 0; k < answer->n_rows; k++) kkt_push(world, &rows[k], answer->lambda[k], answer->a);
}
