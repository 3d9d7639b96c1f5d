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
import java.util.AbstractMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.ListIterator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.Stack;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.Vector;

/**
 * Plain data between a test program and a solution's program; the wire is described in
 * reward_server.grading.split.
 *
 * What this stops: the side of the tests takes each byte for an enemy's. A value is made only of the
 * type that the prompt's signature declares, counts are checked against the bytes that are left,
 * depth is bounded, and whatever is malformed ends the program with a frame of the kind F.
 * What it does not: the solution may answer with any value of the declared type.
 */
public final class Splitwire {
    private static final int READS = 3;
    private static final int WRITES = 4;
    private static final int FRAME_BYTES = 16 << 20;
    private static final int DEPTH = 64;
    private static final int MESSAGE_CHARACTERS = 1000;

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

        void bytes(byte[] from) {
            room(from.length + 4);
            u32(from.length);
            System.arraycopy(from, 0, data, count, from.length);
            count += from.length;
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

        char next() {
            return (char) (at < data.length ? data[at] : 0);
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

        void count(int wanted) {
            if (counted() != wanted) {
                throw new Malformed("a value has another count of parts");
            }
        }

        long i64() {
            long high = u32();
            return high << 32 | u32() & 0xffffffffL;
        }

        byte[] bytes() {
            int many = counted(), from = take(many);
            return Arrays.copyOfRange(data, from, from + many);
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

    // ---- writing values

    private static void write(Out out, Object value, int depth) {
        if (depth > DEPTH) {
            throw new Unwritable("a value is nested too deep");
        }
        if (value == null) {
            out.tag('n');
        } else if (value instanceof Boolean) {
            out.tag((Boolean) value ? 't' : 'f');
        } else if (value instanceof Integer) {
            out.tag('i');
            out.i64((Integer) value);
        } else if (value instanceof String) {
            out.tag('s');
            out.text((String) value);
        } else if (value instanceof Double) {
            out.tag('d');
            out.i64(Double.doubleToRawLongBits((Double) value));
        } else if (value instanceof Character) {
            out.tag('c');
            out.i64((Character) value);
        } else if (value instanceof Optional) {
            writeOption(out, (Optional<?>) value, depth);
        } else if (value instanceof Map) {
            writeMap(out, (Map<?, ?>) value, depth);
        } else if (value instanceof Collection) {
            out.tag(value instanceof Set ? 'e' : 'l');
            writeAll(out, ((Collection<?>) value).toArray(), depth);
        } else if (value instanceof Map.Entry) {
            Map.Entry<?, ?> entry = (Map.Entry<?, ?>) value;
            out.tag('p');
            writeAll(out, new Object[] {entry.getKey(), entry.getValue()}, depth);
        } else if (value instanceof byte[]) {
            out.tag('b');
            out.bytes((byte[]) value);
        } else if (value.getClass().isArray()) {
            writeArray(out, value, depth);
        } else {
            writeNamed(out, value, depth);
        }
    }

    private static void writeAll(Out out, Object[] values, int depth) {
        out.u32(values.length);
        for (Object value : values) {
            write(out, value, depth + 1);
        }
    }

    private static void writeOption(Out out, Optional<?> value, int depth) {
        if (value.isPresent()) {
            out.tag('o');
            write(out, value.get(), depth + 1);
        } else {
            open(out, "Optional", 0);
        }
    }

    private static void writeMap(Out out, Map<?, ?> map, int depth) {
        out.tag('m');
        out.u32(map.size());
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            write(out, entry.getKey(), depth + 1);
            write(out, entry.getValue(), depth + 1);
        }
    }

    private static void writeArray(Out out, Object array, int depth) {
        int many = Array.getLength(array);
        open(out, array.getClass().getSimpleName(), 1);
        out.text("");
        out.tag('l');
        out.u32(many);
        for (int at = 0; at < many; at++) {
            write(out, Array.get(array, at), depth + 1);
        }
    }

    /** Writes what is a record of one value, whose name tells its type. */
    private static void writeNamed(Out out, Object value, int depth) {
        Class<?> type = value.getClass();
        if (value instanceof Long || value instanceof Short || value instanceof Byte) {
            open(out, type.getSimpleName(), 1);
            out.text("");
            out.tag('i');
            out.i64(((Number) value).longValue());
        } else if (value instanceof Float) {
            open(out, "Float", 1);
            out.text("");
            write(out, ((Float) value).doubleValue(), depth);
        } else if (type == BigInteger.class) {
            out.tag('I');
            out.text(value.toString());
        } else if (type == BigDecimal.class || value instanceof CharSequence) {
            open(out, type == BigDecimal.class ? "BigDecimal" : "StringBuilder", 1);
            out.text("");
            write(out, value.toString(), depth);
        } else if (value instanceof Enum) {
            open(out, ((Enum<?>) value).getDeclaringClass().getSimpleName(), 1);
            out.text("");
            write(out, ((Enum<?>) value).name(), depth);
        } else {
            writeFields(out, value, depth);
        }
    }

    private static void open(Out out, String name, int fields) {
        out.tag('r');
        out.text(name);
        out.u32(fields);
    }

    private static void writeFields(Out out, Object value, int depth) {
        Class<?> type = value.getClass();
        while (type != null && !known.contains(type.getName())) {
            type = type.getSuperclass();
        }
        if (type == null) {
            throw new Unwritable("there is no plain form of ".concat(value.getClass().getName()));
        }
        List<Field> fields = fields(type);
        open(out, type.getName(), fields.size());
        for (Field field : fields) {
            out.text(field.getName());
            try {
                write(out, field.get(value), depth + 1);
            } catch (IllegalAccessException error) {
                throw new Unwritable("a field cannot be read");
            }
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

    // ---- reading values of a declared type

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

    private static Object read(In in, Type type, int depth) {
        if (depth > DEPTH) {
            throw new Malformed("a value is nested too deep");
        }
        Class<?> raw = raw(type);
        char tag = in.tag();
        if (tag == 'n') {
            if (raw.isPrimitive() && raw != void.class) {
                throw new Malformed("a number is null");
            }
            return null;
        }
        Object value = tag == 'i' ? whole(in.i64(), boxed(raw)) : tagged(in, tag, type, raw, depth);
        if (!boxed(raw).isInstance(value)) {
            throw new Malformed("a value is of another type than declared");
        }
        return value;
    }

    private static Class<?> boxed(Class<?> type) {
        return type.isPrimitive() ? Array.get(Array.newInstance(type == void.class ? int.class : type, 1), 0).getClass() : type;
    }

    private static Object whole(long value, Class<?> type) {
        boolean fits;
        Object made;
        if (type == Long.class || type == Double.class) {
            return type == Long.class ? (Object) value : (Object) (double) value;
        } else if (type == Short.class) {
            made = (short) value;
            fits = (short) value == value;
        } else if (type == Byte.class) {
            made = (byte) value;
            fits = (byte) value == value;
        } else {
            made = (int) value;
            fits = (int) value == value;
        }
        if (!fits) {
            throw new Malformed("a number is out of range");
        }
        return made;
    }

    private static Object tagged(In in, char tag, Type type, Class<?> raw, int depth) {
        switch (tag) {
            case 't':
            case 'f':
                return tag == 't';
            case 'd':
                return Double.longBitsToDouble(in.i64());
            case 's':
                return in.text().intern();
            case 'c':
                long code = in.i64();
                if (code < 0 || code > Character.MAX_VALUE) {
                    throw new Malformed("a character is out of range");
                }
                return (char) code;
            case 'I':
                return bigInteger(in.text());
            case 'b':
                return in.bytes();
            case 'o':
                Object held = read(in, part(type, 0), depth + 1);
                if (held == null) {
                    throw new Malformed("an option holds null");
                }
                return Optional.of(held);
            case 'l':
                return raw.isArray() ? readArray(in, type, raw, depth) : readAll(in, list(raw), part(type, 0), depth);
            case 'e':
                Set<Object> set = java.util.SortedSet.class.isAssignableFrom(raw) ? new TreeSet<>() : new LinkedHashSet<>();
                return readAll(in, set, part(type, 0), depth);
            case 'm':
                return readMap(in, type, raw, depth);
            case 'p':
                in.count(2);
                Object key = read(in, part(type, 0), depth + 1);
                return new AbstractMap.SimpleEntry<>(key, read(in, part(type, 1), depth + 1));
            case 'r':
                return readNamed(in, type, raw, depth);
            default:
                throw new Malformed("a value has no tag that is known");
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

    private static Collection<Object> list(Class<?> raw) {
        if (raw == LinkedList.class || raw == java.util.Deque.class || raw == java.util.Queue.class) {
            return new LinkedList<>();
        }
        if (raw == ArrayDeque.class) {
            return new ArrayDeque<>();
        }
        if (raw == Stack.class) {
            return new Stack<>();
        }
        return raw == Vector.class ? new Vector<>() : new ArrayList<>();
    }

    private static Object readAll(In in, Collection<Object> made, Type part, int depth) {
        for (int left = in.counted(); left > 0; left--) {
            try {
                made.add(read(in, part, depth + 1));
            } catch (ClassCastException | NullPointerException error) {
                throw new Malformed("an element is of no type that its collection takes");
            }
        }
        return made;
    }

    private static Object readMap(In in, Type type, Class<?> raw, int depth) {
        Map<Object, Object> made = java.util.SortedMap.class.isAssignableFrom(raw) ? new TreeMap<>() : new LinkedHashMap<>();
        for (int left = in.counted(); left > 0; left--) {
            Object key = read(in, part(type, 0), depth + 1);
            try {
                made.put(key, read(in, part(type, 1), depth + 1));
            } catch (ClassCastException | NullPointerException error) {
                throw new Malformed("a key is of no type that its map takes");
            }
        }
        return made;
    }

    private static Object readArray(In in, Type type, Class<?> raw, int depth) {
        int many = in.counted();
        Object made = Array.newInstance(raw.getComponentType(), many);
        for (int at = 0; at < many; at++) {
            Array.set(made, at, read(in, part(type, 0), depth + 1));
        }
        return made;
    }

    private static Object readNamed(In in, Type type, Class<?> raw, int depth) {
        String name = in.text();
        if (name.equals("Optional")) {
            in.count(0);
            return Optional.empty();
        }
        if (known.contains(name)) {
            return readKnown(in, name, raw, depth);
        }
        unnamed(in);
        if (name.endsWith("[]")) {
            Class<?> array = raw.isArray() ? raw : array(name);
            return read(in, raw.isArray() ? type : array, depth + 1);
        }
        switch (name) {
            case "Long":
                return read(in, Long.class, depth + 1);
            case "Short":
                return read(in, Short.class, depth + 1);
            case "Byte":
                return read(in, Byte.class, depth + 1);
            case "Float":
                return ((Double) some(read(in, Double.class, depth + 1))).floatValue();
            case "StringBuilder":
                String text = (String) some(read(in, String.class, depth + 1));
                return raw == StringBuffer.class ? new StringBuffer(text) : new StringBuilder(text);
            case "BigDecimal":
                return decimal((String) some(read(in, String.class, depth + 1)));
            default:
                throw new Malformed("a record has no name that is known");
        }
    }

    /** Reads that a record has one field, which has no name. */
    private static void unnamed(In in) {
        in.count(1);
        if (!in.text().isEmpty()) {
            throw new Malformed("a record has another field");
        }
    }

    private static Object some(Object value) {
        if (value == null) {
            throw new Malformed("a record holds null");
        }
        return value;
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

    /** Returns the type of an array where an object is declared. */
    private static Class<?> array(String name) {
        switch (name) {
            case "int[]":
                return int[].class;
            case "long[]":
                return long[].class;
            case "double[]":
                return double[].class;
            case "float[]":
                return float[].class;
            case "short[]":
                return short[].class;
            case "char[]":
                return char[].class;
            case "boolean[]":
                return boolean[].class;
            case "int[][]":
                return int[][].class;
            case "String[]":
                return String[].class;
            case "Integer[]":
                return Integer[].class;
            case "Object[]":
                return Object[].class;
            default:
                throw new Malformed("an array has no type that is known");
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static Object readKnown(In in, String name, Class<?> raw, int depth) {
        Class<?> type = knownClass(name);
        if (!raw.isAssignableFrom(type)) {
            throw new Malformed("a record is of another type than declared");
        }
        if (type.isEnum()) {
            unnamed(in);
            Object constant = some(read(in, String.class, depth + 1));
            try {
                return Enum.valueOf((Class) type, (String) constant);
            } catch (IllegalArgumentException error) {
                throw new Malformed("an enum has no such constant");
            }
        }
        List<Field> fields = fields(type);
        in.count(fields.size());
        Object[] values = new Object[fields.size()];
        for (int at = 0; at < values.length; at++) {
            if (!in.text().equals(fields.get(at).getName())) {
                throw new Malformed("a record has another field");
            }
            values[at] = read(in, fields.get(at).getGenericType(), depth + 1);
        }
        return made(type, fields, values);
    }

    private static Class<?> knownClass(String name) {
        try {
            return Class.forName(name, false, Splitwire.class.getClassLoader());
        } catch (ClassNotFoundException error) {
            throw new Malformed("a record has no name that is known");
        }
    }

    private static Object made(Class<?> type, List<Field> fields, Object[] values) {
        try {
            if (type.isRecord()) {
                Constructor<?> constructor = type.getDeclaredConstructors()[0];
                constructor.setAccessible(true);
                return constructor.newInstance(values);
            }
            Object made = allocated(type);
            for (int at = 0; at < values.length; at++) {
                fields.get(at).set(made, values[at]);
            }
            return made;
        } catch (ReflectiveOperationException error) {
            throw new Malformed("a record cannot be made");
        }
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

    // ---- the tests' side

    /**
     * Calls a method of the solution's.
     *
     * @param stub the method that stands for it here
     * @param object the object that stands for the solution's, or null
     * @param given the arguments
     * @param back whether arguments that the method changed come back
     * @param classes the prompt's own
     */
    @SuppressWarnings("unchecked")
    public static synchronized <T> T call(
        Method stub, Object object, Object[] given, boolean back, String... classes) {
        know(classes);
        Out out = new Out();
        try {
            supported(stub.getGenericReturnType(), 0);
            asked(out, stub, object, given);
        } catch (Unwritable error) {
            throw left(error.getMessage());
        }
        Answer answer = answered(out, stub, given, back);
        if (answer.failure != null) {
            throw Splitwire.<RuntimeException>thrown(answer.failure, answer.message);
        }
        for (int at = 0; at < given.length; at++) {
            if (answer.changed[at] != given[at]) {
                assign(given[at], answer.changed[at]);
            }
        }
        return (T) answer.value;
    }

    /** What the solution's program answered. */
    private static final class Answer {
        String failure;
        String message;
        Object value;
        Object[] changed;
    }

    /** Sends a call and reads what comes; nothing that the solution's program sends gets past. */
    private static Answer answered(Out out, Method stub, Object[] given, boolean back) {
        try {
            open();
            out.send();
            In in = receive();
            if (in == null) {
                throw left("the solution's program ended");
            }
            return parsed(in, stub, given, back);
        } catch (IOException error) {
            throw left("the solution's program reads no more");
        } catch (RuntimeException error) {
            throw forged(error.getMessage());
        } catch (OutOfMemoryError | StackOverflowError error) {
            throw forged("a value is too large");
        }
    }

    private static void asked(Out out, Method stub, Object object, Object[] given) {
        out.tag('C');
        out.u32(++calls);
        out.text(signature(stub));
        out.u32(given.length + 1);
        write(out, object == null ? 0L : number(object), 0);
        for (Object value : given) {
            write(out, value, 0);
        }
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

    private static Answer parsed(In in, Method stub, Object[] given, boolean back) {
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
            answer.message = in.text();
        } else {
            in.count(back ? given.length + 1 : 1);
            answer.changed = back ? changed(in, stub, given) : given;
            answer.value = result(in, stub.getGenericReturnType(), given);
        }
        in.ended();
        return answer;
    }

    /** Returns each argument as it was, or what it was changed to. */
    private static Object[] changed(In in, Method stub, Object[] given) {
        Object[] changed = given.clone();
        Type[] types = stub.getGenericParameterTypes();
        for (int at = 0; at < given.length; at++) {
            if (in.next() == 'u') {
                in.tag();
                continue;
            }
            changed[at] = read(in, types[at], 0);
            if (!assignable(given[at], changed[at])) {
                throw new Malformed("an argument changed that cannot");
            }
        }
        return changed;
    }

    private static Object result(In in, Type type, Object[] given) {
        if (type == void.class) {
            if (in.tag() != 'n') {
                throw new Malformed("there is a result where none is declared");
            }
            return null;
        }
        if (in.next() != '@') {
            return read(in, type, 0);
        }
        in.tag();
        int index = in.u32();
        if (index < 0 || index >= given.length || !boxed(raw(type)).isInstance(given[index])) {
            throw new Malformed("a result is no such argument");
        }
        return given[index];
    }

    /** Returns whether an object can be given the content of another. */
    private static boolean assignable(Object into, Object from) {
        if (into == null || from == null) {
            return false;
        }
        boolean alike = into.getClass() == from.getClass();
        return into instanceof List && from instanceof List
            || into instanceof Set && from instanceof Set
            || into instanceof java.util.Queue && from instanceof java.util.Queue
            || into instanceof Map && from instanceof Map
            || into instanceof StringBuilder && alike
            || into.getClass().isArray() && alike && Array.getLength(into) == Array.getLength(from)
            || alike && known.contains(into.getClass().getName()) && !into.getClass().isRecord();
    }

    /** Gives a container the content of another, level by level where they are alike. */
    @SuppressWarnings("unchecked")
    private static void assign(Object into, Object from) {
        if (into instanceof List) {
            assignList((List<Object>) into, (List<Object>) from);
        } else if (into instanceof Collection) {
            ((Collection<Object>) into).clear();
            ((Collection<Object>) into).addAll((Collection<Object>) from);
        } else if (into instanceof Map) {
            ((Map<Object, Object>) into).clear();
            ((Map<Object, Object>) into).putAll((Map<Object, Object>) from);
        } else if (into.getClass().isArray()) {
            assignArray(into, from);
        } else if (into instanceof StringBuilder) {
            ((StringBuilder) into).setLength(0);
            ((StringBuilder) into).append(from);
        } else {
            assignFields(into, from);
        }
    }

    private static void assignList(List<Object> into, List<Object> from) {
        if (into.size() != from.size()) {
            into.clear();
            into.addAll(from);
            return;
        }
        ListIterator<Object> items = into.listIterator();
        for (Object value : from) {
            Object old = items.next();
            if (same(old, value)) {
                continue;
            }
            if (isContainer(old) && assignable(old, value)) {
                assign(old, value);
            } else {
                items.set(value);
            }
        }
    }

    private static void assignArray(Object into, Object from) {
        for (int at = 0; at < Array.getLength(into); at++) {
            Object old = Array.get(into, at), value = Array.get(from, at);
            if (isContainer(old) && assignable(old, value)) {
                assign(old, value);
            } else {
                Array.set(into, at, value);
            }
        }
    }

    private static boolean isContainer(Object value) {
        return value instanceof Collection || value instanceof Map || value != null && value.getClass().isArray();
    }

    private static boolean same(Object one, Object other) {
        return one == null ? other == null : one.equals(other);
    }

    private static void assignFields(Object into, Object from) {
        try {
            for (Field field : fields(into.getClass())) {
                field.set(into, field.get(from));
            }
        } catch (IllegalAccessException error) {
            throw new IllegalStateException(error);
        }
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
        "java.util.Vector", "java.util.Set", "java.util.HashSet", "java.util.LinkedHashSet",
        "java.util.SortedSet", "java.util.NavigableSet", "java.util.TreeSet", "java.util.Map",
        "java.util.HashMap", "java.util.LinkedHashMap", "java.util.SortedMap", "java.util.NavigableMap",
        "java.util.TreeMap", "java.util.Optional", "java.util.Map$Entry"));

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException thrown(String type, String message) throws E {
        if (!THROWN.contains(type) && !known.contains(type)) {
            throw new SolutionFailed(type.concat(": ").concat(message));
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
     * Answers calls of methods until there are no more.
     *
     * @param type the solution's class
     * @param back whether arguments that a method changed go back
     * @param classes the prompt's own
     */
    public static void serve(Class<?> type, boolean back, String... classes) throws IOException {
        know(classes);
        open();
        Map<Long, Object> objects = new HashMap<>();
        for (In in = receive(); in != null; in = receive()) {
            Out out = new Out();
            in.tag();
            int id = in.u32();
            out.tag('R');
            out.u32(id);
            try {
                answer(in, out, type, objects, back);
            } catch (InvocationTargetException error) {
                failed(out, id, error.getCause());
            } catch (Throwable error) {
                failed(out, id, error);
            }
            out.send();
        }
        System.out.flush();
        System.err.flush();
        Runtime.getRuntime().halt(0);
    }

    private static void answer(In in, Out out, Class<?> type, Map<Long, Object> objects, boolean back) throws Throwable {
        String signature = in.text();
        int count = in.counted() - 1;
        long number = (Long) read(in, Long.class, 0);
        Method method = found(type, signature, count);
        Type[] types = method.getGenericParameterTypes();
        Object[] given = new Object[count];
        byte[][] before = new byte[count][];
        for (int at = 0; at < count; at++) {
            int from = in.at;
            given[at] = read(in, types[at], 0);
            before[at] = back ? Arrays.copyOfRange(in.data, from, in.at) : null;
        }
        Object result = method.invoke(object(type, method, number, objects), given);
        out.u32(back ? count + 1 : 1);
        for (int at = 0; back && at < count; at++) {
            writeChange(out, given[at], before[at]);
        }
        writeResult(out, result, given, back);
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

    private static void writeChange(Out out, Object value, byte[] before) {
        int start = out.count;
        write(out, value, 0);
        if (Arrays.equals(before, Arrays.copyOfRange(out.data, start, out.count))) {
            out.count = start;
            out.tag('u');
        }
    }

    /** Writes a result; where it is an argument that goes back, as the argument's index. */
    private static void writeResult(Out out, Object value, Object[] given, boolean back) {
        for (int at = 0; back && at < given.length; at++) {
            if (value == given[at] && assignable(value, value)) {
                out.tag('@');
                out.u32(at);
                return;
            }
        }
        write(out, value, 0);
    }

    private static void failed(Out out, int id, Throwable error) {
        Class<?> type = error.getClass();
        while (type != null && !THROWN.contains(type.getName()) && !known.contains(type.getName())) {
            type = type.getSuperclass();
        }
        String message = type == null ? error.toString() : error.getMessage();
        message = message == null ? "" : message;
        out.count = 4;
        out.tag('E');
        out.u32(id);
        out.text(type == null || error instanceof Unwritable ? "" : type.getName());
        out.text(message.substring(0, Math.min(message.length(), MESSAGE_CHARACTERS)));
    }
}
