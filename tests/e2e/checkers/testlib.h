// The part of testlib's interface that the tests' checkers use, written for these tests: its
// arguments, its streams, its statuses, and the macros that set them.
#pragma once
#include <cctype>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#ifndef PE_EXIT_CODE
#define PE_EXIT_CODE 2
#endif
#ifndef UNEXPECTED_EOF_EXIT_CODE
#define UNEXPECTED_EOF_EXIT_CODE 8
#endif

enum TResult { _ok = 0, _wa = 1, _pe = PE_EXIT_CODE, _fail = 3, _unexpected_eof = UNEXPECTED_EOF_EXIT_CODE };
inline TResult _pc(int points) { return TResult(50 + points); }

struct InStream {
    std::string text;
    size_t at = 0;
    bool isOutput = false;

    void open(const char *path) {
        std::ifstream file(path, std::ios::binary);
        if (!file) end(_fail, "a file cannot be opened");
        text.assign(std::istreambuf_iterator<char>(file), {});
    }
    [[noreturn]] void end(TResult result, const std::string &words) {
        std::fprintf(stderr, "%s\n", words.c_str());
        // What is wrong with the input or the right answer is the checker's or the task's fault.
        std::exit(isOutput ? result : _fail);
    }
    bool eof() const { return at >= text.size(); }
    bool seekEof() {
        while (!eof() && std::isspace((unsigned char)text[at])) ++at;
        return eof();
    }
    std::string readToken() {
        if (seekEof()) end(_unexpected_eof, "unexpected end of file");
        size_t from = at;
        while (!eof() && !std::isspace((unsigned char)text[at])) ++at;
        return text.substr(from, at - from);
    }
    int readInt() {
        std::string word = readToken();
        char *rest = nullptr;
        long value = std::strtol(word.c_str(), &rest, 10);
        if (*rest != 0) end(_pe, "expected an integer, found " + word);
        return int(value);
    }
};

inline InStream inf, ouf, ans;

inline void registerTestlibCmd(int argc, char **argv) {
    if (argc < 4) inf.end(_fail, "usage: input output answer");
    ouf.isOutput = true;
    inf.open(argv[1]);
    ouf.open(argv[2]);
    ans.open(argv[3]);
}

[[noreturn]] inline void quitf(TResult result, const char *format, ...) {
    if (result == _ok && !ouf.seekEof()) result = _pe;
    va_list words;
    va_start(words, format);
    std::vfprintf(stderr, format, words);
    va_end(words);
    std::exit(result);
}
