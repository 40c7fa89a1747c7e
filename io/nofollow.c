// Access to files below a results root, without following links. A results folder may come from another person, and
// another program may replace files in it while this one runs. So a root is opened once, and files below it are reached
// from that descriptor, folder by folder (openat(2) and its like). No link is followed, neither on the way nor at the
// end. The root itself is the user's choice and may be reached through links; so may every path that is not below a
// root.
//
// A folder below a root can be pinned, as lock.c does with the folder of a lock: files below it are then reached from
// the folder's own descriptor, even if the folder is renamed and another one gets its name.
//
// The lists of roots and of pins are the only state. Any thread may add roots; none is ever removed. A descriptor that
// another one replaces stays open, because other threads may use it.
#include "folder.h"
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- roots ----------------------------------------------------------------------------------------------------------

typedef struct NofollowRoot {
    struct NofollowRoot *next;
    atomic_int descriptor; // -1: not opened yet
    size_t length;
    char text[]; // as the user named it, without trailing slashes; "" for "/"
} NofollowRoot;

static _Atomic(NofollowRoot *) nofollow_roots;

// The root's folder, opened at its first use, because a run may make the root later. -1 with errno.
static int nofollow_root_open(NofollowRoot *root)
{
    int known = atomic_load(&root->descriptor);
    if (known >= 0) return known;
    const int opened = open(root->length > 0 ? root->text : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0 || atomic_compare_exchange_strong(&root->descriptor, &known, opened)) return opened;
    (void)close(opened); // another thread was first
    return known;
}

// ---- pins -----------------------------------------------------------------------------------------------------------

struct FolderPin {
    FolderPin *next;
    const NofollowRoot *root;
    int descriptor;
    size_t length;
    char text[PATH_MAX]; // below the root
};

static FolderPin *nofollow_pins;
static atomic_bool nofollow_any_pins; // false: no lock has to be taken
static pthread_rwlock_t nofollow_pins_lock = PTHREAD_RWLOCK_INITIALIZER;

// True if the path lies below the pinned folder. by_name: a name inside the pinned folder is looked up;
// the folder itself does not count.
static bool nofollow_pin_holds(const FolderPin *pin, const NofollowRoot *root, const char *below, bool by_name)
{
    if (pin->root != root || strncmp(pin->text, below, pin->length) != 0) return false;
    return below[pin->length] == '/' || (below[pin->length] == '\0' && !by_name);
}

// True if a pinned folder holds the path. The longest such pin gives *descriptor, a copy of its own (-1 with errno:
// none is left), and *rest, the path below it ("": the folder itself).
static bool nofollow_pinned(const NofollowRoot *root, char *below, bool by_name, char **rest, int *descriptor)
{
    const FolderPin *found = NULL;
    pthread_rwlock_rdlock(&nofollow_pins_lock);
    for (const FolderPin *pin = nofollow_pins; pin != NULL; pin = pin->next) {
        if (nofollow_pin_holds(pin, root, below, by_name) && (found == NULL || pin->length > found->length))
            found = pin;
    }
    if (found != NULL) {
        *rest = below + found->length + (below[found->length] == '/');
        *descriptor = fcntl(found->descriptor, F_DUPFD_CLOEXEC, 0);
    }
    pthread_rwlock_unlock(&nofollow_pins_lock);
    return found != NULL;
}

// ---- paths ----------------------------------------------------------------------------------------------------------

// out[PATH_MAX] <- the path below the root, without ".", ".." and doubled slashes; "" for the root itself. False: the
// path is not below the root. `path` is shorter than PATH_MAX.
static bool nofollow_relative(const NofollowRoot *root, const char *path, char *out)
{
    size_t end = 0;
    if (strncmp(path, root->text, root->length) != 0) return false;
    const char *component = path + root->length;
    if (component[0] != '/' && component[0] != '\0') return false;
    for (component += strspn(component, "/"); component[0] != '\0'; component += strspn(component, "/")) {
        const size_t length = strcspn(component, "/");
        if (length == 2 && strncmp(component, "..", 2) == 0) {
            if (end == 0) return false;
            while (end > 0 && out[--end] != '/') continue;
        } else if (length != 1 || component[0] != '.') {
            if (end > 0) out[end++] = '/';
            memcpy(out + end, component, length);
            end += length;
        }
        component += length;
    }
    out[end] = '\0';
    return true;
}

bool nofollow_holds(const char *path)
{
    char below[PATH_MAX];
    if (strlen(path) >= sizeof below) return true; // every operation refuses it
    const NofollowRoot *root = atomic_load(&nofollow_roots);
    while (root != NULL && !nofollow_relative(root, path, below)) root = root->next;
    return root != NULL;
}

