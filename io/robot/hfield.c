// Height fields of MJCF: a grid of heights, given in the element or in a file of MuJoCo's own format, which holds int32
// rows, int32 columns and float32 data[rows][columns]. The rows of a file follow y, those of `elevation` are the other
// way round: its first is at the greatest y. The data are scaled to [0, 1], and the size says how high that is (m).
// MuJoCo, XML reference, asset/hfield.
#include "../characters.h"
#include "../file.h"
#include "../text.h"
#include "robot_file.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { FIELD_HEADER = 8 }; // bytes

// As a file has it.
typedef struct FieldData {
    int rows, columns;
    const float *data; // [rows][columns]
} FieldData;

// ---- its file -------------------------------------------------------------------------------------------------------

// Where <compiler> says that such files are; *strip: names are taken without their folders.
static const char *field_folder(const XmlNode *root, bool *strip)
{
    const char *folder = "", *given;
    *strip = false;
    for (const XmlNode *node = root->first; node != NULL; node = node->next) {
        if (strcmp(node->name, "compiler") != 0) continue;
        if ((given = robot_text_of(node, "assetdir")) != NULL) folder = given;
        if ((given = robot_text_of(node, "meshdir")) != NULL) folder = given;
        if ((given = robot_text_of(node, "strippath")) != NULL) *strip = strcmp(given, "true") == 0;
    }
    return folder;
}

// The file's name at the end of a path.
static const char *field_file_name(const char *path)
{
    for (const char *c = path; *c != '\0'; c++) {
        if (*c == '/' || *c == '\\') path = c + 1;
    }
    return path;
}

const char *robot_asset(const XmlNode *root, const char *name, Arena *arena)
{
    bool strip;
    const char *in = field_folder(root, &strip);
    if (strip) name = field_file_name(name);
    return in[0] != '\0' && name[0] != '/' ? arena_format(arena, "%s/%s", in, name) : name;
}

static bool field_is_picture(const XmlNode *node, const char *name)
{
    const char *type = robot_text_of(node, "content_type");
    const size_t length = strlen(name);
    return (type != NULL && strcasecmp(type, "image/png") == 0) ||
           (length >= 4 && strcasecmp(name + length - 4, ".png") == 0);
}

static Error field_parse(const char *name, const Bytes *bytes, Arena *arena, FieldData *out)
{
    int32_t sides[2] = {0, 0};
    if (bytes->size >= FIELD_HEADER) memcpy(sides, bytes->data, sizeof sides);
    const int64_t count = (int64_t)sides[0] * sides[1];
    if (sides[0] < 1 || sides[1] < 1 || bytes->size != FIELD_HEADER + sizeof(float) * (uint64_t)count)
        return error_make(ERROR_USER,
                          "%.160s is not a height field: it has %lld bytes, expected int32 rows, int32 columns and a "
                          "float32 for each height",
                          name, (long long)bytes->size);
    float *data = ARENA_NEW(arena, float, count);
    memcpy(data, bytes->data + FIELD_HEADER, (size_t)count * sizeof *data);
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(data[i]))
            return error_make(ERROR_USER, "%.160s: height %lld is not finite", name, (long long)i + 1);
    }
    *out = (FieldData){.rows = sides[0], .columns = sides[1], .data = data};
    return error_none();
}

static Error field_open(const char *folder, const XmlNode *root, const XmlNode *node, Arena *arena, FieldData *out)
{
    const size_t most = FIELD_HEADER + sizeof(float) * ROBOT_HEIGHTS_MAX;
    const char *name = robot_text_of(node, "file");
    FileWithin file;
    Bytes bytes = {0};
    if (field_is_picture(node, name))
        return error_make(ERROR_USER,
                          "'%.100s' is a PNG, which is not read; write its heights as elevation, or as MuJoCo's binary "
                          "file: int32 rows, int32 columns, float32 heights; or add hfield to ignore: then it touches "
                          "nothing",
                          text_visible(name, arena));
    if (folder == NULL) return error_make(ERROR_USER, "no file can be read here: the text is not a file");
    name = robot_path(folder, root->source->file, robot_asset(root, name, arena), arena);
    TRY(file_open_within(folder, name, arena, &file));
    if ((size_t)file.bytes > most) {
        file_close_within(&file);
        return error_make(ERROR_USER, "'%.160s' has %lld bytes, one of at most %d heights has %lld",
                          text_visible(name, arena), (long long)file.bytes, ROBOT_HEIGHTS_MAX, (long long)most);
    }
    TRY(file_read_within(&file, most, arena, &bytes));
    return field_parse(text_visible(name, arena), &bytes, arena, out);
}

