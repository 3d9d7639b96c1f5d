// Plain data between a test program and a solution's program; the wire is described in
// `reward_server.grading.compiled_tests.split`.
//
// What this stops: the side of the tests takes each byte for an enemy's. Counts are checked against
// the bytes that are left and against a budget of memory before anything is made, depth is bounded,
// numbers must fit their type, and whatever else is wrong ends the program with a frame of the
// kind F.
// What it does not: the solution may answer with any value of the declared type.
//
// What an interface holds is a record with the name of its type. Texts are bytes of any kind.
package splitwire

import (
	"io"
	"math"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unsafe"
)

const (
	reads      = 3
	writes     = 4
	frameBytes = 64 << 20
	roomBytes  = 256 << 20
	mostDepth  = 1000
)

var errorType = reflect.TypeOf((*error)(nil)).Elem()

// Types that an interface may hold, by name.
var types = map[string]reflect.Type{}

type unwritable string

type malformed string

// An error of the other program.
type remoteError string

func (e *remoteError) Error() string { return string(*e) }

func init() {
	basic := []interface{}{
		false, 0, int8(0), int16(0), int32(0), int64(0), uint(0), uint8(0), uint16(0), uint32(0),
		uint64(0), float32(0), float64(0), "", []int(nil), []string(nil), []float64(nil), []bool(nil),
		[]interface{}(nil), map[string]int(nil), map[string]interface{}(nil),
	}
	for _, one := range basic {
		types[reflect.TypeOf(one).String()] = reflect.TypeOf(one)
	}
}

// Know makes types, given as pointers, known.
func Know(samples ...interface{}) {
	for _, one := range samples {
		known := reflect.TypeOf(one).Elem()
		types[known.String()] = known
	}
}

// ---- frames

var questions, answers = os.NewFile(reads, "reads"), os.NewFile(writes, "writes")

func leave(why string) {
	os.Stderr.WriteString("split: " + why + "\n")
	os.Exit(1)
}

// send writes a frame, in whose front four bytes are left for its length.
func send(frame []byte) {
	put32(frame, len(frame)-4)
	if _, err := answers.Write(frame); err != nil {
		leave("the other program reads no more")
	}
}

