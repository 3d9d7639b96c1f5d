import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
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
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;
import java.util.Stack;
import java.util.Vector;

/**
 * Plain data between a test program and a solution's program; the wire is described in
 * reward_server.grading.compiled_tests.split.
 *
 * What this stops: the side of the tests takes each byte for an enemy's. Only what a list names is
 * made, a result only of the type that the prompt's signature declares, counts are checked against
 * the bytes that are left, depth is bounded, and whatever is malformed ends the program with a frame
 * of the kind F.
 * What it does not: the solution may answer with any value of the declared type.
 */
public final class Splitwire {
    private static final int READS = 3;
    private static final int WRITES = 4;
    private static final int FRAME_BYTES = 64 << 20;
    private static final int DEPTH = 1000;
    private static final int MESSAGE_CHARACTERS = 1000;
    private static final int NUMBER_BYTES = 1 << 16;
    private static final int MOST_DIMENSIONS = 5;
    private static final int MOST_SCALE = 1 << 17;

    /** What a signature may throw across; anything else comes as the nearest that it extends. */
    private static final List<Class<? extends Exception>> THROWN = Arrays.asList(
        ArithmeticException.class, ArrayIndexOutOfBoundsException.class, ArrayStoreException.class,
        ClassCastException.class, CloneNotSupportedException.class, Exception.class, IllegalArgumentException.class,
        IllegalStateException.class, IndexOutOfBoundsException.class, NegativeArraySizeException.class,
        NullPointerException.class, NumberFormatException.class, RuntimeException.class,
        StringIndexOutOfBoundsException.class, UnsupportedOperationException.class, java.io.EOFException.class,
        java.io.FileNotFoundException.class, java.io.IOException.class,
        java.security.NoSuchAlgorithmException.class, java.time.DateTimeException.class,
        java.util.ConcurrentModificationException.class, java.util.EmptyStackException.class,
        java.util.InputMismatchException.class, java.util.NoSuchElementException.class,
        java.util.concurrent.TimeoutException.class);

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
    private static class Unwritable extends RuntimeException {
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

        /** Writes text by its characters, lone surrogates too. */
        void text(String text) {
            u32(text.length());
            for (char one : text.toCharArray()) {
                room(2);
                data[count++] = (byte) (one >>> 8);
                data[count++] = (byte) one;
            }
        }

        void bytes(byte[] bytes) {
            u32(bytes.length);
            room(bytes.length);
            System.arraycopy(bytes, 0, data, count, bytes.length);
            count += bytes.length;
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
            char[] text = new char[counted()];
            for (int at = 0; at < text.length; at++) {
                int from = take(2);
                text[at] = (char) ((data[from] & 0xff) << 8 | data[from + 1] & 0xff);
            }
            return new String(text);
        }

        byte[] bytes() {
            int many = counted(), from = take(many);
            return Arrays.copyOfRange(data, from, from + many);
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
        return reads.readNBytes(data, 0, data.length) == data.length;
    }

    // ---- values

    private static void writeAll(Out out, Collection<?> values, int depth) {
        out.u32(values.size());
        for (Object value : values) {
            write(out, value, depth + 1);
        }
    }

    private static void write(Out out, Object value, int depth) {
        if (depth > DEPTH) {
            throw new Unwritable("a value is nested too deep");
        }
        if (value == null) {
            out.tag('n');
        } else if (value instanceof Integer) {
            out.tag('w');
            out.u32((Integer) value);
        } else if (value instanceof Long || value instanceof Short || value instanceof Byte) {
            out.tag(value instanceof Long ? 'j' : value instanceof Short ? 'h' : 'y');
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
            writeBig(out, (Number) value);
        } else {
            writeHolder(out, value, depth);
        }
    }

    private static void writeBig(Out out, Number value) {
        boolean isWhole = value instanceof BigInteger;
        byte[] digits = (isWhole ? (BigInteger) value : ((BigDecimal) value).unscaledValue()).toByteArray();
        if (digits.length > NUMBER_BYTES) {
            throw new Unwritable("a number has too many digits");
        }
        out.tag(isWhole ? 'I' : 'D');
        out.bytes(digits);
        if (!isWhole) {
            out.i64(((BigDecimal) value).scale());
        }
    }

