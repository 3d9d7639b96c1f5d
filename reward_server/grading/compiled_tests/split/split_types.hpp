// The types that few signatures have; comes after `split.hpp`, before the solution.
#ifndef SPLITWIRE_TYPES_HPP
#define SPLITWIRE_TYPES_HPP
#include <bits/stringfwd.h>

namespace splitwire {

// ---- shapes of types

// Found by the argument's own namespace, once some template of the name is known here.
template <int> void get();
template <class> void any_cast();

template <class T, class = void> struct is_view : truth<false> {};
template <class T> struct is_view<T, typename voided<typename T::traits_type, decltype(some<T &>().remove_prefix(1))>::type>
    : same<typename T::value_type, char> {};
SPLITWIRE_SHAPE(is_fixed, typename T::value_type, decltype(some<T &>().begin()), decltype(some<T &>().size()), decltype(some<T &>().fill(some<const typename T::value_type &>())))
SPLITWIRE_SHAPE(has_parts, decltype(get<0>(some<T &>())))
SPLITWIRE_SHAPE(is_variant, decltype(some<T &>().valueless_by_exception()))
SPLITWIRE_SHAPE(is_optional, typename T::value_type, decltype(some<T &>().has_value()), decltype(*some<T &>()))
SPLITWIRE_SHAPE(is_any, decltype(some<T &>().type().name()), decltype(any_cast<int>(&some<T &>())))
SPLITWIRE_SHAPE(is_complex, typename T::value_type, decltype(some<T &>().real()), decltype(some<T &>().imag()))

template <class T> struct seldom<T, 0> {
    static constexpr int value = is_view<T>::value ? VIEW
        : is_fixed<T>::value ? FIXED
        : is_variant<T>::value ? VARIANT
        : is_optional<T>::value ? OPTIONAL
        : is_any<T>::value ? ANY
        : is_complex<T>::value ? COMPLEX
        : has_parts<T>::value ? PARTS
        : UNKNOWN;
};

// ---- values

void write_wide(Out &out, whole128 value);
unsigned128 read_wide(In &in);
template <class T> struct codec<T, WIDE> {
    static void write(Out &out, T value) { write_wide(out, whole128(value)); }
    static T read(In &in) { return T(read_wide(in)); }
};

template <class T> struct codec<T, ENUM> {
    typedef __underlying_type(T) number;
    static void write(Out &out, T value) { codec<number>::write(out, number(value)); }
    static T read(In &in) { return T(codec<number>::read(in)); }
};

// Lives for ever.
const char *kept_text(In &in, size &many);

template <class T> struct codec<T, FIXED> {
    typedef typename T::value_type V;
    static void write(Out &out, const T &value) {
        out.open('l', value.size());
        for (auto &&item : value) codec<V>::write(out, item);
    }
    static T read(In &in) {
        T made{};
        if (in.enter('l') != made.size()) forged("an array has another size");
        for (auto &item : made) item = codec<V>::read(in);
        in.leave();
        return made;
    }
};

template <class T> struct codec<T, VIEW> {
    static void write(Out &out, const T &value) { write_text(out, value.data(), value.size()); }
    static T read(In &in) {
        size many;
        const char *text = kept_text(in, many);
        return T(text, many);
    }
};

template <class T> struct codec<T, COMPLEX> {
    typedef typename T::value_type V;
    static void write(Out &out, const T &value) {
        out.open('p', 2);
        codec<V>::write(out, value.real());
        codec<V>::write(out, value.imag());
    }
    static T read(In &in) {
        in.enter('p', 2);
        V real = codec<V>::read(in);
        V imaginary = codec<V>::read(in);
        in.leave();
        return T(real, imaginary);
    }
};

template <size... I> struct indices {};
template <size N, size... I> struct upto : upto<N - 1, N - 1, I...> {};
template <size... I> struct upto<0, I...> : indices<I...> {};

template <template <class...> class V, class... A> struct codec<V<A...>, PARTS> {
    template <size... I> static void each(Out &out, const V<A...> &value, indices<I...>) {
        int done[] = {0, (codec<typename bare<A>::type>::write(out, get<I>(value)), 0)...};
        (void)done;
    }
    static void write(Out &out, const V<A...> &value) {
        out.open('p', sizeof...(A));
        each(out, value, upto<sizeof...(A)>());
    }
    static V<A...> read(In &in) {
        in.enter('p', sizeof...(A));
        V<A...> made{codec<typename bare<A>::type>::read(in)...};
        in.leave();
        return made;
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
        if (value.valueless_by_exception()) throw unwritable{"a variant has no value"};
        out.open('p', 2);
        codec<size>::write(out, value.index());
        each(out, value, upto<sizeof...(A)>());
    }
    template <class T> static V<A...> take(In &in) { return V<A...>(codec<T>::read(in)); }
    static V<A...> read(In &in) {
        in.enter('p', 2);
        V<A...> (*const takes[])(In &) = {take<A>...};
        size index = codec<size>::read(in);
        if (index >= sizeof...(A)) forged("a variant has no such alternative");
        V<A...> made = takes[index](in);
        in.leave();
        return made;
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
        if (++in.depth > DEPTH) forged("a value is nested too deep");
        T made(codec<V>::read(in));
        in.leave();
        return made;
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
        throw unwritable{"a value of any type has a type that is not on the list"};
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
        if (++in.depth > DEPTH) forged("a value is nested too deep");
        in.expect('r');
        size many = in.u32();
        in.bytes(many);
        if (in.counted() != record<T>::count) forged("a record has another count of fields");
        T made{};
        ReadsField each = {in};
        record<T>::each(each, made);
        in.leave();
        return made;
    }
};

}  // namespace splitwire
#endif
