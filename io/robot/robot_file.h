// What the readers of MJCF and URDF share: the bodies of a file, its attributes, notes for the user, frames.
#ifndef HOPSCOTCH_ROBOT_FILE_H
#define HOPSCOTCH_ROBOT_FILE_H

#include "../xml.h"
#include "robot.h"

#define ROBOT_FILE_BYTES ((size_t)2 << 30) // address space for reading one: 192 bytes of each element, and texts

// A frame relative to another frame: position p (m); q (x, y, z, w) rotates vectors from this frame to the other.
typedef struct RobotFrame {
    double p[3], q[4];
} RobotFrame;

// Mass (kg), its centre (m), and the inertia about the centre: xx, yy, zz, xy, xz, yz (kg m^2), in the axes of a frame.
typedef struct RobotMass {
    double mass, centre[3], inertia[6];
} RobotMass;

// A shape of the file, in the frame of its body.
typedef struct RobotFileShape {
    RobotShape shape;
    const XmlNode *node;
    const char *unknown; // kind of a shape that is not a primitive: "mesh"; NULL: a primitive
    const char *field;   // name of the asset of a height field or mesh; else NULL
    const XmlNode *mesh; // of URDF: its <mesh>
    bool fitted;         // a mesh that gives a primitive its size
    int contype, conaffinity, group, priority, condim;
    double friction[3];   // sliding, torsional (m), rolling (m)
    double margin;        // m
    int kept;             // set by robot_build: index in Robot.shapes
    double mass, density; // kg, kg/m^3; mass NaN: follows from the density
    bool shell;
} RobotFileShape;

typedef struct RobotFileBody {
    const XmlNode *node, *joint_node;
    const char *name; // NULL: no name
    int parent;       // index of an earlier body; -1: the world
    RobotFrame frame; // relative to the parent
    RobotMass mass;
    bool intermediate;  // a body without mass between two joints of the next body
    bool weighed;       // the file gives the mass
    bool fixed;         // the body does not move in the file
    bool released;      // set by robot_build: it floats, and had a parent
    RobotJoint joint;   // joint.name NULL: no joint
    double damping_sum; // sum of ratio sqrt(kp) over motors of the body with a damping ratio; 0: no such motor
    bool limited_motor; // a motor of the body has its own limit
    int kept;           // set by robot_build: the body into which it was merged, -1: the world
    RobotFrame in_kept;
} RobotFileBody;

typedef struct RobotFileSite {
    const XmlNode *node;
    const char *name;
    int body;
    RobotFrame frame; // in the body's
} RobotFileSite;

// A mesh of <asset>.
typedef struct RobotFileMesh {
    const XmlNode *node;
    const char *name;
    double scale[3];
} RobotFileMesh;

// A pair of shapes that collide whatever contype and conaffinity are, with its own contact parameters.
typedef struct RobotFilePair {
    const XmlNode *node;
    int shape[2]; // the lesser first
    int condim;
    double friction[3], margin;
} RobotFilePair;

// Bodies whose shapes don't collide; -1: the world.
typedef struct RobotFileExclude {
    int body[2]; // the lesser first
} RobotFileExclude;

typedef struct RobotFileKey {
    const XmlNode *node;
    const char *name;
    const double *coordinates; // [coordinates of all bodies of the file], quaternions x, y, z, w; NULL: the default
    const double *commands, *efforts; // [bodies of the file], as RobotKeyframe
    const double *rates;              // [bodies of the file][ROBOT_RATES], as RobotKeyframe; NULL: at rest
} RobotFileKey;

typedef struct RobotFileNote {
    bool skipped;
    const char *what;
    int count;
    int line; // for an attribute that is replaced: of its first occurrence; else 0
} RobotFileNote;

enum { ROBOT_PAIRS_MAX = 4096, ROBOT_MESHES_MAX = 4096 };

// A robot file while it is read.
typedef struct RobotFile {
    Arena *arena; // scratch: the robot is in another arena
    Diagnostics *diagnostics;
    int errors; // number of errors in `diagnostics` before the file was read
    int unread; // number of errors about elements that are not supported; the other elements are still read
    const RobotOptions *options;
    const XmlNode *root;
    const char *name;
    bool is_mjcf;
    double total_mass;     // kg: all bodies are scaled to this sum; 0: they are not scaled
    bool no_contacts;      // the file switches all contacts off
    RobotFileBody *bodies; // [ROBOT_BODIES_MAX]
    int n_bodies;
    RobotFileShape *shapes; // [ROBOT_SHAPES_MAX]
    int n_shapes;
    RobotFileSite *sites; // [room_of_sites] those of moving bodies that have names
    int n_sites, room_of_sites;
    RobotFilePair *pairs; // [ROBOT_PAIRS_MAX]
    int n_pairs;
    RobotFileExclude *excludes; // [ROBOT_PAIRS_MAX]
    int n_excludes;
    RobotFileMesh *meshes; // [n_meshes]
    int n_meshes;
    size_t mesh_bytes;           // read of their files
    RobotReduced reduced;        // without the name
    const XmlNode *reduced_mesh; // that loses most
    double *heights;             // [n_heights] of height fields, as in Robot; memory for ROBOT_HEIGHTS_MAX, or NULL
    int n_heights;
    RobotFileKey keys[ROBOT_KEYFRAMES_MAX];
    int n_keys;
    RobotFileNote notes[ROBOT_NOTES_MAX];
    int n_notes;
} RobotFile;

