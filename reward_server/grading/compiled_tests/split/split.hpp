// Plain data between a test program and a solution's program; the wire is described in
// `reward_server.grading.compiled_tests.split`. What is no template is in `split.cpp`, which is compiled by itself,
// once, and linked with both programs. Types that few signatures have are in `split_types.hpp`, and what
// calls the solution is in `split_stubs.hpp`: this file is read by the compiler with each solution.
//
// What this stops: the side of the tests takes each byte for an enemy's. Counts are checked against
// the bytes that are left before anything is made, depth is bounded, numbers must fit their type,
// and whatever else is wrong ends the program with a frame of the kind F.
// What it does not: the solution may answer with any value of the declared type.
//
// It includes nothing, so that it defines no name which a call could mean: types are known by their shape.
#ifndef SPLITWIRE_HPP
#define SPLITWIRE_HPP

namespace splitwire {

typedef unsigned char byte;
typedef unsigned long size;
typedef long long whole;

enum { DEPTH = 1000 };

// ---- leaving

size length(const char *text);
__attribute__((noreturn)) void leave(const char *why);
// Tells whoever relays the frames that the last one is malformed, and leaves.
__attribute__((noreturn)) void forged(const char *why);
// The same, that an argument of the tests' own cannot cross.
__attribute__((noreturn)) void stay(const char *why);

// Thrown where a value cannot be written.
struct unwritable {
    const char *why;
};

// ---- frames

struct Out {
    byte *data;
    size count, capacity;
    int depth;

    void bytes(const void *from, size many);
    void tag(char one);
    void u32(size number);
    void u64(unsigned long long number);
    void text(const char *from, size many);
    // Enters a value whose parts follow.
    void enter(char tag);
    // The same, of so many parts.
    void open(char tag, size parts);
    void leave() { --depth; }
};

struct In {
    const byte *at, *end;
    int depth;