// The file that an <hfield> of this robot names. Error (user).
static Error field_load(const char *folder, const XmlNode *root, const XmlNode *node, Arena *arena, FieldData *out)
{
    const size_t used = arena->used;
    const Error error = field_open(folder, root, node, arena, out);
    if (error.kind != OK) arena_rewind(arena, used);
    return error;
}

// ---- its text -------------------------------------------------------------------------------------------------------

// Characters that have a meaning in XML as their numbers.
const char *robot_escape(const char *text, Arena *arena)
{
    const size_t size = 6 * strlen(text) + 1;
    char *out = arena_take(arena, size, 1), *at = out;
    for (const char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || strchr("&<>\"'", *c) != NULL)
            at += snprintf(at, size - (size_t)(at - out), "&#%d;", *c);
        else
            *at++ = *c;
    }
    *at = '\0';
    return out;
}

// Without a name it is called like its file.
const char *robot_asset_name(const XmlNode *node, Arena *arena)
{
    const char *name = robot_text_of(node, "name"), *file = robot_text_of(node, "file");
    if (name != NULL || file == NULL) return name;
    file = field_file_name(file);
    const char *dot = strrchr(file, '.');
    return dot != NULL ? arena_format(arena, "%.*s", (int)(dot - file), file) : file;
}

const char *robot_field_text(const char *folder, const XmlNode *root, const XmlNode *node, Arena *arena)
{
    enum { NUMBER = 16 }; // bytes of "-1.23456789e-38 "
    FieldData field;
    if (field_load(folder, root, node, arena, &field).kind != OK) return NULL;
    const char *name = robot_asset_name(node, arena), *size = robot_text_of(node, "size");
    const char *head = arena_format(arena, "<hfield name=\"%s\" size=\"%s\" nrow=\"%d\" ncol=\"%d\" elevation=\"",
                                    robot_escape(name, arena), robot_escape(size != NULL ? size : "", arena),
                                    field.rows, field.columns);
    const size_t most = strlen(head) + (size_t)NUMBER * (size_t)field.rows * (size_t)field.columns + 4;
    char *text = arena_take(arena, most, 1);
    size_t length = (size_t)snprintf(text, most, "%s", head);
    for (int row = field.rows - 1; row >= 0; row--) {
        for (int column = 0; column < field.columns; column++)
            length += (size_t)snprintf(text + length, most - length, "%.9g ",
                                       (double)field.data[(int64_t)row * field.columns + column]);
    }
    snprintf(text + length - 1, most - length + 1, "\"/>");
    return text;
}

// ---- the element ----------------------------------------------------------------------------------------------------

// The element that a geom names. NULL: an error.
static const XmlNode *field_find(RobotFile *file, const RobotFileShape *shape)
{
    const char *wanted = shape->field;
    if (wanted == NULL) {
        robot_error(file, shape->node, NULL, "%s needs hfield: the name of an <hfield> in <asset>",
                    robot_label(file, shape->node));
        return NULL;
    }
    for (const XmlNode *section = file->root->first; section != NULL; section = section->next) {
        if (strcmp(section->name, "asset") != 0) continue;
        for (const XmlNode *node = section->first; node != NULL; node = node->next) {
            const char *name = strcmp(node->name, "hfield") == 0 ? robot_asset_name(node, file->arena) : NULL;
            if (name != NULL && strcmp(name, wanted) == 0) return node;
        }
    }
    robot_error(file, shape->node, "hfield", "there is no hfield '%.128s' in <asset>", wanted);
    return NULL;
}

// An error at an attribute, or at the element, if the height field can't be that large.
static bool field_fits(RobotFile *file, const XmlNode *node, int rows, int columns)
{
    const int64_t count = (int64_t)rows * columns;
    const bool enough = rows >= 2 && columns >= 2;
    if (!enough)
        robot_error(file, node, "nrow", "%s has %d x %d heights, expected at least 2 rows of 2",
                    robot_label(file, node), rows, columns);
    else if (count > ROBOT_HEIGHTS_MAX - file->n_heights)
        robot_error(file, node, "nrow", "the height fields have more than %d heights with the %d x %d of %s",
                    ROBOT_HEIGHTS_MAX, rows, columns, robot_label(file, node));
    return enough && count <= ROBOT_HEIGHTS_MAX - file->n_heights;
}

