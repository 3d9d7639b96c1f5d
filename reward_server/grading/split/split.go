// Plain data between a test program and a solution's program; the wire is described in
// `reward_server.grading.split`.
//
// What this stops: the side of the tests takes each byte for an enemy's. Counts are checked against
// the bytes that are left and against a budget of memory before anything is made, depth is bounded,
// numbers must fit their type, and whatever else is wrong ends the program with a frame of the
// kind F.
// What it does not: the solution may answer with any value of the declared type.
//
// A pointer is a pair of a number and what it points to, or, where the frame or the call has that
// already, its number alone behind @: whatever is shared or goes in circles stays so. What an
// interface holds is a record with the name of its type. Texts are bytes of any kind.
package splitwire

import (
	"math"
	"os"
	"reflect"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"
)

const (
	reads       = 3
	writes      = 4
	frameBytes  = 16 << 20
	roomBytes   = 128 << 20
	mostDepth   = 64
	mostNesting = 20000
	typeBytes   = 200
	arrayBytes  = 4096
)

var errorType = reflect.TypeOf((*error)(nil)).Elem()

// The prompt's own: types by name, and values of errors that are compared by identity.
var types = map[string]reflect.Type{"error": errorType}
var sentinels = map[string]*error{}

type unwritable string

type malformed string

// An error of the other program.
type remoteError struct {
	message string
	wraps   error
}

func (e *remoteError) Error() string { return e.message }
func (e *remoteError) Unwrap() error { return e.wraps }

func init() {
	basic := []interface{}{
		false, 0, int8(0), int16(0), int32(0), int64(0), uint(0), uint8(0), uint16(0), uint32(0),
		uint64(0), float32(0), float64(0), complex64(0), complex128(0), "",
	}
	for _, one := range basic {
		types[reflect.TypeOf(one).String()] = reflect.TypeOf(one)
	}
	types["interface {}"] = reflect.TypeOf((*interface{})(nil)).Elem()
}

// Know makes types, given as pointers, known, and errors by name.
func Know(errors map[string]*error, samples ...interface{}) {
	sentinels = errors
	for _, one := range samples {
		known := reflect.TypeOf(one).Elem()
		types[known.String()] = known
	}
}

// ---- frames

func leave(why string) {
	os.Stderr.WriteString("split: " + why + "\n")
	os.Exit(1)
}

func writeAll(data []byte) bool {
	for len(data) > 0 {
		count, err := syscall.Write(writes, data)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || count <= 0 {
			return false
		}
		data = data[count:]
	}
	return true
}

// send writes a frame, in whose front four bytes are left for its length.
func send(frame []byte) {
	put32(frame, len(frame)-4)
	if !writeAll(frame) {
		leave("the other program reads no more")
	}
}

func readAll(into []byte) bool {
	for len(into) > 0 {
		count, err := syscall.Read(reads, into)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || count <= 0 {
			return false
		}
		into = into[count:]
	}
	return true
}

// next reads a frame; it is nil if there is none.
func next() []byte {
	var head [4]byte
	if !readAll(head[:]) {
		return nil
	}
	size := get32(head[:])
	if size == 0 || size > frameBytes {
		panic(malformed("a frame has no size that is allowed"))
	}
	frame := make([]byte, size)
	if !readAll(frame) {
		return nil
	}
	return frame
}

func put32(into []byte, number int) {
	into[0], into[1], into[2], into[3] = byte(number>>24), byte(number>>16), byte(number>>8), byte(number)
}

func get32(from []byte) int {
	return int(from[0])<<24 | int(from[1])<<16 | int(from[2])<<8 | int(from[3])
}

// ---- pointers of a call

type place struct {
	at   unsafe.Pointer
	kind reflect.Type
}

// pointers knows the pointers of a call and its answer, by number from 0.
type pointers struct {
	numbers map[place]int
	values  []reflect.Value
}