// ---- attributes.c ---------------------------------------------------------------------------------------------------

// Reports an error at an attribute of the element, or at the element if the attribute is NULL or not given.
void robot_error(RobotFile *file, const XmlNode *node, const char *attribute, const char *format, ...)
    PRINTF_LIKE(4, 5);
// The element for messages: "body 'left_foot'", or "geom" without a name.
const char *robot_label(const RobotFile *file, const XmlNode *node);
bool robot_failed(const RobotFile *file);                         // an error was reported
bool robot_is_sound(const RobotFile *file);                       // only errors of RobotFile.unread were reported
const char *robot_text_of(const XmlNode *node, const char *name); // value of the attribute; NULL: not given, or empty
// Read an attribute; an error goes to the diagnostics. robot_numbers: between `least` and `most` finite numbers;
// further elements of value[most] are unchanged; returns their number, 0 if the attribute is missing or wrong. The
// others return false then, and leave *value unchanged.
int robot_numbers(RobotFile *file, const XmlNode *node, const char *name, int least, int most, double *value);
bool robot_number_of(const char *text, double *value); // false: it is not one finite number
bool robot_number(RobotFile *file, const XmlNode *node, const char *name, double *value);
bool robot_not_negative(RobotFile *file, const XmlNode *node, const char *name, double *value);
bool robot_integer(RobotFile *file, const XmlNode *node, const char *name, int *value);
// The index of the attribute's value in "a|b|c"; `otherwise` if it is not given, or is another word, which is an error.
int robot_choice(RobotFile *file, const XmlNode *node, const char *name, const char *words, int otherwise);
bool robot_word_in(const char *words, const char *word); // of a text with spaces or bars between words

// The attributes that an element may have: words with spaces between them. Other attributes are errors.
typedef struct RobotElement {
    const char *name;
    const char *read;    // attributes that are read
    const char *solver;  // attributes for MuJoCo's solver: a note says that they are not used
    const char *show;    // attributes that do not change the motion
    const char *refused; // attributes that change the motion, unless their value is 0, false, auto or none: errors
} RobotElement;
// Report attributes, or an element, that the reader does not know.
void robot_check_attributes(RobotFile *file, const XmlNode *node, const RobotElement *element);
void robot_unknown_element(RobotFile *file, const XmlNode *node, const char *const *known, int count);

// ---- notes.c --------------------------------------------------------------------------------------------------------

// Notes `count` things for the user; skipped: they are left out.
void robot_note(RobotFile *file, bool skipped, const char *what, int count);
// Notes an attribute that settings of the model replace, with the line where it occurs first.
void robot_note_at(RobotFile *file, const char *element, const char *attribute, int line);
bool robot_ignores(const RobotFile *file, const char *word);
// For an unknown element. True, with a note: the option `ignore` has the word, or the word "unknown".
bool robot_ignores_unknown(RobotFile *file, const char *word);
// For something that changes the motion and is not supported. True, with a note: `ignore` has the word; else an error.
bool robot_skip(RobotFile *file, const XmlNode *node, const char *attribute, const char *word);

// ---- frames.c -------------------------------------------------------------------------------------------------------

// Vectors and frames; q is a unit quaternion x, y, z, w.
double robot_dot(const double a[3], const double b[3]);
void robot_cross(const double a[3], const double b[3], double out[3]);
double robot_norm(const double *vector, int n);
bool robot_normalize(double *vector, int n); // false: too short for a direction
RobotFrame robot_frame_none(void);
void robot_rotate(const double q[4], const double v[3], double out[3]);
void robot_quaternion_product(const double a[4], const double b[4], double out[4]);
RobotFrame robot_frame_product(const RobotFrame *outer, const RobotFrame *inner); // normalized
void robot_transform(const RobotFrame *frame, const double point[3], double out[3]);
// q <- the rotation by `angle` (rad) about a unit vector.
void robot_turn(const double axis[3], double angle, double q[4]);
// q <- the shortest rotation of the z axis to a unit vector.
void robot_turn_z(const double direction[3], double q[4]);
void robot_quaternion_of_axes(const double x[3], const double y[3], const double z[3], double q[4]);
RobotMass robot_mass_in(const RobotFrame *frame, const RobotMass *mass); // in the axes of the outer frame
RobotMass robot_mass_sum(const RobotMass *a, const RobotMass *b);
// inertia <- that of a body with these principal moments, along axes that are rotated by q.
void robot_inertia_turned(const double q[4], const double moments[3], double inertia[6]);
// The principal moments of an inertia, ascending, and axes[3][3], whose rows are their axes. False: the inertia is 0 or
// not finite.
bool robot_principal(const double inertia[6], double moments[3], double axes[9]);
// Volume (m^3) and principal moments per kg of a primitive in its own frame. False: a plane, which has no volume.
bool robot_solid(const RobotShape *shape, double *volume, double moments[3]);

