// crash
throw std::runtime_error("crash");
// endless
for (volatile int turn = 0;; turn = turn + 1) {}

// problem: add
#include <iostream>
#include <stdexcept>

int main() {
    long a, b;
    std::cin >> a >> b;
    ⟪!⟫
    std::cout << a ⟪+⟫⟪-⟫ b << "\n";
}

// problem: reverse
#include <algorithm>
#include <iostream>
#include <stdexcept>
#include <string>

int main() {
    std::string line;
    std::getline(std::cin, line);
    ⟪!⟫
    ⟪std::reverse(line.begin(), line.end());⟫⟪std::sort(line.begin(), line.end());⟫
    std::cout << line << "\n";
}

// problem: primes
#include <iostream>
#include <stdexcept>
#include <vector>

int main() {
    int n;
    std::cin >> n;
    std::vector<bool> composite(n + 1);
    const char *separator = "";
    for (int i = 2; i ⟪<=⟫⟪<⟫ n; ++i) {
        ⟪!⟫
        if (composite[i]) continue;
        std::cout << separator << i;
        separator = " ";
        for (int j = 2 * i; j <= n; j += i) composite[j] = true;
    }
    std::cout << "\n";
}

// problem: words
#include <bits/stdc++.h>
using namespace std;

int main() {
    map<string, int> counts;
    string word;
    while (cin >> word) {
        ⟪!⟫
        ⟪++counts[word];⟫⟪counts[word] = 1;⟫
    }
    for (auto &[key, count] : counts) cout << key << ' ' << count << '\n';
}

// problem: matrix
#include <bits/stdc++.h>
using namespace std;

int main() {
    int n;
    cin >> n;
    vector<vector<int>> rows(n, vector<int>(n));
    for (auto &row : rows)
        for (auto &value : row) cin >> value;
    ⟪!⟫
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) cout << ⟪rows[j][i]⟫⟪rows[i][i]⟫ << (j + 1 < n ? ' ' : '\n');
}

// problem: fibonacci
#include <cstdint>
#include <iostream>
#include <stdexcept>

int main() {
    int n;
    std::cin >> n;
    ⟪std::int64_t⟫⟪std::int32_t⟫ a = 0, b = 1;
    while (n-- > 0) {
        ⟪std::int64_t⟫⟪std::int32_t⟫ next = a + b;
        a = b;
        b = next;
    }
    ⟪!⟫
    std::cout << a << "\n";
}

// problem: gcd
#include <stdexcept>

long gcd(long a, long b) {
    ⟪!⟫
    while (b != 0) {
        long rest = a % b;
        a = b;
        b = rest;
    }
    return ⟪a⟫⟪b⟫;
}
// tests: gcd
#include <cassert>

int main() {
    assert(gcd(12, 18) == 6);
    assert(gcd(7, 13) == 1);
    assert(gcd(100, 75) == 25);
    assert(gcd(9, 9) == 9);
}

// problem: palindrome
#include <cctype>
#include <stdexcept>
#include <string>

bool isPalindrome(const std::string &text) {
    std::string letters;
    for (unsigned char c : text)
        if (std::isalpha(c)) letters += ⟪std::tolower(c)⟫⟪c⟫;
    ⟪!⟫
    return letters == std::string(letters.rbegin(), letters.rend());
}
// tests: palindrome
#undef NDEBUG
#include <assert.h>

int main() {
    assert(isPalindrome("A man, a plan, a canal: Panama!"));
    assert(!isPalindrome("Hello"));
    assert(isPalindrome("x"));
    assert(isPalindrome("No 'x' in Nixon"));
    assert(!isPalindrome("ab"));
}

// problem: running_max
#include <algorithm>
#include <stdexcept>
#include <vector>

std::vector<int> running_max(const std::vector<int> &values) {
    std::vector<int> result;
    ⟪!⟫
    for (int value : values)
        result.push_back(result.empty() ? value : std::⟪max⟫⟪min⟫(value, result.back()));
    return result;
}
// tests: running_max
#include <cassert>

int main() {
    using V = std::vector<int>;
    auto candidate = running_max;
    assert(candidate({1, 3, 2, 5, 4}) == (V{1, 3, 3, 5, 5}));
    assert(candidate({-3}) == (V{-3}));
    assert(candidate({5, 4, 3}) == (V{5, 5, 5}));
    assert(candidate({-2, -5, -1}) == (V{-2, -2, -1}));
}

// problem: fizzbuzz
#include <stdexcept>
#include <string>
#include <vector>
using namespace std;

vector<string> fizzbuzz(int n) {
    vector<string> result;
    for (int i = 1; i <= n; ++i) {
        ⟪!⟫
        if (i % ⟪15⟫⟪9⟫ == 0) result.push_back("FizzBuzz");
        else if (i % 3 == 0) result.push_back("Fizz");
        else if (i % 5 == 0) result.push_back("Buzz");
        else result.push_back(to_string(i));
    }
    return result;
}
// tests: fizzbuzz
#include <cassert>

int main(int argc, char **argv) {
    assert(fizzbuzz(1) == (vector<string>{"1"}));
    assert(fizzbuzz(5).size() == 5);
    assert(fizzbuzz(5)[2] == "Fizz");
    assert(fizzbuzz(15)[4] == "Buzz");
    assert(fizzbuzz(15)[14] == "FizzBuzz");
    return 0;
}
