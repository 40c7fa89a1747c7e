// See mechanisms.h. The loop is described by its joints' angles theta alone: where the product of all turns and shifts
// is one, and its twists, columns (z, p x z) of each axis, sum to zero with the rates. The angles move along the null
// vector t of the twists, theta' = t s', and the one coordinate s, with m = sum m v.v + w.I w at s' = 1, obeys
//     m s'' = -(dm/ds s'^2 / 2 + dV/ds).
#include "mechanisms.h"

#include "rigid_kkt.h"

#include <math.h>
#include <string.h>

const char *const mechanism_names[MECHANISM_KINDS] = {"Bennett", "trihedral Bricard", "symmetric Bricard",
                                                      "planar",  "spherical",         "door"};

enum { JOINTS = MECHANISM_JOINTS };

// ---- frames: rows of a rotation, and an origin ----------------------------------------------------------------------

typedef struct Frame {
    double R[3][3], p[3];
} Frame;

static Frame frame_times(const Frame *a, const Frame *b)
{
    Frame c;
    for (int i = 0; i < 3; i++) {
        c.p[i] = a->p[i];
        for (int j = 0; j < 3; j++) {
            c.R[i][j] = 0.0;
            c.p[i] += a->R[i][j] * b->p[j];
            for (int k = 0; k < 3; k++) c.R[i][j] += a->R[i][k] * b->R[k][j];
        }
    }
    return c;
}

static Frame frame_turn(double angle)
{
    const double c = cos(angle), s = sin(angle);
    return (Frame){{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}, {0, 0, 0}};
}

static Frame frame_link(const Mechanism *m, int k)
{
    const double c = cos(m->twist[k]), s = sin(m->twist[k]);
    return (Frame){{{1, 0, 0}, {0, c, -s}, {0, s, c}}, {m->length[k], 0, m->offset[k]}};
}

static void cross(const double *a, const double *b, double *out)
{
    for (int k = 0; k < 3; k++) out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static double dot(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++) sum += a[k] * b[k];
    return sum;
}

// ---- the loop -------------------------------------------------------------------------------------------------------

typedef struct Loop {
    Frame link[JOINTS];        // link frames at the joints' angles
    double twist[JOINTS][6];   // per joint: w, and v of the point at the origin
    double error[6];           // of the closure, as a twist
    double tangent[JOINTS];    // unit vector
    double least;              // see MechanismMotion
    double correction[JOINTS]; // smallest change of the angles that closes the loop
} Loop;

static void loop_place(const Mechanism *m, const double *angle, Loop *loop)
{
    Frame at;
    memcpy(&at, m->base, sizeof at);
    for (int k = 0; k < m->n_joints; k++) {
        double *twist = loop->twist[k];
        const Frame turn = frame_turn(angle[k]), link = frame_link(m, k);
        for (int i = 0; i < 3; i++) twist[i] = at.R[i][2];
        cross(at.p, twist, twist + 3);
        loop->link[k] = frame_times(&at, &turn);
        at = frame_times(&loop->link[k], &link);
    }
    // the small rotation and shift that are left, at base'
    const double(*B)[3] = (const double(*)[3])m->base, *origin = m->base + 9;
    double turned[3][3];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) turned[i][j] = dot(at.R[i], B[j], 3);
    }
    for (int i = 0; i < 3; i++)
        loop->error[i] = 0.5 * (turned[(i + 2) % 3][(i + 1) % 3] - turned[(i + 1) % 3][(i + 2) % 3]);
    double moved[3];
    cross(loop->error, origin, moved);
    for (int i = 0; i < 3; i++) loop->error[3 + i] = at.p[i] - origin[i] - moved[i];
}

