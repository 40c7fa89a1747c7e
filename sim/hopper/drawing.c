// The hopper as a stick figure: the foot, the leg with its spring up to the hip, the body as a mast with a beam on it.
// Angles are from the vertical, clockwise, as in the trajectory's columns.
#include "drawing.h"

#include "terrain.h"

#include <math.h>
#include <string.h>

// Columns of a sample (hopper_columns).
enum { DRAWN_X_FOOT = 1, DRAWN_Z_FOOT, DRAWN_PHI_LEG, DRAWN_PHI_BODY, DRAWN_LEN_LEG, DRAWN_FSM = 13 };

enum { DRAWN_FOOT, DRAWN_SLEEVE, DRAWN_HIP, DRAWN_BODY, DRAWN_BACK, DRAWN_FRONT, DRAWN_POINTS };

#define DRAWN_BEAM 0.36 // m, half of the beam that shows the body's inertia

static const Shape hopper_shapes[] = {
    {"body", SHAPE_ROD, DRAWN_HIP, DRAWN_BODY, 0.05},    {"body", SHAPE_ROD, DRAWN_BACK, DRAWN_FRONT, 0.13},
    {"leg", SHAPE_ROD, DRAWN_FOOT, DRAWN_SLEEVE, 0.035}, {"spring", SHAPE_SPRING, DRAWN_SLEEVE, DRAWN_HIP, 0.11},
    {"hip", SHAPE_DISC, DRAWN_HIP, DRAWN_HIP, 0.1},      {"foot", SHAPE_DISC, DRAWN_FOOT, DRAWN_FOOT, 0.08},
};

static void hopper_draw_set(double *point, int index, double x, double z)
{
    point[2 * index] = x;
    point[2 * index + 1] = z;
}

static void hopper_draw_points(const Configured *configured, const double *parameter, const double *sample,
                               double *point)
{
    (void)configured;
    const double length = sample[DRAWN_LEN_LEG], l_2 = parameter[HOPPER_PARAMETER_l_2];
    const double sin_a = sin(sample[DRAWN_PHI_LEG]), cos_a = cos(sample[DRAWN_PHI_LEG]);
    const double sin_b = sin(sample[DRAWN_PHI_BODY]), cos_b = cos(sample[DRAWN_PHI_BODY]);
    const double foot_x = sample[DRAWN_X_FOOT], foot_z = sample[DRAWN_Z_FOOT];
    const double hip_x = foot_x + length * sin_a, hip_z = foot_z + length * cos_a;
    const double body_x = hip_x + l_2 * sin_b, body_z = hip_z + l_2 * cos_b;
    const double rigid = fmin(parameter[HOPPER_PARAMETER_l_1], 0.8 * length); // the length without the spring
    hopper_draw_set(point, DRAWN_FOOT, foot_x, foot_z);
    hopper_draw_set(point, DRAWN_SLEEVE, foot_x + rigid * sin_a, foot_z + rigid * cos_a);
    hopper_draw_set(point, DRAWN_HIP, hip_x, hip_z);
    hopper_draw_set(point, DRAWN_BODY, body_x, body_z);
    hopper_draw_set(point, DRAWN_BACK, body_x - DRAWN_BEAM * cos_b, body_z + DRAWN_BEAM * sin_b);
    hopper_draw_set(point, DRAWN_FRONT, body_x + DRAWN_BEAM * cos_b, body_z - DRAWN_BEAM * sin_b);
}

// A parameter of a variant, or 0 if the lanes do not have it.
static double hopper_draw_variant(const HopperConstants *constants, const double *parameter, int variant)
{
    return constants->row[variant] >= 0 ? parameter[constants->row[variant]] : 0;
}

static double hopper_draw_ground(const Configured *configured, const double *parameter, double x)
{
    HopperWorld world;
    memset(&world, 0, sizeof world);
    memcpy(&world.c, &configured->constants, sizeof world.c);
    world.assets = configured->assets;
    world.full = true;
#define DRAWN_LOAD(name, ...) world.p.name = hopper_draw_variant(&world.c, parameter, HOPPER_VARIANT_##name);
    HOPPER_VARIANT_PARAMETERS(DRAWN_LOAD)
#undef DRAWN_LOAD
    return hopper_terrain(&world, x).height;
}

static const char *const hopper_phases[] = {"compression", "thrust", "flight"};
static const char *const hopper_phases_four[] = {"compression", "thrust", "flight: leg short", "flight: speed match"};

#define DRAWN_HOPPER(names)                                                                                            \
    {                                                                                                                  \
        .n_points = DRAWN_POINTS, .n_shapes = (int)(sizeof hopper_shapes / sizeof *hopper_shapes),                     \
        .focus = DRAWN_BODY, .shapes = hopper_shapes, .phase = DRAWN_FSM, .phases = (names),                           \
        .n_phases = (int)(sizeof(names) / sizeof *(names)), .cycle_starts = HOPPER_COMPRESSION,                        \
        .points = hopper_draw_points, .ground = hopper_draw_ground                                                     \
    }
const Drawing hopper_drawing = DRAWN_HOPPER(hopper_phases);
const Drawing hopper_drawing_four = DRAWN_HOPPER(hopper_phases_four);
#undef DRAWN_HOPPER
