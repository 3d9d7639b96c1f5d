// The types that few signatures have; comes after `split.hpp`, before the solution.
#ifndef SPLITWIRE_TYPES_HPP
#define SPLITWIRE_TYPES_HPP
#include <bits/stringfwd.h>

namespace splitwire {

// ---- shapes of types

// Found by the argument's own namespace, once some template of the name is known here.
template <int> void get();
SPLITWIRE_SHAPE(is_fixed, typename T::value_type, decltype(some<T &>().begin()), decltype(some<T &>().size()), decltype(some<T &>().fill(some<const typename T::value_type &>())))
SPLITWIRE_SHAPE(has_parts, decltype(get<0>(some<T &>())))
SPLITWIRE_SHAPE(is_optional, typename T::value_type, decltype(some<T &>().has_value()), decltype(*some<T &>()))



template <class T> struct seldom<T, 0> {
    static constexpr int value = is_fixed<T>::value ? FIXED
        : is_optional<T>::value ? OPTIONAL
        : has_parts<T>::value ? PARTS
        : UNKNOWN;
};

// ---- values

template <class T> struct codec<T, FIXED> {
    typedef typename T::value_type V;
    static void write(Out &out, const T &value) {
        out.open('l', value.size());
        for (auto &&item : value) codec<V>::write(out, item);
        out.leave();
    }
    static T read(In &in) {
        T made{};
        if (in.enter('l') != made.size()) forged("an array has another size");
        for (auto &item : made) item = codec<V>::read(in);
        in.leave();
        return made;
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
        out.leave();
    }
    static V<A...> read(In &in) {
        in.enter('p', sizeof...(A));
        V<A...> made{codec<typename bare<A>::type>::read(in)...};
        in.leave();
        return made;
    }
};

template <class T> struct codec<T, OPTIONAL> {
    typedef typename T::value_type V;
    static void write(Out &out, const T &value) {
        if (!value.has_value()) return out.tag('n');
        out.enter('o');
        codec<V>::write(out, *value);
        out.leave();
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
        out.enter('r');
        out.text(record<T>::name(), length(record<T>::name()));
        out.u32(record<T>::count);
        WritesField each = {out};
        record<T>::each(each, value);
        out.leave();
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
