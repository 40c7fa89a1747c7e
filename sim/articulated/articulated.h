// What the host side (articulated.c, layout.c) and the kernel (advance.h) of articulated robots share: the layout of a
// robot in the assets, and of a lane in its memory.
#ifndef HOPSCOTCH_ARTICULATED_H
#define HOPSCOTCH_ARTICULATED_H

#include "../sim.h"
#include "../spatial/terrains.h"
#include "robot.h"

// Numbers of a body and of the joint to its parent. Body axes are those of its frame in the file.
// clang-format off
#define ARTICULATED_NUMBERS(X) \
    X(mass) X(xx) X(yy) X(zz) X(xy) X(xz) X(yz)       /* kg; kg m^2 about its centre of mass, body axes */ \
    X(anchor_x) X(anchor_y) X(anchor_z)               /* m: the joint, from the body's centre, body axes */ \
    X(seat_x) X(seat_y) X(seat_z)                     /* m: the joint, from the parent's centre, the parent's axes */ \
    X(rest_x) X(rest_y) X(rest_z) X(rest_w)           /* the body's axes in its parent's, at coordinate 0 */ \
    X(axis_x) X(axis_y) X(axis_z)                     /* of hinge and slide, body axes */ \
    X(reference)                                      /* its coordinate there (rad, m) */ \
    X(start)                                          /* its coordinate at t = 0 */ \
    X(kp) X(kd) X(effort) X(bias)                     /* motor: N m/rad, N m s/rad, N m, N m; of a slide N/m ... */ \
    X(armature) X(damping) X(stiffness) X(spring)     /* kg m^2, N m s/rad, N m/rad, rad */ \
    X(friction)                                       /* N m */ \
    X(low) X(high)                                    /* limits of the coordinate; infinite: none */ \
    X(offset) X(amplitude) X(phase)                   /* of the command: rad, rad, rad */ \
    X(command_low) X(command_high)                    /* of the motor */ \
    X(scale)                                          /* of its points, by designs of its length */ \
    X(least) X(most)                                  /* of the effort of an uneven motor: N m; of a slide N */ \
    /* a number from here on counts where it is varied */ \
    X(encoder)                                        /* rad: what it reads beyond the coordinate */ \
    X(delay)                                          /* s: of commands */ \
    X(stiction) X(stribeck)                           /* N m: dry friction more at rest; rad/s */ \
    X(load) X(stickload)                              /* 1: dry friction by the motor's effort; the same more at rest */ \
    X(drag)                                           /* N m s^2/rad^2: friction by the square of the rate */ \
    X(resistance) X(kt) X(gear) X(emf) X(voltage)     /* of a motor with a voltage: ohm, N m/A, 1, V s/rad, V */ \
    X(moved_x) X(moved_y) X(moved_z)                  /* m: the centre from that of the file, body axes */ \
    X(log_x) X(log_y) X(log_z)                        /* 1: of its inertia (ArticulatedBody.spread) */ \
    X(shear_xy) X(shear_xz) X(shear_yz)               /* 1 */
// clang-format on
#define ARTICULATED_ENTRY(name) ARTICULATED_##name,
enum { ARTICULATED_NUMBERS(ARTICULATED_ENTRY) ARTICULATED_N_NUMBERS };
#undef ARTICULATED_ENTRY

// Numbers of a joint's inputs that only the begin of a lane reads: its rates at t = 0, as RobotKeyframe.rates.
enum { ARTICULATED_rates = ARTICULATED_N_NUMBERS };

// The robot in the assets: arrays of these structs, each a whole number of doubles.
typedef struct ArticulatedBody {
    double number[ARTICULATED_N_NUMBERS];
    double pivot[3];      // m: the joint in the body's frame
    double seat[3];       // m: the body's frame at rest from the parent's centre, the parent's axes
    double frame[7];      // of the root: its frame at t = 0, position (m) and quaternion
    double centre[3];     // m: of mass, from the frame's origin, body axes
    int32_t parent;       // before it; -1: the world
    int32_t kind;         // RobotJointKind
    int32_t driven;       // 0, or the number of the driven joint, from 1
    int32_t n_own_points; // the first of its points: those of its own shapes
    int64_t varied;       // bit k: number k depends on the lane's inputs, by itself or by a design
    double spread[6];   // m: the second moment of its mass about its centre is m C C' in the file, C an upper triangle
                        // (xx, xy, xz, yy, yz, zz); 0: no body has the file's inertia
    int32_t own, n_own; // first cell of the lane's own numbers, and how many these are: all from the first on; -1, 0:
                        // all lanes have those above
    int32_t point, n_points; // points[point .. point + n_points) may touch the ground
    int32_t joint;           // of the joints with one coordinate; -1: none
    int32_t ranged, uneven;  // 0 or 1: low or high is finite; its motor has numbers least and most
    int32_t leaf, opens;     // 0 or 1: no joint leads on from it; of its parent's joints its own is the last in order
    int32_t none;
} ArticulatedBody;

// A point of a shape that may touch a surface.
typedef enum ArticulatedPointKind {
    ARTICULATED_POINT,    // a sphere around p
    ARTICULATED_RIM,      // of the circle around p: the lowest point, or one that is an angle further
    ARTICULATED_ELLIPSOID // the lowest point of an ellipsoid around p
} ArticulatedPointKind;
typedef struct ArticulatedPoint {
    double p[3];             // m, from the body's centre, body axes
    double axis[3], side[3]; // of a rim: its axis, and a direction across; of an ellipsoid: its x and y axes; body axes
    double size[3];          // m: of a rim its radius; of an ellipsoid its half axes
    double turn[2];          // of a rim: cosine and sine of that angle
    double radius;           // m: of the sphere, and how far from the surface it begins to touch
    double friction;         // coefficient, times ground_friction
    double spread, reach;    // m, of a shape's first point on a surface: how far its others are, and how far all reach
    int32_t kind, surface;   // ArticulatedPointKind; index in the surfaces
    int32_t group, body;     // of that first point: how many there are, of the others 0; the body
} ArticulatedPoint;

