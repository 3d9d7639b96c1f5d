// What answers in a solution's program need; comes after the solution, whose macros it ends.
#undef main
#undef int
#undef long
#undef double
#undef float
#undef char
#undef bool
#undef for
#undef if
#undef while
#undef return
#undef const
#undef static
#undef void
#undef template
#undef static_cast
#undef auto
#undef unsigned
#undef throw
#undef try
#undef catch
#undef namespace
#undef inline
#undef struct
#undef class

#pragma GCC optimize("O1")

namespace splitwire {

template <class T, int K = kind<T>::value> struct is_number
    : truth<K == WHOLE || K == REAL || K == TRUTH || K == CHARACTER> {};

template <class R, class V> inline R converted(const V &value, truth<false>) { return value; }
template <class R, class V> inline R converted(const V &value, truth<true>) {
    const R made = static_cast<R>(value);
    const bool is_kept = static_cast<V>(made) == value && (made < R()) == (value < V());
    if (!is_kept && value == value) leave("an answer does not fit the type that is declared");
    return made;
}

// What a function returns that was written anew, as the number that the prompt says.
template <class R, class V> inline R fitting(const V &value) {
    return converted<R>(value, truth<is_number<V>::value>());
}

}  // namespace splitwire