func (shared *pointers) add(pointer reflect.Value) int {
	if shared.numbers == nil {
		shared.numbers = map[place]int{}
	}
	number := len(shared.values)
	shared.numbers[place{pointer.UnsafePointer(), pointer.Type()}] = number
	shared.values = append(shared.values, pointer)
	return number
}

// ---- writing

type writer struct {
	data    []byte
	shared  *pointers
	written map[int]bool
	depth   int
	nesting int
}

func frame(kind byte, id int, shared *pointers) *writer {
	out := &writer{data: make([]byte, 5, 256), shared: shared, written: map[int]bool{}}
	out.data[4] = kind
	out.u32(id)
	return out
}

func (out *writer) u32(number int) {
	out.data = append(out.data, byte(number>>24), byte(number>>16), byte(number>>8), byte(number))
}

func (out *writer) u64(number uint64) {
	out.u32(int(number >> 32))
	out.u32(int(number & math.MaxUint32))
}

func (out *writer) tag(tag byte) { out.data = append(out.data, tag) }

func (out *writer) text(text string) {
	out.u32(len(text))
	out.room(len(text))
	out.data = append(out.data, text...)
}

func (out *writer) room(more int) {
	if more > frameBytes-len(out.data) {
		panic(unwritable("a value is too large"))
	}
}

// addressable gives a value whose fields can be looked at, exported or not.
func addressable(value reflect.Value) reflect.Value {
	if value.CanAddr() {
		return value
	}
	copied := reflect.New(value.Type()).Elem()
	copied.Set(value)
	return copied
}

func field(value reflect.Value, index int) reflect.Value {
	field := value.Field(index)
	return reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
}