// A frame on a body whose motion has columns.
typedef struct ArticulatedFrame {
    double p[3], q[4]; // m, from the body's centre, body axes; quaternion x, y, z, w in these
    int32_t body, none;
} ArticulatedFrame;

// What points touch: the terrain of the spec, or a shape of the world.
typedef enum ArticulatedSurfaceKind {
    ARTICULATED_ON_TERRAIN,
    ARTICULATED_ON_PLANE, // below its x and y axes
    ARTICULATED_ON_SPHERE,
    ARTICULATED_ON_CAPSULE,
    ARTICULATED_ON_CYLINDER,
    ARTICULATED_ON_BOX,
    ARTICULATED_ON_HFIELD // z upwards
} ArticulatedSurfaceKind;
typedef struct ArticulatedSurface {
    double p[3];    // m: its middle; of a plane a point on it
    double axes[9]; // its x, y and z axes, world axes
    double size[3]; // m, as of a RobotShape; of a height field between its columns, and between its rows
    int32_t kind;
    int32_t first, rows, columns; // of a height field: its heights in those of all
} ArticulatedSurface;

// A lane input that is a number of a body, or of several.
typedef struct ArticulatedInput {
    int32_t parameter, body, number, none;
    double add; // to the parameter's value
} ArticulatedInput;

// A lane input that changes the shape or strength of a body.
typedef enum ArticulatedDesignKind {
    ARTICULATED_ROTATE, // of its frame about an axis of its own, in the parent (rad)
    ARTICULATED_LENGTH, // offsets, mass and centre by s, inertia by s^3
    ARTICULATED_WEIGHT, // mass and inertia by s
    ARTICULATED_GAIN,   // of its motor, kp and kd by s
    ARTICULATED_DESIGNS
} ArticulatedDesignKind;
typedef struct ArticulatedDesign {
    int32_t kind, body, parameter, axis;
    double sign; // of a rotation; -1: mirrored
} ArticulatedDesign;

// A column of a recorded motion: what of the lane it is compared with.
typedef enum ArticulatedTargetKind {
    ARTICULATED_TARGET_CELL,       // a cell of the body (its velocity, its joint's rate ...)
    ARTICULATED_TARGET_COORDINATE, // of the body's joint
    ARTICULATED_TARGET_POSITION,   // x, y or z of the body's frame
    ARTICULATED_TARGET_TURN        // x, y, z or w of its quaternion; of a ball in its parent
} ArticulatedTargetKind;
typedef struct ArticulatedTarget {
    int32_t kind, body, component, none; // component: the cell, or 0 to 3
    double weight;                       // 1/scale
} ArticulatedTarget;

// Words of `control.mode`: name, what it says of itself, what it uses, why it has no gradient. control.h has a case for
// each.
enum {
    CONTROL_TABLE = 1 << 0,   // rows of a table of actions
    CONTROL_ACTS = 1 << 1,    // actions of an environment, which may be efforts
    CONTROL_SWINGS = 1 << 2,  // parameters of the gait of all joints
    CONTROL_LEGS = 1 << 3,    // legs (raibert.h)
    CONTROL_EFFORTS = 1 << 4, // efforts beside coordinates
    CONTROL_MOTORS = 1 << 5,  // motors, which the robot must have
    CONTROL_LAW = 1 << 6,     // a law (../law.h)
    CONTROL_POLICY = 1 << 7,  // whose outputs are actions that a policy gives
    CONTROL_ADDS = 1 << 8     // a law may add to its commands
};
// clang-format off
#define ARTICULATED_CONTROLS(X) \
    X(hold, "hold: their offset; ", 0, NULL) \
    X(gait, "gait: offset + amplitude sin(2 pi gait_frequency t + phase); ", CONTROL_MOTORS | CONTROL_SWINGS | CONTROL_ADDS, NULL) \
    X(actions, "actions: offset + control.actions or control.file; ", CONTROL_MOTORS | CONTROL_TABLE, NULL) \
    X(raibert, "raibert: legs that trot, walk or hop at a commanded speed; ", \
      CONTROL_MOTORS | CONTROL_LEGS | CONTROL_EFFORTS, \
      "`control: {mode: raibert}` has no gradient by the adjoint or the tangent") \
    X(external, "external: the table of actions, or the actions of an environment", \
      CONTROL_MOTORS | CONTROL_TABLE | CONTROL_ACTS, NULL) \
    X(law, "; law: control.law, of your own", CONTROL_MOTORS | CONTROL_EFFORTS | CONTROL_LAW, NULL) \
    X(policy, "; policy: a network, control.file, gives them for what environment.observe says", \
      CONTROL_MOTORS | CONTROL_LAW | CONTROL_POLICY, NULL)

// Words of `control.gait`: feet that swing together, and when. A stride's frequency (Hz), duty and bounce by default;
// phases of a row of legs and of a right leg; of `wave` a row counts as that fraction of all rows.
#define ARTICULATED_GAITS(X) \
    X(trot,  2.5, 0.5,  0.0, 0.5, 0.5, false) \
    X(pace,  2.5, 0.5,  0.0, 0.0, 0.5, false) \
    X(bound, 3.0, 0.4,  1.0, 0.5, 0.0, false) \
    X(pronk, 2.5, 0.4,  1.0, 0.0, 0.0, false) \
    X(walk,  1.5, 0.65, 0.0, 0.5, 0.5, true) \
    X(run,   2.5, 0.35, 1.0, 0.5, 0.5, false) \
    X(hop,   2.5, 0.4,  1.0, 0.0, 0.0, false)

