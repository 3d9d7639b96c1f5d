import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.AbstractMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.ListIterator;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.RandomAccess;
import java.util.Set;
import java.util.Stack;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.Vector;

/**
 * Plain data between a test program and a solution's program; the wire is described in
 * reward_server.grading.split.
 *
 * What this stops: the side of the tests takes each byte for an enemy's. Only what a list names is
 * made, a result only of the type that the prompt's signature declares, counts are checked against
 * the bytes that are left, depth is bounded, and whatever is malformed ends the program with a frame
 * of the kind F.
 * What it does not: the solution may answer with any value of the declared type, and change whatever
 * it was handed, as it may in one program.
 *
 * Objects that crossed once are known to both programs, by number, for as long as these run. Each
 * frame brings what is in all that are new or that have changed since the last one. So an object is
 * the same one wherever it is met, and whoever changes it changes it for both, as in one program.
 */
public final class Splitwire {
    private static final int READS = 3;
    private static final int WRITES = 4;
    private static final int FRAME_BYTES = 16 << 20;
    private static final int DEPTH = 64;
    private static final int MOST_DEPTH = 1000;
    private static final int MOST_DIMENSIONS = 8;
    private static final int MESSAGE_CHARACTERS = 1000;
    /** Each frame looks at all objects, until it saw so many values; later at some that nobody mentions. */
    private static final long MOST_LOOKS = 1 << 22;
    private static final int OBJECT = 16; // what an object counts without what is in it
    private static final int LOOKS = 32;

    /** What a signature may throw across; anything else comes as the nearest that it extends. */
    private static final Set<String> THROWN = new HashSet<>(Arrays.asList(
        "java.lang.ArithmeticException", "java.lang.ArrayIndexOutOfBoundsException",
        "java.lang.ArrayStoreException", "java.lang.ClassCastException",
        "java.lang.CloneNotSupportedException", "java.lang.Exception",
        "java.lang.IllegalArgumentException", "java.lang.IllegalStateException",
        "java.lang.IndexOutOfBoundsException", "java.lang.NegativeArraySizeException",
        "java.lang.NullPointerException", "java.lang.NumberFormatException",
        "java.lang.RuntimeException", "java.lang.StringIndexOutOfBoundsException",
        "java.lang.UnsupportedOperationException", "java.io.EOFException",
        "java.io.FileNotFoundException", "java.io.IOException",
        "java.security.NoSuchAlgorithmException", "java.time.DateTimeException",
        "java.util.ConcurrentModificationException", "java.util.EmptyStackException",
        "java.util.InputMismatchException", "java.util.NoSuchElementException",
        "java.util.concurrent.TimeoutException"));

    private static FileInputStream reads;
    private static FileOutputStream writes;
    private static int calls;
    private static final Map<Object, Long> numbers = new IdentityHashMap<>();

    private Splitwire() {}

    /** Ended the solution's method, and is no exception that a test may expect. */
    public static final class SolutionFailed extends Error {
        SolutionFailed(String message) {
            super(message);
        }
    }

    /** A value that cannot be written. */
    private static final class Unwritable extends RuntimeException {
        Unwritable(String message) {
            super(message);
        }
    }

    /** A value that is not what it should be. */
    private static final class Malformed extends RuntimeException {
        Malformed(String message) {
            super(message);
        }
    }

    // ---- frames

    private static void open() throws IOException {
        if (reads == null) {
            reads = new FileInputStream("/proc/self/fd/".concat(String.valueOf(READS)));
            writes = new FileOutputStream("/proc/self/fd/".concat(String.valueOf(WRITES)));
        }
    }

    private static final class Out {
        byte[] data = new byte[256];
        int count = 4;

        void room(int many) {
            if (many > FRAME_BYTES - count) {
                throw new Unwritable("a value is too large");
            }
            if (count + many > data.length) {
                data = Arrays.copyOf(data, Math.max(data.length * 2, count + many));
            }
        }

        void tag(char one) {
            room(1);
            data[count++] = (byte) one;
        }

        void u32(int number) {
            room(4);
            put(count, number);
            count += 4;
        }

        void put(int at, int number) {
            data[at] = (byte) (number >>> 24);
            data[at + 1] = (byte) (number >>> 16);
            data[at + 2] = (byte) (number >>> 8);
            data[at + 3] = (byte) number;
        }

        void i64(long number) {
            u32((int) (number >>> 32));
            u32((int) number);
        }

        /** Writes text as UTF-8, lone surrogates as if they were characters. */
        void text(String text) {
            int head = count;
            u32(0);
            for (int at = 0; at < text.length(); at++) {
                room(4);
                int one = text.codePointAt(at);
                if (one < 0x80) {
                    data[count++] = (byte) one;
                    continue;
                }
                if (one < 0x800) {
                    data[count++] = (byte) (0xc0 | one >> 6);
                } else {
                    if (one < 0x10000) {
                        data[count++] = (byte) (0xe0 | one >> 12);
                    } else {
                        at++;
                        data[count++] = (byte) (0xf0 | one >> 18);
                        data[count++] = (byte) (0x80 | one >> 12 & 0x3f);
                    }
                    data[count++] = (byte) (0x80 | one >> 6 & 0x3f);
                }
                data[count++] = (byte) (0x80 | one & 0x3f);
            }
            put(head, count - head - 4);
        }

        void send() throws IOException {
            put(0, count - 4);
            writes.write(data, 0, count);
        }
    }

    private static final class In {
        final byte[] data;
        int at;

        In(byte[] data) {
            this.data = data;
        }

        /** Passes over so many bytes and returns where they begin. */
        int take(int many) {
            if (many < 0 || many > data.length - at) {
                throw new Malformed("a frame is too short");
            }
            at += many;
            return at - many;
        }

        char tag() {
            return (char) data[take(1)];
        }

        int u32() {
            int from = take(4);
            return (data[from] & 0xff) << 24 | (data[from + 1] & 0xff) << 16
                | (data[from + 2] & 0xff) << 8 | data[from + 3] & 0xff;
        }

        /** Reads how many values follow; each takes a byte at least. */
        int counted() {
            int many = u32();
            if (many < 0 || many > data.length - at) {
                throw new Malformed("a count is larger than its frame");
            }
            return many;
        }