    private static void writeHolder(Out out, Object value, int depth) {
        if (value.getClass().isArray()) {
            out.tag('a');
            out.text(value.getClass().getComponentType().getName());
            out.u32(Array.getLength(value));
            for (int at = 0; at < Array.getLength(value); at++) {
                write(out, Array.get(value, at), depth + 1);
            }
        } else if (value instanceof Map) {
            Map<?, ?> map = (Map<?, ?>) value;
            out.tag('m');
            writeAll(out, map.keySet(), depth);
            writeAll(out, map.values(), depth);
        } else if (value instanceof Map.Entry) {
            out.tag('p');
            writeAll(out, Arrays.asList(((Map.Entry<?, ?>) value).getKey(), ((Map.Entry<?, ?>) value).getValue()), depth);
        } else if (value instanceof Optional) {
            out.tag('o');
            write(out, ((Optional<?>) value).orElse(null), depth + 1);
        } else if (value instanceof Collection) {
            out.tag(kind((Collection<?>) value));
            writeAll(out, (Collection<?>) value, depth);
        } else {
            throw new Unwritable("there is no plain form of ".concat(value.getClass().getName()));
        }
    }

    /** Returns as what a container crosses: in the order of its items, and with no rules of its own. */
    private static char kind(Collection<?> value) {
        return value instanceof Set ? 'e'
            : value instanceof Stack ? 'S'
            : value instanceof Vector ? 'V'
            : value instanceof LinkedList ? 'K'
            : value instanceof List ? 'l'
            : value instanceof PriorityQueue ? 'P'
            : value instanceof Deque ? 'Q'
            : value instanceof Queue ? 'K' : 'l';
    }

    private static Object[] readAll(In in, int depth) {
        Object[] values = new Object[in.counted()];
        for (int at = 0; at < values.length; at++) {
            values[at] = read(in, depth + 1);
        }
        return values;
    }

    private static Object read(In in, int depth) {
        if (depth > DEPTH) {
            throw new Malformed("a value is nested too deep");
        }
        char tag = in.tag();
        switch (tag) {
            case 'n':
                return null;
            case 't':
            case 'f':
                return tag == 't';
            case 'w':
                return in.u32();
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
                return in.text();
            case 'I':
                return bigInteger(in.bytes());
            case 'D':
                return new BigDecimal(bigInteger(in.bytes()), (int) in.whole(-MOST_SCALE, MOST_SCALE));
            case 'a':
                return array(COMPONENTS.get(in.text()), readAll(in, depth));
            case 'm':
                return map(readAll(in, depth), readAll(in, depth));
            case 'o':
                return Optional.ofNullable(read(in, depth + 1));
            default:
                return collection(tag, readAll(in, depth));
        }
    }

    private static Object map(Object[] keys, Object[] values) {
        Map<Object, Object> made = new LinkedHashMap<>();
        for (int at = 0; at < keys.length; at++) {
            made.put(keys[at], at < values.length ? values[at] : null);
        }
        if (keys.length != values.length || made.size() != keys.length) {
            throw new Malformed("a map has not as many keys as values");
        }
        return made;
    }

    private static Object array(Class<?> type, Object[] values) {
        if (type == null) {
            throw new Malformed("an array has no type that is known");
        }
        Object made = Array.newInstance(type, values.length);
        for (int at = 0; at < values.length; at++) {
            if (values[at] == null ? type.isPrimitive() : !boxed(type).isInstance(values[at])) {
                throw new Malformed("an array holds a value of another type");
            }
            Array.set(made, at, values[at]);
        }
        return made;
    }

