// Streams, exceptions, clocks, random numbers, threads: declarations, so that launchers parse.
#pragma once
#include <bw/libc.h>
#include <bw/std_containers.h>

namespace std {

// ---- streams ----
class ios_base {
  public:
    enum openmode { in = 8, out = 16, binary = 4, app = 1, ate = 2, trunc = 32 };
    friend constexpr openmode operator|(openmode a, openmode b) { return openmode(int(a) | int(b)); }
    enum seekdir { beg = 0, cur = 1, end = 2 };
    enum iostate { goodbit = 0, badbit = 1, failbit = 2, eofbit = 4 };
    static bool sync_with_stdio(bool = true);
};
class ios : public ios_base {
  public:
    void setstate(iostate);
    void clear(iostate = goodbit);
    char fill() const;
    char fill(char);
};
class ostream : public ios {
  public:
    ostream &operator<<(bool);
    ostream &operator<<(int);
    ostream &operator<<(unsigned);
    ostream &operator<<(long);
    ostream &operator<<(unsigned long);
    ostream &operator<<(long long);
    ostream &operator<<(unsigned long long);
    ostream &operator<<(float);
    ostream &operator<<(double);
    ostream &operator<<(const void *);
    ostream &operator<<(ostream &(*)(ostream &));
    ostream &operator<<(ios_base &(*)(ios_base &));
    ostream &write(const char *, long);
    ostream &flush();
    explicit operator bool() const;
    bool operator!() const;
    long precision(long);
    long width(long);
};
ostream &operator<<(ostream &, char);
ostream &operator<<(ostream &, signed char);
ostream &operator<<(ostream &, unsigned char);
ostream &operator<<(ostream &, const char *);
ostream &operator<<(ostream &, const string &);
ostream &operator<<(ostream &, string_view);
class istream : public ios {
  public:
    template <class T> istream &operator>>(T &);
    istream &read(char *, long);
    istream &seekg(long, seekdir = beg);
    long tellg();
    long gcount() const;
    explicit operator bool() const;
    bool operator!() const;
    bool eof() const;
};
class iostream : public istream, public ostream {};
class stringstream : public ostream {
  public:
    stringstream();
    explicit stringstream(const string &);
    string str() const;
    void str(const string &);
    template <class T> stringstream &operator>>(T &);
    explicit operator bool() const;
};
using ostringstream = stringstream;
using istringstream = stringstream;
class ofstream : public ostream {
  public:
    ofstream();
    explicit ofstream(const string &, ios_base::openmode = ios_base::out);
    bool is_open() const;
    void open(const string &, ios_base::openmode = ios_base::out);
    void close();
};
class ifstream : public istream {
  public:
    ifstream();
    explicit ifstream(const string &, ios_base::openmode = ios_base::in);
    bool is_open() const;
    void open(const string &, ios_base::openmode = ios_base::in);
    void close();
};
using fstream = ofstream;
extern ostream cout, cerr, clog;
extern istream cin;
ostream &endl(ostream &);
ostream &flush(ostream &);
ios_base &fixed(ios_base &);
ios_base &scientific(ios_base &);
ios_base &hex(ios_base &);
ios_base &dec(ios_base &);
ios_base &left(ios_base &);
ios_base &right(ios_base &);
ios_base &boolalpha(ios_base &);
struct __bw_manipulator {};
ostream &operator<<(ostream &, __bw_manipulator);
__bw_manipulator setw(int);
__bw_manipulator setprecision(int);
__bw_manipulator setfill(char);
istream &getline(istream &, string &);
istream &getline(istream &, string &, char);

// ---- exceptions ----
class exception {
  public:
    virtual ~exception();
    virtual const char *what() const noexcept;
};
#define BW_EXCEPTION(name, base)            \
    class name : public base {              \
      public:                               \
        explicit name(const string &);      \
        explicit name(const char *);        \
    };
class __bw_error : public exception {
  public:
    explicit __bw_error(const string &);
    explicit __bw_error(const char *);
};
BW_EXCEPTION(runtime_error, __bw_error)
BW_EXCEPTION(logic_error, __bw_error)
BW_EXCEPTION(invalid_argument, logic_error)
BW_EXCEPTION(out_of_range, logic_error)
BW_EXCEPTION(length_error, logic_error)
BW_EXCEPTION(domain_error, logic_error)
BW_EXCEPTION(overflow_error, runtime_error)
BW_EXCEPTION(range_error, runtime_error)
#undef BW_EXCEPTION
class bad_alloc : public exception {};
[[noreturn]] void terminate() noexcept;

// ---- time ----
namespace chrono {
template <class R, class P = ratio<1>>
class duration {
    R n_;

