// The sections of MJCF. Settings, defaults and meshes are read before bodies, bodies before motors and keyframes,
// wherever they stand in the file.
#include "mjcf.h"

#include "../text.h"

#include <math.h>
#include <string.h>

static void mjcf_read_compiler(Mjcf *mjcf, const XmlNode *node)
{
    static const RobotElement element = {
        .name = "compiler",
        .read = "angle autolimits eulerseq coordinate balanceinertia boundmass boundinertia inertiafromgeom "
                "inertiagrouprange settotalmass",
        .show = "assetdir meshdir texturedir strippath discardvisual convexhull fitaabb fusestatic usethread "
                "saveinertial exactmeshinertia conflict savecanonical savecompiled passthrough",
        .refused = "alignfree",
    };
    RobotFile *file = mjcf->file;
    MjcfCompiler *compiler = &mjcf->compiler;
    double groups[2] = {compiler->groups[0], compiler->groups[1]};
    robot_check_attributes(file, node, &element);
    compiler->radian = robot_choice(file, node, "angle", "degree|radian", compiler->radian) == 1;
    compiler->autolimits = robot_choice(file, node, "autolimits", "false|true", compiler->autolimits) == 1;
    compiler->balance = robot_choice(file, node, "balanceinertia", "false|true", compiler->balance) == 1;
    compiler->from_geoms =
        (MjcfInertia)robot_choice(file, node, "inertiafromgeom", "false|true|auto", (int)compiler->from_geoms);
    robot_not_negative(file, node, "boundmass", &compiler->bound_mass);
    robot_not_negative(file, node, "boundinertia", &compiler->bound_moment);
    robot_number(file, node, "settotalmass", &file->total_mass);
    robot_numbers(file, node, "inertiagrouprange", 2, 2, groups);
    for (int i = 0; i < 2; i++)
        compiler->groups[i] = groups[i] < -1e9 ? -1000000000 : groups[i] > 1e9 ? 1000000000 : (int)groups[i];
    const char *euler = robot_text_of(node, "eulerseq"), *coordinate = robot_text_of(node, "coordinate");
    if (euler != NULL && (strlen(euler) != 3 || strspn(euler, "xyzXYZ") != 3))
        robot_error(file, node, "eulerseq", "eulerseq is '%.16s', expected three of x, y, z, X, Y and Z", euler);
    else if (euler != NULL)
        memcpy(compiler->euler, euler, 4);
    if (coordinate != NULL && strcmp(coordinate, "local") != 0)
        robot_error(file, node, "coordinate", "only local coordinates are read; MuJoCo 2.3.3 converts global ones");
}

// ---- option ---------------------------------------------------------------------------------------------------------

static const RobotElement mjcf_option = {
    .name = "option",
    .read = "gravity density viscosity wind impratio actuatorgroupdisable",
    .solver = "timestep apirate integrator cone jacobian solver iterations tolerance ls_iterations ls_tolerance "
              "noslip_iterations noslip_tolerance mpr_iterations mpr_tolerance ccd_iterations ccd_tolerance "
              "sdf_iterations sdf_initpoints sleep_tolerance magnetic o_margin o_solref o_solimp o_friction",
};

// How much stiffer friction is than the normal force: a setting of MuJoCo's soft contacts. Here slip_speed says so.
static void mjcf_read_impratio(Mjcf *mjcf, const XmlNode *node)
{
    double ratio = 1.0;
    if (robot_number(mjcf->file, node, "impratio", &ratio) && ratio != 1.0)
        robot_note(mjcf->file, true, "option impratio, for which friction has slip_speed", 1);
}

static void mjcf_read_disabled(Mjcf *mjcf, const XmlNode *node)
{
    double groups[MJCF_GROUP_MAX + 1];
    const int n = robot_numbers(mjcf->file, node, "actuatorgroupdisable", 0, MJCF_GROUP_MAX + 1, groups);
    if (xml_attribute(node, "actuatorgroupdisable") != NULL) mjcf->compiler.disabled = 0;
    for (int i = 0; i < n; i++) {
        if (groups[i] >= 0.0 && groups[i] <= MJCF_GROUP_MAX && groups[i] == floor(groups[i]))
            mjcf->compiler.disabled |= (uint32_t)1 << (int)groups[i];
        else
            robot_error(mjcf->file, node, "actuatorgroupdisable", "%s is not a group of actuators, 0 to %d",
                        text_number(groups[i]).text, MJCF_GROUP_MAX);
    }
}