// Its rows along y, as they are given. False: an error.
static bool field_data(RobotFile *file, const XmlNode *node, FieldData *out)
{
    int rows = 0, columns = 0;
    if (robot_text_of(node, "file") != NULL) {
        const Error error = field_load(file->options->folder, file->root, node, file->arena, out);
        if (error.kind != OK) robot_error(file, node, "file", "%s", error.text);
        return error.kind == OK && field_fits(file, node, out->rows, out->columns);
    }
    const int errors = diagnostics_errors(file->diagnostics);
    robot_integer(file, node, "nrow", &rows);
    robot_integer(file, node, "ncol", &columns);
    if (diagnostics_errors(file->diagnostics) > errors || !field_fits(file, node, rows, columns)) return false;
    const int count = rows * columns;
    double *given = ARENA_NEW(file->arena, double, count);
    float *data = ARENA_NEW(file->arena, float, count);
    if (xml_attribute(node, "elevation") != NULL &&
        robot_numbers(file, node, "elevation", count, count, given) != count)
        return false;
    for (int i = 0; i < count; i++) {
        data[(rows - 1 - i / columns) * columns + i % columns] = (float)given[i];
        if (isfinite((float)given[i])) continue;
        robot_error(file, node, "elevation", "height %s of elevation is too large", text_number(given[i]).text);
        return false;
    }
    *out = (FieldData){.rows = rows, .columns = columns, .data = data};
    return true;
}

// Heights (m) in single precision up to the factor, as in MuJoCo. False: an error.
static bool field_add(RobotFile *file, const XmlNode *node, const FieldData *field, double elevation)
{
    const int count = field->rows * field->columns;
    float low = field->data[0], high = low;
    for (int i = 1; i < count; i++) {
        low = field->data[i] < low ? field->data[i] : low;
        high = field->data[i] > high ? field->data[i] : high;
    }
    const float range = high - low;
    if (!isfinite(range)) {
        robot_error(file, node, NULL, "the heights of %s are too far apart", robot_label(file, node));
        return false;
    }
    if (file->heights == NULL) file->heights = ARENA_NEW(file->arena, double, ROBOT_HEIGHTS_MAX);
    for (int i = 0; i < count; i++) {
        const float above = field->data[i] - low;
        file->heights[file->n_heights++] = elevation * (double)(range > 1e-14f ? above / range : above);
    }
    return true;
}

// Does the z axis of its frame, in the world, point up? Turned about it the ground below a point is as simple.
static bool field_is_level(const RobotFile *file, const RobotFileShape *shape)
{
    static const double z[3] = {0.0, 0.0, 1.0}, tilt = 1e-9;
    RobotFrame frame;
    double up[3];
    memcpy(frame.p, shape->shape.p, sizeof frame.p);
    memcpy(frame.q, shape->shape.q, sizeof frame.q);
    if (shape->shape.body >= 0) frame = robot_frame_product(&file->bodies[shape->shape.body].in_kept, &frame);
    robot_rotate(frame.q, z, up);
    return fabs(up[0]) <= tilt && fabs(up[1]) <= tilt && up[2] > 0.0;
}

void robot_read_field(RobotFile *file, RobotFileShape *shape)
{
    static const RobotElement element = {.name = "hfield", .read = "name file content_type nrow ncol size elevation"};
    const int errors = diagnostics_errors(file->diagnostics);
    double size[4] = {0.0};
    FieldData field;
    if (!field_is_level(file, shape)) {
        robot_error(file, shape->node, NULL,
                    "%s is a height field that is tilted, which is not simulated; turn it about z only, or add hfield "
                    "to ignore: then it touches nothing",
                    robot_label(file, shape->node));
        return;
    }
    const XmlNode *node = field_find(file, shape);
    if (node == NULL) return;
    robot_check_attributes(file, node, &element);
    if (node->first != NULL) robot_error(file, node->first, NULL, "an <hfield> holds no elements");
    robot_numbers(file, node, "size", 4, 4, size);
    if (diagnostics_errors(file->diagnostics) > errors) return;
    for (int k = 0; k < 4; k++) {
        if (size[k] > 0.0 && size[k] <= 1e9) continue;
        robot_error(file, node, "size",
                    "%s needs 4 sizes greater than 0, up to 1e9: half lengths along x and y, height, base",
                    robot_label(file, node));
        return;
    }
    const int first = file->n_heights;
    if (!field_data(file, node, &field) || !field_add(file, node, &field, size[2])) return;
    shape->unknown = NULL;
    shape->shape.kind = ROBOT_HFIELD;
    shape->shape.first = first;
    shape->shape.rows = field.rows;
    shape->shape.columns = field.columns;
    memcpy(shape->shape.size, size, 2 * sizeof *size);
}
