// Points of a body's shapes that may touch a surface: spheres that are fixed in the body, and the lowest points of rims
// and ellipsoids, which move in it as it turns against the normal n of the surface.
//     rim        t = n - (n.a) a,  t' = t + e^3/(e^2 + |t|^2) s,  u = -t'/|t'|,  r (cos u + sin a x u)
//                about the axis a; with the angles 0 and +-120 degrees it stands. Where it lies flat (t = 0) the side s
//                says where the three are; their forces then don't depend on it. e = 1e-3: at |t| = 1 it is off by 1e-9
//     ellipsoid  -S S n/|S n| in its own axes, S the half axes
#ifndef HOPSCOTCH_ARTICULATED_POINT_H
#define HOPSCOTCH_ARTICULATED_POINT_H

#include "surface.h"

#define RIM_FLAT 1e-3 // e

// The lowest direction of a rim.
typedef struct ArticulatedRim {
    Vector3 axis, side, across, u; // a, s, t, u
    real weight, length;           // e^3/(e^2 + |t|^2), |t'|
} ArticulatedRim;

HD ArticulatedRim rim_lowest(const Rotation *r, const ArticulatedPoint *point, Vector3 n)
{
    ArticulatedRim rim;
    rim.axis = rotation_out(r, vector3_of(point->axis));
    rim.side = rotation_out(r, vector3_of(point->side));
    rim.across = along(n, -dot3(n, rim.axis), rim.axis);
    rim.weight = RIM_FLAT * RIM_FLAT * RIM_FLAT / (RIM_FLAT * RIM_FLAT + dot3(rim.across, rim.across));
    const Vector3 tilted = along(rim.across, rim.weight, rim.side);
    rim.length = square_root(dot3(tilted, tilted) + 1e-24);
    rim.u = scaled(-1.0 / rim.length, tilted);
    return rim;
}

// From the rim's middle.
HD Vector3 rim_point(const ArticulatedRim *rim, const ArticulatedPoint *point, real scale)
{
    const real radius = scale * point->size[0];
    return along(scaled(radius * point->turn[0], rim->u), radius * point->turn[1], cross3(rim->axis, rim->u));
}

// Of an ellipsoid: its axes, S n in them, and |S n|.
typedef struct ArticulatedBulge {
    Rotation axes;
    Vector3 s;
    real length;
} ArticulatedBulge;

HD ArticulatedBulge bulge_lowest(const Rotation *r, const ArticulatedPoint *point, Vector3 n)
{
    ArticulatedBulge bulge;
    bulge.axes.x = rotation_out(r, vector3_of(point->axis));
    bulge.axes.y = rotation_out(r, vector3_of(point->side));
    bulge.axes.z = cross3(bulge.axes.x, bulge.axes.y);
    const Vector3 own = rotation_in(&bulge.axes, n);
    bulge.s = vector3(point->size[0] * own.x, point->size[1] * own.y, point->size[2] * own.z);
    bulge.length = length3(bulge.s);
    return bulge;
}

HD Vector3 bulge_point(const ArticulatedBulge *bulge, const ArticulatedPoint *point)
{
    const real inverse = -1.0 / bulge->length;
    return rotation_out(&bulge->axes,
                        vector3(point->size[0] * bulge->s.x * inverse, point->size[1] * bulge->s.y * inverse,
                                point->size[2] * bulge->s.z * inverse));
}

// From the body's centre, world axes.
HD Vector3 point_reach(const ArticulatedLanes *w, const ArticulatedPose *pose, const ArticulatedPoint *point,
                       real scale)
{
    const Vector3 middle = rotation_out(&pose->r, body_place(w, point->body, scale, vector3_of(point->p)));
    if (point->kind == ARTICULATED_POINT) return middle;
    const Vector3 n = surface_near(w, &w->surfaces[point->surface], added(pose->x, middle)).normal;
    if (point->kind == ARTICULATED_ELLIPSOID) {
        const ArticulatedBulge bulge = bulge_lowest(&pose->r, point, n);
        return added(middle, bulge_point(&bulge, point));
    }
    const ArticulatedRim rim = rim_lowest(&pose->r, point, n);
    return added(middle, rim_point(&rim, point, scale));
}

#endif
