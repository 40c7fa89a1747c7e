// Surfaces and the points of shapes that touch them, in reverse (surface.h, point.h). Outside of a core the normal
// x/|x| turns by (D - n n')/|x|, D the derivative of x: 1 along axes in which the point is beyond the core, 0 along
// others, and around the axis of a cylinder (radial - radius)/radial.
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_POINT_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_POINT_H

#include "../contact.h"
#include "ground.h"

// ---- surfaces -------------------------------------------------------------------------------------------------------

HD real where_beyond(real x, double half, real bar)
{
    return select_real(MASK(absolute(x) > splat(half)), bar, splat(0.0));
}

// Of a sphere, capsule or box, in its axes: what the bar of the normal gives the point.
HD Vector3 pull_way(const ArticulatedSurface *surface, const ArticulatedWay *way, Vector3 n_bar)
{
    const real zero = splat(0.0), inverse = select_real(way->outside, 1.0 / way->length, zero);
    Vector3 x_bar = n_bar;
    if (surface->kind == ARTICULATED_ON_BOX) {
        x_bar.x = where_beyond(way->y.x, surface->size[0], n_bar.x);
        x_bar.y = where_beyond(way->y.y, surface->size[1], n_bar.y);
        x_bar.z = where_beyond(way->y.z, surface->size[2], n_bar.z);
    }
    if (surface->kind == ARTICULATED_ON_CAPSULE) x_bar.z = where_beyond(way->y.z, surface->size[1], n_bar.z);
    return scaled(inverse, along(x_bar, -dot3(way->normal, n_bar), way->normal));
}

// Of a cylinder; inside only the normal of its side turns.
HD Vector3 pull_way_cylinder(const ArticulatedSurface *surface, const ArticulatedWay *way, Vector3 n_bar)
{
    Vector3 out;
    const real zero = splat(0.0), one = splat(1.0), radial = way_radial(way->y, &out);
    const real side = radial - surface->size[0], cap = absolute(way->y.z) - surface->size[1];
    const real safe = select_real(MASK(radial > zero), radial, one);
    const Vector3 around = vector3(-out.y, out.x, zero);
    const real by_out = dot3(out, n_bar), by_around = dot3(around, n_bar);
    const mask aside = MASK(side > zero), inside_aside = ~way->outside & MASK(side >= cap);
    Vector3 x_bar = scaled(select_real(aside, by_out, zero), out);
    x_bar = along(x_bar, select_real(aside, side / safe * by_around, zero), around);
    x_bar.z = where_beyond(way->y.z, surface->size[1], n_bar.z);
    x_bar = along(x_bar, -dot3(way->normal, n_bar), way->normal);
    const real inverse = select_real(way->outside, 1.0 / way->length, zero);
    return along(scaled(inverse, x_bar), select_real(inside_aside, by_around / safe, zero), around);
}

// The bar of the point c by those of the distance and the normal.
HD Vector3 pull_near(const ArticulatedLanes *w, const ArticulatedSurface *surface, Vector3 c,
                     const ArticulatedNear *near, real above_bar, Vector3 n_bar)
{
    if (surface->kind == ARTICULATED_ON_TERRAIN) {
        Vector3 c_bar = vector3_zero();
        n_bar.z = fused(above_bar, near->over, n_bar.z);
        c_bar.z = above_bar * near->normal.z;
        pull_ground(w, c.x, c.y, -c_bar.z, n_bar, &c_bar);
        return c_bar;
    }
    if (surface->kind == ARTICULATED_ON_PLANE || surface->kind == ARTICULATED_ON_HFIELD)
        return scaled(above_bar, near->normal);
    const Rotation axes = surface_axes(surface);
    const ArticulatedWay way = surface_way(surface, &axes, c);
    const Vector3 own_bar = rotation_in(&axes, n_bar);
    const Vector3 y_bar = surface->kind == ARTICULATED_ON_CYLINDER ? pull_way_cylinder(surface, &way, own_bar)
                                                                   : pull_way(surface, &way, own_bar);
    return along(rotation_out(&axes, y_bar), above_bar, near->normal);
}

// ---- points ---------------------------------------------------------------------------------------------------------