// Computes the tangent, with the sign of `along`, and the correction.
static void loop_solve(const Mechanism *m, const double *along, Loop *loop)
{
    const int n = m->n_joints;
    double normal[JOINTS * JOINTS], values[JOINTS], vectors[JOINTS * JOINTS], work[JOINTS * (JOINTS + 3)];
    double right[JOINTS];
    for (int i = 0; i < n; i++) {
        right[i] = dot(loop->twist[i], loop->error, 6);
        for (int j = 0; j < n; j++) normal[i * n + j] = dot(loop->twist[i], loop->twist[j], 6);
    }
    CHECK(symmetric_eigen(n, normal, values, vectors, work));
    loop->least = sqrt(fmax(values[1], 0.0) / values[n - 1]);
    const double sign = dot(vectors, along, n) < 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < n; i++) loop->tangent[i] = sign * vectors[i];
    memset(loop->correction, 0, sizeof loop->correction);
    for (int k = 1; k < n; k++) {
        const double part = values[k] > 1e-10 * values[n - 1] ? dot(vectors + k * n, right, n) / values[k] : 0.0;
        for (int i = 0; i < n; i++) loop->correction[i] -= part * vectors[k * n + i];
    }
}

static void loop_at(const Mechanism *m, const double *angle, const double *along, Loop *loop)
{
    loop_place(m, angle, loop);
    if (m->kind != MECHANISM_DOOR) {
        loop_solve(m, along, loop);
        return;
    }
    *loop->tangent = 1.0;
    loop->least = 1.0;
    memset(loop->correction, 0, sizeof loop->correction);
    memset(loop->error, 0, sizeof loop->error);
}

// Corrects angles that nearly close the loop. Returns the error that is left.
static double loop_close(const Mechanism *m, double *angle, Loop *loop)
{
    static const double any[JOINTS] = {1, 1, 1, 1, 1, 1};
    double left = INFINITY;
    for (int i = 0; i < 60; i++) {
        loop_at(m, angle, any, loop);
        left = sqrt(dot(loop->error, loop->error, 6));
        double step = sqrt(dot(loop->correction, loop->correction, m->n_joints));
        if (step < 1e-15) break;
        for (int k = 0; k < m->n_joints; k++) angle[k] += loop->correction[k] * (step > 0.5 ? 0.5 / step : 1.0);
    }
    return left;
}

// ---- the links ------------------------------------------------------------------------------------------------------

// Position of hinge k: on the axis of joint k; for a door, on the axis of the first joint.
static void mechanism_hinge(const Mechanism *m, const Loop *loop, int k, double *out)
{
    const Frame *axis = &loop->link[m->kind == MECHANISM_DOOR ? 0 : k];
    for (int i = 0; i < 3; i++) out[i] = axis->p[i] + m->along[k] * axis->R[i][2];
}

static const double *mechanism_axis(const Mechanism *m, const Loop *loop, int k)
{
    return loop->twist[m->kind == MECHANISM_DOOR ? 0 : k];
}

// Centre of link k at the start: between its hinges; for a door, beside them.
static void mechanism_centre(const Mechanism *m, const Loop *start, int k, double *out)
{
    double a[3], b[3];
    mechanism_hinge(m, start, k, a);
    mechanism_hinge(m, start, k + 1, b);
    for (int i = 0; i < 3; i++) out[i] = 0.5 * (a[i] + b[i]);
    if (m->kind != MECHANISM_DOOR) return;
    for (int i = 0; i < 3; i++) out[i] += m->length[0] * start->link[0].R[i][0];
}

typedef struct Links {
    double p[JOINTS][3], v[JOINTS][3], w[JOINTS][3]; // v, w: at s' = 1
    double mass, height;                             // m of the coordinate s; V/g
    double rise;                                     // dV/ds/g
} Links;