// Shapes may touch nothing. Which other forces there are is the spec's to say, so a file is not simply overruled.
static void mjcf_check_flags(Mjcf *mjcf, const XmlNode *node)
{
    static const char forces[] =
        "constraint equality frictionloss limit contact spring damper passive gravity clampctrl "
        "actuation";
    static const RobotElement element = {
        .name = "flag",
        .read = "constraint equality frictionloss limit contact spring damper passive gravity clampctrl actuation "
                "override",
        .show = "autoreset diagexact energy eulerdamp filterparent fwdinv invdiscrete ipc island midphase multiccd "
                "nativeccd refsafe sensor sleep warmstart",
    };
    robot_check_attributes(mjcf->file, node, &element);
    for (int i = 0; i < node->n_attributes; i++) {
        const XmlAttribute *given = &node->attributes[i];
        if (strcmp(given->name, "override") == 0 && strcmp(given->value, "enable") == 0)
            robot_skip(mjcf->file, node, "override", "flag"); // of all contacts' parameters
        if (!robot_word_in(forces, given->name) || strcmp(given->value, "disable") != 0) continue;
        if (strcmp(given->name, "contact") == 0 && !robot_ignores(mjcf->file, "flag"))
            mjcf->file->no_contacts = true;
        else
            robot_skip(mjcf->file, node, given->name, "flag");
    }
}

static void mjcf_read_option(Mjcf *mjcf, const XmlNode *node)
{
    static const char *const media[] = {"density", "viscosity", "wind"}, *const known[] = {"flag"};
    static const double earth[3] = {0.0, 0.0, -9.81};
    RobotFile *file = mjcf->file;
    double gravity[3], value[3];
    robot_check_attributes(file, node, &mjcf_option);
    mjcf_read_impratio(mjcf, node);
    mjcf_read_disabled(mjcf, node);
    if (robot_numbers(file, node, "gravity", 3, 3, gravity) == 3 && memcmp(gravity, earth, sizeof earth) != 0) {
        if (robot_ignores(file, "gravity"))
            robot_note(file, true, "gravity", 1);
        else
            robot_error(file, node, "gravity",
                        "this is not the gravity of the Earth, 0 0 -9.81; gravity is the spec's: set it there, and add "
                        "gravity to ignore");
    }
    for (int i = 0; i < 3; i++) {
        const int n = i < 2 ? 1 : 3;
        if (robot_numbers(file, node, media[i], n, n, value) == n && robot_norm(value, n) != 0.0)
            robot_skip(file, node, media[i], media[i]);
    }
    for (const XmlNode *child = node->first; child != NULL; child = child->next) {
        if (strcmp(child->name, "flag") == 0)
            mjcf_check_flags(mjcf, child);
        else
            robot_unknown_element(file, child, known, 1);
    }
}

// ---- sections -------------------------------------------------------------------------------------------------------

static void mjcf_read_defaults(Mjcf *mjcf, const XmlNode *node) { mjcf_read_default(mjcf, node, -1); }

static int mjcf_count_children(const XmlNode *node)
{
    int count = 0;
    for (const XmlNode *child = node->first; child != NULL; child = child->next) count++;
    return count;
}

// An equality that is not active holds nothing.
static void mjcf_read_equalities(Mjcf *mjcf, const XmlNode *node)
{
    for (const XmlNode *child = node->first; child != NULL; child = child->next) {
        bool inactive = mjcf->classes[mjcf_class(mjcf, child, "class", 0)].inactive;
        mjcf_apply_equality(mjcf, child, &inactive);
        if (inactive)
            robot_note(mjcf->file, false, "inactive equality", 1);
        else
            robot_skip(mjcf->file, child, NULL, "equality");
    }
}