// Of a rim's point: r_bar of the body's axes and *scale_bar are added to; returns the bar of the normal.
HD Vector3 pull_rim(const Rotation *r, const ArticulatedPoint *point, real scale, Vector3 n, Vector3 d_bar,
                    Rotation *r_bar, real *scale_bar)
{
    const ArticulatedRim rim = rim_lowest(r, point, n);
    const real radius = scale * point->size[0], square = dot3(rim.across, rim.across);
    const Vector3 v = cross3(rim.axis, rim.u), v_bar = scaled(radius * point->turn[1], d_bar);
    const real along_d = fused(dot3(rim.u, d_bar), splat(point->turn[0]), dot3(v, d_bar) * point->turn[1]);
    *scale_bar = fused(splat(point->size[0]), along_d, *scale_bar);
    const Vector3 u_bar = along(cross3(v_bar, rim.axis), radius * point->turn[0], d_bar);
    Vector3 axis_bar = cross3(rim.u, v_bar);
    const Vector3 tilted_bar = scaled(-1.0 / rim.length, along(u_bar, -dot3(rim.u, u_bar), rim.u));
    const real slope = -2.0 * rim.weight / (RIM_FLAT * RIM_FLAT + square); // d weight/d|t|^2, twice
    const Vector3 across_bar = along(tilted_bar, slope * dot3(rim.side, tilted_bar), rim.across);
    const real height = dot3(n, rim.axis), height_bar = -dot3(rim.axis, across_bar);
    axis_bar = along(along(axis_bar, -height, across_bar), height_bar, n);
    pull_turned(r_bar, vector3_of(point->axis), axis_bar);
    pull_turned(r_bar, vector3_of(point->side), scaled(rim.weight, tilted_bar));
    return along(across_bar, height_bar, rim.axis);
}

// The same of an ellipsoid.
HD Vector3 pull_bulge(const Rotation *r, const ArticulatedPoint *point, Vector3 n, Vector3 d_bar, Rotation *r_bar)
{
    const ArticulatedBulge bulge = bulge_lowest(r, point, n);
    const double *size = point->size;
    const real inverse = -1.0 / bulge.length;
    const Vector3 own_bar = rotation_in(&bulge.axes, d_bar), s = bulge.s;
    const Vector3 own = vector3(size[0] * s.x * inverse, size[1] * s.y * inverse, size[2] * s.z * inverse);
    const Vector3 direct = vector3(size[0] * own_bar.x, size[1] * own_bar.y, size[2] * own_bar.z);
    const Vector3 s_bar = scaled(inverse, along(direct, -dot3(s, direct) * inverse * inverse, s));
    const Vector3 n_bar = vector3(size[0] * s_bar.x, size[1] * s_bar.y, size[2] * s_bar.z);
    const Vector3 z_bar = along(scaled(own.z, d_bar), n_bar.z, n);
    const Vector3 x_bar = along(along(cross3(bulge.axes.y, z_bar), own.x, d_bar), n_bar.x, n);
    const Vector3 y_bar = along(along(cross3(z_bar, bulge.axes.x), own.y, d_bar), n_bar.y, n);
    pull_turned(r_bar, vector3_of(point->axis), x_bar);
    pull_turned(r_bar, vector3_of(point->side), y_bar);
    return rotation_out(&bulge.axes, n_bar);
}

// Of the position of a point, by the bar of its way from the body's centre; returns what the body's pose gets besides.
HD Vector3 pull_reach(const ArticulatedLanes *w, int body, const ArticulatedPose *pose, const ArticulatedPoint *point,
                      real scale, Vector3 d_bar, Rotation *r_bar)
{
    const Vector3 p = vector3_of(point->p), place = body_place(w, body, scale, p),
                  middle = rotation_out(&pose->r, place);
    Vector3 moved = vector3_zero();
    real scale_bar = splat(0.0);
    if (point->kind != ARTICULATED_POINT) {
        const ArticulatedSurface *surface = &w->surfaces[point->surface];
        const Vector3 c = added(pose->x, middle);
        const ArticulatedNear near = surface_near(w, surface, c);
        const Vector3 n_bar = point->kind == ARTICULATED_RIM
                                  ? pull_rim(&pose->r, point, scale, near.normal, d_bar, r_bar, &scale_bar)
                                  : pull_bulge(&pose->r, point, near.normal, d_bar, r_bar);
        moved = pull_near(w, surface, c, &near, splat(0.0), n_bar);
    }
    const Vector3 middle_bar = added(d_bar, moved);
    const Vector3 place_bar = rotation_in(&pose->r, middle_bar);
    pull_turned(r_bar, place, middle_bar);
    number_bar(w, body, ARTICULATED_scale, dot3(p, place_bar) + scale_bar);
    vector_bar(w, body, ARTICULATED_moved_x, scaled(splat(-1.0), place_bar));
    return moved;
}

#endif
