// What needs no types of a task's own; follows `split.hpp`, `split_types.hpp` and `split_stubs.hpp`, in one file.
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

extern "C" {
long splitwire_read(int, void *, unsigned long) __asm__("read");
long splitwire_write(int, const void *, unsigned long) __asm__("write");
void splitwire_leave(int) __asm__("_exit") __attribute__((noreturn));
void *splitwire_room(void *, unsigned long) __asm__("realloc");
extern const void *const *splitwire_thrown() __asm__("__cxa_current_exception_type");
extern const void *const splitwire_derived[] __asm__("_ZTVN10__cxxabiv120__si_class_type_infoE");
}

namespace splitwire {

enum { READS = 3, WRITES = 4, FAILED = 1, MESSAGE_BYTES = 4096 };
static const size FRAME_BYTES = 64ul << 20;

// ---- leaving

size length(const char *text) { return __builtin_strlen(text); }

static bool wrote(int descriptor, const void *from, size many) {
    for (size done = 0; done < many;) {
        long count = splitwire_write(descriptor, static_cast<const byte *>(from) + done, many - done);
        if (count <= 0) return false;
        done += size(count);
    }
    return true;
}

struct Big {
    byte four[4];
    explicit Big(size number)
        : four{byte(number >> 24), byte(number >> 16), byte(number >> 8), byte(number)} {}
};

void leave(const char *why) {
    if (wrote(2, "split: ", 7) && wrote(2, why, length(why)) && wrote(2, "\n", 1)) splitwire_leave(FAILED);
    splitwire_leave(FAILED);
}

__attribute__((noreturn)) static void last(const char *kind, const char *why) {
    size many = length(why);
    Big frame(many + 5), text(many);
    if (wrote(WRITES, frame.four, 4) && wrote(WRITES, kind, 1) && wrote(WRITES, text.four, 4)) wrote(WRITES, why, many);
    leave(why);
}

void forged(const char *why) { last("F", why); }

void stay(const char *why) { last("S", why); }

// ---- frames

static void *room(void *from, size many) {
    void *found = splitwire_room(from, many);
    if (!found) leave("no memory is left for what the other program says");
    return found;
}

void Out::bytes(const void *from, size many) {
    if (many > FRAME_BYTES - count) throw unwritable{"a value is too large"};
    if (count + many > capacity) {
        capacity = (count + many) * 2;
        data = static_cast<byte *>(room(data, capacity));
    }
    __builtin_memcpy(data + count, from, many);
    count += many;
}

void Out::tag(char one) { bytes(&one, 1); }

void Out::u32(size number) { bytes(Big(number).four, 4); }

void Out::u64(unsigned long long number) {
    u32(size(number >> 32));
    u32(size(number & 0xffffffffu));
}

void Out::text(const char *from, size many) {
    u32(many);
    bytes(from, many);
}

const byte *In::bytes(size many) {
    if (many > size(end - at)) forged("a frame is too short");
    at += many;
    return at - many;
}

char In::tag() { return char(*bytes(1)); }

size In::u32() {
    const byte *four = bytes(4);
    return size(four[0]) << 24 | size(four[1]) << 16 | size(four[2]) << 8 | four[3];
}

unsigned long long In::u64() {
    unsigned long long high = u32();
    return high << 32 | u32();
}

size In::counted() {
    size many = u32();
    if (many > size(end - at)) forged("a count is larger than its frame");
    return many;
}

void In::expect(char wanted) {
    if (tag() != wanted) forged("a value is of another type than declared");
}

static void send(const Out &frame) {
    if (!wrote(WRITES, Big(frame.count).four, 4) || !wrote(WRITES, frame.data, frame.count))
        leave("the other program reads no more");
}

// Reads so many bytes. Returns false if the other side ended before the first.
static bool receive(byte *into, size many) {
    for (size done = 0; done < many;) {
        long got = splitwire_read(READS, into + done, many - done);
        if (got <= 0) {
            if (done == 0) return false;
            leave("the other program ended within a frame");
        }
        done += size(got);
    }
    return true;
}

bool Frame::next() {
    byte head[4];
    if (!receive(head, 4)) return false;
    In in = {head, head + 4, 0};
    count = in.u32();
    if (count == 0 || count > FRAME_BYTES) forged("a frame has no size that is allowed");
    data = static_cast<byte *>(room(data, count));
    if (!receive(data, count)) leave("the other program ended within a frame");
    return true;
}

// ---- values

void Out::enter(char tag_of_it) {
    if (++depth > DEPTH) throw unwritable{"a value is nested too deep"};
    tag(tag_of_it);
}

void Out::open(char tag_of_it, size parts) {
    enter(tag_of_it);
    u32(parts);
}

size In::enter(char wanted) {
    expect(wanted);
    if (++depth > DEPTH) forged("a value is nested too deep");
    return counted();
}

void In::enter(char wanted, size parts) {
    if (enter(wanted) != parts) forged("a value has another count of parts");
}

void In::close() {
    if (!ended()) forged("a frame is too long");
}

void write_truth(Out &out, bool value) { out.tag(value ? 't' : 'f'); }

bool read_truth(In &in) {
    char tag = in.tag();
    if (tag != 't' && tag != 'f') forged("a value is no truth value");
    return tag == 't';
}

void write_character(Out &out, char value) {
    out.tag('c');
    out.u64((unsigned long long)(whole)value);
}

char read_character(In &in) {
    in.expect('c');
    whole value = whole(in.u64());
    if (whole(char(value)) != value) forged("a character is out of range");
    return char(value);
}

static void write_digits(Out &out, unsigned long long value) {
    char text[20];
    size at = sizeof text;
    do text[--at] = char('0' + int(value % 10));
    while (value /= 10);
    out.text(text + at, sizeof text - at);
}

static unsigned long long read_digits(In &in) {
    size many = in.u32();
    if (many == 0 || many > 20) forged("a number has no allowed count of digits");
    const byte *text = in.bytes(many);
    __extension__ unsigned __int128 value = 0;
    for (size at = 0; at < many; ++at) {
        if (text[at] < '0' || text[at] > '9') forged("a number has other signs than digits");
        value = value * 10 + (text[at] - '0');
    }
    if (value > ~0ull) forged("a number is out of range");
    return static_cast<unsigned long long>(value);
}

void write_whole(Out &out, whole value, bool is_huge) {
    if (is_huge && value < 0) {  // it is above the greatest `whole`
        out.tag('I');
        write_digits(out, (unsigned long long)value);
    } else if (whole(int(value)) == value) {
        out.tag('w');
        out.u32(unsigned(value));
    } else {
        out.tag('i');
        out.u64((unsigned long long)value);
    }
}

whole read_whole(In &in, size bytes, bool is_unsigned) {
    char tag = in.tag();
    if (tag == 'I' && is_unsigned && bytes == sizeof(whole)) return whole(read_digits(in));
    if (tag != 'i' && tag != 'w') forged("a value is no whole number");
    whole value = tag == 'w' ? whole(int(in.u32())) : whole(in.u64());
    whole greatest = __LONG_LONG_MAX__;
    if (bytes < sizeof(whole)) greatest >>= 8 * (sizeof(whole) - bytes) - is_unsigned;
    whole least = is_unsigned ? 0 : -greatest - 1;
    if (value < least || value > greatest) forged("a number is out of range");
    return value;
}

void write_real(Out &out, double value) {
    unsigned long long bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    out.tag('d');
    out.u64(bits);
}

void read_real(In &in, double &value) {
    in.expect('d');
    unsigned long long bits = in.u64();
    __builtin_memcpy(&value, &bits, sizeof bits);
}

void read_real(In &in, float &value) {
    double wide;
    read_real(in, wide);
    value = float(wide);
}

void write_text(Out &out, const char *text, size many) {
    out.tag('s');
    out.text(text, many);
}

const char *read_text(In &in, size &many) {
    in.expect('s');
    many = in.u32();
    return reinterpret_cast<const char *>(in.bytes(many));
}

// ---- the tests' side

static unsigned last_id;

// What is on no list: only `catch (...)` gets it.
struct solution_failed {};

template <class T> struct told : T {
    std::string message;
    explicit told(const std::string &message) : message(message) {}
    ~told() noexcept override {}
    const char *what() const noexcept override { return message.c_str(); }
};

__attribute__((noreturn)) static void thrown(const char *type, size type_bytes, const char *message, size message_bytes) {
    const std::string name(type, type_bytes), text(message, message_bytes);
    // Each is one of this list, or extends the one that is named; then its text is its own.
#define SPLITWIRE_THROW(exception) if (name == #exception) throw std::exception(text);
    SPLITWIRE_THROW(invalid_argument) SPLITWIRE_THROW(domain_error) SPLITWIRE_THROW(length_error)
    SPLITWIRE_THROW(out_of_range) SPLITWIRE_THROW(logic_error) SPLITWIRE_THROW(range_error)
    SPLITWIRE_THROW(overflow_error) SPLITWIRE_THROW(underflow_error) SPLITWIRE_THROW(runtime_error)
#undef SPLITWIRE_THROW
#define SPLITWIRE_THROW(exception) if (name == #exception) throw told<std::exception>(text);
    SPLITWIRE_THROW(bad_alloc) SPLITWIRE_THROW(exception)
#undef SPLITWIRE_THROW
    throw solution_failed();
}

void begun(Out &out, const char *name, size arguments) {
    out.tag('C');
    out.u32(++last_id);
    out.text(name, length(name));
    out.u32(arguments);
}

In answered(const Out &call, Frame &frame) {
    send(call);
    if (!frame.next()) leave("the solution's program ended");
    In in = frame.in();
    char tag = in.tag();
    if (tag != 'R' && tag != 'E') forged("a frame is no answer");
    if (in.u32() != last_id) forged("an answer is to no question that was asked");
    if (tag == 'R') return in;
    size type_bytes = in.u32();
    const byte *type = in.bytes(type_bytes);
    size message_bytes = in.u32();
    const byte *message = in.bytes(message_bytes);
    in.close();
    thrown(reinterpret_cast<const char *>(type), type_bytes, reinterpret_cast<const char *>(message), message_bytes);
}

// ---- the solution's side

static void **objects;
static size objects_count;

unsigned long long keep_object(void *object) {
    objects = static_cast<void **>(room(objects, (objects_count + 1) * sizeof(void *)));
    objects[objects_count++] = object;
    return objects_count;
}

void *object_of(In &in) {
    unsigned long long number = codec<unsigned long long>::read(in);
    if (number == 0 || number > objects_count) forged("there is no such object");
    return objects[number - 1];
}

static void failed(Out &out, size head, const char *type, const char *message) {
    out.count = head;
    out.data[0] = 'E';
    size bytes = length(message);
    out.text(type, length(type));
    out.text(message, bytes < MESSAGE_BYTES ? bytes : size(MESSAGE_BYTES));
}

// What the tests' program throws by its name.
static bool is_listed(const char *name) {
    static const char *const listed[] = {
        "invalid_argument", "domain_error", "length_error", "out_of_range", "logic_error", "range_error",
        "overflow_error", "underflow_error", "runtime_error", "bad_alloc", "exception"};
    for (const char *one : listed)
        if (length(one) == length(name) && !__builtin_memcmp(one, name, length(one))) return true;
    return false;
}

// The name of the nearest type of `std` that is listed, from what the compiler calls it, such as
// "St12out_of_range" or "St9exception": a type's information is its table of functions, its name and
// what it extends, if that is one.
static const char *thrown_type(const char *otherwise) {
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

static void answer(const Entry &entry, In &in, Out &out) {
    size head = out.count;
    try {
        entry.run(in, out);
    } catch (const unwritable &error) {
        leave(error.why);  // tests could take it for an exception
    } catch (const std::exception &error) {
        failed(out, head, thrown_type("exception"), error.what());
    } catch (...) {
        failed(out, head, thrown_type(""), "");
    }
}

static const Entry *found(const Entry *entries, size count, const byte *name, size bytes) {
    for (const Entry *entry = entries; entry != entries + count; ++entry)
        if (length(entry->name) == bytes && !__builtin_memcmp(entry->name, name, bytes)) return entry;
    return nullptr;
}

int serve(const Entry *entries, size count) {
    Frame frame;
    Out out = {nullptr, 0, 0, 0};
    while (frame.next()) {
        In in = frame.in();
        in.expect('C');
        size id = in.u32();
        size bytes = in.u32();
        const byte *name = in.bytes(bytes);
        in.counted();
        out.count = 0;
        out.depth = 0;
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