static void links_at(const Mechanism *m, const Loop *start, const Loop *now, Links *links)
{
    double twist[6] = {0};
    *links = (Links){.mass = 0.0};
    for (int k = 0; k < m->n_links; k++) {
        double centre[3], local[3], turned[9], w[3], *p = links->p[k], *v = links->v[k];
        const Frame *from = &start->link[k], *to = &now->link[k];
        for (int c = 0; c < 6; c++) twist[c] += now->tangent[k] * now->twist[k][c];
        mechanism_centre(m, start, k, centre);
        for (int i = 0; i < 3; i++) {
            local[i] = 0.0;
            for (int j = 0; j < 3; j++) local[i] += from->R[j][i] * (centre[j] - from->p[j]);
            for (int j = 0; j < 3; j++) turned[3 * i + j] = dot(to->R[i], from->R[j], 3);
        }
        for (int i = 0; i < 3; i++) p[i] = to->p[i] + dot(to->R[i], local, 3);
        cross(twist, p, v);
        for (int i = 0; i < 3; i++) v[i] += twist[3 + i];
        memcpy(links->w[k], twist, sizeof links->w[k]);
        for (int i = 0; i < 3; i++) w[i] = turned[i] * twist[0] + turned[3 + i] * twist[1] + turned[6 + i] * twist[2];
        const double *I = m->inertia[k];
        links->mass += m->mass[k] * dot(v, v, 3) + I[0] * w[0] * w[0] + I[1] * w[1] * w[1] + I[2] * w[2] * w[2] +
                       2.0 * (I[3] * w[0] * w[1] + I[4] * w[0] * w[2] + I[5] * w[1] * w[2]);
        links->height += m->mass[k] * p[2];
        links->rise += m->mass[k] * v[2];
    }
}

// ---- its motion -----------------------------------------------------------------------------------------------------

typedef struct Motion {
    const Mechanism *m;
    Loop start;
    double tangent[JOINTS]; // the latest one
    double gravity, least;
} Motion;

enum { MOTION_STATE = JOINTS + 1 }; // angles, s'

static double motion_mass(Motion *motion, const double *angle, const double *along, Links *links)
{
    Loop loop;
    loop_at(motion->m, angle, along, &loop);
    links_at(motion->m, &motion->start, &loop, links);
    return links->mass;
}

static void motion_rates(Motion *motion, const double *y, double *rate)
{
    // first derivative by differences of sixth order
    static const double weight[] = {3.0 / 4.0, -3.0 / 20.0, 1.0 / 60.0};
    const double h = 4e-3;
    const int n = motion->m->n_joints;
    Loop loop;
    Links links, near;
    loop_at(motion->m, y, motion->tangent, &loop);
    memcpy(motion->tangent, loop.tangent, sizeof motion->tangent);
    motion->least = fmin(motion->least, loop.least);
    links_at(motion->m, &motion->start, &loop, &links);
    double change = 0.0;
    for (int k = 1; k <= 3; k++) {
        double angle[2][JOINTS];
        for (int i = 0; i < n; i++) {
            angle[0][i] = y[i] + k * h * loop.tangent[i];
            angle[1][i] = y[i] - k * h * loop.tangent[i];
        }
        change +=
            weight[k - 1] / h *
            (motion_mass(motion, angle[0], loop.tangent, &near) - motion_mass(motion, angle[1], loop.tangent, &near));
    }
    const double s = y[JOINTS];
    for (int i = 0; i < JOINTS; i++) rate[i] = i < n ? loop.tangent[i] * s : 0.0;
    rate[JOINTS] = -(0.5 * change * s * s + motion->gravity * links.rise) / links.mass;
}

// Gragg's modified midpoint rule of n steps.
static void motion_midpoint(Motion *motion, const double *y, double h, int n, double *out)
{
    double before[MOTION_STATE], now[MOTION_STATE], rate[MOTION_STATE];
    motion_rates(motion, y, rate);
    for (int i = 0; i < MOTION_STATE; i++) {
        before[i] = y[i];
        now[i] = y[i] + h / n * rate[i];
    }
    for (int k = 1; k < n; k++) {
        motion_rates(motion, now, rate);
        for (int i = 0; i < MOTION_STATE; i++) {
            const double next = before[i] + 2.0 * h / n * rate[i];
            before[i] = now[i];
            now[i] = next;
        }
    }
    motion_rates(motion, now, rate);
    for (int i = 0; i < MOTION_STATE; i++) out[i] = 0.5 * (now[i] + before[i] + h / n * rate[i]);
}

