// <include file="..."/> of MJCF: the children of the file's first element replace it. Names are relative to the
// folder of the robot's file, also in included files, and may lead anywhere in the spec's folder. A file is
// included at most once, so there are no cycles. In the text, height fields get the heights of their files, if these
// can be read: whether they are needed is not known yet.
#include "../file.h"
#include "../folder.h"
#include "robot_file.h"

#include <string.h>

enum { INCLUDED_MAX = 32, MESHES_MAX = ROBOT_MESHES_MAX };
#define INCLUDED_BYTES_MAX ((size_t)XML_BYTES_MAX) // of all included files

typedef struct RobotIncluder {
    const char *folder; // the spec's; NULL: there is none
    const char *file;   // of the robot
    const XmlNode *root;
    Arena *arena, *texts;
    Diagnostics *diagnostics;
    const char *names[INCLUDED_MAX];
    int count, n_fields, n_meshes;
    size_t bytes, mesh_bytes;
    bool broken;
    RobotKeep keep; // of meshes, if their points are put into the text
} RobotIncluder;

// An element of a text that another text replaces.
typedef struct IncludedPiece {
    const XmlNode *node;          // <include> or <hfield>
    const XmlNode *root;          // of the file that is included; NULL: a height field
    struct IncludedPiece *pieces; // of that file's text
    const char *text;
    struct IncludedPiece *next;
} IncludedPiece;

static void include_error(RobotIncluder *includer, const XmlNode *node, const char *message)
{
    diagnose_at(includer->diagnostics, node->source, node->line, node->column, node->width, "%s", message);
    includer->broken = true;
}

static bool include_is_new(RobotIncluder *includer, const XmlNode *node, const char *name)
{
    if (includer->count == INCLUDED_MAX) {
        include_error(includer, node, "more than 32 files are included");
        return false;
    }
    for (int i = 0; i < includer->count; i++) {
        if (strcmp(includer->names[i], name) != 0) continue;
        include_error(includer, node, "this file is included already; MJCF includes a file at most once");
        return false;
    }
    includer->names[includer->count++] = name;
    return true;
}

static Error include_bytes(RobotIncluder *includer, const char *name, FileWithin *file, Bytes *bytes)
{
    TRY(file_open_within(includer->folder, name, includer->texts, file));
    if (includer->bytes + (size_t)file->bytes > INCLUDED_BYTES_MAX) {
        file_close_within(file);
        return error_make(ERROR_USER, "the included files have more than %d MiB", (int)(INCLUDED_BYTES_MAX >> 20));
    }
    includer->bytes += (size_t)file->bytes;
    return file_read_within(file, XML_BYTES_MAX, includer->texts, bytes);
}

// The robot's folder in that of the spec. A file that is elsewhere counts as in the spec's.
static const char *include_path(const char *folder, const char *file, Arena *arena)
{
    const char *own = folder_of(file, arena);
    const size_t length = strlen(folder);
    if (strcmp(folder, ".") == 0) return strcmp(own, ".") == 0 ? "" : arena_format(arena, "%s/", own);
    if (strncmp(own, folder, length) != 0 || own[length] != '/') return "";
    return arena_format(arena, "%s/", own + length + 1 + strspn(own + length + 1, "/"));
}

const char *robot_path(const char *folder, const char *file, const char *name, Arena *arena)
{
    if (name[0] == '/') return name;
    char *out = arena_format(arena, "%s%s", include_path(folder, file, arena), name);
    size_t size = 0, kept = 0; // of the name so far; of it what ".." can't take away
    for (const char *component = out; *component != '\0';) {
        const size_t length = strcspn(component, "/"), slashes = strspn(component + length, "/");
        const bool up = length == 2 && strncmp(component, "..", 2) == 0;
        if (up && size > kept) {
            for (size--; size > kept && out[size - 1] != '/';) size--;
        } else if (length > 0 && !(length == 1 && *component == '.')) {
            memmove(out + size, component, length);
            size += length;
            if (slashes > 0) out[size++] = '/';
            if (up) kept = size;
        }
        component += length + slashes;
    }
    out[size] = '\0';
    return out;
}

