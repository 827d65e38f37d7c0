// C library: declarations only. Nothing of it has a protocol meaning but abort and assert.
#pragma once
#include <bw/types.h>

#define assert(...) ((void)(__VA_ARGS__))
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
#define M_PI 3.14159265358979323846
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LN2 0.69314718055994530942
#define M_SQRT2 1.41421356237309504880
#define INFINITY __builtin_huge_valf()
#define HUGE_VALF __builtin_huge_valf()
#define HUGE_VAL __builtin_huge_val()
#define NAN __builtin_nanf("")
#define SIGINT 2
#define SIGABRT 6
#define SIGKILL 9
#define SIGSEGV 11
#define SIGALRM 14
#define SIGTERM 15
#define SIG_DFL ((void (*)(int))0)
#define SIG_IGN ((void (*)(int))1)
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define CLOCKS_PER_SEC 1000000l
#define CLOCK_MONOTONIC 1
#define EOF (-1)
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define va_start(list, last) __builtin_va_start(list, last)
#define va_end(list) __builtin_va_end(list)
#define va_arg(list, type) __builtin_va_arg(list, type)
#define errno (*__bw_errno())
#define WIFEXITED(s) (((s) & 0x7f) == 0)
#define WEXITSTATUS(s) (((s) >> 8) & 0xff)
#define WIFSIGNALED(s) (((s) & 0x7f) != 0)
#define WTERMSIG(s) ((s) & 0x7f)
#define WNOHANG 1

typedef __builtin_va_list va_list;
struct FILE;
struct timespec { time_t tv_sec; long tv_nsec; };
struct timeval { time_t tv_sec; long tv_usec; };
struct tm { int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst; };
struct div_t { int quot, rem; };

#pragma clang force_cuda_host_device begin
extern "C" {
extern FILE *stdin, *stdout, *stderr;
extern char *optarg;
extern int optind;
int *__bw_errno();
int printf(const char *, ...);
int fprintf(FILE *, const char *, ...);
int sprintf(char *, const char *, ...);
int snprintf(char *, size_t, const char *, ...);
int vprintf(const char *, va_list);
int vfprintf(FILE *, const char *, va_list);
int vsnprintf(char *, size_t, const char *, va_list);
int scanf(const char *, ...);
int sscanf(const char *, const char *, ...);
int fscanf(FILE *, const char *, ...);
int puts(const char *);
int putchar(int);
int fputs(const char *, FILE *);
int fputc(int, FILE *);
int getchar();
int fflush(FILE *);
FILE *fopen(const char *, const char *);
int fclose(FILE *);
size_t fread(void *, size_t, size_t, FILE *);
size_t fwrite(const void *, size_t, size_t, FILE *);
int fseek(FILE *, long, int);
long ftell(FILE *);
char *fgets(char *, int, FILE *);
void perror(const char *);
void *malloc(size_t) noexcept;
void *calloc(size_t, size_t) noexcept;
void *realloc(void *, size_t) noexcept;
void *aligned_alloc(size_t, size_t) noexcept;
int posix_memalign(void **, size_t, size_t);
void free(void *) noexcept;
[[noreturn]] void exit(int) noexcept;
[[noreturn]] void _exit(int) noexcept;
[[noreturn]] void abort() noexcept;
int atexit(void (*)());
int atoi(const char *);
long atol(const char *);
long long atoll(const char *);
double atof(const char *);
long strtol(const char *, char **, int);
unsigned long strtoul(const char *, char **, int);
long long strtoll(const char *, char **, int);
unsigned long long strtoull(const char *, char **, int);
double strtod(const char *, char **);
float strtof(const char *, char **);
int rand();
void srand(unsigned);
double drand48();
void srand48(long);
char *getenv(const char *);
int setenv(const char *, const char *, int);
int system(const char *);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t);
size_t strlen(const char *);
int strcmp(const char *, const char *);
int strncmp(const char *, const char *, size_t);
int strcasecmp(const char *, const char *);
char *strcpy(char *, const char *);
char *strncpy(char *, const char *, size_t);
char *strcat(char *, const char *);
char *strchr(const char *, int);
char *strrchr(const char *, int);
char *strstr(const char *, const char *);
char *strtok(char *, const char *);
char *strdup(const char *);
char *strerror(int);
time_t time(time_t *);
int clock_gettime(int, timespec *);
int gettimeofday(timeval *, void *);
int nanosleep(const timespec *, timespec *);
unsigned sleep(unsigned);
int usleep(unsigned);
unsigned alarm(unsigned);
ssize_t write(int, const void *, size_t);
ssize_t read(int, void *, size_t);
int close(int);
pid_t getpid();
pid_t fork();
pid_t waitpid(pid_t, int *, int);
int kill(pid_t, int);
int getopt(int, char *const *, const char *);
void (*signal(int, void (*)(int)))(int);
int raise(int);
int isdigit(int);
int isspace(int);
int isalpha(int);
int tolower(int);
int toupper(int);
}
#pragma clang force_cuda_host_device end
extern "C" clock_t clock();  // the device has an overload of its own

namespace std {
using ::FILE, ::abort, ::atof, ::atoi, ::atol, ::calloc, ::clock, ::exit, ::fclose, ::fflush, ::fopen, ::fprintf;
using ::fputs, ::fread, ::free, ::fwrite, ::getenv, ::malloc, ::memcmp, ::memcpy, ::memmove, ::memset, ::perror;
using ::printf, ::puts, ::qsort, ::raise, ::rand, ::realloc, ::signal, ::snprintf, ::sprintf, ::srand, ::sscanf;
using ::strchr, ::strcmp, ::strcpy, ::strerror, ::strlen, ::strncmp, ::strstr, ::strtod, ::strtof, ::strtol;
using ::strtoll, ::strtoul, ::strtoull, ::time, ::time_t, ::va_list, ::putchar, ::fgets, ::fseek, ::ftell, ::atoll;
using ::tm, ::vsnprintf, ::vfprintf, ::vprintf, ::isdigit, ::isspace, ::tolower, ::toupper, ::system, ::fputc;
using ::clock_t, ::strrchr, ::atexit, ::timespec, ::_exit;
}  // namespace std