// One step by extrapolation; it is halved where the extrapolation does not converge. Hairer, Norsett & Wanner, Solving
// Ordinary Differential Equations I, II.9.
static bool motion_step(Motion *motion, double *y, double h)
{
    enum { COLUMNS = 5 };
    double T[COLUMNS][COLUMNS][MOTION_STATE], tangent[JOINTS], error = 0.0;
    memcpy(tangent, motion->tangent, sizeof tangent);
    for (int r = 0; r < COLUMNS; r++) {
        motion_midpoint(motion, y, h, 2 * (r + 1), T[r][0]);
        for (int c = 1; c <= r; c++) {
            const double ratio = (double)(r + 1) / (r + 1 - c), factor = 1.0 / (ratio * ratio - 1.0);
            for (int i = 0; i < MOTION_STATE; i++)
                T[r][c][i] = T[r][c - 1][i] + factor * (T[r][c - 1][i] - T[r - 1][c - 1][i]);
        }
    }
    const double *best = T[COLUMNS - 1][COLUMNS - 1], *other = T[COLUMNS - 1][COLUMNS - 2];
    for (int i = 0; i < MOTION_STATE; i++) error = fmax(error, fabs(best[i] - other[i]) / (1.0 + fabs(y[JOINTS])));
    if (error < 1e-11) {
        Loop loop;
        memcpy(y, best, MOTION_STATE * sizeof *y);
        loop_at(motion->m, y, motion->tangent, &loop);
        for (int i = 0; i < motion->m->n_joints; i++) y[i] += loop.correction[i];
        return true;
    }
    memcpy(motion->tangent, tangent, sizeof tangent);
    if (h < 1e-5) return false;
    return motion_step(motion, y, 0.5 * h) && motion_step(motion, y, 0.5 * h);
}

void mechanism_move(const Mechanism *m, double gravity, double duration, MechanismMotion *out)
{
    Motion motion = {.m = m, .gravity = gravity, .least = 1.0};
    double y[MOTION_STATE] = {0};
    const int steps = (int)ceil(duration / 0.02);
    Links links;
    *out = (MechanismMotion){.exact = true};
    memcpy(y, m->angle, sizeof m->angle);
    y[JOINTS] = m->speed;
    memcpy(motion.tangent, m->tangent, sizeof motion.tangent);
    loop_at(m, m->angle, m->tangent, &motion.start);
    for (int k = 0; k < steps && out->exact; k++) out->exact = motion_step(&motion, y, duration / steps);
    motion_mass(&motion, y, motion.tangent, &links);
    for (int k = 0; k < m->n_links; k++) {
        for (int i = 0; i < 3; i++) {
            out->p[k][i] = links.p[k][i];
            out->v[k][i] = y[JOINTS] * links.v[k][i];
        }
    }
    out->least = motion.least;
    out->energy = 0.5 * links.mass * y[JOINTS] * y[JOINTS] + gravity * links.height;
}

// ---- random mechanisms ----------------------------------------------------------------------------------------------

static void draw_base(uint64_t *state, double *base)
{
    double x[3], y[3], z[3], length;
    for (int k = 0; k < 3; k++) {
        z[k] = kkt_random(state, -1.0, 1.0);
        y[k] = kkt_random(state, -1.0, 1.0);
        base[9 + k] = kkt_random(state, -1.0, 1.0);
    }
    length = sqrt(dot(z, z, 3));
    for (int k = 0; k < 3; k++) z[k] /= length;
    cross(y, z, x);
    length = sqrt(dot(x, x, 3));
    for (int k = 0; k < 3; k++) x[k] /= length;
    cross(z, x, y);
    for (int k = 0; k < 3; k++) {
        base[3 * k] = x[k];
        base[3 * k + 1] = y[k];
        base[3 * k + 2] = z[k];
    }
}