static XmlNode *include_open(RobotIncluder *includer, const XmlNode *node)
{
    const char *name = robot_text_of(node, "file");
    FileWithin file = {.descriptor = -1};
    Bytes bytes = {0};
    if (name == NULL)
        include_error(includer, node, "<include> needs a file: <include file=\"legs.xml\"/>");
    else if (includer->folder == NULL)
        include_error(includer, node, "nothing can be included here: the text is not a file");
    if (name == NULL || includer->folder == NULL) return NULL;
    name = robot_path(includer->folder, includer->file, name, includer->texts);
    if (!include_is_new(includer, node, name)) return NULL;
    const Error error = include_bytes(includer, name, &file, &bytes);
    if (error.kind != OK) {
        include_error(includer, node, error.text);
        return NULL;
    }
    Source *source = ARENA_NEW(includer->texts, Source, 1);
    *source = (Source){.file = file.path, .text = (const char *)bytes.data, .name = name};
    XmlNode *root = NULL;
    if (source_check(source, bytes.size, includer->diagnostics))
        root = xml_parse(source, includer->arena, includer->diagnostics);
    includer->broken |= root == NULL;
    return root;
}

// The text from `begin` to `end` with its pieces replaced. NULL: it is too long.
static const char *include_join(RobotIncluder *includer, const char *text, size_t begin, size_t end,
                                const IncludedPiece *pieces)
{
    size_t size = end - begin;
    for (const IncludedPiece *piece = pieces; piece != NULL; piece = piece->next)
        size += strlen(piece->text) - (piece->node->end - piece->node->begin);
    if (size > XML_BYTES_MAX) return NULL;
    char *joined = arena_take(includer->arena, size + 1, 1), *at = joined;
    for (const IncludedPiece *piece = pieces; piece != NULL; piece = piece->next) {
        memcpy(at, text + begin, piece->node->begin - begin);
        at += piece->node->begin - begin;
        memcpy(at, piece->text, strlen(piece->text));
        at += strlen(piece->text);
        begin = piece->node->end;
    }
    memcpy(at, text + begin, end - begin);
    return joined;
}

// Replaces `node` by the children of `from`; it follows `before` (NULL: it is the first).
static void include_splice(XmlNode *node, XmlNode *before, XmlNode *from)
{
    XmlNode *parent = node->parent, *first = from->first != NULL ? from->first : node->next;
    for (XmlNode *child = from->first; child != NULL; child = child->next) child->parent = parent;
    if (from->last != NULL) from->last->next = node->next;
    if (before != NULL)
        before->next = first;
    else
        parent->first = first;
    if (parent->last == node) parent->last = from->last != NULL ? from->last : before;
}

static IncludedPiece *include_add_piece(RobotIncluder *includer, const XmlNode *node, const XmlNode *root,
                                        IncludedPiece ***link)
{
    IncludedPiece *piece = ARENA_NEW(includer->arena, IncludedPiece, 1);
    *piece = (IncludedPiece){.node = node, .root = root};
    **link = piece;
    *link = &piece->next;
    return piece;
}

// MJCF has meshes in <asset>; of URDF those of <collision> count.
static bool include_is_mesh(const RobotIncluder *includer, const XmlNode *node)
{
    const XmlNode *parent = node->parent;
    if (includer->keep.meshes == ROBOT_MESHES_REFUSE || strcmp(node->name, "mesh") != 0 || parent == NULL ||
        node->first != NULL)
        return false;
    if (robot_text_of(node, "vertex") != NULL) return false;
    if (strcmp(includer->root->name, "mujoco") == 0)
        return strcmp(parent->name, "asset") == 0 && robot_text_of(node, "file") != NULL;
    return parent->parent != NULL && strcmp(parent->parent->name, "collision") == 0 &&
           robot_text_of(node, "filename") != NULL;
}

static void include_add_field(RobotIncluder *includer, const XmlNode *node, IncludedPiece ***link)
{
    if (includer->n_fields++ == INCLUDED_MAX)
        include_error(includer, node, "more than 32 height fields name a file");
    else
        (void)include_add_piece(includer, node, NULL, link);
}

// Follows the elements in the order of the text; `link` is where the next piece goes.
static void include_children(RobotIncluder *includer, XmlNode *parent, IncludedPiece ***link, int depth)
{
    XmlNode *before = NULL, *next;
    for (XmlNode *node = parent->first; node != NULL && !includer->broken; node = next) {
        next = node->next;
        if (strcmp(node->name, "include") != 0 || strcmp(includer->root->name, "mujoco") != 0) {
            if (depth >= XML_DEPTH_MAX) include_error(includer, node, "more than 256 elements inside each other");
            if (strcmp(node->name, "hfield") == 0 && robot_text_of(node, "file") != NULL && node->first == NULL)
                include_add_field(includer, node, link);
            if (include_is_mesh(includer, node) && includer->n_meshes++ < MESHES_MAX)
                (void)include_add_piece(includer, node, NULL, link);
            include_children(includer, node, link, depth + 1);
            before = node;
            continue;
        }
        XmlNode *root = include_open(includer, node);
        if (root == NULL) return;
        IncludedPiece *piece = include_add_piece(includer, node, root, link), **pieces = &piece->pieces;
        include_children(includer, root, &pieces, 1);
        include_splice(node, before, root);
        if (root->last != NULL) before = root->last;
    }
}

