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
import java.util.AbstractCollection;
import java.util.AbstractList;
import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
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
 * reward_server.grading.compiled_tests.split.
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
    private static final int NUMBER_BYTES = 1 << 16;
    private static final int MOST_SCALE = 1 << 17;

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
    private static class Unwritable extends RuntimeException {
        Unwritable(String message) {
            super(message);
        }
    }

    /** A value that tests made themselves, whatever was answered, and that cannot be written. */
    private static final class Staying extends Unwritable {
        Staying(String message) {
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
        "java.util.LinkedHashMap", "java.util.TreeMap", "java.util.IdentityHashMap",
        "java.util.concurrent.ConcurrentLinkedQueue", "java.util.concurrent.ConcurrentLinkedDeque",
        "java.util.concurrent.LinkedBlockingQueue", "java.util.concurrent.LinkedBlockingDeque",
        "java.util.concurrent.PriorityBlockingQueue", "java.util.concurrent.CopyOnWriteArrayList",
        "java.util.concurrent.CopyOnWriteArraySet", "java.util.concurrent.ConcurrentSkipListMap",
        "java.util.concurrent.ConcurrentSkipListSet"));
    private static final Set<String> COUNTERS = new HashSet<>(Arrays.asList(
        "java.util.concurrent.atomic.AtomicInteger", "java.util.concurrent.atomic.AtomicLong"));
    /** What a class of the solution's own may define of a container that can only be read. */
    private static final Set<String> READS_ONLY = new HashSet<>(Arrays.asList(
        "AbstractList get", "AbstractList size", "AbstractSet iterator", "AbstractSet size",
        "AbstractCollection iterator", "AbstractCollection size", "AbstractMap entrySet"));
    private static final String UNMODIFIABLE = "unmodifiable ", FIXED = "fixed list", KEYS = "keys", VALUES = "values";
    private static final String ENTRY = "entry", SHOWN = "shown ", EMPTY = "empty ", STRICT = " strict", BY_USE = " by use";
    private static final String DOWN = " down", ANY_CASE = " any case", ANY_CASE_DOWN = " any case down", RANKED = " ranked";

    /** Returns what an object is made as; null if it is no object that changes or is the same one. */
    private static String kind(Object value) {
        Class<?> type = value == null ? null : value.getClass();
        if (value == null || value instanceof String || value instanceof Number && !knows(type) && !COUNTERS.contains(type.getName())
            || value instanceof Boolean || value instanceof Character || value instanceof Enum
            || value instanceof Optional || type.isRecord()) {
            return null;
        }
        if (type.isArray() || value instanceof StringBuilder || value instanceof StringBuffer || value instanceof Number && !knows(type)) {
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
        if (value instanceof Iterable && !defines(value.getClass(), Object.class, Collections.singleton("Object iterator"))) {
            return SHOWN.concat("iterable");
        }
        throw formless(value.getClass());
    }

    /** Tells that values of a class cannot be written. Of what a library keeps to itself, an answer may lead to one. */
    private static Unwritable formless(Class<?> type) {
        Class<?> of = type;
        while (of.isArray()) {
            of = of.getComponentType();
        }
        boolean isOfTests = isOwn(of) ? !of.getName().startsWith(Splitwire.class.getName())
            : Modifier.isPublic(of.getModifiers()) && !Throwable.class.isAssignableFrom(of)
                || Comparator.class.isAssignableFrom(of) || of.getName().contains("$$Lambda");
        String message = "there is no plain form of ".concat(type.getName());
        return isOfTests ? new Staying(message) : new Unwritable(message);
    }

    private static boolean knows(Class<?> type) {
        return known.contains(type.getName());
    }

    private static String container(Object value) {
        Class<?> type = value.getClass();
        while (isOwn(type)) {
            type = type.getSuperclass();
        }
        if (isOwn(value.getClass()) && defines(value.getClass(), type, READS_ONLY)) {
            throw new Staying("a class changes what a container does: ".concat(value.getClass().getName()));
        }
        for (Class<?> one = type; one != null; one = one.getSuperclass()) {
            if (CONCRETE.contains(one.getName())) {
                return one.getName().concat(sorted(value)).concat(isByUse(value) ? BY_USE : "");
            }
        }
        if (isOwn(value.getClass())) {
            return SHOWN.concat(shape(value));
        }
        return library(value, type.getName());
    }

    /** Returns whether a class came with the solution or the prompt. */
    private static boolean isOwn(Class<?> type) {
        return type.getClassLoader() == Splitwire.class.getClassLoader();
    }

    /** Returns whether own classes define more of what a class of the library has than what is listed. */
    private static boolean defines(Class<?> type, Class<?> library, Set<String> listed) {
        Set<String> names = new HashSet<>();
        for (Class<?> one = type; one != null; one = one.getSuperclass()) {
            inherited(one, names);
        }
        for (Class<?> one = type; one != library; one = one.getSuperclass()) {
            for (Method method : one.getDeclaredMethods()) {
                boolean is = !Modifier.isStatic(method.getModifiers()) && !Modifier.isPrivate(method.getModifiers());
                if (is && names.contains(method.getName()) && !listed.contains(library.getSimpleName() + " " + method.getName())) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Notes the methods that the library's own classes and interfaces have of what a class is. */
    private static void inherited(Class<?> type, Set<String> into) {
        for (Method method : isOwn(type) ? new Method[0] : type.getDeclaredMethods()) {
            if (!Modifier.isPrivate(method.getModifiers())) {
                into.add(method.getName());
            }
        }
        for (Class<?> one : type.getInterfaces()) {
            inherited(one, into);
        }
    }

    private static String shape(Object value) {
        return value instanceof List ? "list" : value instanceof Set ? "set" : value instanceof Map ? "map" : "collection";
    }

    /** Returns what a container of the library's is made as that has no public class. */
    private static String library(Object value, String name) {
        if (name.equals("java.util.Arrays$ArrayList") || name.equals("java.util.AbstractList$RandomAccessSubList")) {
            return FIXED;
        }
        if (value == Collections.EMPTY_LIST || value == Collections.EMPTY_SET || value == Collections.EMPTY_MAP) {
            return EMPTY.concat(shape(value));
        }
        if (name.equals("java.util.Collections$CopiesList") || name.equals("java.util.AbstractList$SubList") && !canBeSet((List<?>) value)) {
            return SHOWN.concat("list");
        }
        if (name.equals("java.util.AbstractMap$1") || name.equals("java.util.AbstractMap$2")) {
            return SHOWN.concat(shape(value));
        }
        if (name.equals("java.util.Collections$SingletonList")) {
            return SHOWN.concat("single");
        }
        boolean isSorted = value instanceof java.util.SortedSet || value instanceof java.util.SortedMap;
        if (name.startsWith("java.util.") && !name.contains("Unmodifiable") && !name.contains("Immutable")
            && !name.contains("Empty") && !name.contains("Singleton")) {
            return value instanceof List ? "java.util.ArrayList"
                : value instanceof java.util.EnumSet || value instanceof java.util.EnumMap ? value instanceof Map ? "java.util.TreeMap" : "java.util.TreeSet"
                : value instanceof Map ? isSorted ? "java.util.TreeMap".concat(sorted(value)) : "java.util.LinkedHashMap"
                : value instanceof Set ? KEYS.concat(isSorted ? " of tree".concat(sorted(value)) : "") : VALUES;
        }
        return isSorted ? UNMODIFIABLE.concat("sorted ").concat(shape(value)).concat(sorted(value))
            : UNMODIFIABLE.concat(shape(value)).concat(isStrict(value) ? STRICT : "");
    }

    @SuppressWarnings("unchecked")
    private static boolean canBeSet(List<?> list) {
        try {
            return list.isEmpty() || ((List<Object>) list).set(0, list.get(0)) == list.get(0);
        } catch (UnsupportedOperationException error) {
            return false;
        }
    }

    /** Returns whether a container must not be asked for null. */
    private static boolean isStrict(Object value) {
        try {
            (value instanceof Map ? ((Map<?, ?>) value).keySet() : (Collection<?>) value).contains(null);
            return false;
        } catch (NullPointerException error) {
            return true;
        }
    }

    /** Returns whether what is asked for goes to a map's end. */
    @SuppressWarnings("unchecked")
    private static boolean isByUse(Object value) {
        if (!(value instanceof LinkedHashMap)) {
            return false;
        }
        Map<Object, Object> copy = (Map<Object, Object>) ((LinkedHashMap<Object, Object>) value).clone();
        copy.clear();
        copy.put("first", null);
        copy.put("last", null);
        copy.get("first");
        return copy.keySet().iterator().next().equals("last");
    }

    /** Returns how something is sorted, if not in the order that its elements have. */
    private static String sorted(Object value) {
        Comparator<?> order = order(value);
        if (order instanceof Ranks) {
            throw new Unwritable("a comparator stays where it is");
        }
        return order == null || order.equals(Comparator.naturalOrder()) ? ""
            : order.equals(Collections.reverseOrder()) ? DOWN
            : order.equals(String.CASE_INSENSITIVE_ORDER) ? ANY_CASE
            : order.equals(Collections.reverseOrder(String.CASE_INSENSITIVE_ORDER)) ? ANY_CASE_DOWN : RANKED;
    }

    private static Comparator<?> order(Object value) {
        return value instanceof java.util.SortedSet ? ((java.util.SortedSet<?>) value).comparator()
            : value instanceof java.util.SortedMap ? ((java.util.SortedMap<?, ?>) value).comparator()
            : value instanceof java.util.PriorityQueue ? ((java.util.PriorityQueue<?>) value).comparator()
            : value instanceof java.util.concurrent.PriorityBlockingQueue ? ((java.util.concurrent.PriorityBlockingQueue<?>) value).comparator() : null;
    }

    /** Returns the order that the end of a kind names. */
    private static Comparator<Object> order(String kind) {
        @SuppressWarnings({"unchecked", "rawtypes"})
        Comparator<Object> anyCase = (Comparator) String.CASE_INSENSITIVE_ORDER;
        return kind.endsWith(ANY_CASE_DOWN) ? Collections.reverseOrder(anyCase) : kind.endsWith(ANY_CASE) ? anyCase
            : kind.endsWith(DOWN) ? Collections.reverseOrder() : kind.endsWith(RANKED) ? new Ranks() : null;
    }

    /** Returns what a kind is without its order. */
    private static String unordered(String kind) {
        for (String end : new String[] {ANY_CASE_DOWN, ANY_CASE, DOWN, RANKED}) {
            if (kind.endsWith(end)) {
                return kind.substring(0, kind.length() - end.length());
            }
        }
        return kind;
    }

    /** Puts behind each element of a container, or each key of a map, what it ranks by a comparator that stays where it is. */
    @SuppressWarnings("unchecked")
    private static Object[] ranked(Object value, Object[] parts) {
        Comparator<Object> order = (Comparator<Object>) order(value);
        int step = value instanceof Map ? 2 : 1;
        Object[] keys = new Object[parts.length / step];
        for (int at = 0; at < keys.length; at++) {
            keys[at] = parts[at * step];
        }
        boolean isQueue = value instanceof java.util.Queue;
        Object[] inOrder = keys.clone();
        Object[] found = Arrays.copyOf(parts, parts.length + keys.length);
        try {
            if (isQueue) {
                Arrays.sort(inOrder, order);
            }
            Ranks ranks = new Ranks();
            for (int at = 0, rank = 0; at < inOrder.length; at++) {
                int before = at == 0 ? -1 : order.compare(inOrder[at - 1], inOrder[at]);
                int after = at == 0 ? 1 : order.compare(inOrder[at], inOrder[at - 1]);
                if (before > 0 || after < 0 || (before == 0) != (after == 0) || before == 0 && !isQueue || order.compare(inOrder[at], inOrder[at]) != 0) {
                    throw new Unwritable("a comparator contradicts itself");
                }
                rank += before == 0 ? 0 : 1;
                ranks.put(inOrder[at], rank);
            }
            for (int at = 0; at < keys.length; at++) {
                found[parts.length + at] = ranks.of(keys[at]);
            }
        } catch (ClassCastException | NullPointerException | IllegalArgumentException error) {
            throw new Unwritable("a comparator cannot compare what it is to");
        }
        return found;
    }

    /** Returns what can change of an object. */
    private static Object[] parts(Object value, String kind) {
        Object[] parts = partsOf(value, kind);
        return kind.endsWith(RANKED) ? ranked(value, parts) : parts;
    }

    private static Object[] partsOf(Object value, String kind) {
        if (kind.startsWith(SHOWN) && value instanceof Iterable) {
            return passed((Iterable<?>) value);
        }
        if (value instanceof Collection) {
            return ((Collection<?>) value).toArray();
        }
        if (COUNTERS.contains(kind)) {
            return new Object[] {((Number) value).longValue()};
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

    /** Returns what one pass over an object gives, which another has to give again. */
    private static Object[] passed(Iterable<?> value) {
        List<Object> parts = new ArrayList<>();
        for (Object part : value) {
            if (parts.size() >= FRAME_BYTES / OBJECT) {
                throw new Unwritable("a value is too large");
            }
            parts.add(part);
        }
        int at = 0;
        for (Object part : value) {
            if (at == parts.size() || isLeaf(part) && !part.equals(parts.get(at))) {
                at = -1;
                break;
            }
            at++;
        }
        if (at != parts.size()) {
            throw new Unwritable("an object gives something else as it is iterated again");
        }
        return parts.toArray();
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
            throw formless(value.getClass());
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
            boolean isWhole = value instanceof BigInteger;
            byte[] digits = (isWhole ? (BigInteger) value : ((BigDecimal) value).unscaledValue()).toByteArray();
            if (digits.length > NUMBER_BYTES) {
                throw new Unwritable("a number has too many digits");
            }
            out.tag(isWhole ? 'I' : 'D');
            out.text(new String(digits, StandardCharsets.ISO_8859_1));
            if (!isWhole) {
                out.i64(((BigDecimal) value).scale());
            }
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
            throw formless(type);
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
            if (entry.content instanceof Set || entry.content instanceof Map || entry.content instanceof java.util.PriorityQueue || entry.content instanceof java.util.concurrent.PriorityBlockingQueue) {
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
            case 'w':
                return in.u32();
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
                return new BigDecimal(bigInteger(in.text()), (int) in.whole(-MOST_SCALE, MOST_SCALE));
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
        if (kind.startsWith(KEYS) || kind.equals(VALUES)) {
            Map<Object, Object> behind = kind.startsWith(KEYS.concat(" of tree")) ? new TreeMap<>(order(kind)) : new LinkedHashMap<>();
            return new Entry(behind instanceof TreeMap ? ((TreeMap<Object, Object>) behind).navigableKeySet()
                : kind.equals(VALUES) ? behind.values() : behind.keySet(), behind, kind);
        }
        if (kind.startsWith(SHOWN)) {
            return shown(kind);
        }
        Object made = empty(kind);
        return new Entry(made, made, kind);
    }

    private static Object empty(String kind) {
        Comparator<Object> order = order(kind);
        switch (unordered(kind)) {
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
            case "java.util.LinkedHashMap by use":
                return new LinkedHashMap<>(16, 0.75f, true);
            case "java.util.TreeMap":
                return new TreeMap<>(order);
            case "java.util.IdentityHashMap":
                return new IdentityHashMap<>();
            case "java.util.concurrent.ConcurrentSkipListMap":
                return new java.util.concurrent.ConcurrentSkipListMap<>(order);
            case "java.util.concurrent.ConcurrentSkipListSet":
                return new java.util.concurrent.ConcurrentSkipListSet<>(order);
            case "java.util.concurrent.PriorityBlockingQueue":
                return new java.util.concurrent.PriorityBlockingQueue<>(11, order);
            case "java.util.concurrent.ConcurrentLinkedQueue":
                return new java.util.concurrent.ConcurrentLinkedQueue<>();
            case "java.util.concurrent.ConcurrentLinkedDeque":
                return new java.util.concurrent.ConcurrentLinkedDeque<>();
            case "java.util.concurrent.LinkedBlockingQueue":
                return new java.util.concurrent.LinkedBlockingQueue<>();
            case "java.util.concurrent.LinkedBlockingDeque":
                return new java.util.concurrent.LinkedBlockingDeque<>();
            case "java.util.concurrent.CopyOnWriteArrayList":
                return new java.util.concurrent.CopyOnWriteArrayList<>();
            case "java.util.concurrent.CopyOnWriteArraySet":
                return new java.util.concurrent.CopyOnWriteArraySet<>();
            case "java.util.concurrent.atomic.AtomicInteger":
                return new java.util.concurrent.atomic.AtomicInteger();
            case "java.util.concurrent.atomic.AtomicLong":
                return new java.util.concurrent.atomic.AtomicLong();
            case "empty list":
                return Collections.EMPTY_LIST;
            case "empty set":
                return Collections.EMPTY_SET;
            case "empty map":
                return Collections.EMPTY_MAP;
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
        Comparator<Object> order = order(kind);
        boolean strict = kind.endsWith(STRICT);
        String of = unordered(kind.substring(UNMODIFIABLE.length()));
        switch (strict ? of.substring(0, of.length() - STRICT.length()) : of) {
            case "list":
                List<Object> list = strict ? new StrictList() : new ArrayList<>();
                return new Entry(Collections.unmodifiableList(list), list, kind);
            case "collection":
                List<Object> items = new ArrayList<>();
                return new Entry(Collections.unmodifiableCollection(items), items, kind);
            case "set":
                Set<Object> set = strict ? new StrictSet() : new LinkedHashSet<>();
                return new Entry(Collections.unmodifiableSet(set), set, kind);
            case "map":
                Map<Object, Object> map = strict ? new StrictMap() : new LinkedHashMap<>();
                return new Entry(Collections.unmodifiableMap(map), map, kind);
            case "sorted set":
                TreeSet<Object> sorted = new TreeSet<>(order);
                return new Entry(Collections.unmodifiableNavigableSet(sorted), sorted, kind);
            case "sorted map":
                TreeMap<Object, Object> tree = new TreeMap<>(order);
                return new Entry(Collections.unmodifiableNavigableMap(tree), tree, kind);
            default:
                throw new Malformed("a record has no name that is known");
        }
    }

    private static Entry shown(String kind) {
        List<Object> behind = new ArrayList<>();
        switch (kind.substring(SHOWN.length())) {
            case "list":
                return new Entry(new ShownList(behind), behind, kind);
            case "single":
                return new Entry(new Single(behind), behind, kind);
            case "set":
                return new Entry(new ShownSet(behind), behind, kind);
            case "map":
                return new Entry(new ShownMap(behind), behind, kind);
            case "collection":
                return new Entry(new ShownCollection(behind), behind, kind);
            case "iterable":
                return new Entry((Iterable<Object>) () -> new Pass(behind), behind, kind);
            default:
                throw new Malformed("a record has no name that is known");
        }
    }

    // ---- containers whose own class stays where it is: what they do is what the library's class does

    private static class ShownList extends AbstractList<Object> {
        final List<Object> behind;

        ShownList(List<Object> behind) {
            this.behind = behind;
        }

        public Object get(int index) {
            return behind.get(index);
        }

        public int size() {
            return behind.size();
        }
    }

    /** A list of one element, which is in order. */
    private static final class Single extends ShownList {
        Single(List<Object> behind) {
            super(behind);
        }

        public void sort(Comparator<? super Object> order) {}
    }

    private static final class ShownSet extends AbstractSet<Object> {
        final List<Object> behind;

        ShownSet(List<Object> behind) {
            this.behind = behind;
        }

        public Iterator<Object> iterator() {
            return new Pass(behind);
        }

        public int size() {
            return behind.size();
        }
    }

    private static final class ShownCollection extends AbstractCollection<Object> {
        final List<Object> behind;

        ShownCollection(List<Object> behind) {
            this.behind = behind;
        }

        public Iterator<Object> iterator() {
            return new Pass(behind);
        }

        public int size() {
            return behind.size();
        }
    }

    /** A map of keys and values in turn. */
    private static final class ShownMap extends AbstractMap<Object, Object> {
        final List<Object> behind;

        ShownMap(List<Object> behind) {
            this.behind = behind;
        }

        @SuppressWarnings({"unchecked", "rawtypes"})
        public Set<Map.Entry<Object, Object>> entrySet() {
            List<Object> entries = new ArrayList<>();
            for (int at = 0; at < behind.size(); at += 2) {
                Pair pair = new Pair();
                pair.key = behind.get(at);
                pair.value = behind.get(at + 1);
                pair.isShown = true;
                entries.add(pair);
            }
            return (Set) new ShownSet(entries);
        }
    }

    /** Goes through what an iterator gave that stays where it is. */
    private static final class Pass implements Iterator<Object> {
        private final Iterator<Object> behind;

        Pass(List<Object> behind) {
            this.behind = Collections.unmodifiableList(behind).iterator();
        }

        public boolean hasNext() {
            return behind.hasNext();
        }

        public Object next() {
            return behind.next();
        }

        /** Ends the program: whether the other iterator can do this, only the solution's program knows. */
        public void remove() {
            throw forged("a container of the solution's own class is changed");
        }
    }

    private static final class StrictList extends ArrayList<Object> {
        public boolean contains(Object item) {
            return super.contains(Objects.requireNonNull(item));
        }

        public int indexOf(Object item) {
            return super.indexOf(Objects.requireNonNull(item));
        }

        public int lastIndexOf(Object item) {
            return super.lastIndexOf(Objects.requireNonNull(item));
        }
    }

    private static final class StrictSet extends LinkedHashSet<Object> {
        public boolean contains(Object item) {
            return super.contains(Objects.requireNonNull(item));
        }
    }

    private static final class StrictMap extends LinkedHashMap<Object, Object> {
        public Object get(Object key) {
            return super.get(Objects.requireNonNull(key));
        }

        public Object getOrDefault(Object key, Object other) {
            return super.getOrDefault(Objects.requireNonNull(key), other);
        }

        public boolean containsKey(Object key) {
            return super.containsKey(Objects.requireNonNull(key));
        }

        public boolean containsValue(Object value) {
            return super.containsValue(Objects.requireNonNull(value));
        }
    }

    /** Compares what the solution's comparator has compared, and nothing else. */
    private static final class Ranks implements Comparator<Object> {
        private final Map<Object, Integer> ranks = new HashMap<>();

        void put(Object item, int rank) {
            Integer old = ranks.put(item, rank);
            if (old != null && old != rank) {
                throw new Unwritable("a comparator contradicts itself");
            }
        }

        int of(Object item) {
            Integer rank = ranks.get(item);
            if (rank == null) {
                throw forged("a comparator of the solution's stays where it is");
            }
            return rank;
        }

        public int compare(Object one, Object other) {
            return Integer.compare(of(one), of(other));
        }
    }

    /** Gives an object what is in its like in the other program. */
    @SuppressWarnings("unchecked")
    private static void fill(Entry entry, Object[] parts) {
        try {
            Object[] own = entry.kind.endsWith(RANKED) ? unranked(entry, parts) : parts;
            fillWith(entry, own);
        } catch (ClassCastException | NullPointerException | IllegalArgumentException | IndexOutOfBoundsException
            | UnsupportedOperationException | ArithmeticException | IllegalAccessException | Unwritable error) {
            throw new Malformed("an object holds what it cannot");
        }
        entry.parts = parts;
        entry.copy = copied(entry.object);
    }

    /** Takes the ranks, which tell how to compare, from behind the parts. */
    private static Object[] unranked(Entry entry, Object[] parts) {
        int step = entry.object instanceof Map ? 2 : 1;
        exactly(parts.length % (step + 1), 0);
        int many = parts.length / (step + 1);
        Object[] own = Arrays.copyOf(parts, many * step);
        Comparator<?> order = order(entry.object);
        if (order instanceof Ranks) {
            ((Ranks) order).ranks.clear();
        }
        for (int at = 0; order instanceof Ranks && at < many; at++) {
            ((Ranks) order).put(own[at * step], (Integer) parts[many * step + at]);
        }
        return own;
    }

    @SuppressWarnings("unchecked")
    private static void fillWith(Entry entry, Object[] parts) throws IllegalAccessException {
        Object into = entry.content;
        if (entry.kind.startsWith(KEYS) || entry.kind.equals(VALUES)) {
            Map<Object, Object> behind = (Map<Object, Object>) into;
            behind.clear();
            for (int at = 0; at < parts.length; at++) {
                behind.put(entry.kind.equals(VALUES) ? at : parts[at], parts[at]);
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
        } else if (into instanceof java.util.concurrent.atomic.AtomicInteger) {
            ((java.util.concurrent.atomic.AtomicInteger) into).set(Math.toIntExact((Long) parts[0]));
        } else if (into instanceof java.util.concurrent.atomic.AtomicLong) {
            ((java.util.concurrent.atomic.AtomicLong) into).set((Long) parts[0]);
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
        boolean isShown; // of a map whose own class stays where it is

        public Object getKey() {
            return key;
        }

        public Object getValue() {
            return value;
        }

        public Object setValue(Object next) {
            if (isShown) {
                throw forged("a container of the solution's own class is changed");
            }
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

    /** Reads a number that is written as the bytes of its two's complement. */
    private static BigInteger bigInteger(String digits) {
        if (digits.isEmpty() || digits.length() > NUMBER_BYTES) {
            throw new Malformed("a number has no allowed count of digits");
        }
        return new BigInteger(digits.getBytes(StandardCharsets.ISO_8859_1));
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
        } catch (Staying error) {
            throw last('S', error.getMessage());
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
        out.text(stub.getReturnType().getName());
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
            || READABLE.contains(raw.getName()) || CONCRETE.contains(raw.getName()) || COUNTERS.contains(raw.getName());
        if (!plain || depth > DEPTH) {
            throw new Staying("there is no plain form of ".concat(raw.getName()));
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
        return last('F', why);
    }

    /** Says why it ends, to whoever relays the frames. */
    private static Error last(char kind, String why) {
        Out out = new Out();
        out.tag(kind);
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
        String declared = in.text();
        Object[] values = read(in);
        Object[] given = Arrays.copyOfRange(values, 1, values.length);
        Object result;
        try {
            Method method = found(type, signature, given);
            Object object = object(type, method, (Long) values[0], objects);
            Object[] fitted = fitted(method, given);
            result = narrowed(method.invoke(object, fitted), method.getReturnType(), declared);
        } catch (InvocationTargetException error) {
            failed(out, id, error.getCause());
            write(out);
            return;
        } catch (ReflectiveOperationException | IllegalArgumentException error) {
            throw new Unwritable("the method cannot be called: ".concat(error.toString()));
        }
        out.tag('R');
        out.u32(id);
        write(out, new Object[] {result});
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
        for (Class<?> one = type; one != null && isOwn(one); one = one.getSuperclass()) {
            into.addAll(Arrays.asList(one.getDeclaredMethods()));
        }
        for (Class<?> one = type; one != null; one = one.getSuperclass()) {
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
        Object rest = Array.newInstance(types[fixed].getComponentType(), given.length - fixed);
        Object[] all = Arrays.copyOf(given, types.length);
        for (int at = fixed; at < given.length; at++) {
            Object one = fitted(given[at], types[fixed].getComponentType());
            if (one == null && (given[at] != null || types[fixed].getComponentType().isPrimitive())) {
                return null;
            }
            Array.set(rest, at - fixed, one);
        }
        all[fixed] = rest;
        return fitted(types, all);
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