static double draw_twist(uint64_t *state)
{
    return kkt_random(state, 0.4, 2.7) * (kkt_random(state, -1, 1) < 0 ? -1 : 1);
}

static void draw_bennett(Mechanism *m, uint64_t *state)
{
    const double alpha = kkt_random(state, 0.4, 2.7), beta = kkt_random(state, 0.4, 2.7);
    for (int k = 0; k < 4; k++) {
        m->twist[k] = k % 2 == 0 ? alpha : beta;
        m->length[k] = k % 2 == 0 ? 1.0 : sin(beta) / sin(alpha);
    }
    m->angle[0] = kkt_random(state, 0.3, 2.8);
    m->angle[1] = 2.0 * atan(sin(0.5 * (beta + alpha)) / sin(0.5 * (beta - alpha)) / tan(0.5 * m->angle[0]));
    m->angle[2] = -m->angle[0];
    m->angle[3] = -m->angle[1];
}

static void draw_trihedral(Mechanism *m, uint64_t *state)
{
    double odd = 0.0, even = 0.0;
    for (int k = 0; k < 6; k++) {
        m->twist[k] = k % 2 == 0 ? 0.5 * M_PI : 1.5 * M_PI;
        m->length[k] = kkt_random(state, 0.6, 1.4);
        m->angle[k] = kkt_random(state, -3.0, 3.0);
        if (k % 2 == 0) even += m->length[k] * m->length[k];
        if (k % 2 == 1 && k < 5) odd += m->length[k] * m->length[k];
    }
    m->length[5] = sqrt(fmax(even - odd, 0.04));
}

static void draw_symmetric(Mechanism *m, uint64_t *state)
{
    for (int k = 0; k < 3; k++) {
        m->twist[k] = m->twist[k + 3] = draw_twist(state);
        m->length[k] = m->length[k + 3] = kkt_random(state, 0.4, 1.2);
        m->offset[k] = m->offset[k + 3] = kkt_random(state, -0.5, 0.5);
        m->angle[k] = m->angle[k + 3] = kkt_random(state, -3.0, 3.0);
    }
}

static void draw_plain(Mechanism *m, uint64_t *state)
{
    const bool flat = m->kind == MECHANISM_PLANAR;
    for (int k = 0; k < 4; k++) {
        m->length[k] = flat ? kkt_random(state, 0.5, 1.5) : 0.0;
        m->twist[k] = flat ? 0.0 : kkt_random(state, 0.5, 1.5);
        m->along[k] = flat ? 0.0 : kkt_random(state, 0.6, 1.4);
        m->angle[k] = kkt_random(state, -3.0, 3.0);
    }
}

static void draw_door(Mechanism *m, uint64_t *state)
{
    m->length[0] = kkt_random(state, 0.3, 0.8);
    for (int k = 0; k < 3; k++) m->along[k] = (k - 1) * kkt_random(state, 0.5, 1.0);
}

static void draw_masses(Mechanism *m, uint64_t *state)
{
    for (int k = 0; k < m->n_links; k++) {
        m->mass[k] = kkt_random(state, 0.5, 2.0);
        for (int c = 0; c < 6; c++)
            m->inertia[k][c] = m->mass[k] * (c < 3 ? kkt_random(state, 0.05, 0.08) : kkt_random(state, -0.01, 0.01));
    }
}