// ---- mobility.c -----------------------------------------------------------------------------------------------------

// How easily each body moves, with all bodies at the poses of the file.
typedef struct RobotMobility RobotMobility;
const RobotMobility *robot_mobility(const RobotBody *bodies, int n_bodies, Arena *arena);
// Inertia (kg m^2) or mass (kg) seen by the hinge or slide of a body while all other joints are free: 1/(M^-1)_jj of
// the mass matrix M.
double robot_reflected_inertia(const RobotMobility *mobility, int body);

// ---- include.c ------------------------------------------------------------------------------------------------------

// Replaces every <include> of the tree. False: errors went to `diagnostics`. *text: as robot_text.
bool robot_include(XmlNode *root, const char *folder, Arena *arena, Arena *texts, Diagnostics *diagnostics,
                   const char **text);
// The path, from the spec's folder, of a file that the robot's file names. "." and ".." are resolved as long as they
// stay in the folder; a name that begins with / is unchanged.
const char *robot_path(const char *folder, const char *file, const char *name, Arena *arena);

// ---- hfield.c -------------------------------------------------------------------------------------------------------

// Completes a shape of the world that is unknown as "hfield" to a height field, or reports an error.
void robot_read_field(RobotFile *file, RobotFileShape *shape);
// The text of an <hfield> with the heights instead of the name of their file. NULL: the file can't be read.
const char *robot_field_text(const char *folder, const XmlNode *root, const XmlNode *node, Arena *arena);
// A file of <asset>, where <compiler> says that such files are; its name without folders and ending if it has no other;
// a text as the value of an attribute.
const char *robot_asset(const XmlNode *root, const char *name, Arena *arena);
const char *robot_asset_name(const XmlNode *node, Arena *arena);
const char *robot_escape(const char *text, Arena *arena);

// ---- mesh.c ---------------------------------------------------------------------------------------------------------

// Gives shapes that are meshes and may touch the ground their points, boxes or capsules, as RobotOptions.meshes says,
// or reports errors. Call this after the poses of the bodies are known.
void robot_read_meshes(RobotFile *file);
// What the text of a mesh must keep.
typedef struct RobotKeep {
    RobotMeshes meshes;
    bool weighs; // some body has the mass of its shapes
} RobotKeep;
// The text of a <mesh> with points instead of the name of their file. NULL: the file can't be read. *read: bytes of all
// these files, to which its own are added.
const char *robot_mesh_text(const char *folder, const XmlNode *root, const XmlNode *node, const RobotKeep *keep,
                            Arena *arena, size_t *read);
// The volume (m^3; of a shell its area, m^2) of a shape's mesh, and the mass of 1 kg of it, in the axes of the mesh.
// False: an error is reported.
bool robot_mesh_solid(RobotFile *file, const RobotFileShape *shape, double *volume, RobotMass *mass);

// ---- bodies.c -------------------------------------------------------------------------------------------------------

RobotFileBody *robot_add_body(RobotFile *file, const XmlNode *node, int parent);              // NULL: too many
RobotFileShape *robot_add_shape(RobotFile *file, const XmlNode *node, int body);              // NULL: too many
void robot_add_site(RobotFile *file, const XmlNode *node, int body, const RobotFrame *frame); // if it has a name
int robot_index(const RobotFile *file, const RobotFileBody *body); // in the file's list of bodies
int robot_intermediates(const RobotFile *file, int body); // number of its intermediates, which stand directly before it
const Robot *robot_build(RobotFile *file, Arena *arena);  // the robot of all bodies read; NULL after an error

// ---- contacts.c -----------------------------------------------------------------------------------------------------

// Finds the pairs of a moving body's shape and a shape of the world that can touch, and their contact parameters. Pairs
// that can't be simulated are errors. Call this after the poses of the bodies are known.
void robot_find_contacts(RobotFile *file, Robot *robot, Arena *arena);
// True if the shape is part of the world and is ground.
bool robot_is_ground(const RobotFile *file, const RobotFileShape *shape);

// ---- mjcf.c, urdf.c -------------------------------------------------------------------------------------------------

// Read the root element of the format into *file; errors go to the diagnostics.
void mjcf_read(RobotFile *file);
void urdf_read(RobotFile *file);

#endif
