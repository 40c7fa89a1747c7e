// A robot as its file describes it: a tree of bodies, each with the joint that connects it to its parent, shapes,
// motors and named poses. io/robot reads MJCF and URDF into this; the model `articulated` lays it out for the kernels.
//
// SI units, angles in rad. Quaternions are (x, y, z, w) and turn vectors of the inner frame into the outer one.
#ifndef HOPSCOTCH_ROBOT_H
#define HOPSCOTCH_ROBOT_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ROBOT_BODIES_MAX = 1024,
    ROBOT_SHAPES_MAX = 8192,
    ROBOT_CONTACTS_MAX = 16384,
    ROBOT_KEYFRAMES_MAX = 64,
    ROBOT_NOTES_MAX = 256,
    ROBOT_HEIGHTS_MAX = 1 << 18, // of all height fields together
    ROBOT_NAME_MAX = 128,        // bytes of a name
    ROBOT_RATES = 6              // of a joint
};

// Kinds of joints: name, word, how many coordinates, unit of one and of an effort. free: a floating base; hinge, slide:
// turns about, moves along the axis; ball: turns about its anchor; weld: does not move.
// clang-format off
#define ROBOT_JOINTS(X) \
    X(FREE,  "free",  7, "m",   "N") \
    X(HINGE, "hinge", 1, "rad", "N m") \
    X(SLIDE, "slide", 1, "m",   "N") \
    X(BALL,  "ball",  4, "rad", "N m") \
    X(WELD,  "weld",  0, "",    "")
// clang-format on
#define ROBOT_KIND(name, ...) ROBOT_##name,
typedef enum RobotJointKind { ROBOT_JOINTS(ROBOT_KIND) } RobotJointKind;
#undef ROBOT_KIND

// What drives a joint, all its motors together: kp (command - q) - kd q' + bias, within +-effort, and if it is uneven
// between least and most. A motor that is commanded by torque has no kp and kd.
typedef struct RobotMotor {
    bool driven;        // false: no motor
    double kp, kd;      // N m/rad and N m s/rad; of a slide N/m and N s/m
    double low, high;   // of the command (rad, m); infinite: unlimited
    double effort;      // greatest |effort| (N m, N); infinite: unlimited
    double bias;        // N m; of a slide N: a constant effort
    bool uneven;        // it is stronger one way
    double least, most; // of the effort (N m, N), where it is uneven
} RobotMotor;

typedef struct RobotJoint {
    const char *name; // without a name in the file: the body's
    RobotJointKind kind;
    double anchor[3];       // m, in the body's frame
    double axis[3];         // unit vector in the body's frame; of hinge and slide
    double reference;       // its coordinate where the body is as `p` and `q` say
    bool limited;           //
    double low, high;       // of the coordinate
    double stiffness, rest; // a spring towards the coordinate `rest`
    double damping;         // N m s/rad, N s/m
    double friction;        // N m, N: dry friction (MJCF: frictionloss)
    double armature;        // kg m^2, kg: inertia of the rotor, at the joint
    RobotMotor motor;
} RobotJoint;

typedef struct RobotBody {
    const char *name;
    int parent;             // before it in the list; -1: the world
    double p[3], q[4];      // its frame in its parent's
    double mass, centre[3]; // kg; m, in its frame
    double inertia[6];      // kg m^2 about the centre, in the axes of its frame: xx, yy, zz, xy, xz, yz
    RobotJoint joint;       // to the parent
    int line, column;       // in its file
} RobotBody;

typedef enum RobotShapeKind {
    ROBOT_SPHERE,    // size: radius
    ROBOT_CAPSULE,   // radius, half length of the cylinder, along z
    ROBOT_CYLINDER,  // radius, half length, along z
    ROBOT_BOX,       // half lengths
    ROBOT_ELLIPSOID, // half axes
    ROBOT_PLANE,     // of the world: all below its x and y axes; not drawn as a solid
    ROBOT_HFIELD     // of the world, z upwards: all below a grid of heights over x and y; size: half lengths. Not drawn
} RobotShapeKind;

typedef struct RobotShape {
    const char *name; // may be empty
    RobotShapeKind kind;
    int body;                 // -1: the world
    double p[3], q[4];        // in the body's frame
    double size[3];           // m
    int first, rows, columns; // of a height field: its heights in those of the robot
    // of a body, with a terrain that the spec names
    bool collides;
    double friction; // coefficient of sliding friction; 0: none
    double margin;   // m over the terrain at which it touches
} RobotShape;

