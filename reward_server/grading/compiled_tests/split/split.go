// Plain data between a test program and a solution's program; the wire is described in
// `reward_server.grading.compiled_tests.split`.
//
// What this stops: the side of the tests takes each byte for an enemy's. Counts are checked against
// the bytes that are left and against a budget of memory before anything is made, depth is bounded,
// numbers must fit their type, and whatever else is wrong ends the program with a frame of the
// kind F.
// What it does not: the solution may answer with any value of the declared type.
//
// What pointers, maps and slices refer to is known to both programs, by number, for as long as these
// run. Each frame brings what is in all of it that is new or has changed since the last one. So it is
// the same wherever it is met, and whoever changes it changes it for both, as in one program. A slice
// is its place in an array, of which as much crosses as its capacity reaches.
// What an interface holds is a record with the name of its type. Texts are bytes of any kind.
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
	reads      = 3
	writes     = 4
	frameBytes = 16 << 20
	roomBytes  = 128 << 20
	mostDepth  = 64
	typeBytes  = 200
	arrayBytes = 4096
	// Each frame looks at all objects, until so much was looked at; later at some that nobody mentions.
	mostLooks    = 1 << 24
	looks        = 32
	mostOverlaps = 4
)

var errorType = reflect.TypeOf((*error)(nil)).Elem()

// The prompt's own: types by name, and values of errors that are compared by identity.
var types = map[string]reflect.Type{"error": errorType}
var sentinels = map[string]*error{}

type unwritable string

// Whatever was answered, values of such a type cannot be written.
type staying string

type malformed string

// An error of the other program. Errors that are equal there are the same one here.
type remoteError struct {
	message string
	wraps   error
}

// What the other program calls its errors by number, and this program's errors that can be compared.
var remoteErrors = map[int]*remoteError{}
var ownErrors = map[error]int{}

func (e *remoteError) Error() string { return e.message }
func (e *remoteError) Unwrap() error { return e.wraps }

