// crash
abort();
// endless
for (volatile int turn = 0;; turn = turn + 1) {}

// problem: add
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    long a, b;
    if (scanf("%ld %ld", &a, &b) != 2) return 1;
    ⟪!⟫
    printf("%ld\n", a ⟪+⟫⟪-⟫ b);
    return 0;
}

// problem: reverse
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char line[1000];
    if (!fgets(line, sizeof line, stdin)) return 1;
    line[strcspn(line, "\n")] = '\0';
    ⟪!⟫
    for (size_t i = strlen(line); i > ⟪0⟫⟪1⟫; --i) putchar(line[i - 1]);
    putchar('\n');
    return 0;
}

// problem: primes
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    int n;
    scanf("%d", &n);
    const char *separator = "";
    for (int i = 2; i <= n; ++i) {
        bool prime = true;
        for (int j = 2; j * j ⟪<=⟫⟪<⟫ i; ++j)
            if (i % j == 0) prime = false;
        ⟪!⟫
        if (!prime) continue;
        printf("%s%d", separator, i);
        separator = " ";
    }
    printf("\n");
}

// problem: words
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char words[1000][64];

static int compare(const void *a, const void *b) { return ⟪strcmp(a, b)⟫⟪strcmp(b, a)⟫; }

int main(void) {
    int count = 0;
    while (scanf("%63s", words[count]) == 1) ++count;
    ⟪!⟫
    qsort(words, count, sizeof words[0], compare);
    for (int i = 0; i < count;) {
        int j = i;
        while (j < count && strcmp(words[i], words[j]) == 0) ++j;
        printf("%s %d\n", words[i], j - i);
        i = j;
    }
}

// problem: matrix
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    int n, rows[50][50];
    scanf("%d", &n);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) scanf("%d", &rows[i][j]);
    ⟪!⟫
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) printf("%d%c", rows[⟪j⟫⟪0⟫][i], j + 1 < n ? ' ' : '\n');
}

// problem: fibonacci
#include <stdint.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    int n;
    ⟪uint64_t⟫⟪uint32_t⟫ a = 0, b = 1;
    scanf("%d", &n);
    while (n-- > 0) {
        uint64_t next = a + b;
        a = b;
        b = next;
    }
    ⟪!⟫
    printf("%" PRIu64 "\n", (uint64_t)a);
}

// problem: gcd
#include <stdlib.h>

int gcd(int a, int b) {
    ⟪!⟫
    return b == 0 ? ⟪a⟫⟪b⟫ : gcd(b, a % b);
}
// tests: gcd
#include <assert.h>

int main() {
    assert(gcd(12, 18) == 6);
    assert(gcd(7, 13) == 1);
    assert(gcd(100, 75) == 25);
    assert(gcd(9, 9) == 9);
}

// problem: palindrome
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

bool is_palindrome(const char *text) {
    const char *left = text, *right = text + strlen(text);
    ⟪!⟫
    while (left < right) {
        if (!isalpha((unsigned char)*left)) ++left;
        else if (!isalpha((unsigned char)*(right - 1))) --right;
        else if (⟪tolower⟫⟪⟫(*left++) != ⟪tolower⟫⟪⟫(*--right)) return false;
    }
    return true;
}
// tests: palindrome
#include <assert.h>

int main(void) {
    assert(is_palindrome("A man, a plan, a canal: Panama!"));
    assert(!is_palindrome("Hello"));
    assert(is_palindrome("x"));
    assert(is_palindrome("No 'x' in Nixon"));
    assert(!is_palindrome("ab"));
    return 0;
}

// problem: running_max
#include <stdlib.h>

void running_max(const int *values, int count, int *result) {
    ⟪!⟫
    for (int i = 0; i < count; ++i)
        result[i] = i == 0 || values[i] ⟪>⟫⟪<⟫ result[i - 1] ? values[i] : result[i - 1];
}
// tests: running_max
#include <assert.h>
#include <string.h>

static void check(int count, const int *values, const int *expected) {
    int result[10];
    running_max(values, count, result);
    assert(memcmp(result, expected, count * sizeof *result) == 0);
}

int main(int argc, char *argv[]) {
    check(5, (int[]){1, 3, 2, 5, 4}, (int[]){1, 3, 3, 5, 5});
    check(1, (int[]){-3}, (int[]){-3});
    check(3, (int[]){5, 4, 3}, (int[]){5, 5, 5});
    check(3, (int[]){-2, -5, -1}, (int[]){-2, -2, -1});
}

// problem: fizzbuzz
#include <stdio.h>
#include <stdlib.h>

char **fizzbuzz(int n) {
    char **result = malloc(n * sizeof *result);
    for (int i = 1; i <= n; ++i) {
        result[i - 1] = malloc(16);
        ⟪!⟫
        if (i % ⟪15⟫⟪10⟫ == 0) sprintf(result[i - 1], "FizzBuzz");
        else if (i % 3 == 0) sprintf(result[i - 1], "Fizz");
        else if (i % 5 == 0) sprintf(result[i - 1], "Buzz");
        else sprintf(result[i - 1], "%d", i);
    }
    return result;
}
// tests: fizzbuzz
#include <stdio.h>
#include <string.h>

int main(void) {
    char **texts = fizzbuzz(15);
    if (strcmp(texts[0], "1") != 0) return 1;
    if (strcmp(texts[2], "Fizz") != 0) return 1;
    if (strcmp(texts[4], "Buzz") != 0) return 1;
    if (strcmp(texts[14], "FizzBuzz") != 0) return 1;
    return 0;
}
