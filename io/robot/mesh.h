// Meshes of robots: what mesh_file.c reads, mesh.c makes shapes of, and mesh_mass.c weighs.
#ifndef HOPSCOTCH_IO_ROBOT_MESH_H
#define HOPSCOTCH_IO_ROBOT_MESH_H

#include "robot_file.h"

// Vertices as they are given, without the scale, and triangles between them.
typedef struct Mesh {
    const char *name;    // for messages
    double (*points)[3]; // [n_points], without -0
    int n_points;
    int (*faces)[3]; // [n_faces] corners, counter-clockwise from outside; NULL: not read
    int n_faces;
} Mesh;

// Of a mass of 1 kg/m^3 (a shell: of 1 kg/m^2): its volume (area), its centre, and its inertia about that, in the axes
// of the mesh: xx, yy, zz, xy, xz, yz.
typedef struct MeshSolid {
    double volume, centre[3], inertia[6];
} MeshSolid;
enum { MESH_SOLID = 10 }; // doubles of one

// ---- mesh_file.c ----------------------------------------------------------------------------------------------------

// The mesh of the file that an element names, in `arena`, with its triangles if they are wanted. *read: bytes of all
// files so far, to which its own are added. Error (user): it can't be read.
Error mesh_load(const char *folder, const XmlNode *root, const XmlNode *node, bool faces, Arena *arena, size_t *read,
                Mesh *mesh);
// The same of an element with a file or with `vertex` and `face`, in the file's arena. False: an error is reported.
bool mesh_read(RobotFile *file, const XmlNode *node, bool faces, Mesh *mesh);
// The value of an attribute of <mesh>: its own, or that of its class; NULL: neither gives one.
const char *mesh_setting(const XmlNode *root, const XmlNode *node, const char *name);

// ---- mesh_hull.c ----------------------------------------------------------------------------------------------------

// faces[][3] <- the triangles of the convex hull, counter-clockwise from outside. Error (user): the points lie in a
// plane, or the hull takes too long.
Error mesh_hull(double (*points)[3], int n_points, Arena *arena, int (**faces)[3], int *n_faces);

// ---- mesh_lost.c ----------------------------------------------------------------------------------------------------

// Counts a mesh, with this scale, of which only these points touch.
void mesh_reduce(RobotFile *file, const XmlNode *node, const Mesh *mesh, const double scale[3], double (*points)[3],
                 int count);

// ---- mesh_mass.c ----------------------------------------------------------------------------------------------------

// What the mesh weighs with this scale, by the word of its attribute `inertia`; NULL: by MuJoCo's default. Error
// (user): it has no volume.
Error mesh_solid(const Mesh *mesh, const double scale[3], const char *inertia, Arena *arena, MeshSolid *out);

#endif
