// hopscotch doctor --repair.
#include "doctor.h"

Error doctor_repair(const Doctor *doctor, const BackendOptions *backend, bool shared_fs, FILE *messages)
{
    (void)doctor, (void)backend, (void)shared_fs, (void)messages;
    return error_make(ERROR_USER, "--repair is not there yet");
}