// Words of `attachment`, and what each says of itself. All but the tree are negative controls (apart.h).
#define ARTICULATED_ATTACHMENTS(X) \
    X(tree, "tree: one implicit solve over the robot; the others are negative controls, which show what goes wrong: ") \
    X(child_only, "child_only gives no reaction to the parent, ") \
    X(gauss_seidel, "gauss_seidel sweeps over the joints, ") \
    X(explicit, "explicit takes the springs of the old state")
// clang-format on
#define ARTICULATED_ENTRY(name, ...) ARTICULATED_CONTROL_##name,
typedef enum ArticulatedControl { ARTICULATED_CONTROLS(ARTICULATED_ENTRY) } ArticulatedControl;
#undef ARTICULATED_ENTRY
#define ARTICULATED_ENTRY(name, ...) ARTICULATED_GAIT_##name,
typedef enum ArticulatedGait { ARTICULATED_GAITS(ARTICULATED_ENTRY) ARTICULATED_N_GAITS } ArticulatedGait;
#undef ARTICULATED_ENTRY
#define ARTICULATED_ENTRY(name, ...) ARTICULATED_ATTACHMENT_##name,
typedef enum ArticulatedAttachment { ARTICULATED_ATTACHMENTS(ARTICULATED_ENTRY) } ArticulatedAttachment;
#undef ARTICULATED_ENTRY

// A leg: the joints from the base to a foot.
enum { ARTICULATED_LEGS = 8, ARTICULATED_LEG_BODIES = 16, ARTICULATED_LEG_JOINTS = 6 };
typedef struct ArticulatedLeg {
    int32_t foot, n_bodies, n_driven, none;
    int32_t bodies[ARTICULATED_LEG_BODIES]; // [n_bodies] from the one at the base to the foot
    int32_t driven[ARTICULATED_LEG_JOINTS]; // [n_driven] of them, whose hinge or slide has a motor
} ArticulatedLeg;

// Shared by all lanes; stored in sim.h's Constants. Offsets are in doubles of the assets, or of a lane's memory.
// clang-format off
#define ARTICULATED_CONSTANTS(X) \
    X(double, dt) X(int64_t, ticks) \
    X(int32_t, attachment) X(int32_t, control) X(int32_t, uses) X(int32_t, sweeps) /* uses: CONTROL_... */ \
    X(int32_t, n_bodies) X(int32_t, n_joints) X(int32_t, n_points) X(int32_t, n_inputs) X(int32_t, n_designs) \
    /* 0 or 1: no root is fixed to the world; the body that is the base */ \
    X(int32_t, floats) X(int32_t, base) \
    /* in the assets; bodies: at 0 */ \
    X(int32_t, points) X(int32_t, surfaces) X(int32_t, n_surfaces) X(int32_t, inputs) X(int32_t, designs) \
    X(int32_t, actions) X(int32_t, n_actions) \
    /* of actions without starts: steps for which a row of the table is held */ \
    X(int32_t, held) \
    /* TerrainKind; its n_terrain parameters from terrain_row on; the table's points [n_table][x, z] in the assets */ \
    X(int32_t, terrain) X(int32_t, terrain_row) X(int32_t, n_terrain) X(int32_t, table) X(int32_t, n_table) \
    /* heights[n_rows][n_columns] in the assets, spacing (m) apart */ \
    X(double, spacing) X(int32_t, heights) X(int32_t, n_rows) X(int32_t, n_columns) \
    /* heights of the file's height fields in the assets */ \
    X(int32_t, fields) X(int32_t, n_fields) \
    /* starts[n_actions] in the assets: the first step of each row of the table of commands; 0: none */ \
    X(int32_t, starts) \
    /* in the memory; bodies: at 0 */ \
    X(int32_t, sums_at) X(int32_t, cells) \
    /* order two: step_error, then what is kept of the whole step (memory.h); 0: order one */ \
    X(int32_t, whole) \
    /* some joint is a ball */ \
    X(int32_t, balls) \
    /* stretch of the springs of anchored friction, 3 cells for each point; 0: friction is viscous */ \
    X(int32_t, grips) \
    /* control: raibert: its legs in the assets, the first of its parameters and metrics, its cells in the memory, and \
       how often the least squares of a leg improve its coordinates in a step */ \
    X(int32_t, n_legs) X(int32_t, legs) X(int32_t, raibert_row) X(int32_t, raibert_metric) X(int32_t, raibert) \
    X(int32_t, reaches) \
    /* effort beside the motor's and scale of its gains, for each joint with one coordinate; 0: none */ \
    X(int32_t, efforts) \
    /* columns and rows of the recorded motion, in the assets; n_targets 0: there is none. records: step[n_records], \
       fraction[n_records], value[n_records][n_targets] (reference.h); compared: cells in the memory */ \
    X(int32_t, targets) X(int32_t, n_targets) X(int32_t, records) X(int32_t, n_records) X(int32_t, compared) \
    /* loss of the differences from it (ArticulatedLoss), and from which difference on one counts less */ \
    X(double, loss_width) X(int32_t, loss) \
    /* rates[n_bodies][ROBOT_RATES] at t = 0 in the assets; 0: all is at rest. n_rates inputs behind the n_inputs set \
       some of them */ \
    X(int32_t, rates) X(int32_t, n_rates) \
    /* ArticulatedFrame[n_frames] in the assets: whose motion has columns */ \
    X(int32_t, frames) X(int32_t, n_frames) \
    /* commands and efforts of the last n_late steps, for each joint with one coordinate, in the memory; n_late 0: no \
       such commands come late */ \
    X(int32_t, late) X(int32_t, n_late)