    private static Object collection(char tag, Object[] values) {
        List<Object> items = Arrays.asList(values);
        try {
            switch (tag) {
                case 'l':
                    return new ArrayList<>(items);
                case 'e':
                    return new LinkedHashSet<>(items);
                case 'K':
                    return new LinkedList<>(items);
                case 'V':
                    return new Vector<>(items);
                case 'S':
                    Stack<Object> stack = new Stack<>();
                    stack.addAll(items);
                    return stack;
                case 'Q':
                    return new ArrayDeque<>(items);
                case 'P':
                    return new PriorityQueue<>(items);
                case 'p':
                    return new AbstractMap.SimpleImmutableEntry<>(values[0], values[1]);
                default:
                    throw new Malformed("a value has no tag that is known");
            }
        } catch (ClassCastException | NullPointerException | IndexOutOfBoundsException error) {
            throw new Malformed("a container cannot hold its items");
        }
    }

    /** Reads a number that is written as the bytes of its two's complement. */
    private static BigInteger bigInteger(byte[] digits) {
        if (digits.length == 0 || digits.length > NUMBER_BYTES) {
            throw new Malformed("a number has no allowed count of digits");
        }
        return new BigInteger(digits);
    }

    private static final List<Class<?>> PRIMITIVE = Arrays.asList(boolean.class, byte.class, char.class,
        short.class, int.class, long.class, float.class, double.class);
    /** What may be in arrays, and be declared. */
    private static final List<Class<?>> HELD = Arrays.asList(Object.class, Boolean.class, Byte.class,
        Character.class, Short.class, Integer.class, Long.class, Float.class, Double.class, Number.class,
        String.class, CharSequence.class, Comparable.class, BigInteger.class, BigDecimal.class, Void.class,
        Iterable.class, Collection.class, List.class, ArrayList.class, LinkedList.class, Vector.class, Stack.class,
        Queue.class, Deque.class, ArrayDeque.class, PriorityQueue.class, Set.class, HashSet.class,
        LinkedHashSet.class, Map.class, HashMap.class, LinkedHashMap.class, Map.Entry.class, Optional.class);

    /** The types of what is in arrays, by name. */
    private static final Map<String, Class<?>> COMPONENTS = new HashMap<>();

