// Plain data between a test program and a solution's program; the wire is described in
// `reward_server.grading.compiled_tests.split`. What is no template is in `split.cpp`, which is compiled by itself,
// once, and linked with both programs.
//
// What this stops: the side of the tests takes each byte for an enemy's. Counts are checked against
// the bytes that are left before anything is made, depth is bounded, numbers must fit their type,
// and whatever else is wrong ends the program with a frame of the kind F.
// What it does not: the solution may answer with any value of the declared type.
//
// It includes nothing that defines a name which a call could mean: types are known by their shape.
#ifndef SPLITWIRE_HPP
#define SPLITWIRE_HPP
#include <bits/stringfwd.h>

// Optimised less than the solution: it is compiled anew with each.
#pragma GCC push_options
#pragma GCC optimize("O1")

namespace splitwire {

typedef unsigned char byte;
typedef unsigned long size;
typedef long long whole;

enum { DEPTH = 64 };

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
    bool is_by_type;  // whatever was answered
};

// ---- frames

struct Out {
    byte *data;
    size count, capacity;

    void bytes(const void *from, size many);
    void tag(char one);
    void u32(size number);
    void u64(unsigned long long number);
    void text(const char *from, size many);
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
    bool ended() const { return at == end; }
};

struct Deeper {
    In &in;
    explicit Deeper(In &in) : in(in) {
        if (++in.depth > DEPTH) forged("a value is nested too deep");
    }
    ~Deeper() { --in.depth; }
};

