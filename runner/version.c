// The commit that this program was built from: an object of its own, so that a commit makes nothing else compile again.
#include "experiment/experiment.h"

const char *program_commit(void)
{
#ifdef HOPSCOTCH_COMMIT
    return HOPSCOTCH_COMMIT;
#else
    return NULL;
#endif
}