// clang-format on
typedef enum ReferenceScale { REFERENCE_DEVIATION, REFERENCE_NONE, REFERENCE_NOISE } ReferenceScale;
typedef enum ArticulatedLoss { ARTICULATED_SQUARES, ARTICULATED_HUBER, ARTICULATED_CAUCHY } ArticulatedLoss;
typedef struct ArticulatedConstants {
#define ARTICULATED_MEMBER(type, name) type name;
    ARTICULATED_CONSTANTS(ARTICULATED_MEMBER)
#undef ARTICULATED_MEMBER
} ArticulatedConstants;

// A lane's inputs that every robot has.
// clang-format off
#define ARTICULATED_PARAMETERS(X) \
    X(gravity, "m/s^2", 9.81, -1e3, 1e3, "acceleration of gravity, downwards") \
    X(attach_stiffness, "N/m", 1e6, 0, 1e12, "of a joint's springs that hold its two anchors together") \
    X(attach_damping, "N s/m", 1e4, 0, 1e12, "of these springs") \
    X(attach_turn_stiffness, "N m/rad", 1e6, 0, 1e12, "of a joint's springs that hold its axes together") \
    X(attach_turn_damping, "N m s/rad", 1e2, 0, 1e12, "of these springs") \
    X(limit_stiffness, "N m/rad", 1e4, 0, 1e12, "of a joint beyond its range; of a slide N/m") \
    X(limit_damping, "N m s/rad", 1e2, 0, 1e12, "the same, fading in over the first 1e-3 rad (m)") \
    X(friction_speed, "rad/s", 0.05, 1e-9, 1e3, "dry friction of a joint is viscous below this rate; of a slide m/s") \
    X(ground_stiffness, "N/m", 2e4, 0, 1e12, "of the ground, for each point that touches it") \
    X(ground_damping, "N s/m", 500, 0, 1e12, "the same, fading in over ground_depth") \
    X(ground_depth, "m", 2e-3, 1e-9, 1.0, "depth at which the damping of the ground is full") \
    X(ground_friction, "1", 1.0, 0, 100, "factor of the coefficients of friction of the file, 1 where it has none") \
    X(slip_speed, "m/s", 0.1, 1e-9, 1e3, "friction is viscous below this speed: a robot at rest creeps") \
    X(grip_stiffness, "N/m", 2e4, 1e-3, 1e12, "friction: anchored: of the spring that holds each point") \
    X(grip_damping, "N s/m", 200, 0, 1e12, "the same: of its damper") \
    X(gait_frequency, "Hz", 1.5, 0, 1e3, "control gait: of all joints") \
    X(push_x, "N", 0, -1e6, 1e6, "force on the base's centre of mass during the push") \
    X(push_y, "N", 0, -1e6, 1e6, "the same, to the left") \
    X(push_z, "N", 0, -1e6, 1e6, "the same, upwards") \
    X(push_time, "s", 1.0, 0, 1e6, "when the push begins") \
    X(push_duration, "s", 0.1, 0, 1e6, "how long the push lasts") \
    X(fall_height, "m", 0, -1e6, 1e6, "a replicate ends as fell when the base's centre is lower than this over the ground; 0: never") \
    X(fall_tilt, "rad", 0, 0, 3.2, "the same when the base's z axis is tilted by more than this; 0: never")
#define ARTICULATED_INITIAL(X) \
    X(base_x, "m", 0, "position of the base's frame, added to that of the robot's file or keyframe") \
    X(base_y, "m", 0, "the same") \
    X(base_z, "m", 0, "the same") \
    X(base_vx, "m/s", 0, "velocity of all bodies, added to that of the keyframe") \
    X(base_vy, "m/s", 0, "the same") \
    X(base_vz, "m/s", 0, "the same")
// clang-format on

// clang-format off
#define ARTICULATED_METRICS(X) \
    X(distance, "m", "how far the base's centre of mass moved along x") \
    X(mean_speed, "m/s", "distance through the time survived") \
    X(lateral_drift, "m", "how far the base's centre of mass moved along y, without sign") \
    X(energy, "J", "work of all motors without sign: the integral of sqrt((effort * rate)^2 + (1 mW)^2)") \
    X(cost_of_transport, "1", "energy / (weight * s), 2 s = distance + sqrt(distance^2 + (0.1 m)^2): smooth also at rest") \
    X(height_mean, "m", "mean height of the base's centre of mass over z = 0") \
    X(tilt_rms, "rad", "rms angle between the base's z axis and the vertical") \
    X(action_rate, "rad/s", "rms rate of the commands, over all driven joints") \
    X(ground_force_max, "N", "greatest sum of all normal forces that act in a step") \
    X(ground_force_mean, "N", "mean of that sum") \
    X(slip, "m", "length of the paths of all points along the ground while they touch it") \
    X(gap_max, "m", "greatest distance between the two anchors of a joint") \
    X(saturation, "1", "fraction of the time, over all driven joints, in which a motor is at an end of its efforts") \
    X(limit_time, "1", "fraction of the time, over all joints with a range, beyond the range") \
    X(momentum_error, "1", "greatest error of the robot's momentum, linear or angular, through the sum of its bodies'") \
    X(contact_count, "1", "mean number of points that touch the ground") \
    X(touchdowns, "1", "times that a body without contact touched the ground") \
    X(survived, "s", "time until the replicate ended")
