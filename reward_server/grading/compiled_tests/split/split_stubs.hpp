// What calls the solution from the tests' program; comes after `split.hpp`.
#ifndef SPLITWIRE_STUBS_HPP
#define SPLITWIRE_STUBS_HPP

namespace splitwire {

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

void begun(Out &out, const char *name, size arguments);

// Sends a call and returns the value of its answer.
In answered(const Out &call, Frame &frame);

struct Call {
    Out out;
    Call() : out{nullptr, 0, 0, 0} {}
    Call(const Call &) = delete;
    Call &operator=(const Call &) = delete;
    ~Call() { __builtin_free(out.data); }
};

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
    ~Ended() { in.close(); }
};

template <class F> struct stub;
template <class R, class... A> struct stub<R(A...)> {
    template <class... B> static R call(const char *name, unsigned long long object, B &...values) {
        Call call;
        Frame frame;
        try {
            begun(call.out, name, sizeof...(A) + (object != 0));
            if (object) codec<unsigned long long>::write(call.out, object);
            int put[] = {0, (codec<typename bare<A>::type>::write(call.out, values), 0)...};
            (void)put;
        } catch (const unwritable &error) {
            stay(error.why);
        }
        In in = answered(call.out, frame);
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

}  // namespace splitwire
#endif