// Motors and equalities that pull one are refused where they stand.
static bool mjcf_tendon_pulls(const MjcfTendon *tendon)
{
    const bool range = tendon->range[0] != 0.0 || tendon->range[1] != 0.0;
    const bool limited = tendon->limited == MJCF_TRUE || (tendon->limited == MJCF_AUTO && range);
    return limited || tendon->stiffness != 0.0 || tendon->damping != 0.0 || tendon->friction != 0.0 ||
           tendon->armature != 0.0;
}

static void mjcf_read_tendons(Mjcf *mjcf, const XmlNode *node)
{
    static const char *const known[] = {"fixed", "spatial"};
    for (const XmlNode *child = node->first; child != NULL; child = child->next) {
        MjcfTendon tendon = mjcf->classes[mjcf_class(mjcf, child, "class", 0)].tendon;
        if (strcmp(child->name, "fixed") != 0 && strcmp(child->name, "spatial") != 0) {
            robot_unknown_element(mjcf->file, child, known, 2);
            continue;
        }
        mjcf_apply_tendon(mjcf, child, &tendon);
        if (mjcf_tendon_pulls(&tendon))
            robot_skip(mjcf->file, child, NULL, "tendon");
        else
            robot_note(mjcf->file, false, "tendon that does not pull", 1);
    }
}

static void mjcf_note_section(Mjcf *mjcf, const XmlNode *node)
{
    robot_note(mjcf->file, false, node->name, mjcf_count_children(node));
}

// A mesh that a spec may want read.
static void mjcf_add_mesh(Mjcf *mjcf, const XmlNode *node)
{
    RobotFile *file = mjcf->file;
    const char *name = robot_asset_name(node, file->arena);
    const XmlAttribute *moved = xml_attribute(node, "refpos"), *turned = xml_attribute(node, "refquat");
    if (name == NULL) return;
    if (file->n_meshes == ROBOT_MESHES_MAX) {
        robot_error(file, node, NULL, "more than %d meshes", ROBOT_MESHES_MAX);
        return;
    }
    if (file->meshes == NULL) file->meshes = ARENA_NEW(file->arena, RobotFileMesh, ROBOT_MESHES_MAX);
    RobotFileMesh *mesh = &file->meshes[file->n_meshes];
    *mesh = (RobotFileMesh){.node = node, .name = name};
    memcpy(mesh->scale, mjcf->classes[mjcf_class(mjcf, node, "class", 0)].scale, sizeof mesh->scale);
    mjcf_apply_mesh(mjcf, node, mesh->scale);
    file->n_meshes++;
    if (moved != NULL || turned != NULL)
        robot_error(file, node, moved != NULL ? "refpos" : "refquat",
                    "%s of a mesh is not read; move the geom that has it, or the vertices",
                    moved != NULL ? "refpos" : "refquat");
}

// Height fields and meshes are read where a shape names them.
static void mjcf_read_assets(Mjcf *mjcf, const XmlNode *node)
{
    RobotFile *file = mjcf->file;
    const bool wanted = file->options->meshes != ROBOT_MESHES_REFUSE && file->n_meshes < ROBOT_MESHES_MAX;
    int count = 0;
    for (const XmlNode *child = node->first; child != NULL; child = child->next) {
        count += strcmp(child->name, "hfield") != 0;
        if (strcmp(child->name, "mesh") == 0 && wanted) mjcf_add_mesh(mjcf, child);
    }
    if (count > 0) robot_note(file, false, node->name, count);
}

// An empty section has no effect.
static void mjcf_refuse_section(Mjcf *mjcf, const XmlNode *node)
{
    const int count = mjcf_count_children(node);
    if (count > 0 && robot_skip(mjcf->file, node, NULL, node->name))
        robot_note(mjcf->file, true, node->name, count - 1);
}