// A shape of a body that touches a shape of the world. Shapes of bodies do not touch each other.
typedef struct RobotContact {
    int shape, ground;
    double friction, margin; // as of a shape
} RobotContact;

// A frame on a body that is not a body's own: a site, or a body of the file that is part of another here.
typedef struct RobotSite {
    const char *name;
    int body;
    double p[3], q[4]; // in the body's frame
} RobotSite;

// Coordinates of all joints: RobotJoint.kind decides how many a body has: 7 of a free one (position, quaternion x, y,
// z, w), 1 of hinge and slide, 4 of a ball (quaternion), 0 of a weld; one body after the other.
typedef struct RobotKeyframe {
    const char *name;
    const double *coordinates; // [n_coordinates]
    const double *commands;    // [n_bodies] of motors by position (rad, m); NaN: none is given
    const double *efforts;     // [n_bodies] of motors by torque or velocity, to add to their bias (N m, N)
    // [n_bodies][ROBOT_RATES], or NULL: all is at rest. Of a hinge or slide its rate (rad/s, m/s); of a ball its
    // angular velocity against its parent (3), in its own axes; of a free body its angular velocity (3), world axes,
    // and the velocity of its frame (3)
    const double *rates;
} RobotKeyframe;

// What was left out of the file, and why that is right: "skipped", because `ignore` says so, or because shapes may pass
// through each other; "replaced", because parameters of the spec say it; else "not needed": it changes no motion.
typedef struct RobotNote {
    bool skipped, replaced;
    const char *what; // "equality (2)", "mesh (40)", "sensor (12)"
} RobotNote;

// Meshes that touch with fewer points than they have corners.
typedef struct RobotReduced {
    int meshes;
    // of the one that loses most: its points, its vertices, and how far (m) its hull reaches out of that of the points
    const char *name;
    int points, vertices;
    double lost;
} RobotReduced;

typedef struct Robot {
    const char *name;        // of the file
    const RobotBody *bodies; // [n_bodies], parents before children
    int n_bodies;
    const RobotShape *shapes; // [n_shapes]
    int n_shapes;
    const RobotSite *sites; // [n_sites]
    int n_sites;
    const RobotContact *contacts; // [n_contacts] in the order of their shapes
    int n_contacts;
    const double *heights; // [n_heights] m, over its frame: of a height field [rows][columns], rows along y
    int n_heights;
    const RobotKeyframe *keyframes; // [n_keyframes]
    int n_keyframes;
    int n_coordinates;
    const RobotNote *notes; // [n_notes]
    int n_notes;
    RobotReduced reduced;
} Robot;

// What a robot file may hold although it is not simulated, if a spec says so: elements, and attributes, by their names.
// Also any element or attribute that is unknown, by its name or all of them by "unknown". All else that changes the
// motion and is not understood is an error.
// Of "mesh" (and "hfield", "sdf") only those that collide or give inertia are meant: others are not needed. "tendon"
// includes its motors; "worldbody" means shapes of the world that collide, "freejoint" damping and the like of free
// joints, "inertia" that principal moments do not satisfy A + B >= C, which are then taken as they are, "condim"
// torsional and rolling friction, "damping" and "stiffness" what is not linear in them, "ctrlrange" and the like of
// motors that are stronger one way that the greater end counts both ways.
#define ROBOT_IGNORE_WORDS                                                                                             \
    "actuatorfrcrange|adhesion|attach|composite|condim|contact|ctrlrange|cylinder|damper|damping|dcmotor|deformable|"  \
    "density|equality|extension|flag|flexcomp|forcerange|freejoint|gazebo|gravcomp|gravity|hfield|inertia|"            \
    "intvelocity|mesh|mimic|mocap|mujoco|muscle|orientation|pair|pid|plugin|qvel|replicate|sdf|site|springdamper|"     \
    "stiffness|tendon|unknown|viscosity|wind|worldbody"

typedef struct RobotJointRow {
    const char *word;
    int coordinates;
    const char *unit, *effort_unit;
} RobotJointRow;
extern const RobotJointRow robot_joints[];        // by RobotJointKind
int robot_joint_coordinates(RobotJointKind kind); // of a pose: 0, 1, 4 or 7
// ends[2]: the least and the greatest effort of a motor (N m, N).
void robot_motor_ends(const RobotMotor *motor, double ends[2]);
extern const Robot robot_pendulum; // the robot of a spec that names none

#endif