// clang-format on
// A lane's inputs with control: raibert; then the phase of each leg. Defaults of the first three are those of the gait.
// clang-format off
#define ARTICULATED_RAIBERT(X) \
    X(stride_frequency, "Hz", 2.5, 0.01, 50, "strides per second") \
    X(duty, "1", 0.5, 0.05, 1, "fraction of a stride in which a foot stands") \
    X(bounce, "1", 0, 0, 2, "the feet push with the half sine of their stance instead of the weight: 1 for gaits that fly") \
    X(speed, "m/s", 0.5, -100, 100, "commanded speed ahead") \
    X(speed_left, "m/s", 0, -100, 100, "the same, to the left") \
    X(yaw_rate, "rad/s", 0, -20, 20, "commanded rate of turning, to the left") \
    X(start_time, "s", 0, 0, 1e6, "all feet stand until then") \
    X(ramp_time, "s", 1.0, 0, 1e6, "the commands grow from 0 in this time") \
    X(settle_time, "s", 2.0, 0, 1e6, "speed_error and heading_error count from then on") \
    X(body_height, "m", 0, -10, 10, "commanded height of the base over its feet, added to that at t = 0") \
    X(body_pitch, "rad", 0, -1.5, 1.5, "commanded pitch, nose down") \
    X(placement_gain, "s", 0.05, -10, 10, "k of v T_s/2 + k (v - v_des), how far ahead a foot is placed") \
    X(foot_forward, "m", 0, -10, 10, "how far the feet are placed ahead of where they stand around the centre of mass") \
    X(foot_outward, "m", 0, -10, 10, "the same, away from the middle") \
    X(swing_height, "m", 0.06, 0, 10, "how high a foot is lifted over both ends of its swing") \
    X(early, "1", 0.5, 0, 1, "a foot that touches after this fraction of its swing stands") \
    X(late_speed, "m/s", 0.5, 0, 100, "speed of going down of a foot that has not touched at the end of its swing") \
    X(height_gain, "1/s^2", 100, 0, 1e6, "vertical acceleration per error of the height") \
    X(height_rate_gain, "1/s", 15, 0, 1e6, "the same per vertical speed") \
    X(roll_gain, "1/s^2", 150, 0, 1e6, "angular acceleration per roll") \
    X(roll_rate_gain, "1/s", 20, 0, 1e6, "the same per rate of roll") \
    X(pitch_gain, "1/s^2", 150, 0, 1e6, "angular acceleration per pitch") \
    X(pitch_rate_gain, "1/s", 20, 0, 1e6, "the same per rate of pitch") \
    X(yaw_gain, "1/s^2", 50, 0, 1e6, "angular acceleration per error of the heading") \
    X(yaw_rate_gain, "1/s", 10, 0, 1e6, "the same per error of the yaw rate") \
    X(speed_gain, "1/s", 10, 0, 1e6, "horizontal acceleration per error of the speed") \
    X(centre_gain, "1/s^2", 20, 0, 1e6, "until start_time: horizontal acceleration per distance to the middle of the feet") \
    X(load, "1", 0.1, 0, 0.5, "fraction of stance in which a foot takes up its load, and in which it gives it off") \
    X(cone, "1", 0.6, 0, 100, "coefficient of friction that the feet's forces respect") \
    X(balance_softness, "1", 1e-4, 1e-9, 1e3, "how far vertical force, roll and pitch may be missed") \
    X(track_softness, "1", 1e-2, 1e-9, 1e3, "the same, of horizontal forces and yaw") \
    X(stance_gain, "1", 0.1, 0, 10, "fraction of kp and kd with which a standing leg keeps its foot") \
    X(rate_part, "1", 1, 0, 2, "fraction of the commands' rate that kd follows") \
    X(reach_damping, "m/rad", 0.02, 1e-6, 10, "damping of the least squares for a leg's joints") \
    X(level_weight, "m/rad", 0.1, 0, 10, "flat feet: distance that counts as much as a radian of tilt")
// clang-format on
#define ARTICULATED_ENTRY(name, ...) RAIBERT_##name,
enum { ARTICULATED_RAIBERT(ARTICULATED_ENTRY) RAIBERT_PARAMETERS };
#undef ARTICULATED_ENTRY

#define ARTICULATED_ENTRY(name, ...) ARTICULATED_PARAMETER_##name,
enum { ARTICULATED_PARAMETERS(ARTICULATED_ENTRY) ARTICULATED_INITIAL(ARTICULATED_ENTRY) ARTICULATED_N_PARAMETERS };
#undef ARTICULATED_ENTRY
#define ARTICULATED_ENTRY(name, ...) ARTICULATED_METRIC_##name,
enum { ARTICULATED_METRICS(ARTICULATED_ENTRY) ARTICULATED_N_METRICS };
#undef ARTICULATED_ENTRY
enum { ARTICULATED_REFERENCE_ERROR = ARTICULATED_N_METRICS }; // one more with a recorded motion
enum { RAIBERT_METRICS = 2 };                                 // then, with control: raibert
// Then, with order: two, step_error: the last one.

// Debug rows: a body in a step. Columns from gap_x to axis are in the order of debug.h.
// clang-format off
#define ARTICULATED_DEBUG(X) \
    X(time, "s", "of the step's start", "time") \
    X(body, "1", "from 0, in the order of the file", "body") \
    X(gap_x, "m", "from the joint's anchor on the parent to that on the body; of a slide across its axis", "C") \
    X(gap_y, "m", "the same", "C") \
    X(gap_z, "m", "the same", "C") \
    X(turn_x, "rad", "of the body from where the joint holds it; of a hinge across its axis; of a ball from its rest", \
      "C") \
    X(turn_y, "rad", "the same", "C") \
    X(turn_z, "rad", "the same", "C") \
    X(force_x, "N", "multiplier of gap: force of the parent on the body", "lambda") \
    X(force_y, "N", "the same", "lambda") \
    X(force_z, "N", "the same", "lambda") \
    X(torque_x, "N m", "multiplier of turn: torque of the parent on the body; of a ball with its motor's", "lambda") \
    X(torque_y, "N m", "the same", "lambda") \
    X(torque_z, "N m", "the same", "lambda") \
    X(axis, "N m", "of all along the axis of a hinge: motor, armature, springs, friction, limits; of a slide in N", \
      "lambda") \
    X(residual, "1", "|A u - b| / (|A| |u| + |b|) of the body's rows: what the solve left", "residual") \
    X(residual_max, "1", "greatest residual of all bodies", "residual")
