// Names of campaigns: each is the name of a folder under the results root.
#include "../experiment.h"

#include <string.h>

bool campaign_name_taken(const char *name)
{
    return strncmp(name, CATALOGUE_DATABASE, strlen(CATALOGUE_DATABASE)) == 0 || strcmp(name, CATALOGUE_LOCK) == 0 ||
           strcmp(name, CATALOGUE_PAGE) == 0;
}

Error campaign_name_check(const char *name)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const size_t length = strlen(name), valid = strspn(name, allowed);
    if (length == 0 || length > NAME_LENGTH_MAX) {
        return error_make(ERROR_USER, "a campaign's name has 1 to %d characters; \"%.140s\" has %zu", NAME_LENGTH_MAX,
                          name, length);
    }
    if (valid < length) {
        return error_make(ERROR_USER,
                          "campaign \"%s\": a name is made of A-Z a-z 0-9 . _ and -; character %zu is another one",
                          name, valid + 1);
    }
    if (name[0] == '.' || name[0] == '-') {
        return error_make(ERROR_USER, "campaign \"%s\": a name starts with a letter, a digit or _", name);
    }
    if (campaign_name_taken(name)) {
        return error_make(ERROR_USER, "campaign \"%s\": the list of all campaigns lies under that name; choose another",
                          name);
    }
    if (length > strlen(PARTS_SUFFIX) && strcmp(name + length - strlen(PARTS_SUFFIX), PARTS_SUFFIX) == 0)
        return error_make(ERROR_USER, "campaign \"%s\": the parts of a campaign lie under such a name; choose another",
                          name);
    return error_none();
}
