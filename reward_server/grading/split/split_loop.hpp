// The loop of a solution's program; comes after the solution, whose headers say what it may throw.
#undef main
#undef int
#undef long
#undef double
#undef float
#undef char
#undef bool
#undef for
#undef if
#undef while
#undef return
#undef const
#undef static
#undef void
#undef template
#undef static_cast
#undef auto
#undef unsigned
#undef throw
#undef try
#undef catch
#undef namespace
#undef inline
#undef struct
#undef class

#pragma GCC optimize("O1")

extern "C" const void *const *splitwire_thrown() __asm__("__cxa_current_exception_type");
extern "C" const void *const splitwire_derived[] __asm__("_ZTVN10__cxxabiv120__si_class_type_infoE");

namespace splitwire {

template <class T> struct is_number
    : truth<is_whole<T>::value || is_wide<T>::value || is_real<T>::value || same<T, bool>::value || same<T, char>::value> {};

template <class R, class V> inline R converted(const V &value, truth<false>) { return value; }
template <class R, class V> inline R converted(const V &value, truth<true>) {
    const R made = static_cast<R>(value);
    const bool is_kept = static_cast<V>(made) == value && (made < R()) == (value < V());
    if (!is_kept && value == value) leave("an answer does not fit the type that is declared");
    return made;
}

// What a function returns that was written anew, as the number that the prompt says.
template <class R, class V> inline R fitting(const V &value) {
    return converted<R>(value, truth<is_number<V>::value>());
}

inline void failed(Out &out, size head, const char *type, const char *message) {
    out.count = head;
    out.data[0] = 'E';
    size bytes = length(message);
    out.text(type, length(type));
    out.text(message, bytes < MESSAGE_BYTES ? bytes : size(MESSAGE_BYTES));
}

// What the tests' program throws by its name.
inline bool is_listed(const char *name) {
    static const char *const listed[] = {
        "invalid_argument", "domain_error", "length_error", "out_of_range", "logic_error", "range_error",
        "overflow_error", "underflow_error", "runtime_error", "bad_alloc", "bad_cast", "bad_typeid",
        "bad_any_cast", "bad_optional_access", "bad_variant_access", "exception"};
    for (const char *one : listed)
        if (length(one) == length(name) && !__builtin_memcmp(one, name, length(one))) return true;
    return false;
}

// The name of the nearest type of `std` that is listed, from what the compiler calls it, such as
// "St12out_of_range" or "St9exception": a type's information is its table of functions, its name and
// what it extends, if that is one.
inline const char *thrown_type(const char *otherwise) {
    for (const void *const *type = splitwire_thrown(); type; type = static_cast<const void *const *>(type[2])) {
        const char *name = static_cast<const char *>(type[1]);
        if (name[0] == 'S' && name[1] == 't') {
            for (name += 2; *name >= '0' && *name <= '9';) ++name;
            if (is_listed(name)) return name;
        }
        if (type[0] != splitwire_derived + 2) break;
    }
    return otherwise;
}

inline void answer(const Entry &entry, In &in, Out &out) {
    size head = out.count;
    try {
        entry.run(in, out);
    } catch (const unwritable &error) {
        leave(error.why);  // tests could take it for an exception
    }
#ifdef __EXCEPTION_H
    catch (const std::exception &error) {
        failed(out, head, thrown_type("exception"), error.what());
    }
#endif
    catch (...) { failed(out, head, thrown_type(""), ""); }
}

inline const Entry *found(const Entry *entries, size count, const byte *name, size bytes) {
    for (const Entry *entry = entries; entry != entries + count; ++entry)
        if (length(entry->name) == bytes && !__builtin_memcmp(entry->name, name, bytes)) return entry;
    return nullptr;
}

inline int serve(const Entry *entries, size count) {
    Frame frame;
    Out out = {nullptr, 0, 0};
    while (frame.next()) {
        In in = frame.in();
        in.expect('C');
        size id = in.u32();
        size bytes = in.u32();
        const byte *name = in.bytes(bytes);
        in.counted();
        out.count = 0;
        out.tag('R');
        out.u32(id);
        const Entry *entry = found(entries, count, name, bytes);
        if (entry)
            answer(*entry, in, out);
        else
            failed(out, out.count, "unknown", "there is no such function");
        send(out);
    }
    return 0;
}

}  // namespace splitwire