Error nofollow_add_root(const char *folder)
{
    size_t length = strlen(folder);
    while (length > 0 && folder[length - 1] == '/') length--;
    if (nofollow_holds(folder)) return error_none();
    NofollowRoot *root = malloc(sizeof *root + length + 1);
    if (root == NULL) return error_make(ERROR_MACHINE, "not enough memory for the name of %s", path_text(folder).text);
    *root = (NofollowRoot){.next = atomic_load(&nofollow_roots), .length = length};
    atomic_init(&root->descriptor, -1);
    memcpy(root->text, folder, length);
    root->text[length] = '\0';
    while (!atomic_compare_exchange_weak(&nofollow_roots, &root->next, root)) continue;
    return error_none();
}

Error nofollow_renew_root(const char *folder)
{
    char below[PATH_MAX];
    struct stat known, named;
    TRY(nofollow_add_root(folder));
    NofollowRoot *root = atomic_load(&nofollow_roots);
    while (root != NULL && !nofollow_relative(root, folder, below)) root = root->next;
    const int before = root != NULL ? nofollow_root_open(root) : -1;
    if (before < 0 || fstat(before, &known) != 0) return error_none();
    const int opened = open(root->length > 0 ? root->text : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0 || fstat(opened, &named) != 0) return error_none(); // what is looked for there is missing
    const bool same = known.st_dev == named.st_dev && known.st_ino == named.st_ino;
    int expected = before;
    if (same || !atomic_compare_exchange_strong(&root->descriptor, &expected, opened)) (void)close(opened);
    return error_none();
}

// ---- the way to a file ----------------------------------------------------------------------------------------------

typedef struct NofollowEntry {
    int folder; // the folder that `name` is in
    bool below; // a root; else `name` is the whole path
    bool held;  // `folder` is to be closed
    const char *name;
    char text[PATH_MAX];
} NofollowEntry;

// Closes a descriptor and keeps errno.
static void nofollow_close(int descriptor)
{
    const int reason = errno;
    (void)close(descriptor);
    errno = reason;
}

// Opens without following a link: that gives ELOOP, also where the system says ENOTDIR because a folder is wanted.
static int nofollow_open_at(int folder, const char *name, int flags, mode_t mode)
{
    struct stat status;
    const int descriptor = openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
    if (descriptor >= 0 || errno != ENOTDIR) return descriptor;
    const bool link = fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
    errno = link ? ELOOP : ENOTDIR;
    return -1;
}

static void nofollow_leave(const NofollowEntry *entry)
{
    if (entry->held) nofollow_close(entry->folder);
}

// How the path is used: the file itself; its name, to make or change it; the file that has the name now, pinned or not.
typedef enum NofollowUse { NOFOLLOW_FILE, NOFOLLOW_NAME, NOFOLLOW_NAMED } NofollowUse;

// Sets where the walk begins: at a pin or at the root. False with errno.
static bool nofollow_begin(NofollowRoot *root, NofollowUse use, NofollowEntry *entry, char **name)
{
    entry->below = true;
    *name = entry->text;
    if (use != NOFOLLOW_NAMED && atomic_load(&nofollow_any_pins) &&
        nofollow_pinned(root, entry->text, use == NOFOLLOW_NAME, name, &entry->folder))
        entry->held = entry->folder >= 0;
    else
        entry->folder = nofollow_root_open(root);
    return entry->folder >= 0;
}

// Opens the folders of entry->text one by one, from the root or a pin. False with errno.
static bool nofollow_walk(NofollowRoot *root, NofollowUse use, NofollowEntry *entry)
{
    char *name;
    if (!nofollow_begin(root, use, entry, &name)) return false;
    for (char *slash; (slash = strchr(name, '/')) != NULL; name = slash + 1) {
        *slash = '\0';
        const int next = nofollow_open_at(entry->folder, name, O_PATH | O_DIRECTORY, 0);
        nofollow_leave(entry);
        entry->folder = next;
        entry->held = next >= 0;
        if (next < 0) return false;
    }
    entry->name = name[0] != '\0' ? name : ".";
    return true;
}

// Finds the folder and the name for a call like openat; nofollow_leave() ends its use. False with errno. The name of a
// root is not below that root; a root that does not exist has nothing below it.
static bool nofollow_enter(const char *path, NofollowUse use, NofollowEntry *entry)
{
    entry->folder = AT_FDCWD;
    entry->below = entry->held = false;
    entry->name = path;
    if (strlen(path) >= sizeof entry->text) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (NofollowRoot *root = atomic_load(&nofollow_roots); root != NULL; root = root->next) {
        if (!nofollow_relative(root, path, entry->text)) continue;
        const bool itself = entry->text[0] == '\0';
        return (itself && (use == NOFOLLOW_NAME || nofollow_root_open(root) < 0)) || nofollow_walk(root, use, entry);
    }
    return true;
}

// ---- system calls ---------------------------------------------------------------------------------------------------

int nofollow_open(const char *path, int flags, mode_t mode)
{
    NofollowEntry entry;
    if (!nofollow_enter(path, NOFOLLOW_FILE, &entry)) return -1;
    const int descriptor =
        entry.below ? nofollow_open_at(entry.folder, entry.name, flags, mode) : open(path, flags | O_CLOEXEC, mode);
    nofollow_leave(&entry);
    return descriptor;
}

