/* Loaded before every other library (LD_PRELOAD): writes down each connection and each look-up that
   would leave this machine, whatever language asks for it, and refuses it. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void note(const char *call, const char *where) {
    const char *path = getenv("NETWORK_TRACE");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (file < 0) abort();
    dprintf(file, "%s %s\n", call, where);
    close(file);
}

static int beyond(const char *call, const struct sockaddr *to) {
    char shown[INET6_ADDRSTRLEN] = "";
    if (to == NULL) return 0;
    if (to->sa_family == AF_INET) {
        const struct in_addr *four = &((const struct sockaddr_in *)to)->sin_addr;
        if (four->s_addr == INADDR_ANY || ntohl(four->s_addr) >> 24 == 127) return 0;
        inet_ntop(AF_INET, four, shown, sizeof shown);
    } else if (to->sa_family == AF_INET6) {
        const struct in6_addr *six = &((const struct sockaddr_in6 *)to)->sin6_addr;
        if (IN6_IS_ADDR_LOOPBACK(six) || IN6_IS_ADDR_UNSPECIFIED(six)) return 0;
        if (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == 127) return 0;
        inet_ntop(AF_INET6, six, shown, sizeof shown);
    } else {
        return 0;
    }
    note(call, shown);
    errno = ENETUNREACH;
    return 1;
}

static int looked_up(const char *call, const char *name) {
    unsigned char address[sizeof(struct in6_addr)];
    if (name == NULL || *name == '\0' || strcmp(name, "localhost") == 0) return 0;
    if (inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1) return 0;
    note(call, name);
    return 1;
}

int connect(int socket, const struct sockaddr *to, socklen_t size) {
    return beyond("connect", to) ? -1 : REAL(connect)(socket, to, size);
}

ssize_t sendto(int socket, const void *data, size_t length, int flags, const struct sockaddr *to,
               socklen_t size) {
    return beyond("sendto", to) ? -1 : REAL(sendto)(socket, data, length, flags, to, size);
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags) {
    return beyond("sendmsg", message->msg_name) ? -1 : REAL(sendmsg)(socket, message, flags);
}

int sendmmsg(int socket, struct mmsghdr *messages, unsigned int count, int flags) {
    for (unsigned int i = 0; i < count; i++)
        if (beyond("sendmmsg", messages[i].msg_hdr.msg_name)) return -1;
    return REAL(sendmmsg)(socket, messages, count, flags);
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **found) {
    if (looked_up("getaddrinfo", node)) return EAI_AGAIN;
    return REAL(getaddrinfo)(node, service, hints, found);
}

struct hostent *gethostbyname(const char *name) {
    return looked_up("gethostbyname", name) ? NULL : REAL(gethostbyname)(name);
}

struct hostent *gethostbyname2(const char *name, int family) {
    return looked_up("gethostbyname2", name) ? NULL : REAL(gethostbyname2)(name, family);
}

int gethostbyname_r(const char *name, struct hostent *entry, char *buffer, size_t size,
                    struct hostent **found, int *error) {
    if (looked_up("gethostbyname_r", name)) {
        *found = NULL;
        *error = TRY_AGAIN;
        return EAGAIN;
    }
    return REAL(gethostbyname_r)(name, entry, buffer, size, found, error);
}