  public:
    using rep = R;
    using period = P;
    constexpr duration() : n_() {}
    constexpr explicit duration(R n) : n_(n) {}
    template <class R2, class P2> constexpr duration(const duration<R2, P2> &);
    constexpr R count() const { return n_; }
    friend duration operator+(const duration &, const duration &);
    friend duration operator-(const duration &, const duration &);
    friend bool operator<(const duration &, const duration &);
};
using nanoseconds = duration<long, nano>;
using microseconds = duration<long, micro>;
using milliseconds = duration<long, milli>;
using seconds = duration<long>;
using minutes = duration<long, ratio<60>>;
template <class To, class R, class P> To duration_cast(const duration<R, P> &);
template <class C>
class time_point {
  public:
    nanoseconds time_since_epoch() const;
    friend nanoseconds operator-(const time_point &, const time_point &);
    friend bool operator<(const time_point &, const time_point &);
    template <class D> friend time_point operator+(const time_point &p, const D &) { return p; }
};
struct steady_clock {
    using time_point = chrono::time_point<steady_clock>;
    using duration = nanoseconds;
    static time_point now();
};
using high_resolution_clock = steady_clock;
using system_clock = steady_clock;
}  // namespace chrono
namespace this_thread {
template <class D> void sleep_for(const D &);
void yield();
}  // namespace this_thread

// ---- random numbers ----
struct random_device { unsigned operator()(); };
template <class T> struct __bw_engine {
    using result_type = T;
    __bw_engine();
    explicit __bw_engine(T);
    void seed(T);
    T operator()();
    static constexpr T min() { return 0; }
    static constexpr T max() { return ~T(0); }
};
using mt19937 = __bw_engine<unsigned>;
using mt19937_64 = __bw_engine<unsigned long>;
using default_random_engine = mt19937;
using minstd_rand = mt19937;
#define BW_DISTRIBUTION(name, standard)                             \
    template <class T = standard> struct name {                     \
        name();                                                     \
        explicit name(T);                                           \
        name(T, T);                                                 \
        template <class G> T operator()(G &);                       \
    };
BW_DISTRIBUTION(uniform_int_distribution, int)
BW_DISTRIBUTION(uniform_real_distribution, double)
BW_DISTRIBUTION(normal_distribution, double)
#undef BW_DISTRIBUTION
struct bernoulli_distribution { explicit bernoulli_distribution(double = 0.5); template <class G> bool operator()(G &); };

// ---- threads ----
class thread {
  public:
    thread();
    template <class F, class... A> explicit thread(F &&f, A &&...a) { f(a...); }
    void join();
    void detach();
    bool joinable() const;
    static unsigned hardware_concurrency();
};
class mutex {
  public:
    void lock();
    void unlock();
    bool try_lock();
};
template <class M> class lock_guard {
  public:
    explicit lock_guard(M &);
};
template <class M> lock_guard(M &) -> lock_guard<M>;
template <class M> class unique_lock {
  public:
    explicit unique_lock(M &);
    void lock();
    void unlock();
};
struct once_flag {};
template <class F> void call_once(once_flag &, F &&f) { f(); }
enum memory_order { memory_order_relaxed, memory_order_consume, memory_order_acquire, memory_order_release, memory_order_acq_rel, memory_order_seq_cst };
template <class T> class atomic {
  public:
    atomic();
    atomic(T);
    T load(memory_order = memory_order_seq_cst) const;
    void store(T, memory_order = memory_order_seq_cst);
    T fetch_add(T, memory_order = memory_order_seq_cst);
    T exchange(T, memory_order = memory_order_seq_cst);
    T operator=(T);
    T operator++();
    T operator++(int);
    operator T() const;
};
namespace numbers {
inline constexpr double pi = 3.141592653589793, e = 2.718281828459045, ln2 = 0.6931471805599453, log2e = 1.4426950408889634;
}
namespace filesystem {
class path {
  public:
    path(const char *);
    path(const string &);
    std::string string() const;
    friend path operator/(const path &, const path &);
};
bool exists(const path &);
bool create_directories(const path &);
}  // namespace filesystem
}  // namespace std
