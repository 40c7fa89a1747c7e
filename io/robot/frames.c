// Frames, quaternions (x, y, z, w) and inertias of robot files. The only transcendental functions are the portable
// ones, so a robot is the same to the bit everywhere.
#include "robot_file.h"

#include <math.h>
#include <string.h>

static const double robot_pi = 3.14159265358979323846;

double robot_dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

void robot_cross(const double a[3], const double b[3], double out[3])
{
    const double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    memcpy(out, c, sizeof c);
}

// Scaled, so that no square overflows.
double robot_norm(const double *vector, int n)
{
    double most = 0.0, sum = 0.0;
    for (int i = 0; i < n; i++) most = fabs(vector[i]) > most ? fabs(vector[i]) : most;
    if (!(most > 0.0) || !isfinite(most)) return most;
    for (int i = 0; i < n; i++) sum += vector[i] / most * (vector[i] / most);
    return most * sqrt(sum);
}

bool robot_normalize(double *vector, int n)
{
    const double norm = robot_norm(vector, n);
    if (!(norm > 1e-14) || !isfinite(norm)) return false;
    for (int i = 0; i < n; i++) vector[i] /= norm;
    return true;
}

RobotFrame robot_frame_none(void) { return (RobotFrame){.q = {0.0, 0.0, 0.0, 1.0}}; }

// v + 2 w (u x v) + 2 u x (u x v), u the vector part.
void robot_rotate(const double q[4], const double v[3], double out[3])
{
    double t[3], u[3], result[3];
    robot_cross(q, v, t);
    for (int a = 0; a < 3; a++) t[a] *= 2.0;
    robot_cross(q, t, u);
    for (int a = 0; a < 3; a++) result[a] = v[a] + q[3] * t[a] + u[a];
    memcpy(out, result, sizeof result);
}

void robot_quaternion_product(const double a[4], const double b[4], double out[4])
{
    double c[3], product[4];
    robot_cross(a, b, c);
    for (int i = 0; i < 3; i++) product[i] = a[3] * b[i] + b[3] * a[i] + c[i];
    product[3] = a[3] * b[3] - robot_dot(a, b);
    memcpy(out, product, sizeof product);
}

void robot_transform(const RobotFrame *frame, const double point[3], double out[3])
{
    double turned[3];
    robot_rotate(frame->q, point, turned);
    for (int a = 0; a < 3; a++) out[a] = frame->p[a] + turned[a];
}

RobotFrame robot_frame_product(const RobotFrame *outer, const RobotFrame *inner)
{
    RobotFrame product;
    robot_transform(outer, inner->p, product.p);
    robot_quaternion_product(outer->q, inner->q, product.q);
    robot_normalize(product.q, 4);
    return product;
}

void robot_turn(const double axis[3], double angle, double q[4])
{
    const double s = portable_sin(0.5 * angle);
    for (int a = 0; a < 3; a++) q[a] = s * axis[a];
    q[3] = portable_cos(0.5 * angle);
}

// By half angles. Opposite to z the axis is x.
void robot_turn_z(const double direction[3], double q[4])
{
    const double across = sqrt(direction[0] * direction[0] + direction[1] * direction[1]), z = direction[2];
    const bool near = z >= 0.0;
    const double greater = sqrt(0.5 * (1.0 + fabs(z))), less = 0.5 * across / greater;
    const double s = near ? less : greater;
    const double x = across > 1e-10 ? -direction[1] / across : 1.0, y = across > 1e-10 ? direction[0] / across : 0.0;
    q[0] = s * x;
    q[1] = s * y;
    q[2] = 0.0;
    q[3] = near ? greater : less;
    robot_normalize(q, 4);
}

// By the greatest of the four numbers, which is at least 1/2.
void robot_quaternion_of_axes(const double x[3], const double y[3], const double z[3], double q[4])
{
    const double traces[4] = {1.0 + x[0] - y[1] - z[2], 1.0 - x[0] + y[1] - z[2], 1.0 - x[0] - y[1] + z[2],
                              1.0 + x[0] + y[1] + z[2]};
    const double products[4][4] = {{traces[0], x[1] + y[0], z[0] + x[2], y[2] - z[1]},
                                   {x[1] + y[0], traces[1], y[2] + z[1], z[0] - x[2]},
                                   {z[0] + x[2], y[2] + z[1], traces[2], x[1] - y[0]},
                                   {y[2] - z[1], z[0] - x[2], x[1] - y[0], traces[3]}};
    int best = 3;
    for (int i = 0; i < 3; i++) best = traces[i] > traces[best] ? i : best;
    memcpy(q, products[best], sizeof products[best]);
    robot_normalize(q, 4);
}

// ---- inertia --------------------------------------------------------------------------------------------------------

static void robot_inertia_matrix(const double inertia[6], double matrix[9])
{
    const double m[9] = {inertia[0], inertia[3], inertia[4], inertia[3], inertia[1],
                         inertia[5], inertia[4], inertia[5], inertia[2]};
    memcpy(matrix, m, sizeof m);
}

static void robot_rotation(const double q[4], double rows[9])
{
    for (int c = 0; c < 3; c++) {
        const double unit[3] = {c == 0, c == 1, c == 2};
        double column[3];
        robot_rotate(q, unit, column);
        for (int r = 0; r < 3; r++) rows[3 * r + c] = column[r];
    }
}

