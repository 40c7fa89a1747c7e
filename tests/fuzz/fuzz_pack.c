// Any bytes as a pack: an error, or a trial whose spec is read. An input lacks the last line, which has its digest: a
// random input would never have the right one.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char before[] = ",\n  \"sha256\": \"", after[] = "\"\n}\n";
    Arena *arena = fuzz_arena();
    const Sha256Text digest = sha256_of(data, size);
    char *text = malloc(size + sizeof before + sizeof digest + sizeof after);
    if (text == NULL) abort();
    if (size > 0) memcpy(text, data, size);
    const int end = sprintf(text + size, "%s%s%s", before, digest.hex, after);
    StoredCampaign campaign;
    const Error error = pack_open_text("pack", (Bytes){(unsigned char *)text, size + (size_t)end}, arena, &campaign);
    fuzz_check_error(error);
    if (error.kind == OK && campaign.pack->row.count != 1) abort();
    if (error.kind == OK) campaign_close(&campaign);
    free(text);
    return 0;
}