        long i64() {
            long high = u32();
            return high << 32 | u32() & 0xffffffffL;
        }

        String text() {
            int many = counted(), end = at + many;
            StringBuilder text = new StringBuilder(many);
            while (at < end) {
                int one = data[at++] & 0xff;
                int more = one < 0x80 ? 0 : one >= 0xf0 ? 3 : one >= 0xe0 ? 2 : 1;
                if (one >= 0x80 && (one < 0xc2 || one > 0xf4) || more > end - at) {
                    throw new Malformed("a text is not UTF-8");
                }
                int point = more == 0 ? one : one & 0x3f >> more;
                for (; more > 0; more--) {
                    int next = data[at++];
                    if ((next & 0xc0) != 0x80) {
                        throw new Malformed("a text is not UTF-8");
                    }
                    point = point << 6 | next & 0x3f;
                }
                if (!Character.isValidCodePoint(point)) {
                    throw new Malformed("a text is not UTF-8");
                }
                text.appendCodePoint(point);
            }
            return text.toString();
        }

        /** Reads a number that has bounds. */
        long whole(long least, long most) {
            long number = i64();
            if (number < least || number > most) {
                throw new Malformed("a number is out of range");
            }
            return number;
        }

        void ended() {
            if (at != data.length) {
                throw new Malformed("a frame is too long");
            }
        }
    }

    /** Reads a frame; null at the end of what the other side writes. */
    private static In receive() throws IOException {
        byte[] head = new byte[4];
        if (!filled(head)) {
            return null;
        }
        int many = new In(head).u32();
        if (many <= 0 || many > FRAME_BYTES) {
            throw new Malformed("a frame has no size that is allowed");
        }
        byte[] data = new byte[many];
        return filled(data) ? new In(data) : null;
    }

    private static boolean filled(byte[] data) throws IOException {
        for (int at = 0; at < data.length;) {
            int got = reads.read(data, at, data.length - at);
            if (got < 0) {
                return false;
            }
            at += got;
        }
        return true;
    }

    // ---- objects that both programs know

    /** An object that crossed: both programs have one, and know what was in it at the last frame. */
    private static final class Entry {
        final Object object;
        final Object content; // what is filled: of an unmodifiable view, what is behind it
        final String kind;
        Object[] parts;
        Object copy;

        Entry(Object object, Object content, String kind) {
            this.object = object;
            this.content = content;
            this.kind = kind;
        }
    }

    private static final List<Entry> entries = new ArrayList<>();
    private static final Map<Object, Integer> places = new IdentityHashMap<>();
    private static long looks;
    private static int turn;

    /** What can be made anew by its name. */
    private static final Set<String> CONCRETE = new HashSet<>(Arrays.asList(
        "java.util.ArrayList", "java.util.LinkedList", "java.util.Vector", "java.util.Stack",
        "java.util.ArrayDeque", "java.util.PriorityQueue", "java.util.HashSet",
        "java.util.LinkedHashSet", "java.util.TreeSet", "java.util.HashMap",
        "java.util.LinkedHashMap", "java.util.TreeMap"));
    private static final String UNMODIFIABLE = "unmodifiable ", FIXED = "fixed list", KEYS = "keys", VALUES = "values";
    private static final String ENTRY = "entry", DOWN = " down";

    /** Returns what an object is made as; null if it is no object that changes or is the same one. */
    private static String kind(Object value) {
        Class<?> type = value == null ? null : value.getClass();
        if (value == null || value instanceof String || value instanceof Number && !knows(type)
            || value instanceof Boolean || value instanceof Character || value instanceof Enum
            || value instanceof Optional || type.isRecord()) {
            return null;
        }
        if (type.isArray() || value instanceof StringBuilder || value instanceof StringBuffer) {
            return type.getName();
        }
        if (value instanceof Collection || value instanceof Map) {
            return container(value);
        }
        if (value instanceof Map.Entry) {
            return type.getName().equals("java.util.KeyValueHolder") || value instanceof AbstractMap.SimpleImmutableEntry ? null : ENTRY;
        }
        for (; type != null; type = type.getSuperclass()) {
            if (knows(type)) {
                return type.getName();
            }
        }
        throw new Unwritable("there is no plain form of ".concat(value.getClass().getName()));
    }

    private static boolean knows(Class<?> type) {
        return known.contains(type.getName());
    }

    private static String container(Object value) {
        for (Class<?> one = value.getClass(); one != null; one = one.getSuperclass()) {
            if (CONCRETE.contains(one.getName())) {
                return one.getName().concat(sorted(value));
            }
        }
        String name = value.getClass().getName();
        boolean is = name.startsWith("java.util.");
        if (name.equals("java.util.Arrays$ArrayList")) {
            return FIXED;
        }
        if (is && !name.contains("Unmodifiable") && !name.contains("Immutable") && !name.contains("Empty")
            && !name.contains("Singleton") && !name.contains("Copies")) {
            return value instanceof List ? "java.util.ArrayList" : value instanceof Map ? "java.util.LinkedHashMap"
                : value instanceof Set ? KEYS : VALUES;
        }
        if (value instanceof java.util.SortedSet || value instanceof java.util.SortedMap) {
            return UNMODIFIABLE.concat(value instanceof Map ? "sorted map" : "sorted set").concat(sorted(value));
        }
        return UNMODIFIABLE.concat(value instanceof List ? "list" : value instanceof Set ? "set"
            : value instanceof Map ? "map" : "collection");
    }

    /** Returns how something is sorted, if not in the order that its elements have. */
    private static String sorted(Object value) {
        Comparator<?> order = value instanceof java.util.SortedSet ? ((java.util.SortedSet<?>) value).comparator()
            : value instanceof java.util.SortedMap ? ((java.util.SortedMap<?, ?>) value).comparator()
            : value instanceof java.util.PriorityQueue ? ((java.util.PriorityQueue<?>) value).comparator() : null;
        if (order != null && !order.equals(Collections.reverseOrder())) {
            throw new Unwritable("a comparator stays where it is");
        }
        return order == null ? "" : DOWN;
    }

