// What points touch: the terrain, or a shape of the world. A shape is a core and a radius around it: a point (sphere),
// a line (capsule), a solid of radius 0 (cylinder, box). With y the point in the shape's axes and x the way to it from
// the nearest point of the core, the distance is |x| - radius and the normal x/|x|; inside a solid it is the least
// distance to a face, below 0.
// Source: C. Ericson, Real-Time Collision Detection, 2005, ch. 5.1 (closest points).
#ifndef HOPSCOTCH_ARTICULATED_SURFACE_H
#define HOPSCOTCH_ARTICULATED_SURFACE_H

#include "ground.h"

// A point c in the world against a surface.
typedef struct ArticulatedNear {
    Vector3 normal; // out of the surface, where c is nearest to it
    real above;     // m: distance along the normal, below 0 inside
    real over;      // of the terrain: height over it, along z
} ArticulatedNear;

// In the axes of a shape: the way from its core, what of it is outside, and how it may turn.
typedef struct ArticulatedWay {
    Vector3 y;          // the point
    Vector3 normal;     //
    real above, length; // length: |x| outside; 1 inside
    mask outside;       // of the core
} ArticulatedWay;

HD Rotation surface_axes(const ArticulatedSurface *surface)
{
    Rotation r;
    r.x = vector3_of(surface->axes);
    r.y = vector3_of(surface->axes + 3);
    r.z = vector3_of(surface->axes + 6);
    return r;
}

HD real signed_as(real x, real sign) { return select_real(MASK(value_of(sign) < 0.0), -x, x); }

// What of x is beyond +-half.
HD real beyond(real x, real half) { return signed_as(greater_of(absolute(x) - half, splat(0.0)), x); }

// Of a vector x from the core outside of it.
HD void way_outside(ArticulatedWay *way, Vector3 x, real radius)
{
    const real square = dot3(x, x), one = splat(1.0);
    way->outside = MASK(value_of(square) > 0.0);
    way->length = square_root(select_real(way->outside, square, one));
    way->normal = scaled(1.0 / way->length, x);
    way->above = way->length - radius;
}

// Inside: the distance to the nearest face, whose normal is given.
HD void way_inside(ArticulatedWay *way, real above, Vector3 normal)
{
    way->above = select_real(way->outside, way->above, above);
    way->normal =
        vector3(select_real(way->outside, way->normal.x, normal.x), select_real(way->outside, way->normal.y, normal.y),
                select_real(way->outside, way->normal.z, normal.z));
}

HD void way_from_line(ArticulatedWay *way, real half, real radius)
{
    const real zero = splat(0.0), one = splat(1.0);
    way_outside(way, vector3(way->y.x, way->y.y, beyond(way->y.z, half)), radius);
    way_inside(way, -radius, vector3(zero, zero, one)); // on the line itself all directions are alike
}

HD void way_from_box(ArticulatedWay *way, const double *half)
{
    const Vector3 y = way->y;
    const real zero = splat(0.0), one = splat(1.0);
    const real a = absolute(y.x) - half[0], b = absolute(y.y) - half[1], c = absolute(y.z) - half[2];
    const mask first = MASK(value_of(a) >= value_of(b)) & MASK(value_of(a) >= value_of(c));
    const mask second = ~first & MASK(value_of(b) >= value_of(c)), third = ~first & ~second;
    way_outside(way, vector3(beyond(y.x, splat(half[0])), beyond(y.y, splat(half[1])), beyond(y.z, splat(half[2]))),
                zero);
    way_inside(way, select_real(first, a, select_real(second, b, c)),
               vector3(select_real(first, signed_as(one, y.x), zero), select_real(second, signed_as(one, y.y), zero),
                       select_real(third, signed_as(one, y.z), zero)));
}

// Distance from the axis of a cylinder, and the direction from it; on the axis any.
HD real way_radial(Vector3 y, Vector3 *direction)
{
    const real square = fused(y.x, y.x, y.y * y.y), zero = splat(0.0), one = splat(1.0);
    const mask off = MASK(value_of(square) > 0.0);
    const real radial = square_root(select_real(off, square, one)), inverse = 1.0 / radial;
    *direction = vector3(select_real(off, y.x * inverse, one), select_real(off, y.y * inverse, zero), zero);
    return select_real(off, radial, zero);
}

HD void way_from_cylinder(ArticulatedWay *way, real radius, real half)
{
    Vector3 out;
    const real zero = splat(0.0), radial = way_radial(way->y, &out), z = way->y.z;
    const real side = radial - radius, cap = absolute(z) - half;
    const mask sideways = MASK(value_of(side) >= value_of(cap));
    Vector3 x = scaled(greater_of(side, zero), out);
    x.z = beyond(z, half);
    way_outside(way, x, zero);
    way_inside(way, select_real(sideways, side, cap),
               vector3(select_real(sideways, out.x, zero), select_real(sideways, out.y, zero),
                       select_real(sideways, zero, signed_as(splat(1.0), z))));
}

// Of a sphere, capsule, cylinder or box.
HD ArticulatedWay surface_way(const ArticulatedSurface *surface, const Rotation *axes, Vector3 c)
{
    ArticulatedWay way;
    const real radius = splat(surface->size[0]), half = splat(surface->size[1]);
    way.y = rotation_in(axes, less(c, vector3_of(surface->p)));
    if (surface->kind == ARTICULATED_ON_BOX)
        way_from_box(&way, surface->size);
    else if (surface->kind == ARTICULATED_ON_CYLINDER)
        way_from_cylinder(&way, radius, half);
    else
        way_from_line(&way, surface->kind == ARTICULATED_ON_CAPSULE ? half : splat(0.0), radius);
    return way;
}

#define SURFACE_NONE 1e3 // m: above nothing

// Over a triangle of a height field, and in front of its plane.
HD ArticulatedNear surface_near_field(const ArticulatedLanes *w, const ArticulatedSurface *surface, Vector3 c)
{
    mask inside;
    const ArticulatedGround ground = ground_of_field(w->assets + w->c.fields, surface, c.x, c.y, &inside);
    ArticulatedNear near;
    near.normal = ground.normal;
    near.over = c.z - ground.height;
    near.above = select_real(inside, near.over * near.normal.z, splat(SURFACE_NONE));
    return near;
}

HD ArticulatedNear surface_near(const ArticulatedLanes *w, const ArticulatedSurface *surface, Vector3 c)
{
    ArticulatedNear near;
    if (surface->kind == ARTICULATED_ON_TERRAIN) {
        const ArticulatedGround ground = ground_below(w, c.x, c.y);
        near.normal = ground.normal;
        near.over = c.z - ground.height;
        near.above = near.over * near.normal.z;
        return near;
    }
    if (surface->kind == ARTICULATED_ON_HFIELD) return surface_near_field(w, surface, c);
    const Rotation axes = surface_axes(surface);
    near.over = splat(0.0);
    if (surface->kind == ARTICULATED_ON_PLANE) {
        near.normal = axes.z;
        near.above = dot3(axes.z, less(c, vector3_of(surface->p)));
        return near;
    }
    const ArticulatedWay way = surface_way(surface, &axes, c);
    near.normal = rotation_out(&axes, way.normal);
    near.above = way.above;
    return near;
}

#endif
