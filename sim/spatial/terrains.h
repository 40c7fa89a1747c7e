// The words of the option `terrain` and their parameters, a row each, for the hopper and for robots.
#ifndef HOPSCOTCH_SPATIAL_TERRAINS_H
#define HOPSCOTCH_SPATIAL_TERRAINS_H

enum {
    TERRAIN_HAS_start = 1 << 0,
    TERRAIN_HAS_slope = 1 << 1,
    TERRAIN_HAS_height = 1 << 2,
    TERRAIN_HAS_length = 1 << 3,
    TERRAIN_HAS_x = 1 << 4,
    TERRAIN_HAS_y = 1 << 5,
    TERRAIN_HAS_scale = 1 << 6,
    TERRAIN_HAS_END = 1 << 7 // bits from here on are a model's own
};

// clang-format off
// Ground that is flat before terrain_start and then z = size phi(along / length): name, parameters. The size is
// terrain_slope or terrain_height; a terrain without terrain_length must not use the length. terrain.h has a function
// terrain_NAME.
#define TERRAIN_PROFILES(X) \
    X(slope, TERRAIN_HAS_start | TERRAIN_HAS_slope) \
    X(steps, TERRAIN_HAS_start | TERRAIN_HAS_height | TERRAIN_HAS_length) \
    X(sine,  TERRAIN_HAS_start | TERRAIN_HAS_height | TERRAIN_HAS_length)

// Those of the hopper. They depend on x alone.
#define TERRAINS_ALONG(X) \
    X(flat, 0) \
    TERRAIN_PROFILES(X) \
    X(table, 0) /* of points */

// Those of robots. file: planes and height fields of the robot's file; none: nothing touches anything.
#define TERRAINS(X) \
    TERRAINS_ALONG(X) \
    X(heights, TERRAIN_HAS_x | TERRAIN_HAS_y | TERRAIN_HAS_scale) \
    X(file, 0) \
    X(none, 0)

// name, unit, default, low, high, section, who has it, doc
#define TERRAIN_START(X) \
    X(terrain_start, "m",         1.0,    -1e6,  1e6, SECTION_PARAMETERS, TERRAIN_HAS_start, \
      "start of the terrain; the ground before it is flat, at 0 (terrain: slope, steps or sine)")
#define TERRAIN_SIZES(X) \
    X(terrain_slope, "1",         0.05,   -1e1,  1e1, SECTION_PARAMETERS, TERRAIN_HAS_slope, \
      "rise of the ground over run (terrain: slope)") \
    X(terrain_height, "m",        0.02,   -1e2,  1e2, SECTION_PARAMETERS, TERRAIN_HAS_height, \
      "rise of each step, or amplitude (terrain: steps or sine)") \
    X(terrain_length, "m",        1.0,     1e-3, 1e4, SECTION_PARAMETERS, TERRAIN_HAS_length, \
      "length of a tread, or of a wave (terrain: steps or sine)")
#define TERRAIN_GRID(X) \
    X(terrain_x, "m",             0.0,    -1e6,  1e6, SECTION_PARAMETERS, TERRAIN_HAS_x, \
      "middle of the grid of heights (terrain: heights)") \
    X(terrain_y, "m",             0.0,    -1e6,  1e6, SECTION_PARAMETERS, TERRAIN_HAS_y, \
      "the same (terrain: heights)") \
    X(terrain_scale, "1",         1.0,    -1e3,  1e3, SECTION_PARAMETERS, TERRAIN_HAS_scale, \
      "factor of all heights (terrain: heights)")
// clang-format on

#define TERRAIN_KIND(name, ...) TERRAIN_##name,
typedef enum TerrainKind { TERRAINS(TERRAIN_KIND) } TerrainKind;
#undef TERRAIN_KIND

#endif