// NULL: an error.
static RobotFileShape *mjcf_paired_shape(Mjcf *mjcf, const XmlNode *node, const char *attribute)
{
    RobotFile *file = mjcf->file;
    const char *name = robot_text_of(node, attribute);
    int count = 0;
    if (name == NULL) {
        robot_error(file, node, attribute, "a pair needs %s: the name of a geom", attribute);
        return NULL;
    }
    for (int i = 0; i < file->n_shapes; i++) {
        if (strcmp(file->shapes[i].shape.name, name) == 0) return &file->shapes[i];
    }
    const size_t used = file->arena->used;
    const char **names = ARENA_NEW(file->arena, const char *, file->n_shapes + 1);
    for (int i = 0; i < file->n_shapes; i++) {
        if (file->shapes[i].shape.name[0] != '\0') names[count++] = file->shapes[i].shape.name;
    }
    const char *near = nearest_name(name, names, count);
    robot_error(file, node, attribute, "there is no geom '%.128s'; %s%s%s", name,
                near != NULL ? "did you mean '"
                             : "name the file that includes this one and has it, or add pair to ignore",
                near != NULL ? near : "", near != NULL ? "'?" : "");
    arena_rewind(file->arena, used);
    return NULL;
}

// Friction that differs along two directions.
static void mjcf_check_friction(Mjcf *mjcf, const XmlNode *node, const MjcfPair *pair)
{
    const double *friction = pair->friction;
    if (pair->condim > 1 && friction[0] != friction[1])
        robot_error(mjcf->file, node, "friction",
                    "friction of a pair is %s along one direction and %s along the other, which is not simulated; give "
                    "both the same: friction=\"%s %s\"",
                    text_number(friction[0]).text, text_number(friction[1]).text, text_number(friction[0]).text,
                    text_number(friction[0]).text);
    else if (pair->condim == 6 && friction[3] != friction[4])
        robot_error(mjcf->file, node, "friction", "rolling friction of a pair differs along two directions");
}

// Bodies do not touch each other here, as a pair or otherwise.
static void mjcf_read_pair(Mjcf *mjcf, const XmlNode *node)
{
    RobotFile *file = mjcf->file;
    const char *word = robot_ignores(file, "contact") ? "contact" : "pair";
    if (robot_ignores(file, word)) {
        robot_note(file, true, word, 1);
        return;
    }
    MjcfPair pair = mjcf->classes[mjcf_class(mjcf, node, "class", 0)].pair;
    mjcf_apply_pair(mjcf, node, &pair);
    const RobotFileShape *one = mjcf_paired_shape(mjcf, node, "geom1"), *other = mjcf_paired_shape(mjcf, node, "geom2");
    mjcf_check_friction(mjcf, node, &pair);
    if (one == NULL || other == NULL) return;
    if (file->n_pairs == ROBOT_PAIRS_MAX) {
        robot_error(file, node, NULL, "more than %d pairs", ROBOT_PAIRS_MAX);
        return;
    }
    const int a = (int)(one - file->shapes), b = (int)(other - file->shapes);
    file->pairs[file->n_pairs++] = (RobotFilePair){.node = node,
                                                   .shape = {a < b ? a : b, a < b ? b : a},
                                                   .condim = pair.condim,
                                                   .friction = {pair.friction[0], pair.friction[2], pair.friction[3]},
                                                   .margin = pair.margin};
}

// -2 after an error.
static int mjcf_excluded_body(Mjcf *mjcf, const XmlNode *node, const char *attribute)
{
    RobotFile *file = mjcf->file;
    const char *name = robot_text_of(node, attribute);
    if (name == NULL) {
        robot_error(file, node, attribute, "<exclude> needs %s: the name of a body", attribute);
        return -2;
    }
    if (strcmp(name, "world") == 0) return -1;
    int count = 0;
    for (int i = 0; i < file->n_bodies; i++) {
        if (file->bodies[i].name != NULL && strcmp(file->bodies[i].name, name) == 0) return i;
    }
    const size_t used = file->arena->used;
    const char **names = ARENA_NEW(file->arena, const char *, file->n_bodies + 1);
    names[count++] = "world";
    for (int i = 0; i < file->n_bodies; i++) {
        if (file->bodies[i].name != NULL) names[count++] = file->bodies[i].name;
    }
    const char *near = nearest_name(name, names, count);
    robot_error(file, node, attribute, "there is no body '%.128s'%s%s%s", name, near != NULL ? "; did you mean '" : "",
                near != NULL ? near : "", near != NULL ? "'?" : "");
    arena_rewind(file->arena, used);
    return -2;
}

