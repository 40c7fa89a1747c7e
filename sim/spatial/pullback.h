// Pullbacks of the functions of vector.h. With y = f(x), ybar the derivative of some number with respect to y, each
// gives what that adds to xbar.
// Source: A. Griewank & A. Walther, Evaluating Derivatives, 2nd ed., 2008, ch. 3.
#ifndef HOPSCOTCH_SPATIAL_PULLBACK_H
#define HOPSCOTCH_SPATIAL_PULLBACK_H

#include "vector.h"

HD Quaternion quaternion_zero(void)
{
    Quaternion q;
    q.x = q.y = q.z = q.w = splat(0.0);
    return q;
}

HD Quaternion quaternion_added(Quaternion p, Quaternion q)
{
    p.x = p.x + q.x;
    p.y = p.y + q.y;
    p.z = p.z + q.z;
    p.w = p.w + q.w;
    return p;
}

HD Rotation rotation_zero(void)
{
    Rotation r;
    r.x = r.y = r.z = vector3_zero();
    return r;
}

// y = R v:  Rbar += ybar v'   (vbar = R' ybar)
HD void pull_turned(Rotation *bar, Vector3 v, Vector3 ybar)
{
    bar->x = along(bar->x, v.x, ybar);
    bar->y = along(bar->y, v.y, ybar);
    bar->z = along(bar->z, v.z, ybar);
}

// y = p q:  pbar = ybar q*,  qbar = p* ybar
HD Quaternion pull_first(Quaternion ybar, Quaternion q) { return quaternion_times(ybar, quaternion_conjugate(q)); }
HD Quaternion pull_second(Quaternion p, Quaternion ybar) { return quaternion_times(quaternion_conjugate(p), ybar); }

// y = q/|q|:  qbar = (ybar - y (y.ybar))/|q|
HD Quaternion pull_normal(Quaternion y, real length, Quaternion ybar)
{
    const real inverse = 1.0 / length;
    const real component = fused(y.x, ybar.x, fused(y.y, ybar.y, fused(y.z, ybar.z, y.w * ybar.w)));
    Quaternion bar;
    bar.x = inverse * fused(-component, y.x, ybar.x);
    bar.y = inverse * fused(-component, y.y, ybar.y);
    bar.z = inverse * fused(-component, y.z, ybar.z);
    bar.w = inverse * fused(-component, y.w, ybar.w);
    return bar;
}

HD real quaternion_square(Quaternion q) { return q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w; }
HD real quaternion_length(Quaternion q)
{
    return square_root(fused(q.x, q.x, fused(q.y, q.y, fused(q.z, q.z, q.w * q.w))));
}

// R = rotation_of(q)
HD Quaternion pull_rotation(Quaternion q, const Rotation *bar)
{
    const Vector3 X = bar->x, Y = bar->y, Z = bar->z;
    const real yz = Y.z + Z.y, xz = X.z + Z.x, xy = X.y + Y.x; // of the symmetric part
    const real x = Y.z - Z.y, y = Z.x - X.z, z = X.y - Y.x;    // of the other
    Quaternion q_bar;
    q_bar.x = 2.0 * fused(q.y, xy, fused(q.z, xz, fused(q.w, x, -(2.0 * q.x * (Y.y + Z.z)))));
    q_bar.y = 2.0 * fused(q.x, xy, fused(q.z, yz, fused(q.w, y, -(2.0 * q.y * (X.x + Z.z)))));
    q_bar.z = 2.0 * fused(q.x, xz, fused(q.y, yz, fused(q.w, z, -(2.0 * q.z * (X.x + Y.y)))));
    q_bar.w = 2.0 * fused(q.x, x, fused(q.y, y, q.z * z));
    return q_bar;
}

// y = quaternion_logarithm(q) = 2 atan2(s, w)/s v, s = |v|
HD Quaternion pull_logarithm(Quaternion q, Vector3 ybar)
{
    const real sign = select_real(MASK(q.w < splat(0.0)), splat(-1.0), splat(1.0)), w = sign * q.w;
    const Vector3 v = vector3(sign * q.x, sign * q.y, sign * q.z);
    const real s2 = dot3(v, v), s = square_root(s2), n = fused(w, w, s2), component = 2.0 * dot3(ybar, v);
    const mask small = MASK(s < splat(1e-3)); // the series: what it leaves out is below 1e-12 of the whole
    const real safe = select_real(small, splat(1.0), s), angle = arc_tangent2(s, w);
    const real ratio = select_real(small, (1.0 - s2 / (3.0 * w * w)) / w, angle / safe);
    const real near = -(2.0 / 3.0) / (w * w * w), far = (w / (n * safe) - angle / (safe * safe)) / safe;
    const Vector3 bar = along(scaled(2.0 * ratio, ybar), component * select_real(small, near, far), v);
    Quaternion q_bar;
    q_bar.x = sign * bar.x;
    q_bar.y = sign * bar.y;
    q_bar.z = sign * bar.z;
    q_bar.w = -(sign * (component / n));
    return q_bar;
}

// The turn by an angle about a unit axis: (sin(angle/2) axis, cos(angle/2)). *axis_bar is added to.
HD real pull_about(Vector3 axis, real angle, Quaternion ybar, Vector3 *axis_bar)
{
    real sine, cosine;
    sine_cosine(0.5 * angle, &sine, &cosine);
    const Vector3 v = vector3(ybar.x, ybar.y, ybar.z);
    *axis_bar = along(*axis_bar, sine, v);
    return 0.5 * fused(cosine, dot3(axis, v), -(sine * ybar.w));
}

// y'' = a' R I R' b for vectors a, b of the world: adds its derivatives to Rbar and Ibar. In *inertia the
// off-diagonal elements count once, as they are stored.
HD void pull_quadratic(const Rotation *r, Symmetric3 inertia, Vector3 a, Vector3 b, Rotation *r_bar,
                       Symmetric3 *inertia_bar)
{
    const Vector3 in_a = rotation_in(r, a), in_b = rotation_in(r, b);
    pull_turned(r_bar, symmetric3_times(inertia, in_b), a);
    pull_turned(r_bar, symmetric3_times(inertia, in_a), b);
    inertia_bar->xx = inertia_bar->xx + in_a.x * in_b.x;
    inertia_bar->yy = inertia_bar->yy + in_a.y * in_b.y;
    inertia_bar->zz = inertia_bar->zz + in_a.z * in_b.z;
    inertia_bar->xy = inertia_bar->xy + fused(in_a.x, in_b.y, in_a.y * in_b.x);
    inertia_bar->xz = inertia_bar->xz + fused(in_a.x, in_b.z, in_a.z * in_b.x);
    inertia_bar->yz = inertia_bar->yz + fused(in_a.y, in_b.z, in_a.z * in_b.y);
}

#endif