// clang-format on
#define ARTICULATED_ENTRY(name, ...) ARTICULATED_DEBUG_##name,
enum { ARTICULATED_DEBUG(ARTICULATED_ENTRY) ARTICULATED_N_DEBUG };
#undef ARTICULATED_ENTRY

// A sample: time and base; coordinate, rate, command, effort of all joints with one coordinate; normal force of bodies
// with points; body by body the quaternion of a ball, and position and quaternion of a free body that is not the base.
enum { ARTICULATED_BASE_COLUMNS = 14, ARTICULATED_JOINT_COLUMNS = 4 };

enum { ARTICULATED_NONE, ARTICULATED_FELL, ARTICULATED_DIVERGED, ARTICULATED_NON_FINITE };
#define ARTICULATED_FAST 1e4 // m/s, rad/s: a body that is faster has diverged

// Cells of a body in a lane's memory.
enum {
    ARTICULATED_X = 0,                        // centre of mass (3)
    ARTICULATED_Q = 3,                        // quaternion x, y, z, w
    ARTICULATED_V = 7,                        // velocity of the centre (3)
    ARTICULATED_L = 10,                       // angular momentum about the centre, world axes (3)
    ARTICULATED_W = 13,                       // angular velocity that the last solve gave (3)
    ARTICULATED_COORDINATE = 16,              // of the joint
    ARTICULATED_RATE = 17,                    // of the coordinate, by the last solve with its own row; of a ball its
                                              // angular velocity against the parent, in body axes (3)
    ARTICULATED_COMMAND = 20,                 //
    ARTICULATED_MOTOR_F,                      // impulse of the motor: f - D rate (N m s)
    ARTICULATED_MOTOR_D,                      //
    ARTICULATED_EFFORT,                       // of the motor in the last step
    ARTICULATED_FORCE,                        // sum of its points' normal forces in the last step
    ARTICULATED_AXIS,                         // of the joint, world axes (3)
    ARTICULATED_REACH = ARTICULATED_AXIS + 3, // of a slide, from its parent's centre to its anchor (3)
    ARTICULATED_PUSH = ARTICULATED_REACH + 3, // sum of its points' normal impulses: at u' = 0, less per u' (7)
    ARTICULATED_A = ARTICULATED_PUSH + 7,     // its block of the matrix (21)
    ARTICULATED_U = ARTICULATED_A + 21,       // right-hand side, then the solution (6)
    ARTICULATED_UP = ARTICULATED_U + 6,       // A^-1 B, B the block that couples it to its parent, by rows (36)
    ARTICULATED_CELLS = ARTICULATED_UP + 36
};
// Cells of a body that a step of order two keeps behind Constants.whole: from the first one on.
enum { ARTICULATED_WHOLE_CELLS = ARTICULATED_FORCE + 1 };
// Cells of a joint behind Constants.efforts.
enum { ARTICULATED_FEEDFORWARD, ARTICULATED_GAIN_SCALE, ARTICULATED_EFFORT_CELLS };
// Cells of control: raibert, and of each of its legs behind them.
enum {
    RAIBERT_MASS,                               // of the robot
    RAIBERT_INERTIA,                            // at t = 0, about the axes of its heading (3)
    RAIBERT_COURSE = RAIBERT_INERTIA + 3,       // the heading at t = 0 (3)
    RAIBERT_HEIGHT = RAIBERT_COURSE + 3,        // of the base's centre over the feet, at t = 0
    RAIBERT_COUNT,                              // steps that count
    RAIBERT_SPEED,                              // squares of the speed's error in them
    RAIBERT_TURN,                               // of the heading's
    RAIBERT_CELLS,                              //
    RAIBERT_LEG_STANDS = 0,                     // 0 or 1
    RAIBERT_LEG_SWITCHED,                       // in this step
    RAIBERT_LEG_PHASE,                          //
    RAIBERT_LEG_SOLE,                           // height of the foot's point over the sole
    RAIBERT_LEG_GROUND,                         // height of the last foothold
    RAIBERT_LEG_FROM,                           // where the foot left the ground (3)
    RAIBERT_LEG_HOLD = RAIBERT_LEG_FROM + 3,    // where it stands, or shall (3)
    RAIBERT_LEG_FOOT = RAIBERT_LEG_HOLD + 3,    // the foot's point, from its body's centre, body axes (3)
    RAIBERT_LEG_NOMINAL = RAIBERT_LEG_FOOT + 3, // from the middle of all feet at t = 0, axes of the heading (3)
    RAIBERT_LEG_AXES = RAIBERT_LEG_NOMINAL + 3, // of the foot then (4)
    RAIBERT_LEG_CELLS = RAIBERT_LEG_AXES + 4
};
// Sums of a lane, after the metrics so far.
enum {
    ARTICULATED_SUM_X = ARTICULATED_N_METRICS, // of the base at t = 0
    ARTICULATED_SUM_Y,
    ARTICULATED_SUM_ARM,                                   // of all bodies' m x, as they stand (3)
    ARTICULATED_SUM_MOMENTUM = ARTICULATED_SUM_ARM + 3,    // what it should be (6)
    ARTICULATED_SUM_LINEAR = ARTICULATED_SUM_MOMENTUM + 6, // greatest sum of the bodies' m |v|
    ARTICULATED_SUM_ANGULAR,                               // and of m |x| |v| + |L|
    ARTICULATED_SUM_MASS,                                  // of all bodies
    ARTICULATED_SUMS
};

// ---- layout.c -------------------------------------------------------------------------------------------------------

// Joints that share parameters.
typedef struct ArticulatedGroup {
    const char *name;
    const int *bodies; // [n_bodies] that the joints move
    int n_bodies;
} ArticulatedGroup;

