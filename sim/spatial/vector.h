// Vectors of three, symmetric 3x3 matrices, and unit quaternions (x, y, z, w) that rotate body axes into world axes.
// Source: K. Shoemake, SIGGRAPH 1985; F. S. Grassia, J. Graphics Tools 3(3), 1998 (the exponential map).
#ifndef HOPSCOTCH_SPATIAL_VECTOR_H
#define HOPSCOTCH_SPATIAL_VECTOR_H

#include "../portable_math.h"
#include "../real.h"

typedef struct Vector3 {
    real x, y, z;
} Vector3;

typedef struct Symmetric3 {
    real xx, yy, zz, xy, xz, yz;
} Symmetric3;

typedef struct Quaternion {
    real x, y, z, w;
} Quaternion;

typedef struct Rotation {
    Vector3 x, y, z; // columns: the body's axes in world axes
} Rotation;

HD Vector3 vector3(real x, real y, real z)
{
    Vector3 v;
    v.x = x;
    v.y = y;
    v.z = z;
    return v;
}

HD Vector3 vector3_zero(void) { return vector3(splat(0.0), splat(0.0), splat(0.0)); }
HD Vector3 vector3_of(const double *p) { return vector3(splat(p[0]), splat(p[1]), splat(p[2])); }
HD Vector3 added(Vector3 a, Vector3 b) { return vector3(a.x + b.x, a.y + b.y, a.z + b.z); }
HD Vector3 less(Vector3 a, Vector3 b) { return vector3(a.x - b.x, a.y - b.y, a.z - b.z); }
HD Vector3 scaled(real s, Vector3 a) { return vector3(s * a.x, s * a.y, s * a.z); }
// a + s b
HD Vector3 along(Vector3 a, real s, Vector3 b)
{
    return vector3(fused(s, b.x, a.x), fused(s, b.y, a.y), fused(s, b.z, a.z));
}
HD real dot3(Vector3 a, Vector3 b) { return fused(a.x, b.x, fused(a.y, b.y, a.z * b.z)); }
HD Vector3 cross3(Vector3 a, Vector3 b)
{
    return vector3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
HD real length3(Vector3 a) { return square_root(dot3(a, a)); }

// A v
HD Vector3 symmetric3_times(Symmetric3 a, Vector3 v)
{
    return vector3(fused(a.xx, v.x, fused(a.xy, v.y, a.xz * v.z)), fused(a.xy, v.x, fused(a.yy, v.y, a.yz * v.z)),
                   fused(a.xz, v.x, fused(a.yz, v.y, a.zz * v.z)));
}

// By cofactors: for an inertia, whose two greater moments are of similar size, as accurate as by factors.
HD Symmetric3 symmetric3_inverse(Symmetric3 a)
{
    Symmetric3 b;
    b.xx = fused(a.yy, a.zz, -(a.yz * a.yz));
    b.xy = fused(a.xz, a.yz, -(a.xy * a.zz));
    b.xz = fused(a.xy, a.yz, -(a.xz * a.yy));
    const real inverse = 1.0 / fused(a.xx, b.xx, fused(a.xy, b.xy, a.xz * b.xz));
    b.xx = b.xx * inverse;
    b.xy = b.xy * inverse;
    b.xz = b.xz * inverse;
    b.yy = fused(a.xx, a.zz, -(a.xz * a.xz)) * inverse;
    b.yz = fused(a.xy, a.xz, -(a.xx * a.yz)) * inverse;
    b.zz = fused(a.xx, a.yy, -(a.xy * a.xy)) * inverse;
    return b;
}

// p q: first the turn q, then p
HD Quaternion quaternion_times(Quaternion p, Quaternion q)
{
    Quaternion r;
    r.x = fused(p.w, q.x, fused(p.x, q.w, fused(p.y, q.z, -(p.z * q.y))));
    r.y = fused(p.w, q.y, fused(p.y, q.w, fused(p.z, q.x, -(p.x * q.z))));
    r.z = fused(p.w, q.z, fused(p.z, q.w, fused(p.x, q.y, -(p.y * q.x))));
    r.w = fused(p.w, q.w, -fused(p.x, q.x, fused(p.y, q.y, p.z * q.z)));
    return r;
}

HD Quaternion quaternion_conjugate(Quaternion q)
{
    Quaternion r;
    r.x = -q.x;
    r.y = -q.y;
    r.z = -q.z;
    r.w = q.w;
    return r;
}

HD Quaternion quaternion_normal(Quaternion q)
{
    const real inverse = 1.0 / square_root(fused(q.x, q.x, fused(q.y, q.y, fused(q.z, q.z, q.w * q.w))));
    q.x = q.x * inverse;
    q.y = q.y * inverse;
    q.z = q.z * inverse;
    q.w = q.w * inverse;
    return q;
}

HD Rotation rotation_of(Quaternion q)
{
    Rotation r;
    r.x = vector3(1.0 - 2.0 * fused(q.y, q.y, q.z * q.z), 2.0 * fused(q.x, q.y, q.w * q.z),
                  2.0 * fused(q.x, q.z, -(q.w * q.y)));
    r.y = vector3(2.0 * fused(q.x, q.y, -(q.w * q.z)), 1.0 - 2.0 * fused(q.x, q.x, q.z * q.z),
                  2.0 * fused(q.y, q.z, q.w * q.x));
    r.z = vector3(2.0 * fused(q.x, q.z, q.w * q.y), 2.0 * fused(q.y, q.z, -(q.w * q.x)),
                  1.0 - 2.0 * fused(q.x, q.x, q.y * q.y));
    return r;
}

// R v: from body axes into world axes; R' v: back
HD Vector3 rotation_out(const Rotation *r, Vector3 v) { return along(along(scaled(v.x, r->x), v.y, r->y), v.z, r->z); }
HD Vector3 rotation_in(const Rotation *r, Vector3 v) { return vector3(dot3(r->x, v), dot3(r->y, v), dot3(r->z, v)); }

// R A R'
HD Symmetric3 symmetric3_turned(const Rotation *r, Symmetric3 a)
{
    // rows of R A: of world axis k the body components
    const Vector3 kx = symmetric3_times(a, vector3(r->x.x, r->y.x, r->z.x));
    const Vector3 ky = symmetric3_times(a, vector3(r->x.y, r->y.y, r->z.y));
    const Vector3 kz = symmetric3_times(a, vector3(r->x.z, r->y.z, r->z.z));
    const Vector3 rx = vector3(r->x.x, r->y.x, r->z.x), ry = vector3(r->x.y, r->y.y, r->z.y);
    const Vector3 rz = vector3(r->x.z, r->y.z, r->z.z);
    Symmetric3 b;
    b.xx = dot3(kx, rx);
    b.yy = dot3(ky, ry);
    b.zz = dot3(kz, rz);
    b.xy = dot3(kx, ry);
    b.xz = dot3(kx, rz);
    b.yz = dot3(ky, rz);
    return b;
}

// ---- the turn by w dt (w in world axes) -----------------------------------------------------------------------------

// sin(x)/x and cos(x); the series below 1e-4, where its next term is below 2^-53
HD void turn_factors(real x, real *sinc, real *cosine_x)
{
    real s, c;
    sine_cosine(x, &s, &c);
    const mask small = MASK(value_of(x) < 1e-4);
    *sinc = select_real(small, 1.0 - x * x * (1.0 / 6.0), s / select_real(small, splat(1.0), x));
    *cosine_x = c;
}

// The rotation by the rotation vector 2 u.
HD Quaternion turn_by_twice(Vector3 u)
{
    const real z = dot3(u, u);
    const mask far = MASK(value_of(z) > 0.6);
    real sinc, near_w;
    Quaternion turn;
    math_sinc_cosine_near(z, &sinc, &near_w);
    turn.w = near_w;
    if (any_lane(far)) {
        real far_sinc, far_w;
        turn_factors(square_root(z), &far_sinc, &far_w);
        sinc = select_real(far, far_sinc, sinc);
        turn.w = select_real(far, far_w, near_w);
    }
    turn.x = sinc * u.x;
    turn.y = sinc * u.y;
    turn.z = sinc * u.z;
    return turn;
}

// exp: the exact rotation for constant w
HD Quaternion turned_exponential(Quaternion q, Vector3 w, real dt)
{
    const real half = 0.5 * dt * length3(w);
    real sinc;
    Quaternion turn;
    turn_factors(half, &sinc, &turn.w);
    const real factor = 0.5 * dt * sinc;
    turn.x = factor * w.x;
    turn.y = factor * w.y;
    turn.z = factor * w.z;
    return quaternion_normal(quaternion_times(turn, q));
}

// q + dt/2 w q, normalised: the rotation by 2 atan(|w| dt/2), Cayley's map. No transcendental functions.
HD Quaternion turned_cayley(Quaternion q, Vector3 w, real dt)
{
    Quaternion turn;
    turn.x = 0.5 * dt * w.x;
    turn.y = 0.5 * dt * w.y;
    turn.z = 0.5 * dt * w.z;
    turn.w = splat(1.0);
    return quaternion_normal(quaternion_times(turn, q));
}

// The rotation vector of q, the shorter way: 2 atan2(|v|, w) v/|v|.
HD Vector3 quaternion_logarithm(Quaternion q)
{
    const real sign = select_real(MASK(value_of(q.w) < 0.0), splat(-1.0), splat(1.0));
    const Vector3 v = vector3(sign * q.x, sign * q.y, sign * q.z);
    const real sine_half = length3(v);
    const mask small = MASK(value_of(sine_half) < 1e-8); // atan2(s, w)/s is 1/w there
    const real safe = select_real(small, splat(1.0), sine_half);
    const real ratio = select_real(small, 1.0 / (sign * q.w), arc_tangent2(sine_half, sign * q.w) / safe);
    return scaled(2.0 * ratio, v);
}

#endif
