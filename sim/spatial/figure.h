// Points of figures and layouts in doubles, on the host: the turn by a quaternion, and the plane view.
#ifndef HOPSCOTCH_SPATIAL_FIGURE_H
#define HOPSCOTCH_SPATIAL_FIGURE_H

// out <- v turned by the quaternion q (x, y, z, w): v + 2 w (u x v) + 2 u x (u x v). out may be v.
static inline void figure_turn(const double *q, const double *v, double *out)
{
    const double x = 2 * (q[1] * v[2] - q[2] * v[1]), y = 2 * (q[2] * v[0] - q[0] * v[2]);
    const double z = 2 * (q[0] * v[1] - q[1] * v[0]);
    const double turned[3] = {v[0] + q[3] * x + q[1] * z - q[2] * y, v[1] + q[3] * y + q[2] * x - q[0] * z,
                              v[2] + q[3] * z + q[0] * y - q[1] * x};
    for (int k = 0; k < 3; k++) out[k] = turned[k];
}

// The view from the side. Points behind (y) are shifted up and to the right by half their depth: a cabinet projection.
static inline void figure_project(const double *position, double *point)
{
    point[0] = position[0] + 0.43 * position[1];
    point[1] = position[2] + 0.25 * position[1];
}

#endif
