// Shared by the readers of robot files: the bodies as a file has them, attributes, notes, frames.
#ifndef HOPSCOTCH_ROBOT_FILE_H
#define HOPSCOTCH_ROBOT_FILE_H

#include "../xml.h"
#include "robot.h"

#define ROBOT_FILE_BYTES ((size_t)2 << 30) // address space for reading one: 192 bytes of each element, and texts

// A frame in another: p (m); q (x, y, z, w) turns its vectors into those of the other.
typedef struct RobotFrame {
    double p[3], q[4];
} RobotFrame;

// What weighs: kg; the centre and the inertia about it, xx, yy, zz, xy, xz, yz (kg m^2), in the axes of one frame.
typedef struct RobotMass {
    double mass, centre[3], inertia[6];
} RobotMass;

// A shape as the file has it, in the frame of the body with that index.
typedef struct RobotFileShape {
    RobotShape shape;
    const XmlNode *node;
    const char *unknown; // "mesh": not a primitive; NULL: one
    const char *field;   // of a height field: the asset that it names, or NULL
    int contype, conaffinity, group, priority, condim;
    double friction[3];   // sliding, torsional (m), rolling (m)
    double margin;        // m
    int kept;             // by robot_build: its place in Robot.shapes
    double mass, density; // mass NaN: by the density
    bool shell;
} RobotFileShape;

typedef struct RobotFileBody {
    const XmlNode *node, *joint_node;
    const char *name; // NULL: none
    int parent;       // before it; -1: the world
    RobotFrame frame; // in the parent
    RobotMass mass;
    bool part;           // it has no mass: it stands between two joints of the next body
    bool weighed;        // the file gives its mass
    bool fixed;          // in the file it does not move
    RobotJoint joint;    // joint.name NULL: none
    double damping_part; // sum of ratio sqrt(kp) of its motors with a damping ratio; 0: none
    bool limited_motor;  // a motor of it has a limit of its own
    int kept;            // by robot_build: the body that it became part of, -1: the world
    RobotFrame in_kept;
} RobotFileBody;

// A pair of shapes that collides whatever contype and conaffinity say, and how.
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
} RobotFileKey;

typedef struct RobotFileNote {
    bool skipped;
    const char *what;
    int count;
    int line; // of the first, of what is replaced; else 0
} RobotFileNote;

enum { ROBOT_PAIRS_MAX = 4096 };

// A robot file while it is read.
typedef struct RobotFile {
    Arena *arena; // for all that is not returned
    Diagnostics *diagnostics;
    int errors; // in diagnostics before
    int unread; // errors about what is left out: all else is read nevertheless
    const RobotOptions *options;
    const XmlNode *root;
    const char *name;
    bool is_mjcf;
    double total_mass;     // kg, that all bodies are scaled to; 0: they are not
    bool no_contacts;      // its shapes touch nothing
    RobotFileBody *bodies; // [ROBOT_BODIES_MAX]
    int n_bodies;
    RobotFileShape *shapes; // [ROBOT_SHAPES_MAX]
    int n_shapes;
    RobotFilePair *pairs; // [ROBOT_PAIRS_MAX]
    int n_pairs;
    RobotFileExclude *excludes; // [ROBOT_PAIRS_MAX]
    int n_excludes;
    double *heights; // [n_heights] of height fields, as in Robot; room for ROBOT_HEIGHTS_MAX, or NULL
    int n_heights;
    RobotFileKey keys[ROBOT_KEYFRAMES_MAX];
    int n_keys;
    RobotFileNote notes[ROBOT_NOTES_MAX];
    int n_notes;
} RobotFile;

// ---- attributes.c ---------------------------------------------------------------------------------------------------

// An error at an attribute of the element (NULL, or not given: at the element).
void robot_error(RobotFile *file, const XmlNode *node, const char *attribute, const char *format, ...)
    PRINTF_LIKE(4, 5);
// "body 'left_foot'", or "geom" if it has no name.
const char *robot_label(const RobotFile *file, const XmlNode *node);
bool robot_failed(const RobotFile *file);                         // there were errors
bool robot_is_sound(const RobotFile *file);                       // no errors but those of what is left out
const char *robot_text_of(const XmlNode *node, const char *name); // its value; NULL: not given, or empty
// Read an attribute; an error goes to the diagnostics. robot_numbers: between `least` and `most` finite numbers;
// further elements of value[most] are unchanged; returns their number, 0 if the attribute is missing or wrong. The
// others return false then, and leave *value unchanged.
int robot_numbers(RobotFile *file, const XmlNode *node, const char *name, int least, int most, double *value);
bool robot_number_of(const char *text, double *value); // false: it is not one finite number
bool robot_number(RobotFile *file, const XmlNode *node, const char *name, double *value);
bool robot_not_negative(RobotFile *file, const XmlNode *node, const char *name, double *value);
bool robot_integer(RobotFile *file, const XmlNode *node, const char *name, int *value);
// The place of the value in "a|b|c"; `otherwise` if it is not given or an error.
int robot_choice(RobotFile *file, const XmlNode *node, const char *name, const char *words, int otherwise);
bool robot_word_in(const char *words, const char *word); // of a text with spaces or bars between words