func (out *writer) value(value reflect.Value) {
	out.room(1)
	switch value.Kind() {
	case reflect.Bool:
		if value.Bool() {
			out.tag('t')
		} else {
			out.tag('f')
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		out.tag('i')
		out.u64(uint64(value.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if value.Uint() <= math.MaxInt64 {
			out.tag('i')
			out.u64(value.Uint())
		} else {
			out.tag('I')
			out.text(strconv.FormatUint(value.Uint(), 10))
		}
	case reflect.Float32, reflect.Float64:
		out.real(value.Float())
	case reflect.Complex64, reflect.Complex128:
		out.tag('p')
		out.u32(2)
		out.real(real(value.Complex()))
		out.real(imag(value.Complex()))
	case reflect.String:
		out.tag('s')
		out.text(value.String())
	default:
		out.container(value)
	}
}

func (out *writer) real(number float64) {
	out.tag('d')
	out.u64(math.Float64bits(number))
}

func (out *writer) container(value reflect.Value) {
	depth := out.depth
	out.depth++
	out.nesting++
	if value.Kind() == reflect.Ptr {
		out.depth = 0
	}
	if out.depth > mostDepth || out.nesting > mostNesting {
		panic(unwritable("a value is nested too deep"))
	}
	kind := value.Kind()
	switch {
	case kind != reflect.Array && kind != reflect.Struct && value.IsNil():
		out.tag('n')
	case kind == reflect.Slice && value.Type().Elem().Kind() == reflect.Uint8:
		out.tag('b')
		out.text(string(value.Bytes()))
	case kind == reflect.Slice || kind == reflect.Array:
		out.tag('l')
		out.u32(value.Len())
		for index := 0; index < value.Len(); index++ {
			out.value(value.Index(index))
		}
	case kind == reflect.Map:
		out.entries(value)
	case kind == reflect.Ptr:
		out.pointer(value)
	case kind == reflect.Struct:
		out.record(addressable(value))
	case kind == reflect.Interface:
		out.dynamic(value.Elem())
	default:
		panic(unwritable("a value of the type " + value.Type().String() + " stays where it is"))
	}
	out.depth = depth
	out.nesting--
}

func (out *writer) pointer(value reflect.Value) {
	number, known := out.shared.numbers[place{value.UnsafePointer(), value.Type()}]
	if !known {
		number = out.shared.add(value)
	}
	if out.written[number] {
		out.tag('@')
		out.u32(number)
		return
	}
	out.written[number] = true
	out.tag('p')
	out.u32(2)
	out.tag('i')
	out.u64(uint64(number))
	out.value(value.Elem())
}

func (out *writer) record(value reflect.Value) {
	out.tag('r')
	out.text(value.Type().String())
	out.u32(value.NumField())
	for index := 0; index < value.NumField(); index++ {
		out.text(value.Type().Field(index).Name)
		out.value(field(value, index))
	}
}

// entries writes a map in the order of its keys' bytes, so that the same map is the same bytes.
func (out *writer) entries(value reflect.Value) {
	type entry struct {
		key   []byte
		value reflect.Value
	}
	entries := make([]entry, 0, value.Len())
	start := len(out.data)
	for one := value.MapRange(); one.Next(); {
		out.value(one.Key())
		entries = append(entries, entry{append([]byte(nil), out.data[start:]...), one.Value()})
		out.data = out.data[:start]
	}
	sort.SliceStable(entries, func(a, b int) bool { return string(entries[a].key) < string(entries[b].key) })
	out.tag('m')
	out.u32(len(entries))
	for _, one := range entries {
		out.room(len(one.key))
		out.data = append(out.data, one.key...)
		out.value(one.value)
	}
}

func (out *writer) dynamic(value reflect.Value) {
	name := value.Type().String()
	_, known := types[strings.TrimPrefix(name, "*")]
	if err, is := value.Interface().(error); is && !known {
		out.failure(err)
		return
	}
	if typeOf(name) != value.Type() {
		panic(unwritable("a value of the type " + name + " stays where it is"))
	}
	out.tag('r')
	out.text(name)
	out.u32(1)
	out.text("")
	out.value(value)
}

func (out *writer) failure(err error) {
	for name, known := range sentinels {
		if reflect.TypeOf(err) == reflect.TypeOf(*known) && reflect.TypeOf(err).Comparable() && err == *known {
			out.tag('s')
			out.text(name)
			return
		}
	}
	out.tag('r')
	out.text("error")
	out.u32(2)
	out.text("message")
	out.tag('s')
	out.text(err.Error())
	out.text("wraps")
	var wraps error
	if one, is := err.(interface{ Unwrap() error }); is {
		wraps = one.Unwrap()
	}
	out.value(reflect.ValueOf(&wraps).Elem())
}

// ---- types by name

// typeOf finds a type by what it is called; it is nil where none can cross.
func typeOf(name string) reflect.Type {
	if len(name) > typeBytes {
		return nil
	}
	if known := types[name]; known != nil {
		return known
	}
	switch {
	case strings.HasPrefix(name, "*"):
		if of := typeOf(name[1:]); of != nil {
			return reflect.PtrTo(of)
		}
	case strings.HasPrefix(name, "[]"):
		if of := typeOf(name[2:]); of != nil {
			return reflect.SliceOf(of)
		}
	case strings.HasPrefix(name, "map["):
		return mapOf(name[4:])
	case strings.HasPrefix(name, "["):
		return arrayOf(name[1:])
	}
	return nil
}

func mapOf(rest string) reflect.Type {
	depth := 1
	for index, one := range rest {
		switch one {
		case '[':
			depth++
		case ']':
			depth--
		}
		if depth == 0 {
			key, value := typeOf(rest[:index]), typeOf(rest[index+1:])
			if key == nil || value == nil || !key.Comparable() {
				return nil
			}
			return reflect.MapOf(key, value)
		}
	}
	return nil
}

func arrayOf(rest string) reflect.Type {
	end := strings.IndexByte(rest, ']')
	if end < 0 {
		return nil
	}
	count, err := strconv.Atoi(rest[:end])
	of := typeOf(rest[end+1:])
	if err != nil || count < 0 || count > arrayBytes || of == nil || of.Size() > arrayBytes {
		return nil
	}
	return reflect.ArrayOf(count, of)
}

// ---- reading

type reader struct {
	data    []byte
	shared  *pointers
	budget  int
	depth   int
	nesting int
}

func open(frame []byte, shared *pointers) *reader {
	return &reader{data: frame, shared: shared, budget: roomBytes}
}

func (in *reader) bytes(many int) []byte {
	if many < 0 || many > len(in.data) {
		panic(malformed("a frame is too short"))
	}
	taken := in.data[:many]
	in.data = in.data[many:]
	return taken
}

func (in *reader) u32() int { return get32(in.bytes(4)) }

func (in *reader) u64() uint64 {
	high := uint64(in.u32())
	return high<<32 | uint64(in.u32())
}

func (in *reader) tag() byte { return in.bytes(1)[0] }

func (in *reader) text() string { return string(in.bytes(in.u32())) }

func (in *reader) expect(tag byte) {
	if in.tag() != tag {
		panic(malformed("a value is of another type than declared"))
	}
}

// counted reads how many values follow, of which each takes a byte at least.
func (in *reader) counted(size uintptr) int {
	many := in.u32()
	if many > len(in.data) {
		panic(malformed("a count is larger than its frame"))
	}
	in.spend(many, size)
	return many
}

func (in *reader) exactly(many int) {
	if in.u32() != many {
		panic(malformed("a value has another count of parts than declared"))
	}
}

func (in *reader) spend(many int, size uintptr) {
	if size > 0 && many > in.budget/int(size) {
		panic(malformed("a value takes too much memory"))
	}
	in.budget -= many * int(size)
}

func (in *reader) value(into reflect.Value) {
	switch into.Kind() {
	case reflect.Bool:
		tag := in.tag()
		if tag != 't' && tag != 'f' {
			panic(malformed("a value is no truth value"))
		}
		into.SetBool(tag == 't')
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		in.expect('i')
		number := int64(in.u64())
		if into.OverflowInt(number) {
			panic(malformed("a number is out of range"))
		}
		into.SetInt(number)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		number := in.natural()
		if into.OverflowUint(number) {
			panic(malformed("a number is out of range"))
		}
		into.SetUint(number)
	case reflect.Float32, reflect.Float64:
		into.SetFloat(in.real())
	case reflect.Complex64, reflect.Complex128:
		in.expect('p')
		in.exactly(2)
		first := in.real()
		into.SetComplex(complex(first, in.real()))
	case reflect.String:
		in.expect('s')
		into.SetString(in.text())
	default:
		in.container(into)
	}
}

func (in *reader) natural() uint64 {
	tag := in.tag()
	if tag == 'I' {
		number, err := strconv.ParseUint(in.text(), 10, 64)
		if err != nil {
			panic(malformed("a number is out of range"))
		}
		return number
	}
	number := in.u64()
	if tag != 'i' || number > math.MaxInt64 {
		panic(malformed("a number is out of range"))
	}
	return number
}

func (in *reader) real() float64 {
	in.expect('d')
	return math.Float64frombits(in.u64())
}

func (in *reader) container(into reflect.Value) {
	depth := in.depth
	in.depth++
	in.nesting++
	if into.Kind() == reflect.Ptr {
		in.depth = 0
	}
	if in.depth > mostDepth || in.nesting > mostNesting {
		panic(malformed("a value is nested too deep"))
	}
	kind := into.Kind()
	if kind == reflect.Array || kind == reflect.Struct {
		in.parts(into)
	} else if tag := in.tag(); tag == 'n' {
		into.Set(reflect.Zero(into.Type()))
	} else {
		in.held(tag, into)
	}
	in.depth = depth
	in.nesting--
}

func (in *reader) parts(into reflect.Value) {
	if into.Kind() == reflect.Array {
		in.expect('l')
		in.exactly(into.Len())
		for index := 0; index < into.Len(); index++ {
			in.value(into.Index(index))
		}
		return
	}
	in.expect('r')
	in.named(into.Type().String())
	in.exactly(into.NumField())
	for index := 0; index < into.NumField(); index++ {
		in.named(into.Type().Field(index).Name)
		in.value(field(into, index))
	}
}

func (in *reader) named(name string) {
	if in.text() != name {
		panic(malformed("a value has another name than declared"))
	}
}

func (in *reader) held(tag byte, into reflect.Value) {
	kind := into.Kind()
	switch {
	case kind == reflect.Slice && tag == 'b' && into.Type().Elem().Kind() == reflect.Uint8:
		into.SetBytes([]byte(in.text()))
	case kind == reflect.Slice && tag == 'l':
		of := into.Type()
		many := in.counted(of.Elem().Size())
		into.Set(reflect.MakeSlice(of, many, many))
		for index := 0; index < many; index++ {
			in.value(into.Index(index))
		}
	case kind == reflect.Map && tag == 'm':
		in.entries(into)
	case kind == reflect.Ptr && (tag == 'p' || tag == '@'):
		in.pointer(tag, into)
	case kind == reflect.Interface && into.Type() != errorType && tag == 'r':
		in.dynamic(into)
	case kind == reflect.Interface && (tag == 'r' || tag == 's'):
		in.failure(tag, into)
	default:
		panic(malformed("a value is of another type than declared"))
	}
}

func (in *reader) entries(into reflect.Value) {
	key, value := into.Type().Key(), into.Type().Elem()
	many := in.counted(key.Size() + value.Size() + 16)
	made := reflect.MakeMapWithSize(into.Type(), many)
	for ; many > 0; many-- {
		one, other := reflect.New(key).Elem(), reflect.New(value).Elem()
		in.value(one)
		in.value(other)
		if made.MapIndex(one).IsValid() {
			panic(malformed("a map has a key twice"))
		}
		made.SetMapIndex(one, other)
	}
	into.Set(made)
}

func (in *reader) pointer(tag byte, into reflect.Value) {
	if tag == '@' {
		into.Set(in.known(in.u32(), into.Type()))
		return
	}
	in.exactly(2)
	in.expect('i')
	number := in.u64()
	if number == uint64(len(in.shared.values)) {
		in.spend(1, into.Type().Elem().Size()+64)
		in.shared.add(reflect.New(into.Type().Elem()))
	}
	if number > math.MaxInt32 {
		panic(malformed("a pointer has no number that is known"))
	}
	pointer := in.known(int(number), into.Type())
	into.Set(pointer)
	in.value(pointer.Elem())
}

func (in *reader) known(number int, of reflect.Type) reflect.Value {
	if number >= len(in.shared.values) || in.shared.values[number].Type() != of {
		panic(malformed("a pointer has no number that is known"))
	}
	return in.shared.values[number]
}

func (in *reader) dynamic(into reflect.Value) {
	name := in.text()
	if name == "error" {
		var err error
		in.message(reflect.ValueOf(&err).Elem())
		into.Set(reflect.ValueOf(err))
		return
	}
	of := typeOf(name)
	if of == nil || of.Kind() == reflect.Interface || !of.AssignableTo(into.Type()) {
		panic(malformed("a value has no type that is known"))
	}
	in.exactly(1)
	in.named("")
	in.spend(1, of.Size())
	made := reflect.New(of).Elem()
	in.value(made)
	into.Set(made)
}

func (in *reader) failure(tag byte, into reflect.Value) {
	if tag == 's' {
		known := sentinels[in.text()]
		if known == nil {
			panic(malformed("an error has no name that is known"))
		}
		into.Set(reflect.ValueOf(known).Elem())
		return
	}
	in.dynamic(into)
}

func (in *reader) message(into reflect.Value) {
	err := &remoteError{}
	in.exactly(2)
	in.named("message")
	in.expect('s')
	err.message = in.text()
	in.named("wraps")
	in.value(reflect.ValueOf(&err.wraps).Elem())
	into.Set(reflect.ValueOf(err))
}

// fault is a runtime error of the other program.
type fault string

func (fault fault) Error() string { return string(fault) }
func (fault fault) RuntimeError() {}

var _ runtime.Error = fault("")

// ---- the side of the tests: what stands in the place of the solution's functions

var turn sync.Mutex
var calls int
var checked = map[string]bool{}

// Call calls a function of the other program. Arguments and results are pointers.
func Call(name string, arguments, results []interface{}) {
	turn.Lock()
	defer turn.Unlock()
	checkAll(name, arguments, results)
	shared := &pointers{}
	calls++
	ask(name, arguments, shared)
	frame := answered()
	if frame[0] == 'E' {
		rethrow(frame)
	}
	take(open(frame[5:], shared), arguments, results)
}

func checkAll(name string, arguments, results []interface{}) {
	if checked[name] {
		return
	}
	checked[name] = true
	seen := map[reflect.Type]bool{}
	for _, one := range append(append([]interface{}{}, arguments...), results...) {
		check(reflect.TypeOf(one).Elem(), seen)
	}
}

// check ends the program before the first call if values of a type cannot cross.
func check(of reflect.Type, seen map[reflect.Type]bool) {
	if seen[of] {
		return
	}
	seen[of] = true
	switch of.Kind() {
	case reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Uintptr:
		leave("values of the type " + of.String() + " do not cross")
	case reflect.Interface:
		if of.NumMethod() > 0 && of != errorType {
			leave("values of the type " + of.String() + " do not cross")
		}
	case reflect.Map:
		check(of.Key(), seen)
		check(of.Elem(), seen)
	case reflect.Slice, reflect.Array, reflect.Ptr:
		check(of.Elem(), seen)
	case reflect.Struct:
		if of.PkgPath() != "main" && of.PkgPath() != "" {
			leave("values of the type " + of.String() + " do not cross")
		}
		for index := 0; index < of.NumField(); index++ {
			check(of.Field(index).Type, seen)
		}
	}
}

func ask(name string, arguments []interface{}, shared *pointers) {
	defer func() {
		if why := recover(); why != nil {
			leave("an argument cannot be written")
		}
	}()
	out := frame('C', calls, shared)
	out.text(name)
	out.u32(len(arguments))
	for _, one := range arguments {
		out.value(reflect.ValueOf(one).Elem())
	}
	send(out.data)
}

// forged tells whoever relays the frames that the last one is malformed.
func forged(why string) {
	out := &writer{data: []byte{0, 0, 0, 0, 'F'}}
	out.text(why)
	send(out.data)
	leave(why)
}

func guard() {
	switch why := recover().(type) {
	case nil:
	case malformed:
		forged(string(why))
	default:
		forged("a value cannot be made")
	}
}

func answered() (frame []byte) {
	defer guard()
	frame = next()
	if frame == nil {
		os.Exit(1)
	}
	if len(frame) < 5 || frame[0] != 'R' && frame[0] != 'E' || get32(frame[1:]) != calls {
		forged("a frame answers another call")
	}
	return frame
}

func take(in *reader, arguments, results []interface{}) {
	defer guard()
	in.exactly(len(arguments) + len(results))
	for _, one := range arguments {
		if len(in.data) > 0 && in.data[0] == 'u' {
			in.tag()
			continue
		}
		old := reflect.ValueOf(one).Elem()
		changed := reflect.New(old.Type()).Elem()
		in.value(changed)
		change(old, changed)
	}
	for _, one := range results {
		in.value(reflect.ValueOf(one).Elem())
	}
	if len(in.data) > 0 {
		forged("there are bytes behind the last value")
	}
}

// change makes what a value refers to another, as a function does with its argument.
func change(old, changed reflect.Value) {
	switch old.Kind() {
	case reflect.Slice:
		if old.Len() != changed.Len() {
			panic(malformed("an argument has another length"))
		}
		for index := 0; index < old.Len(); index++ {
			set(old.Index(index), changed.Index(index))
		}
	case reflect.Map:
		refill(old, changed)
	case reflect.Interface:
		if !old.IsNil() && !changed.IsNil() && old.Elem().Type() == changed.Elem().Type() {
			change(old.Elem(), changed.Elem())
		}
	case reflect.Array:
		for index := 0; index < old.Len(); index++ {
			change(old.Index(index), changed.Index(index))
		}
	case reflect.Struct:
		if old.CanAddr() {
			for index := 0; index < old.NumField(); index++ {
				change(field(old, index), field(changed, index))
			}
		}
	}
}

// set does the same with a place that the function may set, and keeps what it still holds.
func set(old, changed reflect.Value) {
	sameSlice := old.Kind() == reflect.Slice && old.Len() == changed.Len()
	if (sameSlice || old.Kind() == reflect.Map) && !old.IsNil() && !changed.IsNil() {
		change(old, changed)
		return
	}
	old.Set(changed)
}

func refill(old, changed reflect.Value) {
	if old.IsNil() != changed.IsNil() {
		panic(malformed("an argument is another map"))
	}
	for _, key := range old.MapKeys() {
		old.SetMapIndex(key, reflect.Value{})
	}
	for one := changed.MapRange(); one.Next(); {
		old.SetMapIndex(one.Key(), one.Value())
	}
}

func rethrow(frame []byte) {
	kind, message := words(frame)
	switch kind {
	case "unwritable":
		leave(message)
	case "runtime error":
		panic(fault(message))
	case "error":
		panic(error(&remoteError{message: message}))
	case "int":
		if number, err := strconv.Atoi(message); err == nil {
			panic(number)
		}
	}
	panic(message)
}

func words(frame []byte) (kind, message string) {
	defer guard()
	in := open(frame[5:], nil)
	kind, message = in.text(), in.text()
	if len(in.data) > 0 {
		forged("there are bytes behind the last value")
	}
	return kind, message
}

// ---- the loop of a solution's program

const messageBytes = 4096

func Serve(functions map[string]interface{}) {
	for {
		frame := next()
		if frame == nil {
			os.Exit(0)
		}
		send(answer(functions, frame))
	}
}

func answer(functions map[string]interface{}, frame []byte) (made []byte) {
	id := get32(frame[1:])
	defer func() {
		if why := recover(); why != nil {
			made = failure(id, why)
		}
	}()
	shared := &pointers{}
	in := open(frame[5:], shared)
	function := reflect.ValueOf(functions[in.text()])
	in.u32()
	taken, given := readArguments(in, function.Type())
	return writeResults(id, shared, taken, given, run(function, taken))
}

// readArguments reads arguments, and gives the bytes of each, too.
func readArguments(in *reader, of reflect.Type) (arguments []reflect.Value, given [][]byte) {
	for index := 0; index < of.NumIn(); index++ {
		before := in.data
		one := reflect.New(of.In(index)).Elem()
		in.value(one)
		arguments = append(arguments, one)
		given = append(given, before[:len(before)-len(in.data)])
	}
	return arguments, given
}

func run(function reflect.Value, arguments []reflect.Value) []reflect.Value {
	if function.Type().IsVariadic() {
		return function.CallSlice(arguments)
	}
	return function.Call(arguments)
}

func writeResults(id int, shared *pointers, arguments []reflect.Value, given [][]byte, results []reflect.Value) []byte {
	out := frame('R', id, shared)
	out.u32(len(arguments) + len(results))
	for index, one := range arguments {
		start := len(out.data)
		out.value(one)
		if string(out.data[start:]) == string(given[index]) {
			out.data = append(out.data[:start], 'u')
		}
	}
	for _, one := range results {
		out.value(addressable(one))
	}
	return out.data
}

func failure(id int, why interface{}) []byte {
	kind, message := "", reflect.TypeOf(why).String()
	switch why := why.(type) {
	case unwritable:
		kind, message = "unwritable", string(why)
	case runtime.Error:
		kind, message = "runtime error", why.Error()
	case error:
		kind, message = "error", why.Error()
	case string:
		message = why
	case int:
		kind, message = "int", strconv.Itoa(why)
	case interface{ String() string }:
		message = why.String()
	}
	if len(message) > messageBytes {
		message = strings.ToValidUTF8(message[:messageBytes], "")
	}
	out := frame('E', id, nil)
	out.text(kind)
	out.text(message)
	return out.data
}