static int nofollow_stat_by(const char *path, NofollowUse use, struct stat *status, int flags)
{
    NofollowEntry entry;
    if (!nofollow_enter(path, use, &entry)) return -1;
    const int result = fstatat(entry.folder, entry.name, status, entry.below ? AT_SYMLINK_NOFOLLOW : flags);
    nofollow_leave(&entry);
    return result;
}

int nofollow_stat(const char *path, struct stat *status) { return nofollow_stat_by(path, NOFOLLOW_FILE, status, 0); }

int nofollow_link_stat(const char *path, struct stat *status)
{
    return nofollow_stat_by(path, NOFOLLOW_FILE, status, AT_SYMLINK_NOFOLLOW);
}

int nofollow_named_stat(const char *path, struct stat *status)
{
    return nofollow_stat_by(path, NOFOLLOW_NAMED, status, AT_SYMLINK_NOFOLLOW);
}

int nofollow_access(const char *path, int mode, int flags)
{
    NofollowEntry entry;
    if (!nofollow_enter(path, NOFOLLOW_FILE, &entry)) return -1;
    const int result = faccessat(entry.folder, entry.name, mode, flags | (entry.below ? AT_SYMLINK_NOFOLLOW : 0));
    nofollow_leave(&entry);
    return result;
}

int nofollow_rename(const char *from, const char *to)
{
    NofollowEntry old, other;
    if (!nofollow_enter(from, NOFOLLOW_NAME, &old)) return -1;
    const bool there = nofollow_enter(to, NOFOLLOW_NAME, &other);
    const int result = there ? renameat(old.folder, old.name, other.folder, other.name) : -1;
    if (there) nofollow_leave(&other);
    nofollow_leave(&old);
    return result;
}

static int nofollow_unlink_by(const char *path, int flags)
{
    NofollowEntry entry;
    if (!nofollow_enter(path, NOFOLLOW_NAME, &entry)) return -1;
    const int result = unlinkat(entry.folder, entry.name, flags);
    nofollow_leave(&entry);
    return result;
}

int nofollow_unlink(const char *path) { return nofollow_unlink_by(path, 0); }

int nofollow_rmdir(const char *path) { return nofollow_unlink_by(path, AT_REMOVEDIR); }

int nofollow_mkdir(const char *path)
{
    NofollowEntry entry;
    if (!nofollow_enter(path, NOFOLLOW_NAME, &entry)) return -1;
    const int result = mkdirat(entry.folder, entry.name, 0777);
    nofollow_leave(&entry);
    return result;
}

// ---- pinning --------------------------------------------------------------------------------------------------------

// The root that the folder lies below, and its path there. NULL: it lies below none, or is a root.
static NofollowRoot *nofollow_root_of(const char *folder, char *below)
{
    if (strlen(folder) >= PATH_MAX) return NULL;
    NofollowRoot *root = atomic_load(&nofollow_roots);
    while (root != NULL && !nofollow_relative(root, folder, below)) root = root->next;
    return root != NULL && below[0] != '\0' ? root : NULL;
}

static bool nofollow_pin_name(FolderPin *pin, const char *folder)
{
    pin->root = nofollow_root_of(folder, pin->text);
    pin->length = pin->root != NULL ? strlen(pin->text) : 0;
    return pin->root != NULL;
}

FolderPin *nofollow_pin(const char *folder)
{
    FolderPin *pin = malloc(sizeof *pin);
    if (pin == NULL) return NULL;
    const bool below = nofollow_pin_name(pin, folder);
    pin->descriptor = below ? nofollow_open(folder, O_PATH | O_DIRECTORY, 0) : -1;
    if (pin->descriptor < 0) {
        free(pin);
        return NULL;
    }
    pthread_rwlock_wrlock(&nofollow_pins_lock);
    pin->next = nofollow_pins;
    nofollow_pins = pin;
    atomic_store(&nofollow_any_pins, true);
    pthread_rwlock_unlock(&nofollow_pins_lock);
    return pin;
}

bool nofollow_pin_renamed(FolderPin *pin, const char *folder)
{
    struct stat pinned, named;
    if (fstat(pin->descriptor, &pinned) != 0 || nofollow_named_stat(folder, &named) != 0) return false;
    if (pinned.st_dev != named.st_dev || pinned.st_ino != named.st_ino) return false;
    pthread_rwlock_wrlock(&nofollow_pins_lock);
    (void)nofollow_pin_name(pin, folder); // not below a root: it holds nothing any more
    pthread_rwlock_unlock(&nofollow_pins_lock);
    return true;
}

void nofollow_unpin(FolderPin *pin)
{
    if (pin == NULL) return;
    pthread_rwlock_wrlock(&nofollow_pins_lock);
    FolderPin **at = &nofollow_pins;
    while (*at != pin) at = &(*at)->next;
    *at = pin->next;
    atomic_store(&nofollow_any_pins, nofollow_pins != NULL);
    pthread_rwlock_unlock(&nofollow_pins_lock);
    (void)close(pin->descriptor);
    free(pin);
}