    /** Returns what can change of an object. */
    private static Object[] parts(Object value, String kind) {
        if (value instanceof Collection) {
            return ((Collection<?>) value).toArray();
        }
        if (value instanceof Map) {
            Map<?, ?> map = (Map<?, ?>) value;
            List<Object> parts = new ArrayList<>(2 * map.size());
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                parts.add(entry.getKey());
                parts.add(entry.getValue());
            }
            return parts.toArray();
        }
        if (value instanceof Object[]) {
            return Arrays.copyOf((Object[]) value, ((Object[]) value).length, Object[].class);
        }
        if (value instanceof byte[]) {
            return new Object[] {new String((byte[]) value, StandardCharsets.ISO_8859_1)};
        }
        if (value.getClass().isArray()) {
            Object[] parts = new Object[Array.getLength(value)];
            for (int at = 0; at < parts.length; at++) {
                parts[at] = Array.get(value, at);
            }
            return parts;
        }
        if (value instanceof CharSequence) {
            return new Object[] {value.toString()};
        }
        if (kind.equals(ENTRY)) {
            return new Object[] {((Map.Entry<?, ?>) value).getKey(), ((Map.Entry<?, ?>) value).getValue()};
        }
        return fieldsOf(value, knownClass(kind));
    }

    private static Object[] fieldsOf(Object value, Class<?> type) {
        List<Object> parts = new ArrayList<>();
        try {
            for (Field field : fields(type)) {
                parts.add(field.get(value));
            }
        } catch (IllegalAccessException error) {
            throw new Unwritable("a field cannot be read");
        }
        return parts.toArray();
    }

    private static boolean same(Object[] one, Object[] other) {
        if (one.length != other.length) {
            return false;
        }
        for (int at = 0; at < one.length; at++) {
            if (one[at] != other[at] && !(isLeaf(one[at]) && one[at].equals(other[at]))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isLeaf(Object value) {
        return value instanceof String || value instanceof Boolean || value instanceof Character
            || value instanceof Number && value.getClass().getName().startsWith("java.");
    }

    // ---- writing

    /** Writes objects that are new or have changed, and values. */
    private static void write(Out out, Object... values) {
        int first = entries.size();
        for (Object value : values) {
            add(value);
        }
        List<Integer> changed = looks < MOST_LOOKS ? changes() : latestChanges(values, first);
        out.u32(entries.size() - first);
        for (Entry entry : entries.subList(first, entries.size())) {
            out.text(entry.kind);
            if (entry.kind.startsWith("[") || entry.kind.equals(FIXED)) {
                out.u32(entry.kind.equals(FIXED) ? entry.parts.length : Array.getLength(entry.object));
            }
        }
        out.u32(changed.size());
        for (int at : changed) {
            out.u32(at);
            writeAll(out, entries.get(at).parts);
        }
        writeAll(out, values);
    }

    /** Gives an object a number if it has none; and what an immutable value holds. */
    private static void add(Object value) {
        for (Object part : held(value, 0)) {
            add(part);
        }
        String kind = value == null || places.containsKey(value) ? null : kind(value);
        if (kind != null) {
            places.put(value, entries.size());
            entries.add(new Entry(value, value, kind));
        }
    }

    /** Returns what is in a value that is written as it is, wherever it is met. */
    private static Object[] held(Object value, int depth) {
        if (value instanceof Optional) {
            return ((Optional<?>) value).isPresent() ? new Object[] {((Optional<?>) value).get()} : new Object[0];
        }
        if (value != null && value.getClass().isRecord() && kind(value) == null) {
            return fieldsOf(value, recordType(value));
        }
        if (value instanceof Map.Entry && kind(value) == null) {
            return new Object[] {((Map.Entry<?, ?>) value).getKey(), ((Map.Entry<?, ?>) value).getValue()};
        }
        return new Object[0];
    }

    private static Class<?> recordType(Object value) {
        if (!knows(value.getClass())) {
            throw new Unwritable("there is no plain form of ".concat(value.getClass().getName()));
        }
        return value.getClass();
    }

    private static List<Integer> changes() {
        List<Integer> changed = new ArrayList<>();
        for (int at = 0; at < entries.size(); at++) {
            if (hasChanged(entries.get(at))) {
                changed.add(at);
            }
        }
        return changed;
    }

    /** Returns those of what values lead to, of the youngest objects, and of some others in turn. */
    private static List<Integer> latestChanges(Object[] values, int first) {
        Set<Integer> due = new TreeSet<>(), changed = new TreeSet<>();
        mentioned(values, due);
        for (int back = 1; back <= Math.min(LOOKS, first); back++) {
            due.add(first - back);
            due.add(turn++ % first);
        }
        Set<Integer> seen = new HashSet<>(due);
        for (List<Integer> left = new ArrayList<>(due); !left.isEmpty();) {
            int at = left.remove(left.size() - 1);
            if (hasChanged(entries.get(at))) {
                changed.add(at);
            }
            Set<Integer> next = new TreeSet<>();
            mentioned(entries.get(at).parts, next);
            for (int one : next) {
                if (seen.add(one)) {
                    left.add(one);
                }
            }
        }
        return new ArrayList<>(changed);
    }

    private static void mentioned(Object[] values, Set<Integer> into) {
        for (Object value : values) {
            if (places.containsKey(value)) {
                into.add(places.get(value));
            }
            mentioned(held(value, 0), into);
        }
    }

    private static boolean hasChanged(Entry entry) {
        looks += OBJECT;
        if (entry.copy != null && Objects.deepEquals(entry.object, entry.copy)) {
            return false;
        }
        Object[] parts = parts(entry.object, entry.kind);
        looks += parts.length;
        if (entry.parts != null && same(parts, entry.parts)) {
            return false;
        }
        entry.copy = copied(entry.object);
        for (Object part : parts) {
            add(part);
        }
        entry.parts = parts;
        return true;
    }

    /** Returns a copy of an array of numbers, which is compared faster than what is in it. */
    private static Object copied(Object value) {
        if (value instanceof Object[] || !value.getClass().isArray()) {
            return null;
        }
        int many = Array.getLength(value);
        Object copy = Array.newInstance(value.getClass().getComponentType(), many);
        System.arraycopy(value, 0, copy, 0, many);
        return copy;
    }

    private static void writeAll(Out out, Object[] values) {
        out.u32(values.length);
        for (Object value : values) {
            writeValue(out, value);
        }
    }

    private static void writeValue(Out out, Object value) {
        Integer place = value == null ? null : places.get(value);
        if (value == null) {
            out.tag('n');
        } else if (place != null) {
            out.tag('@');
            out.u32(place);
        } else if (value instanceof Integer || value instanceof Long || value instanceof Short || value instanceof Byte) {
            out.tag(value instanceof Integer ? 'i' : value instanceof Long ? 'j' : value instanceof Short ? 'h' : 'y');
            out.i64(((Number) value).longValue());
        } else if (value instanceof String) {
            out.tag('s');
            out.text((String) value);
        } else if (value instanceof Boolean) {
            out.tag((Boolean) value ? 't' : 'f');
        } else if (value instanceof Double) {
            out.tag('d');
            out.i64(Double.doubleToRawLongBits((Double) value));
        } else if (value instanceof Float) {
            out.tag('g');
            out.i64(Float.floatToRawIntBits((Float) value));
        } else if (value instanceof Character) {
            out.tag('c');
            out.i64((Character) value);
        } else if (value.getClass() == BigInteger.class || value.getClass() == BigDecimal.class) {
            out.tag(value instanceof BigInteger ? 'I' : 'D');
            out.text(value.toString());
        } else {
            writeHeld(out, value);
        }
    }

    private static void writeHeld(Out out, Object value) {
        Class<?> type = value instanceof Enum ? ((Enum<?>) value).getDeclaringClass() : value.getClass();
        if (value instanceof Optional || value instanceof Map.Entry) {
            out.tag(value instanceof Optional ? 'o' : 'p');
            writeAll(out, held(value, 0));
        } else if (value instanceof Enum && knows(type)) {
            out.tag('e');
            out.text(type.getName());
            out.text(((Enum<?>) value).name());
        } else if (type.isRecord() && knows(type)) {
            out.tag('r');
            out.text(type.getName());
            writeAll(out, held(value, 0));
        } else {
            throw new Unwritable("there is no plain form of ".concat(type.getName()));
        }
    }

    /** The classes of the prompt, by name: they are in both programs. */
    private static Set<String> known = Collections.emptySet();

    private static void know(String... names) {
        known = new HashSet<>(Arrays.asList(names));
    }

    private static List<Field> fields(Class<?> type) {
        List<Field> found = new ArrayList<>();
        for (Class<?> one = type; one != null && one != Object.class; one = one.getSuperclass()) {
            if (!known.contains(one.getName())) {
                continue;
            }
            for (Field field : one.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers()) && !field.isSynthetic()) {
                    field.setAccessible(true);
                    found.add(field);
                }
            }
        }
        return found;
    }

    private static Class<?> raw(Type type) {
        if (type instanceof Class) {
            return (Class<?>) type;
        }
        if (type instanceof ParameterizedType) {
            return raw(((ParameterizedType) type).getRawType());
        }
        if (type instanceof GenericArrayType) {
            return Array.newInstance(raw(part(type, 0)), 0).getClass();
        }
        if (type instanceof WildcardType) {
            return raw(((WildcardType) type).getUpperBounds()[0]);
        }
        return type instanceof TypeVariable ? raw(((TypeVariable<?>) type).getBounds()[0]) : Object.class;
    }

    /** Returns the type of what is in a value of a type. */
    private static Type part(Type type, int index) {
        if (type instanceof WildcardType) {
            return part(((WildcardType) type).getUpperBounds()[0], index);
        }
        if (type instanceof GenericArrayType) {
            return ((GenericArrayType) type).getGenericComponentType();
        }
        if (type instanceof Class && ((Class<?>) type).isArray()) {
            return ((Class<?>) type).getComponentType();
        }
        if (type instanceof ParameterizedType) {
            Type[] parts = ((ParameterizedType) type).getActualTypeArguments();
            return index < parts.length ? parts[index] : Object.class;
        }
        return Object.class;
    }

    private static Class<?> boxed(Class<?> type) {
        return type.isPrimitive() ? Array.get(Array.newInstance(type == void.class ? int.class : type, 1), 0).getClass() : type;
    }

    // ---- reading

    /** Reads what the other program wrote, and returns the values. */
    private static Object[] read(In in) {
        for (int left = in.counted(); left > 0; left--) {
            Entry entry = shell(in);
            places.put(entry.object, entries.size());
            entries.add(entry);
        }
        List<Entry> hashed = new ArrayList<>();
        Map<Entry, Object[]> parts = new IdentityHashMap<>();
        for (int left = in.counted(); left > 0; left--) {
            Entry entry = entry(in.u32());
            parts.put(entry, readAll(in));
            if (entry.content instanceof Set || entry.content instanceof Map || entry.content instanceof java.util.PriorityQueue) {
                hashed.add(entry);
            } else {
                fill(entry, parts.remove(entry));
            }
        }
        for (Entry entry : hashed) {
            fillAfter(entry, parts, 0);
        }
        return readAll(in);
    }

    /** Fills what hashes or orders its elements once these are filled. */
    private static void fillAfter(Entry entry, Map<Entry, Object[]> parts, int depth) {
        Object[] own = parts.remove(entry);
        if (own == null || parts.isEmpty()) {
            if (own != null) {
                fill(entry, own);
            }
            return;
        }
        if (depth > MOST_DEPTH) {
            throw new Malformed("a value is nested too deep");
        }
        fillAll(own, parts, Collections.newSetFromMap(new IdentityHashMap<>()), depth);
        fill(entry, own);
    }

    private static void fillAll(Object[] values, Map<Entry, Object[]> parts, Set<Object> seen, int depth) {
        if (depth > MOST_DEPTH) {
            throw new Malformed("a value is nested too deep");
        }
        for (Object value : values) {
            Integer place = value == null ? null : places.get(value);
            if (place == null || !seen.add(value)) {
                continue;
            }
            Entry entry = entries.get(place);
            if (parts.containsKey(entry)) {
                fillAfter(entry, parts, depth + 1);
            } else if (entry.parts != null) {
                fillAll(entry.parts, parts, seen, depth + 1);
            }
        }
    }

    private static Entry entry(int number) {
        if (number < 0 || number >= entries.size()) {
            throw new Malformed("an object has no number that is known");
        }
        return entries.get(number);
    }

    private static Object[] readAll(In in) {
        Object[] values = new Object[in.counted()];
        for (int at = 0; at < values.length; at++) {
            values[at] = readValue(in, 0);
        }
        return values;
    }

    private static Object readValue(In in, int depth) {
        char tag = in.tag();
        switch (tag) {
            case 'n':
                return null;
            case 't':
            case 'f':
                return tag == 't';
            case 'i':
                return (int) in.whole(Integer.MIN_VALUE, Integer.MAX_VALUE);
            case 'j':
                return in.i64();
            case 'h':
                return (short) in.whole(Short.MIN_VALUE, Short.MAX_VALUE);
            case 'y':
                return (byte) in.whole(Byte.MIN_VALUE, Byte.MAX_VALUE);
            case 'c':
                return (char) in.whole(Character.MIN_VALUE, Character.MAX_VALUE);
            case 'd':
                return Double.longBitsToDouble(in.i64());
            case 'g':
                return Float.intBitsToFloat((int) in.whole(Integer.MIN_VALUE, Integer.MAX_VALUE));
            case 's':
                return in.text().intern();
            case 'I':
                return bigInteger(in.text());
            case 'D':
                return decimal(in.text());
            case '@':
                return entry(in.u32()).object;
            default:
                return readHeld(in, tag, depth);
        }
    }

    private static Object readHeld(In in, char tag, int depth) {
        if (depth > DEPTH) {
            throw new Malformed("a value is nested too deep");
        }
        if (tag == 'e') {
            return constant(knownClass(in.text()), in.text());
        }
        Class<?> type = tag == 'r' ? knownClass(in.text()) : null;
        Object[] held = new Object[in.counted()];
        for (int at = 0; at < held.length; at++) {
            held[at] = readValue(in, depth + 1);
        }
        if (tag == 'r') {
            return made(type, held);
        }
        if (tag == 'o' && (held.length == 0 || held.length == 1 && held[0] != null)) {
            return held.length == 0 ? Optional.empty() : Optional.of(held[0]);
        }
        if (tag == 'p' && held.length == 2) {
            return new AbstractMap.SimpleImmutableEntry<>(held[0], held[1]);
        }
        throw new Malformed("a value has no tag that is known");
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static Object constant(Class<?> type, String name) {
        try {
            return Enum.valueOf((Class) type, name);
        } catch (IllegalArgumentException | ClassCastException error) {
            throw new Malformed("an enum has no such constant");
        }
    }

    /** Makes an object in which there is nothing yet. */
    private static Entry shell(In in) {
        String kind = in.text();
        if (kind.startsWith("[")) {
            int many = in.counted();
            Object made = Array.newInstance(component(kind.substring(1)), many);
            return new Entry(made, made, kind);
        }
        if (kind.equals(FIXED)) {
            Object made = Arrays.asList(new Object[in.counted()]);
            return new Entry(made, made, kind);
        }
        if (kind.startsWith(UNMODIFIABLE)) {
            return unmodifiable(kind);
        }
        if (kind.equals(KEYS) || kind.equals(VALUES)) {
            Map<Object, Object> behind = new LinkedHashMap<>();
            return new Entry(kind.equals(KEYS) ? behind.keySet() : behind.values(), behind, kind);
        }
        Object made = empty(kind);
        return new Entry(made, made, kind);
    }

    private static Object empty(String kind) {
        boolean down = kind.endsWith(DOWN);
        Comparator<Object> order = down ? Collections.reverseOrder() : null;
        switch (down ? kind.substring(0, kind.length() - DOWN.length()) : kind) {
            case "java.util.ArrayList":
                return new ArrayList<>();
            case "java.util.LinkedList":
                return new LinkedList<>();
            case "java.util.Vector":
                return new Vector<>();
            case "java.util.Stack":
                return new Stack<>();
            case "java.util.ArrayDeque":
                return new ArrayDeque<>();
            case "java.util.PriorityQueue":
                return new java.util.PriorityQueue<>(order);
            case "java.util.HashSet":
            case "java.util.LinkedHashSet":
                return new LinkedHashSet<>();
            case "java.util.TreeSet":
                return new TreeSet<>(order);
            case "java.util.HashMap":
            case "java.util.LinkedHashMap":
                return new LinkedHashMap<>();
            case "java.util.TreeMap":
                return new TreeMap<>(order);
            case "java.lang.StringBuilder":
                return new StringBuilder();
            case "java.lang.StringBuffer":
                return new StringBuffer();
            case ENTRY:
                return new Pair();
            default:
                return instance(knownClass(kind));
        }
    }

    private static Object instance(Class<?> type) {
        if (type.isRecord() || type.isEnum() || Modifier.isAbstract(type.getModifiers())) {
            throw new Malformed("a record has no name that is known");
        }
        try {
            return allocated(type);
        } catch (ReflectiveOperationException error) {
            throw new Malformed("a record cannot be made");
        }
    }

    private static Entry unmodifiable(String kind) {
        Comparator<Object> order = kind.endsWith(DOWN) ? Collections.reverseOrder() : null;
        String of = kind.substring(UNMODIFIABLE.length()).replace(DOWN, "");
        if (of.equals("map") || of.equals("sorted map")) {
            Map<Object, Object> behind = of.equals("map") ? new LinkedHashMap<>() : new TreeMap<>(order);
            Map<Object, Object> shown = of.equals("map") ? Collections.unmodifiableMap(behind)
                : Collections.unmodifiableSortedMap((TreeMap<Object, Object>) behind);
            return new Entry(shown, behind, kind);
        }
        if (of.equals("list") || of.equals("collection")) {
            List<Object> behind = new ArrayList<>();
            return new Entry(of.equals("list") ? Collections.unmodifiableList(behind)
                : Collections.unmodifiableCollection(behind), behind, kind);
        }
        if (of.equals("set")) {
            Set<Object> behind = new LinkedHashSet<>();
            return new Entry(Collections.unmodifiableSet(behind), behind, kind);
        }
        if (of.equals("sorted set")) {
            TreeSet<Object> behind = new TreeSet<>(order);
            return new Entry(Collections.unmodifiableSortedSet(behind), behind, kind);
        }
        throw new Malformed("a record has no name that is known");
    }

    /** Gives an object what is in its like in the other program. */
    @SuppressWarnings("unchecked")
    private static void fill(Entry entry, Object[] parts) {
        Object into = entry.content;
        try {
            if (entry.kind.equals(KEYS) || entry.kind.equals(VALUES)) {
                Map<Object, Object> behind = (Map<Object, Object>) into;
                behind.clear();
                for (int at = 0; at < parts.length; at++) {
                    behind.put(entry.kind.equals(KEYS) ? parts[at] : at, parts[at]);
                }
            } else if (into instanceof List && ((List<?>) into).size() == parts.length) {
                fillList((List<Object>) into, parts);
            } else if (into instanceof Collection) {
                ((Collection<Object>) into).clear();
                ((Collection<Object>) into).addAll(Arrays.asList(parts));
            } else if (into instanceof Map) {
                fillMap((Map<Object, Object>) into, parts);
            } else {
                fillPlain(entry, parts);
            }
        } catch (ClassCastException | NullPointerException | IllegalArgumentException | IndexOutOfBoundsException
            | UnsupportedOperationException | IllegalAccessException error) {
            throw new Malformed("an object holds what it cannot");
        }
        entry.parts = parts;
        entry.copy = copied(entry.object);
    }

    private static void fillList(List<Object> into, Object[] parts) {
        ListIterator<Object> items = into instanceof RandomAccess ? null : into.listIterator();
        for (int at = 0; at < parts.length; at++) {
            Object old = items == null ? into.get(at) : items.next();
            if (old != parts[at] && items == null) {
                into.set(at, parts[at]);
            } else if (old != parts[at]) {
                items.set(parts[at]);
            }
        }
    }

    private static void fillMap(Map<Object, Object> into, Object[] parts) {
        into.clear();
        for (int at = 0; at < parts.length; at += 2) {
            into.put(parts[at], parts[at + 1]);
        }
    }

    @SuppressWarnings("unchecked")
    private static void fillPlain(Entry entry, Object[] parts) throws IllegalAccessException {
        Object into = entry.content;
        if (into instanceof byte[]) {
            byte[] bytes = ((String) parts[0]).getBytes(StandardCharsets.ISO_8859_1);
            exactly(bytes.length, ((byte[]) into).length);
            System.arraycopy(bytes, 0, into, 0, bytes.length);
        } else if (into.getClass().isArray()) {
            exactly(parts.length, Array.getLength(into));
            for (int at = 0; at < parts.length; at++) {
                Array.set(into, at, parts[at]);
            }
        } else if (into instanceof StringBuilder) {
            ((StringBuilder) into).replace(0, ((StringBuilder) into).length(), (String) parts[0]);
        } else if (into instanceof StringBuffer) {
            ((StringBuffer) into).replace(0, ((StringBuffer) into).length(), (String) parts[0]);
        } else if (entry.kind.equals(ENTRY)) {
            exactly(parts.length, 2);
            ((Pair) into).key = parts[0];
            ((Pair) into).value = parts[1];
        } else {
            List<Field> fields = fields(knownClass(entry.kind));
            exactly(parts.length, fields.size());
            for (int at = 0; at < parts.length; at++) {
                fields.get(at).set(into, parts[at]);
            }
        }
    }

    private static void exactly(int many, int wanted) {
        if (many != wanted) {
            throw new Malformed("a value has another count of parts");
        }
    }

    /** An entry that can be changed. */
    private static final class Pair implements Map.Entry<Object, Object> {
        Object key;
        Object value;

        public Object getKey() {
            return key;
        }

        public Object getValue() {
            return value;
        }

        public Object setValue(Object next) {
            Object old = value;
            value = next;
            return old;
        }

        public boolean equals(Object other) {
            return new AbstractMap.SimpleEntry<>(this).equals(other);
        }

        public int hashCode() {
            return new AbstractMap.SimpleEntry<>(this).hashCode();
        }

        public String toString() {
            return new AbstractMap.SimpleEntry<>(this).toString();
        }
    }

    private static Object bigInteger(String digits) {
        int from = digits.startsWith("-") ? 1 : 0;
        if (digits.length() == from || digits.length() > 10_000) {
            throw new Malformed("a number has no allowed count of digits");
        }
        for (int at = from; at < digits.length(); at++) {
            if (digits.charAt(at) < '0' || digits.charAt(at) > '9') {
                throw new Malformed("a number has other signs than digits");
            }
        }
        return new BigInteger(digits);
    }

    private static BigDecimal decimal(String digits) {
        try {
            if (digits.length() > 10_000) {
                throw new NumberFormatException();
            }
            BigDecimal made = new BigDecimal(digits);
            if (Math.abs((long) made.scale()) > 10_000) {
                throw new NumberFormatException();
            }
            return made;
        } catch (NumberFormatException error) {
            throw new Malformed("a number has other signs than digits");
        }
    }

    /** Returns the type of what is in an array, from what the JVM calls it. */
    private static Class<?> component(String name) {
        switch (name) {
            case "Z":
                return boolean.class;
            case "B":
                return byte.class;
            case "C":
                return char.class;
            case "S":
                return short.class;
            case "I":
                return int.class;
            case "J":
                return long.class;
            case "F":
                return float.class;
            case "D":
                return double.class;
            default:
                return name.startsWith("[") && name.length() < MOST_DIMENSIONS
                    ? Array.newInstance(component(name.substring(1)), 0).getClass() : named(name);
        }
    }

    private static Class<?> named(String name) {
        String of = name.startsWith("L") && name.endsWith(";") ? name.substring(1, name.length() - 1) : "";
        if (!READABLE.contains(of) && !of.equals("java.lang.Object") && !known.contains(of)) {
            throw new Malformed("an array has no type that is known");
        }
        return found(of);
    }

    private static Class<?> knownClass(String name) {
        if (!known.contains(name)) {
            throw new Malformed("a record has no name that is known");
        }
        return found(name);
    }

    private static Class<?> found(String name) {
        try {
            return Class.forName(name, false, Splitwire.class.getClassLoader());
        } catch (ClassNotFoundException error) {
            throw new Malformed("a type has no name that is known");
        }
    }

    private static Object made(Class<?> type, Object[] values) {
        if (!type.isRecord()) {
            throw new Malformed("a record has no name that is known");
        }
        try {
            Constructor<?> constructor = canonical(type);
            constructor.setAccessible(true);
            return constructor.newInstance(values);
        } catch (ReflectiveOperationException | IllegalArgumentException error) {
            throw new Malformed("a record cannot be made");
        }
    }

    private static Constructor<?> canonical(Class<?> type) throws NoSuchMethodException {
        List<Class<?>> types = new ArrayList<>();
        for (Field field : fields(type)) {
            types.add(field.getType());
        }
        return type.getDeclaredConstructor(types.toArray(new Class<?>[0]));
    }

    private static Object allocated(Class<?> type) throws ReflectiveOperationException {
        try {
            Constructor<?> constructor = type.getDeclaredConstructor();
            constructor.setAccessible(true);
            return constructor.newInstance();
        } catch (NoSuchMethodException error) {
            Class<?> unsafe = Class.forName("sun.misc.Unsafe");
            Field only = unsafe.getDeclaredField("theUnsafe");
            only.setAccessible(true);
            return unsafe.getMethod("allocateInstance", Class.class).invoke(only.get(null), type);
        }
    }

    /** Returns whether a value is of a type, with all that is in it. */
    private static boolean conforms(Object value, Type type, Set<Object> seen) {
        if (value == null) {
            return !raw(type).isPrimitive() || type == void.class;
        }
        if (type == void.class || !boxed(raw(type)).isInstance(value)) {
            return false;
        }
        if (value instanceof Map && seen.add(value)) {
            Map<?, ?> map = (Map<?, ?>) value;
            return conform(map.keySet(), part(type, 0), seen) && conform(map.values(), part(type, 1), seen);
        }
        if (value instanceof Collection && seen.add(value)) {
            return conform((Collection<?>) value, part(type, 0), seen);
        }
        if (value instanceof Object[] && seen.add(value)) {
            return conform(Arrays.asList((Object[]) value), part(type, 0), seen);
        }
        return !(value instanceof Optional) || !((Optional<?>) value).isPresent()
            || conforms(((Optional<?>) value).get(), part(type, 0), seen);
    }

    private static boolean conform(Collection<?> values, Type type, Set<Object> seen) {
        if (raw(type) == Object.class) {
            return true;
        }
        for (Object value : values) {
            if (!conforms(value, type, seen)) {
                return false;
            }
        }
        return true;
    }

    // ---- the tests' side

    /**
     * Calls a method of the solution's.
     *
     * @param stub the method that stands for it here
     * @param object the object that stands for the solution's, or null
     * @param given the arguments
     * @param classes the prompt's own
     */
    @SuppressWarnings("unchecked")
    public static synchronized <T> T call(Method stub, Object object, Object[] given, String... classes) {
        know(classes);
        Out out = new Out();
        try {
            supported(stub.getGenericReturnType(), 0);
            asked(out, stub, object, given);
        } catch (Unwritable error) {
            throw left(error.getMessage());
        }
        Answer answer = answered(out, stub);
        if (answer.failure != null) {
            throw Splitwire.<RuntimeException>thrown(answer.failure, answer.message);
        }
        return (T) answer.value;
    }

    /** What the solution's program answered. */
    private static final class Answer {
        String failure;
        String message;
        Object value;
    }

    /** Sends a call and reads what comes; nothing that the solution's program sends gets past. */
    private static Answer answered(Out out, Method stub) {
        try {
            open();
            out.send();
            In in = receive();
            if (in == null) {
                throw left("the solution's program ended");
            }
            return parsed(in, stub);
        } catch (IOException error) {
            throw left("the solution's program reads no more");
        } catch (RuntimeException error) {
            throw forged(String.valueOf(error.getMessage()));
        } catch (OutOfMemoryError | StackOverflowError error) {
            throw forged("a value is too large");
        }
    }

    private static void asked(Out out, Method stub, Object object, Object[] given) {
        out.tag('C');
        out.u32(++calls);
        out.text(signature(stub));
        Object[] values = new Object[given.length + 1];
        values[0] = object == null ? 0L : number(object);
        System.arraycopy(given, 0, values, 1, given.length);
        write(out, values);
    }

    private static long number(Object object) {
        Long number = numbers.get(object);
        if (number == null) {
            number = numbers.size() + 1L;
            numbers.put(object, number);
        }
        return number;
    }

    private static String signature(Method method) {
        StringBuilder text = new StringBuilder(method.getDeclaringClass().getName());
        text.append('.').append(method.getName()).append('(');
        for (Class<?> type : method.getParameterTypes()) {
            text.append(type.getSimpleName()).append(',');
        }
        return text.append(')').toString();
    }

    private static Answer parsed(In in, Method stub) {
        Answer answer = new Answer();
        char kind = in.tag();
        if (kind != 'R' && kind != 'E') {
            throw new Malformed("a frame is no answer");
        }
        if (in.u32() != calls) {
            throw new Malformed("an answer is to no question that was asked");
        }
        if (kind == 'E') {
            answer.failure = in.text();
            String message = in.text();
            answer.message = message.isEmpty() ? null : message.substring(1);
        }
        Object[] values = read(in);
        in.ended();
        exactly(values.length, kind == 'E' ? 0 : 1);
        if (kind == 'R') {
            answer.value = values[0];
            Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
            if (!conforms(values[0], stub.getGenericReturnType(), seen)) {
                throw new Malformed("a value is of another type than declared");
            }
        }
        return answer;
    }

    /** Refuses types of which no value can be read. */
    private static void supported(Type type, int depth) {
        Class<?> raw = raw(type);
        if (raw.isArray()) {
            supported(part(type, 0), depth + 1);
            return;
        }
        boolean plain = raw.isPrimitive() || raw == Object.class || raw == Iterable.class
            || known.contains(raw.getName()) && !Modifier.isAbstract(raw.getModifiers()) && !raw.isInterface()
            || READABLE.contains(raw.getName());
        if (!plain || depth > DEPTH) {
            throw new Unwritable("there is no plain form of ".concat(raw.getName()));
        }
        for (int at = 0; type instanceof ParameterizedType && at < raw.getTypeParameters().length; at++) {
            supported(part(type, at), depth + 1);
        }
    }

    private static final Set<String> READABLE = new HashSet<>(Arrays.asList(
        "java.lang.Boolean", "java.lang.Byte", "java.lang.CharSequence", "java.lang.Character",
        "java.lang.Comparable", "java.lang.Double", "java.lang.Float", "java.lang.Integer",
        "java.lang.Long", "java.lang.Number", "java.lang.Short", "java.lang.String",
        "java.lang.StringBuffer", "java.lang.StringBuilder", "java.lang.Void",
        "java.math.BigDecimal", "java.math.BigInteger",
        "java.util.List", "java.util.ArrayList", "java.util.LinkedList", "java.util.Collection",
        "java.util.Deque", "java.util.Queue", "java.util.ArrayDeque", "java.util.Stack",
        "java.util.PriorityQueue", "java.util.Vector", "java.util.Set", "java.util.HashSet", "java.util.LinkedHashSet",
        "java.util.SortedSet", "java.util.NavigableSet", "java.util.TreeSet", "java.util.Map",
        "java.util.HashMap", "java.util.LinkedHashMap", "java.util.SortedMap", "java.util.NavigableMap",
        "java.util.TreeMap", "java.util.Optional", "java.util.Map$Entry"));

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException thrown(String type, String message) throws E {
        if (!THROWN.contains(type)) {
            throw new SolutionFailed(type.concat(": ").concat(String.valueOf(message)));
        }
        Throwable made;
        try {
            Class<?> found = Class.forName(type, false, Splitwire.class.getClassLoader());
            if (!Exception.class.isAssignableFrom(found)) {
                throw new SolutionFailed(type);
            }
            made = thrown(found, message);
        } catch (ReflectiveOperationException error) {
            throw new SolutionFailed(type);
        }
        throw (E) made;
    }

    private static Throwable thrown(Class<?> type, String message) throws ReflectiveOperationException {
        try {
            Constructor<?> constructor = type.getDeclaredConstructor(String.class);
            constructor.setAccessible(true);
            return (Throwable) constructor.newInstance(message);
        } catch (NoSuchMethodException error) {
            return (Throwable) allocated(type);
        }
    }

    private static Error forged(String why) {
        Out out = new Out();
        out.tag('F');
        out.text(why);
        try {
            out.send();
        } catch (IOException error) {
            return left(why);
        }
        return left(why);
    }

    /** Ends the program, whatever it had still to do. */
    private static Error left(String why) {
        System.err.println("split: ".concat(why));
        System.err.flush();
        System.out.flush();
        Runtime.getRuntime().halt(1);
        return new Error(why);
    }

    // ---- the solution's side

    /**
     * Answers calls of methods until there are no more. What cannot cross ends the program: tests
     * could take it for an exception.
     *
     * @param type the solution's class
     * @param classes the prompt's own
     */
    public static void serve(Class<?> type, String... classes) throws IOException {
        know(classes);
        open();
        Map<Long, Object> objects = new HashMap<>();
        for (In in = receive(); in != null; in = receive()) {
            Out out = new Out();
            in.tag();
            int id = in.u32();
            try {
                answer(in, out, id, type, objects);
            } catch (Unwritable error) {
                throw left(error.getMessage());
            }
            out.send();
        }
        System.out.flush();
        System.err.flush();
        Runtime.getRuntime().halt(0);
    }

    private static void answer(In in, Out out, int id, Class<?> type, Map<Long, Object> objects) {
        String signature = in.text();
        Object[] values = read(in);
        Object[] given = Arrays.copyOfRange(values, 1, values.length);
        Object result;
        try {
            Method method = found(type, signature, given.length);
            result = method.invoke(object(type, method, (Long) values[0], objects), given);
        } catch (Throwable error) {
            failed(out, id, error instanceof InvocationTargetException ? error.getCause() : error);
            write(out);
            return;
        }
        out.tag('R');
        out.u32(id);
        write(out, new Object[] {result});
    }

    private static Object object(Class<?> type, Method method, long number, Map<Long, Object> objects) throws Throwable {
        if (Modifier.isStatic(method.getModifiers())) {
            return null;
        }
        Object object = objects.get(number);
        if (object == null) {
            Constructor<?> constructor = type.getDeclaredConstructor();
            constructor.setAccessible(true);
            object = constructor.newInstance();
            objects.put(number, object);
        }
        return object;
    }

    private static Method found(Class<?> type, String signature, int count) throws NoSuchMethodException {
        String name = signature.substring(signature.lastIndexOf('.') + 1, signature.indexOf('('));
        Method found = null;
        for (Method method : type.getDeclaredMethods()) {
            if (method.getName().equals(name) && method.getParameterCount() == count && !method.isSynthetic()) {
                boolean exact = signature(method).endsWith(signature.substring(signature.indexOf('(')));
                found = found == null || exact ? method : found;
            }
        }
        if (found == null) {
            throw new NoSuchMethodException(signature);
        }
        found.setAccessible(true);
        return found;
    }

    private static void failed(Out out, int id, Throwable error) {
        Class<?> type = error.getClass();
        while (type != null && !THROWN.contains(type.getName())) {
            type = type.getSuperclass();
        }
        String message = type == null ? error.toString() : error.getMessage();
        message = message == null ? "" : "=".concat(message);  // "" where there is none
        out.tag('E');
        out.u32(id);
        out.text(type == null ? "" : type.getName());
        out.text(message.substring(0, Math.min(message.length(), MESSAGE_CHARACTERS)));
    }
}
