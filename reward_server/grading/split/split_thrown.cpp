// Throws, in the tests' program, what the solution's program says that it threw.
#include <stdexcept>
#include <new>
#include <string>
#include <typeinfo>
#if __cplusplus >= 201703L
#include <any>
#include <optional>
#include <variant>
#endif
#include "split.hpp"

namespace splitwire {

// What is on no list: only `catch (...)` gets it.
struct solution_failed {};

template <class T> struct told : T {
    std::string message;
    explicit told(const std::string &message) : message(message) {}
    ~told() noexcept override {}
    const char *what() const noexcept override { return message.c_str(); }
};

void thrown(const char *type, size type_bytes, const char *message, size message_bytes) {
    const std::string name(type, type_bytes), text(message, message_bytes);
    // Each is one of this list, or extends the one that is named; then its text is its own.
#define SPLITWIRE_THROW(exception) if (name == #exception) throw std::exception(text);
    SPLITWIRE_THROW(invalid_argument) SPLITWIRE_THROW(domain_error) SPLITWIRE_THROW(length_error)
    SPLITWIRE_THROW(out_of_range) SPLITWIRE_THROW(logic_error) SPLITWIRE_THROW(range_error)
    SPLITWIRE_THROW(overflow_error) SPLITWIRE_THROW(underflow_error) SPLITWIRE_THROW(runtime_error)
#undef SPLITWIRE_THROW
#define SPLITWIRE_THROW(exception) if (name == #exception) throw told<std::exception>(text);
    SPLITWIRE_THROW(bad_alloc) SPLITWIRE_THROW(bad_cast) SPLITWIRE_THROW(bad_typeid)
#if __cplusplus >= 201703L
    SPLITWIRE_THROW(bad_any_cast) SPLITWIRE_THROW(bad_optional_access) SPLITWIRE_THROW(bad_variant_access)
#endif
    SPLITWIRE_THROW(exception)
#undef SPLITWIRE_THROW
    throw solution_failed();
}

}  // namespace splitwire