static void mjcf_read_exclude(Mjcf *mjcf, const XmlNode *node)
{
    static const RobotElement element = {.name = "exclude", .read = "name body1 body2"};
    RobotFile *file = mjcf->file;
    robot_check_attributes(file, node, &element);
    const int a = mjcf_excluded_body(mjcf, node, "body1"), b = mjcf_excluded_body(mjcf, node, "body2");
    if (a < -1 || b < -1) return;
    if (file->n_excludes == ROBOT_PAIRS_MAX) {
        robot_error(file, node, NULL, "more than %d pairs of bodies are excluded", ROBOT_PAIRS_MAX);
        return;
    }
    file->excludes[file->n_excludes++] = (RobotFileExclude){{a < b ? a : b, a < b ? b : a}};
}

static void mjcf_read_contact(Mjcf *mjcf, const XmlNode *node)
{
    static const char *const known[] = {"exclude", "pair"};
    for (const XmlNode *child = node->first; child != NULL; child = child->next) {
        if (strcmp(child->name, "exclude") == 0)
            mjcf_read_exclude(mjcf, child);
        else if (strcmp(child->name, "pair") == 0)
            mjcf_read_pair(mjcf, child);
        else
            robot_unknown_element(mjcf->file, child, known, 2);
    }
}

enum { MJCF_STAGES = 6 };
static const struct {
    const char *name;
    int stage;
    void (*read)(Mjcf *mjcf, const XmlNode *node);
} mjcf_sections[] = {
    {"compiler", 0, mjcf_read_compiler},   {"option", 0, mjcf_read_option},        {"default", 1, mjcf_read_defaults},
    {"worldbody", 3, mjcf_read_world},     {"actuator", 4, mjcf_read_actuators},   {"keyframe", 5, mjcf_read_keyframes},
    {"contact", 4, mjcf_read_contact},     {"asset", 2, mjcf_read_assets},         {"visual", 4, mjcf_note_section},
    {"statistic", 4, mjcf_note_section},   {"size", 4, mjcf_note_section},         {"sensor", 4, mjcf_note_section},
    {"custom", 4, mjcf_note_section},      {"equality", 4, mjcf_read_equalities},  {"tendon", 4, mjcf_read_tendons},
    {"extension", 4, mjcf_refuse_section}, {"deformable", 4, mjcf_refuse_section},
};
enum { MJCF_SECTIONS = sizeof mjcf_sections / sizeof *mjcf_sections };

static int mjcf_section(const XmlNode *node)
{
    int i = 0;
    while (i < MJCF_SECTIONS && strcmp(mjcf_sections[i].name, node->name) != 0) i++;
    return i;
}

static void mjcf_check_sections(Mjcf *mjcf)
{
    static const RobotElement element = {.name = "mujoco", .read = "model"};
    const char *names[MJCF_SECTIONS];
    for (int i = 0; i < MJCF_SECTIONS; i++) names[i] = mjcf_sections[i].name;
    robot_check_attributes(mjcf->file, mjcf->file->root, &element);
    for (const XmlNode *child = mjcf->file->root->first; child != NULL; child = child->next) {
        if (mjcf_section(child) == MJCF_SECTIONS) robot_unknown_element(mjcf->file, child, names, MJCF_SECTIONS);
    }
}

void mjcf_read(RobotFile *file)
{
    Mjcf *mjcf = ARENA_NEW(file->arena, Mjcf, 1);
    mjcf->file = file;
    mjcf->compiler =
        (MjcfCompiler){.autolimits = true, .euler = "xyz", .from_geoms = MJCF_INERTIA_AUTO, .groups = {0, 5}};
    mjcf->controls = ARENA_NEW(file->arena, MjcfControl, MJCF_CONTROLS_MAX);
    mjcf_start_classes(mjcf);
    mjcf_check_sections(mjcf);
    for (int stage = 0; stage < MJCF_STAGES; stage++) {
        for (const XmlNode *child = file->root->first; child != NULL; child = child->next) {
            const int section = mjcf_section(child);
            if (section < MJCF_SECTIONS && mjcf_sections[section].stage == stage)
                mjcf_sections[section].read(mjcf, child);
        }
    }
}
