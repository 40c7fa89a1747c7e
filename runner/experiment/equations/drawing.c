// The drawing of a system: a list of shapes between points, which are pairs of expressions.
//
//     drawing:
//       - {line: [[foot, 0], [x, z]], in: stance, width: 0.02}
//       - {spring: [[0, 0], [x, 0]], width: 0.1}
//       - {disc: [x, z], radius: 0.05, part: body}
//       - {ground: 0}
#include "equations.h"

#include <string.h>

typedef struct DrawingReader {
    SystemReader *reader;
    TapeValue **points; // [n_modes][2 most]
    Shape *shapes;
    int n_points, n_shapes, most;
    bool followed; // a disc was found
    const SystemScope *scope;
} DrawingReader;

static int drawing_mode(SystemReader *reader, const Node *in)
{
    const char **names = ARENA_NEW(reader->arena, const char *, reader->n_modes);
    int count = 0;
    if (reader->modes_wrong) return -1;
    for (int m = 0; m < reader->n_modes; m++) {
        if (reader->mode_keys[m] == NULL) continue;
        names[count++] = reader->mode_keys[m]->text;
        if (in->kind == NODE_SCALAR && strcmp(in->text, reader->mode_keys[m]->text) == 0) return m;
    }
    const char *given = in->kind == NODE_SCALAR ? in->text : "";
    diagnose(reader->diagnostics, in, "'%.60s' is not a mode%s", given, equations_nearest(reader, given, names, count));
    return -1;
}

// Adds a point of a mode (-1: of all); -1 after an error.
static int drawing_point(DrawingReader *drawing, const Node *node, int mode)
{
    SystemReader *reader = drawing->reader;
    const Expression *xy[2];
    if (node->kind != NODE_SEQUENCE || node->count != 2) {
        diagnose(reader->diagnostics, node, "a point is a pair, [x, z]");
        return -1;
    }
    if (drawing->n_points == drawing->most) {
        diagnose(reader->diagnostics, node, "a drawing has at most %d points", drawing->most);
        return -1;
    }
    for (int i = 0; i < 2; i++) {
        xy[i] = equations_expression(reader, node->items[i], drawing->scope, "a coordinate");
        if (xy[i] != NULL) equations_units(reader, node->items[i], xy[i], drawing->scope, NULL, "a coordinate");
        for (int m = 0; m < reader->n_modes && xy[i] != NULL; m++)
            if (mode < 0 || m == mode)
                drawing->points[m][2 * drawing->n_points + i] = equations_value(reader, xy[i], drawing->scope, m);
    }
    return xy[0] != NULL && xy[1] != NULL ? drawing->n_points++ : -1;
}

static double drawing_size(SystemReader *reader, const Node *shape, const char *key, double size)
{
    const Node *node = node_find(shape, key);
    if (node != NULL && equations_number(reader, node, &size) && !(size > 0.0))
        diagnose(reader->diagnostics, node, "%s must be greater than 0", key);
    return size;
}

static void drawing_add(DrawingReader *drawing, Shape shape)
{
    if (shape.from >= 0 && shape.to >= 0) drawing->shapes[drawing->n_shapes++] = shape;
}

// Rods or springs through points.
static void drawing_line(DrawingReader *drawing, const Node *line, ShapeKind kind, double width, const char *name,
                         int mode)
{
    if (line->kind != NODE_SEQUENCE || line->count < 2) {
        diagnose(drawing->reader->diagnostics, line, "a line needs two points or more, [[0, 0], [x, z]]");
        return;
    }
    int from = drawing_point(drawing, line->items[0], mode);
    for (int i = 1; i < line->count; i++) {
        const int to = drawing_point(drawing, line->items[i], mode);
        drawing_add(drawing, (Shape){name, kind, from, to, width});
        from = to;
    }
}

// Parts have the looks that they have in the figures of other models.
static bool drawing_is_part(const char *part)
{
    static const char *const parts[] = {"body", "leg", "spring", "hip", "foot"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(parts[i], part) == 0) return true;
    return false;
}

static void drawing_shape(DrawingReader *drawing, const Node *shape)
{
    SystemReader *reader = drawing->reader;
    if (!equations_mapping(reader, shape, "a shape")) return;
    const Node *line = node_find(shape, "line"), *spring = node_find(shape, "spring"), *disc = node_find(shape, "disc"),
               *ground = node_find(shape, "ground"), *in = node_find(shape, "in");
    const char *part = equations_text_of(reader, shape, "part");
    const int mode = in != NULL ? drawing_mode(reader, in) : -1;
    if (part != NULL && !drawing_is_part(part))
        diagnose(reader->diagnostics, node_find(shape, "part"), "part is one of body, leg, spring, hip and foot");
    if ((line != NULL) + (spring != NULL) + (disc != NULL) + (ground != NULL) != 1) {
        diagnose(reader->diagnostics, shape, "a shape is one of line, spring, disc and ground");
        return;
    }
    if (line != NULL)
        drawing_line(drawing, line, SHAPE_ROD, drawing_size(reader, shape, "width", 0.02), part != NULL ? part : "leg",
                     mode);
    if (spring != NULL)
        drawing_line(drawing, spring, SHAPE_SPRING, drawing_size(reader, shape, "width", 0.1),
                     part != NULL ? part : "spring", mode);
    if (ground != NULL) reader->system->has_ground = equations_number(reader, ground, &reader->system->ground);
    if (disc == NULL) return;
    const int at = drawing_point(drawing, disc, mode);
    const double width = 2.0 * drawing_size(reader, shape, "radius", 0.05);
    drawing_add(drawing, (Shape){part != NULL ? part : "hip", SHAPE_DISC, at, at, width});
    if (!drawing->followed && mode < 0 && at >= 0) reader->system->focus = at;
    drawing->followed |= mode < 0;
}

enum { DRAWING_POINTS_MAX = 512 };

// Points that the shapes can have.
static int drawing_most(const Node *section)
{
    int points = 0;
    for (int i = 0; i < section->count; i++) {
        const Node *shape = section->items[i];
        for (int k = 0; shape->kind == NODE_MAPPING && k < shape->count; k++) points += shape->items[k]->count + 1;
    }
    return points + 1;
}

void equations_read_drawing(SystemReader *reader, const Node *section, TapeValue **points)
{
    DrawingReader drawing = {.reader = reader, .points = points, .scope = equations_scope_of_any(reader)};
    if (section == NULL) return;
    if (section->kind != NODE_SEQUENCE) {
        diagnose(reader->diagnostics, section, "drawing must be a list of shapes");
        return;
    }
    drawing.most = drawing_most(section) < DRAWING_POINTS_MAX ? drawing_most(section) : DRAWING_POINTS_MAX;
    drawing.shapes = ARENA_NEW(reader->arena, Shape, drawing.most);
    for (int m = 0; m < reader->n_modes; m++) {
        points[m] = ARENA_NEW(reader->arena, TapeValue, 2 * drawing.most);
        for (int i = 0; i < 2 * drawing.most; i++) points[m][i] = TAPE_NONE;
    }
    for (int i = 0; i < section->count; i++) drawing_shape(&drawing, section->items[i]);
    reader->system->shapes = drawing.shapes;
    reader->system->n_shapes = drawing.n_shapes;
    reader->system->n_points = drawing.n_points;
}
