// Shared by the readers of MJCF: the settings of <compiler>, and records of defaults.
// MuJoCo, XML reference (mujoco.readthedocs.io/en/stable/XMLreference.html).
#ifndef HOPSCOTCH_MJCF_H
#define HOPSCOTCH_MJCF_H

#include "robot_file.h"

enum { MJCF_CLASSES_MAX = 1024, MJCF_CONTROLS_MAX = 4096, MJCF_GROUP_MAX = 30 };

typedef enum MjcfInertia { MJCF_INERTIA_NO, MJCF_INERTIA_YES, MJCF_INERTIA_AUTO } MjcfInertia;
typedef enum MjcfSwitch { MJCF_FALSE, MJCF_TRUE, MJCF_AUTO } MjcfSwitch;

typedef struct MjcfCompiler {
    bool radian, autolimits, balance;
    uint32_t disabled;               // bit k: motors of group k are off
    char euler[4];                   // axes: xyz turn with the body, XYZ stay
    double bound_mass, bound_moment; // least mass (kg) and principal moment (kg m^2) of a body
    MjcfInertia from_geoms;
    int groups[2]; // first and last group of geoms that give inertia
} MjcfCompiler;

typedef enum MjcfGeomType {
    MJCF_PLANE,
    MJCF_HFIELD,
    MJCF_SPHERE,
    MJCF_CAPSULE,
    MJCF_ELLIPSOID,
    MJCF_CYLINDER,
    MJCF_BOX,
    MJCF_MESH,
    MJCF_SDF
} MjcfGeomType;

typedef struct MjcfGeom {
    MjcfGeomType type;
    bool mesh, turned, from_to; // given: a mesh; an orientation other than quat; fromto
    const char *field;          // name of the hfield; NULL: none
    const char *of_mesh;        // name of the mesh; NULL: none
    RobotFrame frame;           // from pos and quat
    double turn[4], ends[6], size[3], friction[3], mass, density;
    int contype, conaffinity, group, condim, priority;
    double margin;
    bool shell;
} MjcfGeom;

typedef struct MjcfPair {
    int condim;
    double friction[5], margin;
} MjcfPair;

typedef struct MjcfJoint {
    RobotJointKind kind;
    double pos[3], axis[3], range[2], effort[2]; // range: in the unit of the file, rad or degrees
    MjcfSwitch limited, effort_limited;
    double stiffness, rest, damping, armature, friction, reference;
    double margin; // rad, m: each limit acts this much earlier
} MjcfJoint;

typedef enum MjcfGain { MJCF_GAIN_FIXED, MJCF_GAIN_OTHER } MjcfGain;
typedef enum MjcfBias { MJCF_BIAS_NONE, MJCF_BIAS_AFFINE, MJCF_BIAS_OTHER } MjcfBias;

typedef enum MjcfShortcut { MJCF_GENERAL, MJCF_TORQUE, MJCF_POSITION, MJCF_VELOCITY } MjcfShortcut;

// force = gain command + bias[0] + bias[1] length + bias[2] velocity; bias[2] > 0 is a damping ratio.
typedef struct MjcfActuator {
    const struct MjcfActuator *outer; // the actuator of the class around this one's class; NULL: none
    MjcfShortcut shortcut;            // the element that set gain and bias
    MjcfGain gain_type;
    MjcfBias bias_type;
    bool dynamics;                 // the actuator has an activation state
    double gain, bias[3], gear[6]; //
    MjcfSwitch command_limited, force_limited;
    double command[2], force[2], inherit;
    int group;
} MjcfActuator;

// How a keyframe's control acts on a motor: effort = scale control.
typedef struct MjcfControl {
    int body;         // the motor drives the joint of this body; -1: no motor, or it is off
    bool by_position; // the control is a position: effort = kp command
    double scale, low, high;
} MjcfControl;

// The forces of a tendon. It has an effect if one of these numbers is not 0.
typedef struct MjcfTendon {
    double stiffness, damping, friction, armature, range[2];
    MjcfSwitch limited;
} MjcfTendon;

typedef struct MjcfClass {
    const char *name;
    MjcfGeom geom;
    MjcfJoint joint;
    MjcfActuator actuator;
    MjcfTendon tendon;
    bool inactive;   // equalities
    double scale[3]; // meshes
    MjcfPair pair;
} MjcfClass;

typedef struct Mjcf {
    RobotFile *file;
    MjcfCompiler compiler;
    MjcfClass *classes; // [MJCF_CLASSES_MAX]; the first is the root class
    int n_classes;
    MjcfControl *controls; // [n_controls] of all actuators
    int n_controls;
    bool sites_lost; // defaults place sites: where they are is not known
} Mjcf;

// Reads a stiffness or damping of one to three numbers: those of a force s x + s2 |x| x + s3 x^3, of which *value is s.
// Others that are not 0 are errors, or are left out if `ignore` has the name of the attribute.
void mjcf_read_linear(Mjcf *mjcf, const XmlNode *node, const char *attribute, double *value);
double mjcf_angle(const Mjcf *mjcf, double value); // an angle of the file in rad
// Reads pos and the orientation (quat, axisangle, xyaxes, zaxis or euler) of an element. *turned: the orientation is
// not a quat; it is in turn[4] and replaces any quat. mjcf_frame returns position and orientation as one frame.
void mjcf_read_frame(Mjcf *mjcf, const XmlNode *node, RobotFrame *frame, bool *turned, double turn[4]);
RobotFrame mjcf_frame(Mjcf *mjcf, const XmlNode *node);

// classes.c
void mjcf_start_classes(Mjcf *mjcf);
void mjcf_read_default(Mjcf *mjcf, const XmlNode *node, int parent); // parent -1: at the top
// The class that the element names, else `otherwise`.
int mjcf_class(Mjcf *mjcf, const XmlNode *node, const char *attribute, int otherwise);
// Set what the element's attributes give; what they do not give keeps the value of its class.
void mjcf_apply_geom(Mjcf *mjcf, const XmlNode *node, MjcfGeom *geom);
void mjcf_apply_joint(Mjcf *mjcf, const XmlNode *node, MjcfJoint *joint);
void mjcf_apply_pair(Mjcf *mjcf, const XmlNode *node, MjcfPair *pair);
bool mjcf_apply_actuator(Mjcf *mjcf, const XmlNode *node, MjcfActuator *actuator); // false: of another kind

// mjcf_body.c
void mjcf_read_world(Mjcf *mjcf, const XmlNode *node);
// True if the range limits. Reports an error if neither `limited` nor autolimits decides that.
bool mjcf_limited(Mjcf *mjcf, const XmlNode *node, const char *attribute, MjcfSwitch limited, const double range[2]);

// ends[2] stay within a range of efforts times `scale`, as if what they bound were clamped to it next. The range counts
// by its greater end both ways if `ignore` has the name of the attribute.
void mjcf_clamp_efforts(Mjcf *mjcf, const char *attribute, const double range[2], double scale, double ends[2]);
void mjcf_set_efforts(const double ends[2], RobotMotor *motor);

// As mjcf_apply_geom.
void mjcf_apply_tendon(Mjcf *mjcf, const XmlNode *node, MjcfTendon *tendon);
void mjcf_apply_equality(Mjcf *mjcf, const XmlNode *node, bool *inactive);
void mjcf_apply_mesh(Mjcf *mjcf, const XmlNode *node, double scale[3]);

// mjcf_motors.c
void mjcf_read_actuators(Mjcf *mjcf, const XmlNode *node);
void mjcf_read_keyframes(Mjcf *mjcf, const XmlNode *node);

#endif