func init() {
	basic := []interface{}{
		false, 0, int8(0), int16(0), int32(0), int64(0), uint(0), uint8(0), uint16(0), uint32(0),
		uint64(0), float32(0), float64(0), complex64(0), complex128(0), "", struct{}{},
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

// ---- objects that both programs know

// object is what a pointer, a map or a slice refers to. An array is kept as a slice of all of it.
type object struct {
	value reflect.Value
	known []byte // what is in it, as it was written last; of an array of numbers its memory
}

type place struct {
	at   unsafe.Pointer
	kind reflect.Type
}

var objects []*object
var places = map[place]int{}
var arrays = map[reflect.Type][]int{} // numbers of arrays, by their elements' type, in order of address
var looked, lookedAt int
var isTests bool // whether this is the tests' program

// remember gives a pointer, a map or an array the next number.
func remember(value reflect.Value) int {
	number := len(objects)
	objects = append(objects, &object{value: value})
	if value.Kind() != reflect.Slice {
		places[place{value.UnsafePointer(), value.Type()}] = number
		return number
	}
	of := value.Type().Elem()
	known, at := behind(value)
	known = append(known, 0)
	copy(known[at+1:], known[at:])
	known[at] = number
	arrays[of] = known
	return number
}

// behind gives the numbers of arrays with such elements, and which is the first behind a slice.
func behind(value reflect.Value) (known []int, at int) {
	known = arrays[value.Type().Elem()]
	return known, sort.Search(len(known), func(index int) bool {
		return objects[known[index]].value.Pointer() > value.Pointer()
	})
}

// array finds the array that a slice is a part of; if there is none, the slice's own is one.
func array(value reflect.Value) (number, offset int) {
	size := value.Type().Elem().Size()
	known, at := behind(value)
	overlaps := false
	for back := 1; back <= mostOverlaps && back <= at; back++ {
		whole := objects[known[at-back]].value
		offset := (value.Pointer() - whole.Pointer()) / size
		if int(offset)+value.Cap() <= whole.Len() {
			return known[at-back], int(offset)
		}
		overlaps = overlaps || int(offset) < whole.Len()
	}
	if at < len(known) {
		overlaps = overlaps || objects[known[at]].value.Pointer()-value.Pointer() < uintptr(value.Cap())*size
	}
	if overlaps && isTests {
		panic(staying("a slice of an array of which a part crossed before stays where it is"))
	}
	whole := value.Convert(reflect.SliceOf(value.Type().Elem()))
	return remember(whole.Slice3(0, whole.Cap(), whole.Cap())), 0
}

// reference finds what a pointer or a map refers to, whatever name its type has.
func reference(value reflect.Value) int {
	of := reflect.PtrTo
	if value.Kind() == reflect.Map {
		of = func(reflect.Type) reflect.Type { return reflect.MapOf(value.Type().Key(), value.Type().Elem()) }
	}
	value = value.Convert(of(value.Type().Elem()))
	if number, known := places[place{value.UnsafePointer(), value.Type()}]; known {
		return number
	}
	return remember(value)
}

// hasChanged tells whether an object is not as it is known, makes it known, and gives what it refers to.
func (one *object) hasChanged() (changed bool, refers []int) {
	out := &writer{}
	if numbers := memory(one.value); numbers != nil {
		if changed = string(numbers) != string(one.known); changed {
			one.known = append(one.known[:0], numbers...)
		}
		looked += len(numbers)/64 + 1
		return changed, nil
	}
	out.content(one.value)
	changed = one.known == nil || string(out.data) != string(one.known)
	one.known = out.data
	looked += len(out.data)
	return changed, out.refers
}

// memory gives what an array of numbers is made of; it is nil of anything else.
func memory(array reflect.Value) []byte {
	if array.Kind() != reflect.Slice {
		return nil
	}
	of := array.Type().Elem()
	if of.Kind() < reflect.Bool || of.Kind() > reflect.Complex128 || of.Kind() == reflect.Uintptr {
		return nil
	}
	return unsafe.Slice((*byte)(array.UnsafePointer()), array.Len()*int(of.Size()))
}

func changes() (changed []int) {
	for number := 0; number < len(objects); number++ {
		if is, _ := objects[number].hasChanged(); is {
			changed = append(changed, number)
		}
	}
	return changed
}

// latestChanges looks at what was mentioned, at the youngest objects, and at some others in turn.
func latestChanges(mentioned []int, first int) (changed []int) {
	due := append([]int(nil), mentioned...)
	for back := 1; back <= looks && back <= first; back++ {
		due = append(due, first-back, lookedAt%first)
		lookedAt++
	}
	seen := map[int]bool{}
	for len(due) > 0 {
		number := due[len(due)-1]
		due = due[:len(due)-1]
		if seen[number] {
			continue
		}
		seen[number] = true
		is, refers := objects[number].hasChanged()
		if is {
			changed = append(changed, number)
		}
		due = append(due, refers...)
	}
	return changed
}

// ---- writing

type writer struct {
	data   []byte
	refers []int
	depth  int
}

func frame(kind byte, id int) *writer {
	out := &writer{data: make([]byte, 5, 256)}
	out.data[4] = kind
	out.u32(id)
	return out
}

// all writes what is new or has changed, and values.
func (out *writer) all(values []reflect.Value) {
	first := len(objects)
	largest := append([]reflect.Value(nil), values...)
	sort.SliceStable(largest, func(a, b int) bool { return extent(largest[a]) > extent(largest[b]) })
	for _, one := range largest {
		(&writer{}).value(one)
	}
	own := &writer{}
	for _, one := range values {
		own.value(one)
	}
	changed := []int(nil)
	if looked < mostLooks {
		changed = changes()
	} else {
		changed = latestChanges(own.refers, first)
	}
	out.u32(len(objects) - first)
	for _, one := range objects[first:] {
		out.shell(one.value)
	}
	out.u32(len(changed))
	for _, number := range changed {
		out.u32(number)
		out.content(objects[number].value)
	}
	out.u32(len(values))
	out.room(len(own.data))
	out.data = append(out.data, own.data...)
}

func extent(value reflect.Value) int {
	if value.Kind() != reflect.Slice {
		return 0
	}
	return value.Cap()
}

// shell writes what an object is made as.
func (out *writer) shell(value reflect.Value) {
	name := value.Type().String()
	if typeOf(name) != value.Type() {
		panic(staying("a value of the type " + name + " stays where it is"))
	}
	out.text(name)
	if value.Kind() == reflect.Slice {
		out.u32(value.Len())
	}
}

// used gives how many elements an array has in front of those that are zero to its end.
func used(array reflect.Value) int {
	many := array.Len()
	if numbers := memory(array); numbers != nil {
		end := len(numbers)
		for end > 0 && numbers[end-1] == 0 {
			end--
		}
		size := int(array.Type().Elem().Size())
		return (end + size - 1) / size
	}
	for many > 0 && array.Index(many-1).IsZero() {
		many--
	}
	return many
}

// content writes what is in an object. What is zero at an array's end is left out.
func (out *writer) content(value reflect.Value) {
	switch value.Kind() {
	case reflect.Ptr:
		out.value(value.Elem())
	case reflect.Map:
		out.entries(value)
	default:
		many := used(value)
		if value.Type().Elem().Kind() == reflect.Uint8 {
			out.text(string(value.Slice(0, many).Bytes()))
			return
		}
		out.u32(many)
		for index := 0; index < many; index++ {
			out.value(value.Index(index))
		}
	}
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
		out.whole(value.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if value.Uint() <= math.MaxInt64 {
			out.whole(int64(value.Uint()))
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

func (out *writer) whole(number int64) {
	if int64(int32(number)) == number {
		out.tag('w')
		out.u32(int(number))
		return
	}
	out.tag('i')
	out.u64(uint64(number))
}

func (out *writer) real(number float64) {
	out.tag('d')
	out.u64(math.Float64bits(number))
}

func (out *writer) container(value reflect.Value) {
	out.depth++
	if out.depth > mostDepth {
		panic(unwritable("a value is nested too deep"))
	}
	kind := value.Kind()
	switch {
	case kind != reflect.Array && kind != reflect.Struct && value.IsNil():
		out.tag('n')
	case kind == reflect.Array:
		out.tag('l')
		out.u32(value.Len())
		for index := 0; index < value.Len(); index++ {
			out.value(value.Index(index))
		}
	case kind == reflect.Slice:
		out.slice(value)
	case kind == reflect.Map || kind == reflect.Ptr:
		out.tag('@')
		out.refer(reference(value))
	case kind == reflect.Struct:
		out.record(addressable(value))
	case kind == reflect.Interface:
		out.dynamic(value.Elem())
	default:
		panic(staying("a value of the type " + value.Type().String() + " stays where it is"))
	}
	out.depth--
}

func (out *writer) refer(number int) {
	out.refers = append(out.refers, number)
	out.u32(number)
}

// slice writes the number of an array, and where in it a slice begins, and its length and capacity.
func (out *writer) slice(value reflect.Value) {
	if value.Cap() == 0 || value.Type().Elem().Size() == 0 {
		out.tag('z')
		out.u32(value.Len())
		return
	}
	number, offset := array(value)
	out.tag('@')
	out.refer(number)
	out.u32(offset)
	out.u32(value.Len())
	out.u32(value.Cap())
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
		panic(staying("a value of the type " + name + " stays where it is"))
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
	out.u32(3)
	out.text("number")
	out.u32(numbered(err))
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

// numbered gives errors that are equal the same number; it is 0 of those that cannot be compared.
func numbered(err error) (number int) {
	defer func() {
		if recover() != nil {
			number = 0
		}
	}()
	if number = ownErrors[err]; number == 0 {
		number = len(ownErrors) + 1
		ownErrors[err] = number
	}
	return number
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
	data   []byte
	budget int
	depth  int
}

func open(frame []byte) *reader { return &reader{data: frame, budget: roomBytes} }

// all reads what is new or has changed, and how many values follow.
func (in *reader) all() int {
	for left := in.counted(0); left > 0; left-- {
		remember(in.shell())
	}
	for left := in.counted(0); left > 0; left-- {
		one := in.object(in.u32())
		before := in.data
		in.content(one.value)
		one.known = append([]byte(nil), before[:len(before)-len(in.data)]...)
		if numbers := memory(one.value); numbers != nil {
			one.known = append([]byte(nil), numbers...)
		}
	}
	return in.u32()
}

func (in *reader) object(number int) *object {
	if number >= len(objects) {
		panic(malformed("an object has no number that is known"))
	}
	return objects[number]
}

// shell makes an object in which there is nothing yet.
func (in *reader) shell() reflect.Value {
	of := typeOf(in.text())
	if of == nil || of.Name() != "" {
		panic(malformed("an object has no type that is known"))
	}
	switch of.Kind() {
	case reflect.Ptr:
		in.spend(1, of.Elem().Size()+64)
		return reflect.New(of.Elem())
	case reflect.Map:
		in.spend(1, 64)
		return reflect.MakeMap(of)
	case reflect.Slice:
		many := in.u32()
		if many > 0 && of.Elem().Size() > 0 {
			in.spend(many, of.Elem().Size())
			return reflect.MakeSlice(of, many, many)
		}
	}
	panic(malformed("an object has no type that is known"))
}

// content reads what is in an object.
func (in *reader) content(into reflect.Value) {
	switch into.Kind() {
	case reflect.Ptr:
		in.value(into.Elem())
	case reflect.Map:
		in.entries(into)
	default:
		in.elements(into)
	}
}

func (in *reader) elements(into reflect.Value) {
	many := in.counted(0)
	if many > into.Len() {
		panic(malformed("an array has more elements than there are"))
	}
	if into.Type().Elem().Kind() == reflect.Uint8 {
		copy(into.Bytes(), in.bytes(many))
	} else {
		for index := 0; index < many; index++ {
			in.value(into.Index(index))
		}
	}
	zero := reflect.Zero(into.Type().Elem())
	for last := used(into); last > many; last-- {
		into.Index(last - 1).Set(zero)
	}
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
		number := in.whole(in.tag())
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
	number := in.whole(tag)
	if number < 0 {
		panic(malformed("a number is out of range"))
	}
	return uint64(number)
}

func (in *reader) whole(tag byte) int64 {
	switch tag {
	case 'w':
		return int64(int32(in.u32()))
	case 'i':
		return int64(in.u64())
	}
	panic(malformed("a value is of another type than declared"))
}

func (in *reader) real() float64 {
	in.expect('d')
	return math.Float64frombits(in.u64())
}

func (in *reader) container(into reflect.Value) {
	in.depth++
	if in.depth > mostDepth {
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
	in.depth--
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
	case kind == reflect.Slice && tag == 'z':
		many := in.u32()
		if many > 0 && into.Type().Elem().Size() > 0 {
			panic(malformed("a slice has elements and no array"))
		}
		into.Set(reflect.MakeSlice(into.Type(), many, many))
	case kind == reflect.Slice && tag == '@':
		in.slice(into)
	case (kind == reflect.Map || kind == reflect.Ptr) && tag == '@':
		known := in.object(in.u32()).value
		if known.Kind() != kind || !known.Type().ConvertibleTo(into.Type()) {
			panic(malformed("an object is of another type than declared"))
		}
		into.Set(known.Convert(into.Type()))
	case kind == reflect.Interface && into.Type() != errorType && tag == 'r':
		in.dynamic(into)
	case kind == reflect.Interface && (tag == 'r' || tag == 's'):
		in.failure(tag, into)
	default:
		panic(malformed("a value is of another type than declared"))
	}
}

func (in *reader) slice(into reflect.Value) {
	known := in.object(in.u32()).value
	start, length, room := in.u32(), in.u32(), in.u32()
	if known.Kind() != reflect.Slice || known.Type().Elem() != into.Type().Elem() {
		panic(malformed("an object is of another type than declared"))
	}
	if length > room || start > known.Len() || room > known.Len()-start {
		panic(malformed("a slice is no part of its array"))
	}
	into.Set(known.Slice3(start, start+length, start+room).Convert(into.Type()))
}

// entries reads what is in a map.
func (in *reader) entries(into reflect.Value) {
	key, value := into.Type().Key(), into.Type().Elem()
	many := in.counted(key.Size() + value.Size() + 16)
	for _, old := range into.MapKeys() {
		into.SetMapIndex(old, reflect.Value{})
	}
	for ; many > 0; many-- {
		one, other := reflect.New(key).Elem(), reflect.New(value).Elem()
		in.value(one)
		in.value(other)
		if into.MapIndex(one).IsValid() {
			panic(malformed("a map has a key twice"))
		}
		into.SetMapIndex(one, other)
	}
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
	in.exactly(3)
	in.named("number")
	err := remote(in.u32())
	in.named("message")
	in.expect('s')
	err.message = in.text()
	in.named("wraps")
	in.value(reflect.ValueOf(&err.wraps).Elem())
	into.Set(reflect.ValueOf(err))
}

// remote gives the other program's error of a number; one that cannot be compared has the number 0.
func remote(number int) *remoteError {
	known := remoteErrors[number]
	if known == nil {
		known = &remoteError{}
		if number != 0 {
			remoteErrors[number] = known
		}
	}
	return known
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
	isTests = true
	checkAll(name, arguments, results)
	calls++
	ask(name, arguments)
	frame := answered()
	if frame[0] == 'E' {
		rethrow(frame)
	}
	take(open(frame[5:]), results)
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

// check ends the program if values of a type cannot cross.
func check(of reflect.Type, seen map[reflect.Type]bool) {
	if seen[of] {
		return
	}
	seen[of] = true
	switch of.Kind() {
	case reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Uintptr:
		stay("values of the type " + of.String() + " do not cross")
	case reflect.Interface:
		if of.NumMethod() > 0 && of != errorType {
			stay("values of the type " + of.String() + " do not cross")
		}
	case reflect.Map:
		check(of.Key(), seen)
		check(of.Elem(), seen)
	case reflect.Slice, reflect.Array, reflect.Ptr:
		check(of.Elem(), seen)
	case reflect.Struct:
		if of.PkgPath() != "main" && of.PkgPath() != "" {
			stay("values of the type " + of.String() + " do not cross")
		}
		for index := 0; index < of.NumField(); index++ {
			check(of.Field(index).Type, seen)
		}
	}
}

func ask(name string, arguments []interface{}) {
	defer func() {
		switch why := recover().(type) {
		case nil:
		case staying:
			stay(string(why))
		default:
			leave("an argument cannot be written")
		}
	}()
	out := frame('C', calls)
	out.text(name)
	values := make([]reflect.Value, len(arguments))
	for index, one := range arguments {
		values[index] = reflect.ValueOf(one).Elem()
	}
	out.all(values)
	send(out.data)
}

// forged tells whoever relays the frames that the last one is malformed.
func forged(why string) { last('F', why) }

// stay tells whoever relays the frames that an argument of the tests' own cannot cross.
func stay(why string) { last('S', why) }

func last(kind byte, why string) {
	out := &writer{data: []byte{0, 0, 0, 0, kind}}
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

func take(in *reader, results []interface{}) {
	defer guard()
	if in.all() != len(results) {
		panic(malformed("an answer has another count of values"))
	}
	for _, one := range results {
		in.value(reflect.ValueOf(one).Elem())
	}
	in.ended()
}

func (in *reader) ended() {
	if len(in.data) > 0 {
		panic(malformed("there are bytes behind the last value"))
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
	in := open(frame[5:])
	kind, message = in.text(), in.text()
	if kind != "unwritable" && in.all() != 0 {
		panic(malformed("an answer has another count of values"))
	}
	in.ended()
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
	in := open(frame[5:])
	function := reflect.ValueOf(functions[in.text()])
	return written(id, run(function, in.arguments(function.Type())))
}

func (in *reader) arguments(of reflect.Type) (arguments []reflect.Value) {
	in.all()
	for index := 0; index < of.NumIn(); index++ {
		one := reflect.New(of.In(index)).Elem()
		in.value(one)
		arguments = append(arguments, one)
	}
	return arguments
}

func run(function reflect.Value, arguments []reflect.Value) []reflect.Value {
	if function.Type().IsVariadic() {
		return function.CallSlice(arguments)
	}
	return function.Call(arguments)
}

func written(id int, results []reflect.Value) []byte {
	out := frame('R', id)
	out.all(results)
	return out.data
}

func failure(id int, why interface{}) []byte {
	kind, message := "", reflect.TypeOf(why).String()
	switch why := why.(type) {
	case unwritable:
		kind, message = "unwritable", string(why)
	case staying:
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
	out := frame('E', id)
	out.text(kind)
	out.text(message)
	if kind != "unwritable" {
		out.all(nil)
	}
	return out.data
}