    const byte *bytes(size many);
    char tag();
    size u32();
    unsigned long long u64();
    // How many values follow; each takes a byte at least.
    size counted();
    void expect(char wanted);
    // Enters a value whose parts follow, and returns how many there are.
    size enter(char wanted);
    // The same, of so many parts.
    void enter(char wanted, size parts);
    void leave() { --depth; }
    bool ended() const { return at == end; }
    void close();
};

// ---- shapes of types

template <class...> struct voided { typedef void type; };
template <class T> T &&some() noexcept;
template <bool B> struct truth { static constexpr bool value = B; };
template <class T, class U> struct same : truth<false> {};
template <class T> struct same<T, T> : truth<true> {};
template <class T> struct bare { typedef T type; };
template <class T> struct bare<const T> : bare<T> {};
template <class T> struct bare<T &> : bare<T> {};
template <class T> struct bare<T &&> : bare<T> {};

enum Kind {
    UNKNOWN, TRUTH, CHARACTER, WHOLE, REAL, TEXT, MAP, SET, FIXED, SEQUENCE, PAIR, PARTS, OPTIONAL, RECORD
};
template <int K> struct is { static constexpr int value = K; };

is<TRUTH> plain(bool *);
is<CHARACTER> plain(char *);
is<WHOLE> plain(signed char *), plain(unsigned char *), plain(wchar_t *), plain(char16_t *), plain(char32_t *),
    plain(short *), plain(unsigned short *), plain(int *), plain(unsigned *), plain(long *), plain(unsigned long *),
    plain(long long *), plain(unsigned long long *);
is<REAL> plain(float *), plain(double *);
is<UNKNOWN> plain(...);

#define SPLITWIRE_SHAPE(name, ...) \
    template <class T, class = void> struct name : truth<false> {}; \
    template <class T> struct name<T, typename voided<__VA_ARGS__>::type> : truth<true> {};
SPLITWIRE_SHAPE(has_keys, typename T::key_type, decltype(some<T &>().begin()))
SPLITWIRE_SHAPE(has_mapped, typename T::mapped_type)
SPLITWIRE_SHAPE(grows, decltype(some<T &>().begin()), decltype(some<T &>().size()), decltype(some<T &>().push_back(some<typename T::value_type>())))
SPLITWIRE_SHAPE(is_pair, typename T::first_type, typename T::second_type, decltype(some<T &>().first))
template <class T, class = void> struct is_text : truth<false> {};
template <class T> struct is_text<T, typename voided<typename T::traits_type, decltype(some<T &>().c_str())>::type>
    : same<typename T::value_type, char> {};

// The public fields of a record; specialised where the prompt defines one.
template <class T> struct record : truth<false> {};

// The kinds of `split_types.hpp`.
template <class T, int = 0> struct seldom : is<UNKNOWN> {};

template <class T, bool is_class = __is_class(T) || __is_union(T)> struct kind {
    static constexpr int value = decltype(plain(static_cast<T *>(nullptr)))::value;
};
template <class T, bool is_known> struct kind_of_container {
    static constexpr int value = has_keys<T>::value ? (has_mapped<T>::value ? MAP : SET)
        : grows<T>::value ? SEQUENCE
        : is_pair<T>::value ? PAIR
        : seldom<T>::value;
};
template <class T> struct kind_of_container<T, true> {
    static constexpr int value = record<T>::value ? RECORD : TEXT;
};
template <class T> struct kind<T, true>
    : kind_of_container<T, record<T>::value || is_text<T>::value> {};

template <class T> T &&moved(T &value) { return static_cast<T &&>(value); }

// ---- values: a type that has no codec cannot be split, and does not compile

template <class T, int K = kind<T>::value> struct codec;

void write_truth(Out &out, bool value);
bool read_truth(In &in);
template <class T> struct codec<T, TRUTH> {
    static void write(Out &out, bool value) { write_truth(out, value); }
    static bool read(In &in) { return read_truth(in); }
};

void write_character(Out &out, char value);
char read_character(In &in);
template <class T> struct codec<T, CHARACTER> {
    static void write(Out &out, char value) { write_character(out, value); }
    static char read(In &in) { return read_character(in); }
};

// A whole number of so many bytes.
void write_whole(Out &out, whole value, bool is_huge);
whole read_whole(In &in, size bytes, bool is_unsigned);
template <class T> struct codec<T, WHOLE> {
    static constexpr bool is_unsigned = T(-1) > T(0);
    static void write(Out &out, T value) { write_whole(out, whole(value), is_unsigned && sizeof(T) == sizeof(whole)); }
    static T read(In &in) { return T(read_whole(in, sizeof(T), is_unsigned)); }
};

void write_real(Out &out, double value);
void read_real(In &in, double &value);
void read_real(In &in, float &value);
template <class T> struct codec<T, REAL> {
    static void write(Out &out, T value) { write_real(out, value); }
    static T read(In &in) {
        T value;
        read_real(in, value);
        return value;
    }
};

void write_text(Out &out, const char *text, size many);
const char *read_text(In &in, size &many);
template <class T> struct codec<T, TEXT> {
    static void write(Out &out, const T &value) { write_text(out, value.data(), value.size()); }
    static T read(In &in) {
        size many;
        const char *text = read_text(in, many);
        return T(text, many);
    }
};

template <class T> struct codec<T, SEQUENCE> {
    typedef typename T::value_type V;
    static void write(Out &out, const T &value) {
        out.open('l', value.size());
        for (auto &&item : value) codec<V>::write(out, item);
        out.leave();
    }
    static T read(In &in) {
        T made;
        for (size left = in.enter('l'); left; --left) made.push_back(codec<V>::read(in));
        in.leave();
        return made;
    }
};

template <class T> struct codec<T, SET> {
    typedef typename T::key_type K;
    static void write(Out &out, const T &value) {
        out.open('e', value.size());
        for (auto &&item : value) codec<K>::write(out, item);
        out.leave();
    }
    static T read(In &in) {
        T made;
        for (size left = in.enter('e'); left; --left) made.insert(made.end(), codec<K>::read(in));
        in.leave();
        return made;
    }
};

template <class T> struct codec<T, MAP> {
    typedef typename T::key_type K;
    typedef typename T::mapped_type M;
    static void write(Out &out, const T &value) {
        out.open('m', value.size());
        for (auto &&item : value) {
            codec<K>::write(out, item.first);
            codec<M>::write(out, item.second);
        }
        out.leave();
    }
    static T read(In &in) {
        T made;
        for (size left = in.enter('m'); left; --left) {
            K key = codec<K>::read(in);
            made.insert(made.end(), typename T::value_type(moved(key), codec<M>::read(in)));
        }
        in.leave();
        return made;
    }
};

template <class T> struct codec<T, PAIR> {
    typedef typename bare<typename T::first_type>::type F;
    typedef typename bare<typename T::second_type>::type S;
    static void write(Out &out, const T &value) {
        out.open('p', 2);
        codec<F>::write(out, value.first);
        codec<S>::write(out, value.second);
        out.leave();
    }
    static T read(In &in) {
        in.enter('p', 2);
        F first = codec<F>::read(in);
        S second = codec<S>::read(in);
        in.leave();
        return T(moved(first), moved(second));
    }
};

// ---- the solution's side

// An argument, from the value that was read for it.
template <class T> T &&passed(typename bare<T>::type &value) { return static_cast<T &&>(value); }

unsigned long long keep_object(void *object);
void *object_of(In &in);

struct Entry {
    const char *name;
    void (*run)(In &, Out &);
};

// Answers calls until the tests' program ends; returns the exit status.
int serve(const Entry *entries, size count);

}  // namespace splitwire
#endif