// What a design changes, as the spec says it.
typedef struct ArticulatedPlan {
    const char *name;
    ArticulatedDesignKind kind;
    const ArticulatedGroup *of;
    int axis; // of a rotation: 0 x, 1 y, 2 z
    bool mirror;
} ArticulatedPlan;

// What the functions on the host know besides the assets.
typedef struct ArticulatedHost {
    const Robot *robot;
    const char *const *bodies, *const *joints; // [robot->n_bodies] names as they stand in parameters
    const char **renamed;                      // [n_renamed] "joint 'grip' is grip_2": names that were taken
    int n_renamed;
    const ArticulatedGroup *groups; // [n_groups]
    int n_groups;
    const ArticulatedPlan *plans; // [n_plans] of designs
    int n_plans;
    const double *coordinates;              // [robot->n_coordinates] at t = 0
    const RobotKeyframe *keyframe;          // that it starts from; NULL: none
    const double *rates;                    // [robot->n_bodies][ROBOT_RATES] at t = 0
    const double *actions;                  // [n_actions][n_joints] of a table of commands; NULL: none
    bool listed;                            // the table stands in the spec
    double longest_delay;                   // s: of commands that are not known before; 0: they have none
    double bounds[2];                       // of all actions of a policy, beside those of motors
    const double *starts;                   // [n_actions] first step of each of its rows; NULL: all are held as long
    const struct ArticulatedFigure *figure; // how it is drawn
    const int *column;                      // [robot->n_bodies] of the joint's first coordinate in a sample; -1: none
    const double *table;                    // [n_table][x, z]: points of the terrain
    int n_table;
    const double *heights; // [n_rows][n_columns] z (m): of the terrain
    int n_rows, n_columns;
    TerrainKind terrain;
    ArticulatedGait gait; // of control: raibert
    const int *feet;      // [n_feet] bodies that end its legs
    int n_feet;
    Points reference;                 // a recorded motion; count 0: none
    ReferenceScale scale;             // of its columns
    const ArticulatedTarget *targets; // [its columns but the time]
    const double *records;
    const ArticulatedFrame *frames; // [n_frames] whose motion has columns
    const char *const *frame_names; // [n_frames] as they stand in columns
    int n_frames;
} ArticulatedHost;

// ---- frames.c -------------------------------------------------------------------------------------------------------

// Columns of a frame: position, orientation, velocity, angular velocity.
// clang-format off
#define ARTICULATED_FRAME_COLUMNS(X) \
    X(x, "m", "position") X(y, "m", "position") X(z, "m", "position, upwards") \
    X(qx, "1", "orientation, quaternion") X(qy, "1", "orientation, quaternion") \
    X(qz, "1", "orientation, quaternion") X(qw, "1", "orientation, quaternion") \
    X(vx, "m/s", "velocity") X(vy, "m/s", "velocity") X(vz, "m/s", "velocity, upwards") \
    X(wx, "rad/s", "angular velocity, world axes") X(wy, "rad/s", "angular velocity, world axes") \
    X(wz, "rad/s", "angular velocity, world axes")
// clang-format on
enum { ARTICULATED_OF_FRAME = 13 };
// The frames that the option `frames` names: bodies and sites. option: its number from 1. Error (user): there is none,
// or two.
Error articulated_frames(const Points *named, int option, Arena *arena, ArticulatedHost *host, Configured *out);

// A name of the file as a word of expressions.
const char *articulated_word(const char *name, Arena *arena);
// Names of bodies and joints: letters, digits and '_' of those in the file. No two of their parameters and columns, nor
// one of theirs and one of the model's, are alike or differ in case alone: such a joint or body gets a number.
void articulated_name(const Robot *robot, Arena *arena, ArticulatedHost *host);
// Lays the robot out in the assets. `words`: names in the spec; those of numbers of bodies, joints and groups become
// parameters. Error (user).
Error articulated_lay(ArticulatedHost *host, const Choice *choice, Arena *arena, ArticulatedConstants *constants,
                      Configured *out);

// Whether the terrain of the host lets shapes touch so; and whether a shape touches the terrain itself.
bool articulated_counts(const ArticulatedHost *host, const RobotContact *contact);
bool articulated_on_terrain(const ArticulatedHost *host, const RobotShape *shape);
// Whether the terrain replaces the file's planes and height fields; whether a shape is one of these.
bool articulated_replaces(const ArticulatedHost *host);
bool articulated_is_floor(const RobotShape *shape);
// A shape of the world as kernels have it.
ArticulatedSurface articulated_surface_of(const RobotShape *shape);
// ---- start.c --------------------------------------------------------------------------------------------------------

// How the robot stands over the ground at t = 0, of all shapes that may touch it.
typedef struct ArticulatedStart {
    double least; // m: the least height over the ground; negative: as deep in it; infinite: no shape may touch it
    int shape;    // the lowest one
    int inside;   // how many are in the ground
} ArticulatedStart;
ArticulatedStart articulated_start_of(const Configured *configured, const double *point, Arena *arena);
// The coordinate at t = 0 of a joint with one, in a trial: parameters may name it.
double articulated_start_coordinate(const Configured *configured, const ArticulatedConstants *c, const double *point,
                                    int body);
// coordinates[n_coordinates]: those of the host, with the robot moved along z so that its lowest shape just touches the
// ground where parameters have their defaults. Error (user): it can't.
Error articulated_settle(const Configured *configured, Arena *arena, double *coordinates);

// ---- groups.c -------------------------------------------------------------------------------------------------------

extern const List articulated_lists[2]; // groups, design
// The groups and designs of a spec; the group `all` of all driven joints is there too. Error (user), located by
// wrong_list and wrong_item of `out`.
Error articulated_groups(const Points *lists, ArticulatedHost *host, Arena *arena, Configured *out);

// ---- actions.c ------------------------------------------------------------------------------------------------------