    static {
        List<Class<?>> all = new ArrayList<>(PRIMITIVE);
        all.addAll(HELD);
        for (Class<?> one : all) {
            for (int depth = 0; depth < MOST_DIMENSIONS; depth++, one = Array.newInstance(one, 0).getClass()) {
                COMPONENTS.put(one.getName(), one);
            }
        }
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

    /** Returns whether a value is of a type, with all that is in it. */
    private static boolean conforms(Object value, Type type) {
        if (value == null) {
            return !raw(type).isPrimitive() || type == void.class;
        }
        if (type == void.class || !boxed(raw(type)).isInstance(value)) {
            return false;
        }
        if (value instanceof Map) {
            Map<?, ?> map = (Map<?, ?>) value;
            return conform(map.keySet(), part(type, 0)) && conform(map.values(), part(type, 1));
        }
        if (value instanceof Map.Entry) {
            Map.Entry<?, ?> pair = (Map.Entry<?, ?>) value;
            return conforms(pair.getKey(), part(type, 0)) && conforms(pair.getValue(), part(type, 1));
        }
        if (value instanceof Collection) {
            return conform((Collection<?>) value, part(type, 0));
        }
        if (value instanceof Object[]) {
            return conform(Arrays.asList((Object[]) value), part(type, 0));
        }
        return !(value instanceof Optional) || !((Optional<?>) value).isPresent()
            || conforms(((Optional<?>) value).get(), part(type, 0));
    }

    private static boolean conform(Collection<?> values, Type type) {
        if (raw(type) == Object.class) {
            return true;
        }
        for (Object value : values) {
            if (!conforms(value, type)) {
                return false;
            }
        }
        return true;
    }

    /** Refuses types of which no value can be read. */
    private static void supported(Type type) {
        Class<?> raw = raw(type);
        if (raw.isArray()) {
            supported(part(type, 0));
            return;
        }
        if (!raw.isPrimitive() && !HELD.contains(raw)) {
            throw new Unwritable("there is no plain form of ".concat(raw.getName()));
        }
        for (int at = 0; type instanceof ParameterizedType && at < raw.getTypeParameters().length; at++) {
            supported(part(type, at));
        }
    }

    // ---- the tests' side

    /**
     * Calls a method of the solution's.
     *
     * @param stub the method that stands for it here
     * @param object the object that stands for the solution's, or null
     * @param given the arguments
     */
    @SuppressWarnings("unchecked")
    public static synchronized <T> T call(Method stub, Object object, Object[] given) {
        Out out = new Out();
        try {
            supported(stub.getGenericReturnType());
            asked(out, stub, object, given);
        } catch (Unwritable error) {
            throw last('S', error.getMessage());
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
        out.text(stub.getReturnType().getName());
        out.i64(object == null ? 0 : number(object));
        writeAll(out, Arrays.asList(given), 0);
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
        } else {
            answer.value = read(in, 0);
        }
        in.ended();
        if (kind == 'R' && !conforms(answer.value, stub.getGenericReturnType())) {
            throw new Malformed("a value is of another type than declared");
        }
        return answer;
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException thrown(String type, String message) throws E {
        Throwable made = null;
        for (Class<? extends Exception> one : THROWN) {
            try {
                made = one.getName().equals(type) ? thrown(one, message) : made;
            } catch (ReflectiveOperationException error) {
                throw new SolutionFailed(type);
            }
        }
        if (made == null) {
            throw new SolutionFailed(type.concat(": ").concat(String.valueOf(message)));
        }
        throw (E) made;
    }

    private static Throwable thrown(Class<?> type, String message) throws ReflectiveOperationException {
        try {
            return (Throwable) type.getConstructor(String.class).newInstance(message);
        } catch (NoSuchMethodException error) {
            return (Throwable) type.getConstructor().newInstance();
        }
    }

    private static Error forged(String why) {
        return last('F', why);
    }

    /** Says why it ends, to whoever relays the frames. */
    private static Error last(char kind, String why) {
        Out out = new Out();
        out.tag(kind);
        out.bytes(why.getBytes(StandardCharsets.UTF_8));
        try {
            out.send();
        } catch (IOException error) {
            why = why.concat(", and the other program reads no more");
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
     */
    public static void serve(Class<?> type) throws IOException {
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
        String declared = in.text();
        long number = in.i64();
        Object[] given = readAll(in, 0);
        Object result;
        try {
            Method method = found(type, signature, given);
            Object object = object(type, method, number, objects);
            Object[] fitted = fitted(method, given);
            result = narrowed(method.invoke(object, fitted), method.getReturnType(), declared);
        } catch (InvocationTargetException error) {
            failed(out, id, error.getCause());
            return;
        } catch (ReflectiveOperationException | IllegalArgumentException error) {
            throw new Unwritable("the method cannot be called: ".concat(error.toString()));
        }
        out.tag('R');
        out.u32(id);
        write(out, result, 0);
    }

    /** Returns the object that a number stands for; what its constructor throws is no answer to a call. */
    private static Object object(Class<?> type, Method method, long number, Map<Long, Object> objects)
        throws ReflectiveOperationException {
        if (Modifier.isStatic(method.getModifiers())) {
            return null;
        }
        Object object = objects.get(number);
        if (object == null) {
            Constructor<?> constructor = type.getDeclaredConstructor();
            constructor.setAccessible(true);
            try {
                object = constructor.newInstance();
            } catch (InvocationTargetException error) {
                throw new Unwritable("the constructor failed: ".concat(String.valueOf(error.getCause())));
            }
            objects.put(number, object);
        }
        return object;
    }

    /** Finds the method that a call means: of the same parameters, or else one that takes what is given. */
    private static Method found(Class<?> type, String signature, Object[] given) throws NoSuchMethodException {
        String name = signature.substring(signature.lastIndexOf('.') + 1, signature.indexOf('('));
        String parameters = signature.substring(signature.indexOf('('));
        Method found = null;
        for (Method method : methods(type, new ArrayList<>())) {
            if (method.getName().equals(name) && !method.isSynthetic() && fitted(method, given) != null) {
                boolean exact = signature(method).endsWith(parameters);
                found = found == null || exact && !signature(found).endsWith(parameters) ? method : found;
            }
        }
        if (found == null) {
            throw new NoSuchMethodException(signature);
        }
        found.setAccessible(true);
        return found;
    }

    /** Gathers the methods that objects of a class have, those that override others first. */
    private static List<Method> methods(Class<?> type, List<Method> into) {
        for (Class<?> one = type; one != null && !one.getName().startsWith("java."); one = one.getSuperclass()) {
            into.addAll(Arrays.asList(one.getDeclaredMethods()));
            for (Class<?> each : one.getInterfaces()) {
                methods(each, into);
            }
        }
        return into;
    }

    /** Returns arguments as a method takes them; null if it does not. */
    private static Object[] fitted(Method method, Object[] given) {
        Class<?>[] types = method.getParameterTypes();
        Object[] direct = types.length == given.length ? fitted(types, given) : null;
        int fixed = types.length - 1;
        if (direct != null || !method.isVarArgs() || given.length < fixed) {
            return direct;
        }
        Class<?> type = types[fixed].getComponentType();
        Class<?>[] each = Arrays.copyOf(types, given.length);
        Arrays.fill(each, fixed, given.length, type);
        Object[] all = fitted(each, given);
        Object rest = Array.newInstance(type, given.length - fixed);
        for (int at = fixed; all != null && at < given.length; at++) {
            Array.set(rest, at - fixed, all[at]);
        }
        Object[] packed = all == null ? null : Arrays.copyOf(all, types.length, Object[].class);
        if (packed != null) {
            packed[fixed] = rest;
        }
        return packed;
    }

    private static Object[] fitted(Class<?>[] types, Object[] given) {
        Object[] fitted = new Object[given.length];
        for (int at = 0; at < given.length; at++) {
            fitted[at] = fitted(given[at], types[at]);
            if (fitted[at] == null && (given[at] != null || types[at].isPrimitive())) {
                return null;
            }
        }
        return fitted;
    }

    /** Returns a value as one of a type; null if it is none. */
    private static Object fitted(Object value, Class<?> type) {
        if (value == null || boxed(type).isInstance(value)) {
            return value;
        }
        Object number = value instanceof Character && type != short.class && type != byte.class ? (Object) (int) (Character) value : value;
        boolean is = type.isPrimitive() && number instanceof Number && number.getClass().getName().startsWith("java.lang.");
        return is ? converted((Number) number, type.getName()) : null;
    }

    /** Returns a number as one of a primitive type, if that has it; a fraction as no whole number. */
    private static Number converted(Number value, String type) {
        boolean isWhole = !(value instanceof Double || value instanceof Float);
        long whole = value.longValue();
        switch (type) {
            case "double":
                return isWhole && (long) (double) whole != whole ? null : (Number) value.doubleValue();
            case "float":
                return isWhole && (long) (float) whole == whole ? (Number) (float) whole : null;
            case "long":
                return isWhole ? (Number) whole : null;
            case "int":
                return isWhole && (int) whole == whole ? (Number) (int) whole : null;
            case "short":
                return isWhole && (short) whole == whole ? (Number) (short) whole : null;
            case "byte":
                return isWhole && (byte) whole == whole ? (Number) (byte) whole : null;
            default:
                return null;
        }
    }

    /** Returns a result as the type has it that the prompt declares, if both are of numbers. */
    private static Object narrowed(Object result, Class<?> type, String declared) {
        if (!type.isPrimitive() || !(result instanceof Number)) {
            return result;
        }
        Number converted = converted((Number) result, declared);
        return converted == null ? result : converted;
    }

    private static void failed(Out out, int id, Throwable error) {
        Class<?> type = error.getClass();
        while (type != null && !THROWN.contains(type)) {
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
