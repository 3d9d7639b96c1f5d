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

struct named_exception : std::exception {
    std::string message;
    explicit named_exception(const std::string &message) : message(message) {}
    const char *what() const noexcept override { return message.c_str(); }
};

void thrown(const char *type, size type_bytes, const char *message, size message_bytes) {
    const std::string name(type, type_bytes), text(message, message_bytes);
#define SPLITWIRE_THROW(exception) if (name == #exception) throw std::exception(text);
    SPLITWIRE_THROW(invalid_argument) SPLITWIRE_THROW(domain_error) SPLITWIRE_THROW(length_error)
    SPLITWIRE_THROW(out_of_range) SPLITWIRE_THROW(logic_error) SPLITWIRE_THROW(range_error)
    SPLITWIRE_THROW(overflow_error) SPLITWIRE_THROW(underflow_error) SPLITWIRE_THROW(runtime_error)
#undef SPLITWIRE_THROW
#define SPLITWIRE_THROW(exception) if (name == #exception) throw std::exception();
    SPLITWIRE_THROW(bad_alloc) SPLITWIRE_THROW(bad_cast) SPLITWIRE_THROW(bad_typeid)
#if __cplusplus >= 201703L
    SPLITWIRE_THROW(bad_any_cast) SPLITWIRE_THROW(bad_optional_access) SPLITWIRE_THROW(bad_variant_access)
#endif
    if (name == "exception") throw named_exception(text);
    throw solution_failed();
}

}  // namespace splitwire