// R M R^T, of a symmetric matrix.
static void robot_inertia_rotated(const double q[4], const double inertia[6], double out[6])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    double m[9], r[9], product[9];
    robot_inertia_matrix(inertia, m);
    robot_rotation(q, r);
    for (int i = 0; i < 9; i++) {
        const double *left = &r[i / 3 * 3];
        product[i] = left[0] * m[i % 3] + left[1] * m[3 + i % 3] + left[2] * m[6 + i % 3];
    }
    for (int k = 0; k < 6; k++) out[k] = robot_dot(&product[3 * row[k]], &r[3 * column[k]]);
}

void robot_inertia_turned(const double q[4], const double moments[3], double inertia[6])
{
    const double own[6] = {moments[0], moments[1], moments[2], 0.0, 0.0, 0.0};
    robot_inertia_rotated(q, own, inertia);
}

static bool robot_frame_is_none(const RobotFrame *frame)
{
    const RobotFrame none = robot_frame_none();
    return memcmp(frame, &none, sizeof none) == 0;
}

RobotMass robot_mass_in(const RobotFrame *frame, const RobotMass *mass)
{
    if (robot_frame_is_none(frame)) return *mass;
    RobotMass moved = {.mass = mass->mass};
    robot_transform(frame, mass->centre, moved.centre);
    robot_inertia_rotated(frame->q, mass->inertia, moved.inertia);
    return moved;
}

// Adds m (|d|^2 1 - d d^T), the inertia of a point at d.
static void robot_add_point(double mass, const double d[3], double inertia[6])
{
    const double square = robot_dot(d, d);
    for (int a = 0; a < 3; a++) inertia[a] += mass * (square - d[a] * d[a]);
    inertia[3] -= mass * d[0] * d[1];
    inertia[4] -= mass * d[0] * d[2];
    inertia[5] -= mass * d[1] * d[2];
}

// The parallel axes of both, to the common centre.
RobotMass robot_mass_sum(const RobotMass *a, const RobotMass *b)
{
    RobotMass sum = {.mass = a->mass + b->mass};
    double from_a[3], from_b[3];
    if (b->mass == 0.0 && robot_norm(b->inertia, 6) == 0.0) return *a;
    if (a->mass == 0.0 && robot_norm(a->inertia, 6) == 0.0) return *b;
    for (int i = 0; i < 3; i++) {
        const double share = sum.mass > 0.0 ? b->mass / sum.mass : 0.0;
        sum.centre[i] = a->centre[i] + share * (b->centre[i] - a->centre[i]);
        from_a[i] = a->centre[i] - sum.centre[i];
        from_b[i] = b->centre[i] - sum.centre[i];
    }
    for (int k = 0; k < 6; k++) sum.inertia[k] = a->inertia[k] + b->inertia[k];
    robot_add_point(a->mass, from_a, sum.inertia);
    robot_add_point(b->mass, from_b, sum.inertia);
    return sum;
}

bool robot_principal(const double inertia[6], double moments[3], double axes[9])
{
    double matrix[9], work[18];
    robot_inertia_matrix(inertia, matrix);
    return symmetric_eigen(3, matrix, moments, axes, work);
}

// A capsule is a cylinder of length 2 h and two hemispheres, whose centres of mass are 3/8 r outside of its ends.
static void robot_capsule(double r, double h, double *volume, double moments[3])
{
    const double ball = 4.0 / 3.0 * r, tube = 2.0 * h; // volumes by pi r^2
    const double balls = ball / (ball + tube), middle = tube / (ball + tube);
    const double across = middle * (0.25 * r * r + h * h / 3.0) + balls * (0.4 * r * r + h * h + 0.75 * h * r);
    *volume = robot_pi * r * r * (ball + tube);
    moments[0] = moments[1] = across;
    moments[2] = middle * 0.5 * r * r + balls * 0.4 * r * r;
}

bool robot_solid(const RobotShape *shape, double *volume, double moments[3])
{
    const double a = shape->size[0], b = shape->size[1], c = shape->size[2];
    const double squares[3] = {b * b + c * c, a * a + c * c, a * a + b * b};
    switch (shape->kind) {
    case ROBOT_SPHERE:
        *volume = 4.0 / 3.0 * robot_pi * a * a * a;
        moments[0] = moments[1] = moments[2] = 0.4 * a * a;
        return true;
    case ROBOT_CAPSULE: robot_capsule(a, b, volume, moments); return true;
    case ROBOT_CYLINDER:
        *volume = 2.0 * robot_pi * a * a * b;
        moments[0] = moments[1] = 0.25 * a * a + b * b / 3.0;
        moments[2] = 0.5 * a * a;
        return true;
    case ROBOT_BOX:
    case ROBOT_ELLIPSOID:
        *volume = shape->kind == ROBOT_BOX ? 8.0 * a * b * c : 4.0 / 3.0 * robot_pi * a * b * c;
        for (int i = 0; i < 3; i++) moments[i] = squares[i] / (shape->kind == ROBOT_BOX ? 3.0 : 5.0);
        return true;
    case ROBOT_PLANE:
    case ROBOT_HFIELD: break;
    }
    return false;
}