struct Frame {
    byte *data;
    size count;
    Frame() : data(nullptr), count(0) {}
    Frame(const Frame &) = delete;
    Frame &operator=(const Frame &) = delete;
    ~Frame() { __builtin_free(data); }
    // Reads the next frame. Returns false if the other side ended before it.
    bool next();
    In in() const { return In{data, data + count, 0}; }
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
template <class T> struct comes_back : truth<false> {};
template <class T> struct comes_back<T &> : truth<true> {};
template <class T> struct comes_back<const T &> : truth<false> {};

// Found by the argument's own namespace, once some template of the name is known here.
template <int> void get();
template <class> void any_cast();

#define SPLITWIRE_SHAPE(name, ...) \
    template <class T, class = void> struct name : truth<false> {}; \
    template <class T> struct name<T, typename voided<__VA_ARGS__>::type> : truth<true> {};
SPLITWIRE_SHAPE(is_text, typename T::traits_type, decltype(some<T &>().c_str()))
SPLITWIRE_SHAPE(is_view, typename T::traits_type, decltype(some<T &>().remove_prefix(1)))
SPLITWIRE_SHAPE(has_elements, typename T::value_type, decltype(some<T &>().begin()), decltype(some<T &>().size()))
SPLITWIRE_SHAPE(grows, decltype(some<T &>().push_back(some<typename T::value_type>())))
SPLITWIRE_SHAPE(is_fixed, decltype(some<T &>().fill(some<const typename T::value_type &>())))
SPLITWIRE_SHAPE(has_keys, typename T::key_type, decltype(some<T &>().begin()))
SPLITWIRE_SHAPE(has_mapped, typename T::mapped_type)
SPLITWIRE_SHAPE(is_pair, typename T::first_type, typename T::second_type, decltype(some<T &>().first))
SPLITWIRE_SHAPE(has_parts, decltype(get<0>(some<T &>())))
SPLITWIRE_SHAPE(is_variant, decltype(some<T &>().valueless_by_exception()))
SPLITWIRE_SHAPE(is_optional, typename T::value_type, decltype(some<T &>().has_value()), decltype(*some<T &>()))
SPLITWIRE_SHAPE(is_any, decltype(some<T &>().type().name()), decltype(any_cast<int>(&some<T &>())))
SPLITWIRE_SHAPE(is_complex, typename T::value_type, decltype(some<T &>().real()), decltype(some<T &>().imag()))
#undef SPLITWIRE_SHAPE

// The public fields of a record; specialised where the prompt defines one.
template <class T> struct record : truth<false> {};

template <class T> struct is_whole : truth<false> {};
#define SPLITWIRE_WHOLE(T) template <> struct is_whole<T> : truth<true> {};
SPLITWIRE_WHOLE(signed char) SPLITWIRE_WHOLE(unsigned char) SPLITWIRE_WHOLE(wchar_t)
SPLITWIRE_WHOLE(char16_t) SPLITWIRE_WHOLE(char32_t) SPLITWIRE_WHOLE(short) SPLITWIRE_WHOLE(unsigned short)
SPLITWIRE_WHOLE(int) SPLITWIRE_WHOLE(unsigned) SPLITWIRE_WHOLE(long) SPLITWIRE_WHOLE(unsigned long)
SPLITWIRE_WHOLE(long long) SPLITWIRE_WHOLE(unsigned long long)
__extension__ typedef __int128 whole128;
__extension__ typedef unsigned __int128 unsigned128;
template <class T> struct is_wide : truth<same<T, whole128>::value || same<T, unsigned128>::value> {};
template <class T> struct is_real
    : truth<same<T, float>::value || same<T, double>::value || same<T, long double>::value> {};

template <class T, class = void> struct element {
    typedef void type;
};
template <class T> struct element<T, typename voided<typename T::value_type>::type> {
    typedef typename T::value_type type;
};

enum Kind {
    UNKNOWN, NOTHING, TRUTH, CHARACTER, WHOLE, WIDE, REAL, ENUM, LITERAL, TEXT, VIEW, MAP, SET, FIXED,
    SEQUENCE, PAIR, PARTS, VARIANT, OPTIONAL, ANY, COMPLEX, RECORD
};

template <class T> struct kind {
    static constexpr bool narrow = same<typename element<T>::type, char>::value;
    static constexpr int value =
        record<T>::value ? RECORD
        : same<T, bool>::value ? TRUTH
        : same<T, char>::value ? CHARACTER
        : same<T, const char *>::value ? LITERAL
        : is_whole<T>::value ? WHOLE
        : is_wide<T>::value ? WIDE
        : is_real<T>::value ? REAL
        : __is_enum(T) ? ENUM
        : __is_empty(T) ? NOTHING
        : is_text<T>::value && narrow ? TEXT
        : is_view<T>::value && narrow ? VIEW
        : has_keys<T>::value ? (has_mapped<T>::value ? MAP : SET)
        : has_elements<T>::value && grows<T>::value ? SEQUENCE
        : has_elements<T>::value && is_fixed<T>::value ? FIXED
        : is_pair<T>::value ? PAIR
        : is_variant<T>::value ? VARIANT
        : is_optional<T>::value ? OPTIONAL
        : is_any<T>::value ? ANY
        : is_complex<T>::value ? COMPLEX
        : has_parts<T>::value ? PARTS
        : UNKNOWN;
};

template <class T> T &&moved(T &value) { return static_cast<T &&>(value); }

// ---- values: a type that has no codec cannot be split, and does not compile

template <class T, int K = kind<T>::value> struct codec;

template <class T> struct codec<T, NOTHING> {
    static void write(Out &out, const T &) { out.tag('n'); }
    static T read(In &in) {
        in.expect('n');
        return T();
    }
};

template <class T> struct codec<T, TRUTH> {
    static void write(Out &out, bool value) { out.tag(value ? 't' : 'f'); }
    static bool read(In &in) {
        char tag = in.tag();
        if (tag != 't' && tag != 'f') forged("a value is no truth value");
        return tag == 't';
    }
};

template <class T> struct codec<T, CHARACTER> {
    static void write(Out &out, char value) {
        out.tag('c');
        out.u64((unsigned long long)(whole)value);
    }
    static char read(In &in) {
        in.expect('c');
        whole value = whole(in.u64());
        if (whole(char(value)) != value) forged("a character is out of range");
        return char(value);
    }
};

void write_digits(Out &out, unsigned long long value);
unsigned long long read_digits(In &in);

template <class T> struct codec<T, WHOLE> {
    static constexpr bool is_unsigned = T(-1) > T(0);
    static constexpr bool is_huge = is_unsigned && sizeof(T) == 8;
    static void write(Out &out, T value) {
        if (is_huge && value > T(__LONG_LONG_MAX__)) {
            out.tag('I');
            write_digits(out, value);
            return;
        }
        if (whole(int(value)) == whole(value)) {
            out.tag('w');
            out.u32(unsigned(value));
            return;
        }
        out.tag('i');
        out.u64((unsigned long long)value);
    }
    static T read(In &in) {
        char tag = in.tag();
        if (tag == 'I' && is_huge) return T(read_digits(in));
        if (tag != 'i' && tag != 'w') forged("a value is no whole number");
        whole value = tag == 'w' ? whole(int(in.u32())) : whole(in.u64());
        if (whole(T(value)) != value || (is_unsigned && value < 0)) forged("a number is out of range");
        return T(value);
    }
};

template <class T> struct codec<T, WIDE> {
    static void write(Out &out, T value) {
        out.tag('p');
        out.u32(2);
        codec<long long>::write(out, (long long)(value >> 64));
        codec<unsigned long long>::write(out, (unsigned long long)value);
    }
    static T read(In &in) {
        in.expect('p');
        if (in.counted() != 2) forged("a number has another count of halves");
        unsigned128 high = unsigned128(codec<long long>::read(in));
        return T(high << 64 | codec<unsigned long long>::read(in));
    }
};

template <class T> struct codec<T, REAL> {
    static void write(Out &out, T value) {
        if (sizeof(T) > 8) {  // as it lies in memory, since it would lose digits
            byte raw[sizeof(T)] = {};
            __builtin_memcpy(raw, &value, 10);
            out.tag('b');
            out.text(reinterpret_cast<const char *>(raw), sizeof raw);
            return;
        }
        double wide = double(value);
        unsigned long long bits;
        __builtin_memcpy(&bits, &wide, 8);
        out.tag('d');
        out.u64(bits);
    }
    static T read(In &in) {
        T value = 0;
        if (sizeof(T) > 8) {
            in.expect('b');
            if (in.u32() != sizeof(T)) forged("a number has another size");
            __builtin_memcpy(&value, in.bytes(sizeof(T)), 10);
            return value;
        }
        in.expect('d');
        unsigned long long bits = in.u64();
        double wide;
        __builtin_memcpy(&wide, &bits, 8);
        return T(wide);
    }
};

template <class T> struct codec<T, ENUM> {
    typedef __underlying_type(T) number;
    static void write(Out &out, T value) { codec<number>::write(out, number(value)); }
    static T read(In &in) { return T(codec<number>::read(in)); }
};

// Lives for ever: who holds a borrowed text frees nothing.
const char *kept(In &in, size &many);

template <class T> struct codec<T, LITERAL> {
    static void write(Out &out, const char *value) {
        if (!value) return out.tag('n');
        out.tag('s');
        out.text(value, length(value));
    }
    static const char *read(In &in) {
        char tag = in.tag();
        if (tag == 'n') return nullptr;
        if (tag != 's') forged("a value is no text");
        size many;
        return kept(in, many);
    }
};

template <class T> struct codec<T, TEXT> {
    static void write(Out &out, const T &value) {
        out.tag('s');
        out.text(value.data(), value.size());
    }
    static T read(In &in) {
        in.expect('s');
        size many = in.u32();
        const byte *from = in.bytes(many);
        return T(reinterpret_cast<const char *>(from), many);
    }
};

template <class T> struct codec<T, VIEW> {
    static void write(Out &out, const T &value) {
        out.tag('s');
        out.text(value.data(), value.size());
    }
    static T read(In &in) {
        in.expect('s');
        size many;
        const char *text = kept(in, many);
        return T(text, many);
    }
};

template <class T> struct codec<T, SEQUENCE> {
    typedef typename T::value_type V;
    static void write(Out &out, const T &value) {
        out.tag('l');
        out.u32(value.size());
        for (auto &&item : value) codec<V>::write(out, item);
    }
    static T read(In &in) {
        in.expect('l');
        Deeper here(in);
        T made;
        for (size left = in.counted(); left; --left) made.push_back(codec<V>::read(in));
        return made;
    }
};

template <class T> struct codec<T, FIXED> {
    typedef typename T::value_type V;
    static void write(Out &out, const T &value) {
        out.tag('l');
        out.u32(value.size());
        for (auto &&item : value) codec<V>::write(out, item);
    }
    static T read(In &in) {
        in.expect('l');
        Deeper here(in);
        T made{};
        if (in.counted() != made.size()) forged("an array has another size");
        for (auto &item : made) item = codec<V>::read(in);
        return made;
    }
};

template <class T> struct codec<T, SET> {
    typedef typename T::key_type K;
    static void write(Out &out, const T &value) {
        out.tag('e');
        out.u32(value.size());
        for (auto &&item : value) codec<K>::write(out, item);
    }
    static T read(In &in) {
        in.expect('e');
        Deeper here(in);
        T made;
        for (size left = in.counted(); left; --left) made.insert(made.end(), codec<K>::read(in));
        return made;
    }
};

template <class T> struct codec<T, MAP> {
    typedef typename T::key_type K;
    typedef typename T::mapped_type M;
    static void write(Out &out, const T &value) {
        out.tag('m');
        out.u32(value.size());
        for (auto &&item : value) {
            codec<K>::write(out, item.first);
            codec<M>::write(out, item.second);
        }
    }
    static T read(In &in) {
        in.expect('m');
        Deeper here(in);
        T made;
        for (size left = in.counted(); left; --left) {
            K key = codec<K>::read(in);
            made.insert(made.end(), typename T::value_type(moved(key), codec<M>::read(in)));
        }
        return made;
    }
};

void opened(In &in, char tag, size wanted);

template <class T> struct codec<T, PAIR> {
    typedef typename bare<typename T::first_type>::type F;
    typedef typename bare<typename T::second_type>::type S;
    static void write(Out &out, const T &value) {
        out.tag('p');
        out.u32(2);
        codec<F>::write(out, value.first);
        codec<S>::write(out, value.second);
    }
    static T read(In &in) {
        Deeper here(in);
        opened(in, 'p', 2);
        F first = codec<F>::read(in);
        return T(moved(first), codec<S>::read(in));
    }
};

template <class T> struct codec<T, COMPLEX> {
    typedef typename T::value_type V;
    static void write(Out &out, const T &value) {
        out.tag('p');
        out.u32(2);
        codec<V>::write(out, value.real());
        codec<V>::write(out, value.imag());
    }
    static T read(In &in) {
        opened(in, 'p', 2);
        V real = codec<V>::read(in);
        return T(real, codec<V>::read(in));
    }
};

template <size... I> struct indices {};
template <size N, size... I> struct upto : upto<N - 1, N - 1, I...> {};
template <size... I> struct upto<0, I...> {
    typedef indices<I...> type;
};

template <template <class...> class V, class... A> struct codec<V<A...>, PARTS> {
    template <size... I> static void each(Out &out, const V<A...> &value, indices<I...>) {
        int done[] = {0, (codec<typename bare<A>::type>::write(out, get<I>(value)), 0)...};
        (void)done;
    }
    static void write(Out &out, const V<A...> &value) {
        out.tag('p');
        out.u32(sizeof...(A));
        each(out, value, typename upto<sizeof...(A)>::type());
    }
    static V<A...> read(In &in) {
        Deeper here(in);
        opened(in, 'p', sizeof...(A));
        return V<A...>{codec<typename bare<A>::type>::read(in)...};
    }
};

template <template <class...> class V, class... A> struct codec<V<A...>, VARIANT> {
    template <size I> static void put(Out &out, const V<A...> &value) {
        typedef typename bare<decltype(get<I>(value))>::type T;
        codec<T>::write(out, get<I>(value));
    }
    template <size... I> static void each(Out &out, const V<A...> &value, indices<I...>) {
        void (*const puts[])(Out &, const V<A...> &) = {put<I>...};
        puts[value.index()](out, value);
    }
    static void write(Out &out, const V<A...> &value) {
        if (value.valueless_by_exception()) throw unwritable{"a variant has no value", false};
        out.tag('p');
        out.u32(2);
        codec<size>::write(out, value.index());
        each(out, value, typename upto<sizeof...(A)>::type());
    }
    template <class T> static V<A...> take(In &in) { return V<A...>(codec<T>::read(in)); }
    static V<A...> read(In &in) {
        Deeper here(in);
        opened(in, 'p', 2);
        V<A...> (*const takes[])(In &) = {take<A>...};
        size index = codec<size>::read(in);
        if (index >= sizeof...(A)) forged("a variant has no such alternative");
        return takes[index](in);
    }
};

template <class T> struct codec<T, OPTIONAL> {
    typedef typename T::value_type V;
    static void write(Out &out, const T &value) {
        if (!value.has_value()) return out.tag('n');
        out.tag('o');
        codec<V>::write(out, *value);
    }
    static T read(In &in) {
        char tag = in.tag();
        if (tag == 'n') return T();
        if (tag != 'o') forged("a value is no option");
        Deeper here(in);
        return T(codec<V>::read(in));
    }
};

// Holds one of a closed list of types, which the name of a record tells.
template <class T> struct codec<T, ANY> {
    template <class V> static bool put(Out &out, const T &value, const char *name) {
        const V *held = any_cast<V>(&value);
        if (!held) return false;
        out.tag('r');
        out.text(name, length(name));
        out.u32(1);
        out.text("", 0);
        codec<V>::write(out, *held);
        return true;
    }
    template <class V> static bool take(In &in, T &made, const char *name, const byte *told, size many) {
        if (many != length(name) || __builtin_memcmp(name, told, many)) return false;
        made = codec<V>::read(in);
        return true;
    }
#define SPLITWIRE_HELD(DO) \
    DO(int, "int") DO(double, "double") DO(std::string, "string") DO(const char *, "literal") DO(char, "char") \
    DO(bool, "bool") DO(float, "float") DO(long, "long") DO(long long, "long long") DO(unsigned, "unsigned") \
    DO(unsigned long, "unsigned long")
#define SPLITWIRE_PUT(V, name) if (put<V>(out, value, name)) return;
#define SPLITWIRE_TAKE(V, name) if (take<V>(in, made, name, told, many)) return made;
    static void write(Out &out, const T &value) {
        if (any_cast<int>(&value) == nullptr && same_name(value.type().name(), "v")) return out.tag('n');
        SPLITWIRE_HELD(SPLITWIRE_PUT)
        throw unwritable{"a value of any type has a type that is not on the list", true};
    }
    static T read(In &in) {
        T made;
        char tag = in.tag();
        if (tag == 'n') return made;
        if (tag != 'r') forged("a value is of another type than declared");
        size many = in.u32();
        const byte *told = in.bytes(many);
        if (in.counted() != 1 || in.u32() != 0) forged("a value has another count of parts");
        SPLITWIRE_HELD(SPLITWIRE_TAKE)
        forged("a value of any type has a type that is not on the list");
    }
#undef SPLITWIRE_HELD
#undef SPLITWIRE_PUT
#undef SPLITWIRE_TAKE
    static bool same_name(const char *one, const char *other) { return __builtin_strcmp(one, other) == 0; }
};

struct WritesField {
    Out &out;
    template <class F> void operator()(const char *name, const F &field) {
        out.text(name, length(name));
        codec<F>::write(out, field);
    }
};

struct ReadsField {
    In &in;
    template <class F> void operator()(const char *name, F &field) {
        size many = in.u32();
        const byte *told = in.bytes(many);
        if (many != length(name) || __builtin_memcmp(name, told, many)) forged("a record has another field");
        field = codec<F>::read(in);
    }
};

template <class T> struct codec<T, RECORD> {
    static void write(Out &out, const T &value) {
        out.tag('r');
        out.text(record<T>::name(), length(record<T>::name()));
        out.u32(record<T>::count);
        WritesField each = {out};
        record<T>::each(each, value);
    }
    static T read(In &in) {
        Deeper here(in);
        in.expect('r');
        size many = in.u32();
        in.bytes(many);
        if (in.counted() != record<T>::count) forged("a record has another count of fields");
        T made{};
        ReadsField each = {in};
        record<T>::each(each, made);
        return made;
    }
};

// ---- the tests' side

// Lets one thread ask at a time.
struct Turn {
    Turn();
    ~Turn();
};

void begun(Out &out, const char *name, size arguments);

// Sends a call and returns the values of its answer.
In answered(const Out &call, Frame &frame, size values);

struct Call {
    Out out;
    Call() : out{nullptr, 0, 0} {}
    Call(const Call &) = delete;
    Call &operator=(const Call &) = delete;
    ~Call() { __builtin_free(out.data); }
};

template <class... A> struct backs;
template <> struct backs<> {
    static constexpr size count = 0;
};
template <class F, class... A> struct backs<F, A...> {
    static constexpr size count = comes_back<F>::value + backs<A...>::count;
};

template <class T, class V> void take_back(In &in, V &into, truth<true>) { into = codec<T>::read(in); }
template <class T, class V> void take_back(In &, V &, truth<false>) {}

template <class R> struct result {
    static R read(In &in) { return codec<typename bare<R>::type>::read(in); }
};
template <> struct result<void> {
    static void read(In &in) { in.expect('n'); }
};
template <class T> struct result<T &> {
    static T &read(In &in) { return *new typename bare<T>::type(codec<typename bare<T>::type>::read(in)); }
};

struct Ended {
    In &in;
    ~Ended() {
        if (!in.ended()) forged("a frame is too long");
    }
};

template <class F> struct stub;
template <class R, class... A> struct stub<R(A...)> {
    template <class... B> static R call(const char *name, unsigned long long object, B &...values) {
        Turn mine;
        Call call;
        Frame frame;
        try {
            begun(call.out, name, sizeof...(A) + (object != 0));
            if (object) codec<unsigned long long>::write(call.out, object);
            int put[] = {0, (codec<typename bare<A>::type>::write(call.out, values), 0)...};
            (void)put;
        } catch (const unwritable &error) {
            error.is_by_type ? stay(error.why) : leave(error.why);
        }
        In in = answered(call.out, frame, backs<A...>::count + 1);
        int back[] = {0, (take_back<typename bare<A>::type>(in, values, truth<comes_back<A>::value>()), 0)...};
        (void)back;
        Ended check = {in};
        return result<R>::read(in);
    }
};

// An object of the solution's, made there at the first call of a method.
class Instance {
    const char *made_by;
    unsigned long long number;

public:
    explicit Instance(const char *made_by) : made_by(made_by), number(0) {}
    Instance(const Instance &) = delete;  // a copy would be the same object there
    Instance &operator=(const Instance &) = delete;
    unsigned long long object() {
        if (!number) number = stub<unsigned long long()>::call(made_by, 0);
        if (!number) forged("an object has no number");
        return number;
    }
};

// ---- the solution's side

template <size I, class T> struct slot {
    T value;
};
template <class I, class... A> struct slots;
template <size... I, class... A> struct slots<indices<I...>, A...> : slot<I, typename bare<A>::type>... {
    explicit slots(In &in) : slot<I, typename bare<A>::type>{codec<typename bare<A>::type>::read(in)}... { (void)in; }
};

template <class T> void give_back(Out &out, const T &value, truth<true>) { codec<T>::write(out, value); }
template <class T> void give_back(Out &, const T &, truth<false>) {}

template <class R> struct written {
    template <class F, class G> static void by(Out &out, const F &run, const G &changed) {
        R value = run();
        changed();
        codec<typename bare<R>::type>::write(out, value);
    }
};
template <> struct written<void> {
    template <class F, class G> static void by(Out &out, const F &run, const G &changed) {
        run();
        changed();
        out.tag('n');
    }
};

unsigned long long keep_object(void *object);
void *object_of(In &in);

template <class F> struct serves;
template <class R, class... A> struct serves<R(A...)> {
    typedef typename upto<sizeof...(A)>::type all;
    template <size... I> static void run(R (*function)(void *, A...), void *object, In &in, Out &out, indices<I...>) {
        slots<all, A...> given(in);
        if (!in.ended()) forged("a frame is too long");
        written<R>::by(
            out,
            [&]() -> R { return function(object, static_cast<A &&>(given.slot<I, typename bare<A>::type>::value)...); },
            [&] {
                int put[] = {0, (give_back(out, given.slot<I, typename bare<A>::type>::value, truth<comes_back<A>::value>()), 0)...};
                (void)put;
            });
    }
    template <R (*F)(void *, A...)> static void function(In &in, Out &out) {
        out.u32(backs<A...>::count + 1);
        run(F, nullptr, in, out, all());
    }
    template <R (*F)(void *, A...)> static void method(In &in, Out &out) {
        out.u32(backs<A...>::count + 1);
        run(F, object_of(in), in, out, all());
    }
};

struct Entry {
    const char *name;
    void (*run)(In &, Out &);
};

// Answers calls until the tests' program ends; returns the exit status.
int serve(const Entry *entries, size count);

}  // namespace splitwire
#pragma GCC pop_options
#endif