// The table of commands: `listed` in the spec, or of a file. Error (user), located by wrong_option of `out`:
// `options` are the two options, from 1.
Error articulated_actions(const Points *listed, const Points *file, const int *options, ArticulatedHost *host,
                          Arena *arena, ArticulatedConstants *constants, Configured *out);

// ---- raibert.c ------------------------------------------------------------------------------------------------------

// Finds the feet of control: raibert, or those that `named` names. Error (user), located by wrong_option of
// `out`: `option`, from 1.
Error articulated_feet(const Points *named, int option, const ArticulatedConstants *c, Arena *arena,
                       ArticulatedHost *host, Configured *out);
// The legs of the host's feet in the robot's bodies.
const ArticulatedLeg *articulated_legs(const ArticulatedHost *host, const ArticulatedBody *bodies, int base,
                                       Arena *arena);
// Appends the parameters of control: raibert, if it is used.
int parameters_of_raibert(const ArticulatedHost *host, Parameter *parameters);
// Makes parameter `row`, the last, the gait of each trial, and tells `out` what follows it. raibert_row: of the first
// parameter of control: raibert.
void parameter_of_gait(const ArticulatedHost *host, int raibert_row, int row, Arena *arena, Parameter *parameters,
                       Configured *out);

// ---- external.c -----------------------------------------------------------------------------------------------------

// With external control: the actions of `out`, one for each driven joint.
void articulated_external(const ArticulatedHost *host, const ArticulatedBody *bodies, Arena *arena,
                          const ArticulatedConstants *constants, Configured *out);

// ---- reference.c ----------------------------------------------------------------------------------------------------

// The recorded motion of host->reference, for the columns of `out`: targets and records of the host, and their numbers
// in the constants. Error (user).
Error articulated_reference(ArticulatedHost *host, const ArticulatedBody *bodies, Arena *arena, ArticulatedConstants *c,
                            Configured *out);

// The table of metrics, with reference_error if a motion is recorded. second: with step_error, of steps of order two.
void articulated_metrics_of(const ArticulatedHost *host, bool second, Arena *arena, Configured *out);

// ---- recording.c ----------------------------------------------------------------------------------------------------

// What is likely wrong with the recorded motion, for trials point[count][n_parameters]: texts[ARTICULATED_DOUBTS];
// returns their number.
enum { ARTICULATED_DOUBTS = 19 };
int articulated_doubts(const Configured *configured, const double *point, int count, Arena *arena, const char **texts);

// ---- tables.c -------------------------------------------------------------------------------------------------------

// Lane inputs and what they change.
typedef struct ArticulatedVariation {
    const ArticulatedInput *inputs; // [n_inputs + n_rates], of rates the last
    int n_inputs, n_rates;
    const ArticulatedDesign *designs; // [n_designs]
    int n_designs;
    int raibert_row; // of its first parameter
} ArticulatedVariation;

// Parameters of every robot, of its designs, and those that words name.
ArticulatedVariation articulated_parameters(const ArticulatedHost *host, const Choice *choice,
                                            const ArticulatedBody *bodies, Arena *arena, Configured *out);
// Whether a robot with these groups has, or may have, a parameter of that name.
bool articulated_is_parameter(const ArticulatedHost *host, const char *name);
// Whether a parameter of a body (or else of a joint or a group) of that name, or a column of it if it has several
// coordinates (wide), would be called like one of the model's own.
bool articulated_is_own(const char *name, bool body, bool wide);
// Those of terrains; of control: raibert, then the phases of its legs, and its gait.
#define ARTICULATED_GAIT "gait" // a parameter where a spec names it
#define ARTICULATED_ONE(...) +1
enum {
    ARTICULATED_N_TERRAIN =
        0 TERRAIN_START(ARTICULATED_ONE) TERRAIN_SIZES(ARTICULATED_ONE) TERRAIN_GRID(ARTICULATED_ONE),
    ARTICULATED_N_EXTRA = ARTICULATED_N_TERRAIN + RAIBERT_PARAMETERS + ARTICULATED_LEGS + 1
};
#undef ARTICULATED_ONE
extern const Parameter articulated_extra[ARTICULATED_N_EXTRA];
extern const char *const articulated_extra_choices[ARTICULATED_N_EXTRA]; // as Model.extra_choices
// Returns coordinate[n_bodies]: the column of the first coordinate of each body's joint; -1: it has none.
const int *articulated_columns(const ArticulatedHost *host, const ArticulatedBody *bodies, Arena *arena,
                               Configured *out);

// ---- figure.c, drawing.c --------------------------------------------------------------------------------------------

bool articulated_is_fixed(const Robot *robot);                                 // it has no free body
const Solid *articulated_solids(const Robot *robot, Arena *arena, int *count); // from the centres of mass
// coordinate[n_bodies]: of articulated_columns.
const struct ArticulatedFigure *articulated_figure(const ArticulatedHost *host, const ArticulatedBody *bodies,
                                                   const int *coordinate, Arena *arena, const Drawing **drawing);

// Height of the ground at x, y.
double articulated_ground(const Configured *configured, const double *parameter, double x, double y);

// ---- debug_table.c --------------------------------------------------------------------------------------------------

extern const DebugTable articulated_debug_table;

// ---- explain.c ------------------------------------------------------------------------------------------------------

// Model.explain: remarks on the robot and on `count` points; returns their number, at most REMARKS_MAX.
int articulated_explain(const Configured *configured, const double *point, int count, Arena *arena, Remark *remarks);

// ---- shown.c --------------------------------------------------------------------------------------------------------

// The robot with the numbers that parameters and designs have in a trial; of a design of its shape only the masses.
const Robot *articulated_shown(const Configured *configured, const double *parameter, Arena *arena);

// ---- gradient.c -----------------------------------------------------------------------------------------------------

extern const Adjoint articulated_adjoint;

#endif