// next reads a frame; it is nil if there is none.
func next() []byte {
	var head [4]byte
	if _, err := io.ReadFull(questions, head[:]); err != nil {
		return nil
	}
	size := get32(head[:])
	if size == 0 || size > frameBytes {
		panic(malformed("a frame has no size that is allowed"))
	}
	frame := make([]byte, size)
	if _, err := io.ReadFull(questions, frame); err != nil {
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

// ---- writing

type writer struct {
	data  []byte
	depth int
}

// frame begins a frame, in whose front four bytes are left for its length.
func frame(kind byte, id int) *writer {
	out := &writer{data: []byte{0, 0, 0, 0, kind}}
	out.u32(id)
	return out
}

func (out *writer) all(values []reflect.Value) {
	out.u32(len(values))
	for _, one := range values {
		out.value(one)
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
	case kind == reflect.Array || kind == reflect.Slice:
		out.tag('l')
		out.u32(value.Len())
		for index := 0; index < value.Len(); index++ {
			out.value(value.Index(index))
		}
	case kind == reflect.Map:
		out.tag('m')
		out.entries(value)
	case kind == reflect.Struct:
		out.record(addressable(value))
	case kind == reflect.Interface:
		out.dynamic(value.Elem())
	default:
		panic(unwritable("a value of the type " + value.Type().String() + " is no data"))
	}
	out.depth--
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

func (out *writer) entries(value reflect.Value) {
	out.u32(value.Len())
	for one := value.MapRange(); one.Next(); {
		out.value(one.Key())
		out.value(one.Value())
	}
}

func (out *writer) dynamic(value reflect.Value) {
	name := value.Type().String()
	err, is := value.Interface().(error)
	if types[name] != value.Type() && !is {
		panic(unwritable("a value of the type " + name + " is no data"))
	}
	out.tag('r')
	if is {
		out.text("error")
		value = reflect.ValueOf(err.Error())
	} else {
		out.text(name)
	}
	out.u32(1)
	out.text("")
	out.value(value)
}

// ---- reading

type reader struct {
	data   []byte
	budget int
	depth  int
}

func open(frame []byte) *reader { return &reader{data: frame, budget: roomBytes} }

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
	case kind == reflect.Slice && tag == 'l':
		many := in.counted(into.Type().Elem().Size())
		into.Set(reflect.MakeSlice(into.Type(), many, many))
		for index := 0; index < many; index++ {
			in.value(into.Index(index))
		}
	case kind == reflect.Map && tag == 'm':
		into.Set(reflect.MakeMap(into.Type()))
		in.entries(into)
	case kind == reflect.Interface && tag == 'r':
		in.dynamic(into)
	default:
		panic(malformed("a value is of another type than declared"))
	}
}

// entries reads what is in a map.
func (in *reader) entries(into reflect.Value) {
	key, value := into.Type().Key(), into.Type().Elem()
	many := in.counted(key.Size() + value.Size() + 16)
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
	of := types[name]
	isError := name == "error"
	if isError {
		of = reflect.TypeOf(remoteError(""))
	}
	if of == nil || !isError && !of.AssignableTo(into.Type()) {
		panic(malformed("a value has no type that is known"))
	}
	in.exactly(1)
	in.named("")
	in.spend(1, of.Size())
	made := reflect.New(of)
	in.value(made.Elem())
	if !isError {
		made = made.Elem()
	}
	into.Set(made)
}

// ---- the side of the tests: what stands in the place of the solution's functions

var turn sync.Mutex
var calls int
var checked = map[string]bool{}

// Call calls a function of the other program. Arguments and results are pointers.
func Call(name string, arguments, results []interface{}) {
	turn.Lock()
	defer turn.Unlock()
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
	case reflect.Map:
		check(of.Key(), seen)
		check(of.Elem(), seen)
	case reflect.Slice, reflect.Array:
		check(of.Elem(), seen)
	case reflect.Struct:
		if of.PkgPath() != "main" && of.PkgPath() != "" {
			stay("values of the type " + of.String() + " do not cross")
		}
		for index := 0; index < of.NumField(); index++ {
			check(of.Field(index).Type, seen)
		}
	case reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Uintptr, reflect.Ptr, reflect.Complex64, reflect.Complex128:
		stay("values of the type " + of.String() + " do not cross")
	case reflect.Interface:
		if of.NumMethod() > 0 && of != errorType {
			stay("values of the type " + of.String() + " do not cross")
		}
	}
}

func ask(name string, arguments []interface{}) {
	defer func() {
		switch why := recover().(type) {
		case nil:
		case unwritable:
			stay(string(why))
		default:
			stay("an argument cannot be written")
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
	in.exactly(len(results))
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

func rethrow(frame []byte) { panic(thrown(frame)) }

func thrown(frame []byte) (why interface{}) {
	defer guard()
	in := open(frame[5:])
	in.value(reflect.ValueOf(&why).Elem())
	in.ended()
	return why
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
	in.exactly(of.NumIn())
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
	if unsent, is := why.(unwritable); is { // tests could take it for a panic
		leave(string(unsent))
	}
	out := frame('E', id)
	crossing := told(why)
	out.value(reflect.ValueOf(&crossing).Elem())
	return out.data
}

// told gives as what the cause of a panic crosses: of a type of its own, the name of the type.
func told(why interface{}) interface{} {
	switch why := why.(type) {
	case error:
		text := remoteError(cut(why.Error()))
		return &text
	case string:
		return cut(why)
	}
	if of := reflect.TypeOf(why); types[of.String()] != of {
		return of.String()
	}
	return why
}

func cut(text string) string {
	if len(text) <= messageBytes {
		return text
	}
	return strings.ToValidUTF8(text[:messageBytes], "")
}