static bool mechanism_try(Mechanism *m, uint64_t *state)
{
    static void (*const draw[MECHANISM_KINDS])(Mechanism *, uint64_t *) = {draw_bennett, draw_trihedral, draw_symmetric,
                                                                           draw_plain,   draw_plain,     draw_door};
    const MechanismKind kind = m->kind;
    *m = (Mechanism){.kind = kind, .n_joints = kind == MECHANISM_DOOR ? 1 : 4};
    if (kind == MECHANISM_TRIHEDRAL || kind == MECHANISM_SYMMETRIC) m->n_joints = 6;
    m->n_links = kind == MECHANISM_DOOR ? 1 : m->n_joints - 1;
    draw_base(state, m->base);
    draw[kind](m, state);
    draw_masses(m, state);
    m->speed = kkt_random(state, -2.0, 2.0);
    Loop loop;
    const double left = loop_close(m, m->angle, &loop);
    memcpy(m->tangent, loop.tangent, sizeof m->tangent);
    double lengths = 0.0; // a link much longer than the others would hide their effect
    for (int k = 0; k < m->n_joints; k++) lengths = fmax(lengths, m->length[k]);
    // the loop has one motion, and no second one is near
    Loop near;
    double angle[JOINTS];
    for (int k = 0; k < JOINTS; k++) angle[k] = m->angle[k] + 1e-3 * loop.tangent[k];
    loop_at(m, angle, loop.tangent, &near);
    const double off = sqrt(dot(near.error, near.error, 6));
    return left < 1e-13 && loop.least > 0.1 && lengths < 3.0 && off < 1e-5;
}

void mechanism_draw(MechanismKind kind, uint64_t *state, Mechanism *out)
{
    out->kind = kind;
    for (int attempt = 0; attempt < 10000; attempt++) {
        if (mechanism_try(out, state)) return;
    }
    CHECK_TEXT(mechanism_names[kind], "none in 10000");
}

// ---- as a spec ------------------------------------------------------------------------------------------------------

static const char *mechanism_numbers(const double *x, int count, Arena *arena)
{
    const char *text = "[";
    for (int k = 0; k < count; k++) text = arena_format(arena, "%s%s%.17g", text, k > 0 ? ", " : "", x[k]);
    return arena_format(arena, "%s]", text);
}

static const char *mechanism_hinge_text(const Mechanism *m, const Loop *start, int k, Arena *arena)
{
    double point[3], centre[3], at[3];
    const bool door = m->kind == MECHANISM_DOOR;
    const int link = door ? 0 : k < m->n_links ? k : k - 1;
    mechanism_hinge(m, start, k, point);
    mechanism_centre(m, start, link, centre);
    for (int i = 0; i < 3; i++) at[i] = point[i] - centre[i];
    const char *other = !door && k > 0 && k < m->n_links ? arena_format(arena, ", b: link%d", k - 1) : "";
    return arena_format(arena, "{name: hinge%d, type: hinge, a: link%d%s, at_a: %s, axis: %s}", k, link, other,
                        mechanism_numbers(at, 3, arena), mechanism_numbers(mechanism_axis(m, start, k), 3, arena));
}

const char *mechanism_world(const Mechanism *m, Arena *arena)
{
    const char *bodies = "", *hinges = "";
    const int n_hinges = m->kind == MECHANISM_DOOR ? 3 : m->n_joints;
    Loop start;
    Links links;
    loop_at(m, m->angle, m->tangent, &start);
    links_at(m, &start, &start, &links);
    for (int k = 0; k < m->n_links; k++) {
        double v[3], w[3];
        for (int i = 0; i < 3; i++) {
            v[i] = m->speed * links.v[k][i];
            w[i] = m->speed * links.w[k][i];
        }
        bodies = arena_format(
            arena, "%s%s{name: link%d, mass: %.17g, inertia: %s, position: %s, velocity: %s, spin: %s}", bodies,
            k > 0 ? ", " : "", k, m->mass[k], mechanism_numbers(m->inertia[k], 6, arena),
            mechanism_numbers(links.p[k], 3, arena), mechanism_numbers(v, 3, arena), mechanism_numbers(w, 3, arena));
    }
    for (int k = 0; k < n_hinges; k++)
        hinges = arena_format(arena, "%s%s%s", hinges, k > 0 ? ", " : "", mechanism_hinge_text(m, &start, k, arena));
    return arena_format(arena, "world: {bodies: [%s], constraints: [%s]}", bodies, hinges);
}
