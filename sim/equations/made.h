// The codes of a campaign as text for kernels that are made for it (../made).
#ifndef HOPSCOTCH_EQUATIONS_MADE_H
#define HOPSCOTCH_EQUATIONS_MADE_H

#include "../sim.h"

// Model.made_macros. False: compiling would take too long.
bool equations_made_macros(const Configured *configured, TextSink out);

#endif