// What an element may have, words with spaces between them. All others are errors.
typedef struct RobotElement {
    const char *name;
    const char *read;    // attributes that are read
    const char *solver;  // of MuJoCo's own solver, noted as not needed
    const char *show;    // that change no motion
    const char *refused; // that change it, unless they are 0, false, auto or none
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
// For what is unknown. True: `ignore` has the word, or the word unknown; which is noted.
bool robot_ignores_unknown(RobotFile *file, const char *word);
// For what changes the motion and is not read. True: a word of `ignore` says so, which is noted; else an error.
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
void robot_place(const RobotFrame *frame, const double point[3], double out[3]);
// The turn about a unit vector (rad).
void robot_turn(const double axis[3], double angle, double q[4]);
// The shortest turn of z to this direction, a unit vector.
void robot_turn_z(const double direction[3], double q[4]);
void robot_quaternion_of_axes(const double x[3], const double y[3], const double z[3], double q[4]);
RobotMass robot_mass_in(const RobotFrame *frame, const RobotMass *mass); // in the axes of the outer frame
RobotMass robot_mass_sum(const RobotMass *a, const RobotMass *b);
// Inertia with these principal moments, whose axes stand so.
void robot_inertia_turned(const double q[4], const double moments[3], double inertia[6]);
// Principal moments, ascending, and a matrix axes[3][3], whose rows are their axes. False: it is 0 or not finite.
bool robot_principal(const double inertia[6], double moments[3], double axes[9]);
// Volume (m^3) and principal moments per kg of a primitive in its own frame; false: it has none (a plane).
bool robot_solid(const RobotShape *shape, double *volume, double moments[3]);

// ---- mobility.c -----------------------------------------------------------------------------------------------------

// Of all bodies where the file has them.
typedef struct RobotMobility RobotMobility;
const RobotMobility *robot_mobility(const RobotBody *bodies, int n_bodies, Arena *arena);
// What the hinge or slide of a body feels (kg m^2, kg) when all others are free: 1/(M^-1)_jj of the mass matrix M.
double robot_reflected_inertia(const RobotMobility *mobility, int body);

// ---- include.c ------------------------------------------------------------------------------------------------------

// Replaces every <include> of the tree. False: errors went to `diagnostics`. *text: as robot_text.
bool robot_include(XmlNode *root, const char *folder, Arena *arena, Arena *texts, Diagnostics *diagnostics,
                   const char **text);
// The name of a file that the robot's file names, in the spec's folder: without "." and "..", where these do not lead
// out; a name that begins with / stays.
const char *robot_path(const char *folder, const char *file, const char *name, Arena *arena);

// ---- hfield.c -------------------------------------------------------------------------------------------------------

// Reads what a shape of the world needs that is unknown as "hfield": then it is a height field. Or an error.
void robot_read_field(RobotFile *file, RobotFileShape *shape);
// The text of an <hfield> that names a file, with its heights instead. NULL: it can't be read.
const char *robot_field_text(const char *folder, const XmlNode *root, const XmlNode *node, Arena *arena);

// ---- bodies.c -------------------------------------------------------------------------------------------------------

RobotFileBody *robot_add_body(RobotFile *file, const XmlNode *node, int parent); // NULL: too many
RobotFileShape *robot_add_shape(RobotFile *file, const XmlNode *node, int body); // NULL: too many
int robot_index(const RobotFile *file, const RobotFileBody *body);
int robot_parts(const RobotFile *file, int body);        // number of its parts, which stand directly before it
const Robot *robot_build(RobotFile *file, Arena *arena); // the robot of all bodies read; NULL after an error

// ---- contacts.c -----------------------------------------------------------------------------------------------------

// Which shapes of bodies that move touch the world's, and how; what can't be simulated is an error. After the places of
// bodies are known.
void robot_find_contacts(RobotFile *file, Robot *robot, Arena *arena);
// Of a shape: is it part of the world, and ground?
bool robot_is_ground(const RobotFile *file, const RobotFileShape *shape);

// ---- mjcf.c, urdf.c -------------------------------------------------------------------------------------------------

// Read the root element of the format into *file; errors go to the diagnostics.
void mjcf_read(RobotFile *file);
void urdf_read(RobotFile *file);

#endif