// The text of the element's file (whole), or what stands in the element, with the files that it names. NULL: an error.
static const char *include_text(RobotIncluder *includer, const XmlNode *root, IncludedPiece *pieces, bool whole)
{
    const char *text = root->source->text;
    for (IncludedPiece **link = &pieces, *piece; (piece = *link) != NULL;) {
        piece->text = piece->root != NULL ? include_text(includer, piece->root, piece->pieces, false)
                      : strcmp(piece->node->name, "mesh") == 0
                          ? robot_mesh_text(includer->folder, includer->root, piece->node, &includer->keep,
                                            includer->arena, &includer->mesh_bytes)
                          : robot_field_text(includer->folder, includer->root, piece->node, includer->arena);
        if (piece->text == NULL && piece->root != NULL) return NULL;
        if (piece->text == NULL)
            *link = piece->next;
        else
            link = &piece->next;
    }
    if (whole && pieces == NULL) return text;
    text = include_join(includer, text, whole ? 0 : root->inner, whole ? strlen(text) : root->inner_end, pieces);
    if (text == NULL) include_error(includer, root, "with the files that it names the robot has more than 8 MiB");
    return text;
}

static int include_depth(const XmlNode *node, int depth)
{
    int most = depth;
    for (const XmlNode *child = node->first; child != NULL && most <= XML_DEPTH_MAX; child = child->next) {
        const int below = include_depth(child, depth + 1);
        most = below > most ? below : most;
    }
    return most;
}

// Whether some body of MJCF has no mass of its own.
static bool include_weighs(const XmlNode *node)
{
    bool weighs = strcmp(node->name, "body") == 0;
    const char *from = strcmp(node->name, "compiler") == 0 ? robot_text_of(node, "inertiafromgeom") : NULL;
    for (const XmlNode *child = node->first; child != NULL; child = child->next)
        weighs &= strcmp(child->name, "inertial") != 0;
    for (const XmlNode *child = node->first; child != NULL && !weighs; child = child->next)
        weighs = include_weighs(child);
    return weighs || (from != NULL && strcmp(from, "true") == 0);
}

static bool include_all_of(XmlNode *root, const char *folder, RobotMeshes meshes, Arena *arena, Arena *texts,
                           Diagnostics *diagnostics, const char **text)
{
    RobotIncluder includer = {.folder = folder,
                              .keep = {.meshes = meshes},
                              .file = root->source->file,
                              .root = root,
                              .arena = arena,
                              .texts = texts,
                              .diagnostics = diagnostics};
    IncludedPiece *pieces = NULL, **link = &pieces;
    include_children(&includer, root, &link, 1);
    includer.keep.weighs = meshes != ROBOT_MESHES_REFUSE && strcmp(root->name, "mujoco") == 0 && include_weighs(root);
    *text = includer.broken ? NULL : include_text(&includer, root, pieces, true);
    if (*text == NULL) return false;
    if (*text != root->source->text) *text = arena_copy(texts, *text);
    if (include_depth(root, 1) > XML_DEPTH_MAX)
        include_error(&includer, root, "with the included files more than 256 elements are inside each other");
    return !includer.broken;
}

bool robot_include(XmlNode *root, const char *folder, Arena *arena, Arena *texts, Diagnostics *diagnostics,
                   const char **text)
{
    return include_all_of(root, folder, ROBOT_MESHES_REFUSE, arena, texts, diagnostics, text);
}

bool robot_text_with_meshes(const Source *source, const char *folder, RobotMeshes meshes, Arena *arena,
                            Diagnostics *diagnostics, const char **text)
{
    Arena scratch;
    if (arena_create_growing(&scratch, ROBOT_FILE_BYTES, "a robot's file").kind != OK) {
        diagnose_no_memory(diagnostics);
        return false;
    }
    XmlNode *root = xml_parse(source, &scratch, diagnostics);
    *text = source->text;
    const bool mjcf = root != NULL && strcmp(root->name, "mujoco") == 0;
    const bool plain = !mjcf && meshes == ROBOT_MESHES_REFUSE;
    const bool ok = root != NULL && (plain || include_all_of(root, folder, meshes, &scratch, arena, diagnostics, text));
    arena_destroy(&scratch);
    return ok;
}

bool robot_text(const Source *source, const char *folder, Arena *arena, Diagnostics *diagnostics, const char **text)
{
    return robot_text_with_meshes(source, folder, ROBOT_MESHES_REFUSE, arena, diagnostics, text);
}
