// A made kernel of a CPU: a shared object, loaded from memory.
#ifndef HOPSCOTCH_MADE_OBJECT_H
#define HOPSCOTCH_MADE_OBJECT_H

#include "../lanes_view.h"

typedef void (*MadeFunction)(const double *assets, const LaneGroup *group);

typedef struct MadeObject {
    void *library;
    int file; // in memory; it stays open as long as the object is loaded
    MadeFunction run;
} MadeObject;

// Loads an image. Error (machine): it is none, or lacks the function `made`.
Error made_object_open(const MadeImage *image, MadeObject *object);
// Also one that was never opened, which is all 0.
void made_object_close(MadeObject *object);

#endif
