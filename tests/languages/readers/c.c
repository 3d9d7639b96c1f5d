#include <stdio.h>
#include <stdlib.h>
int main(void) {
  const char *names[] = {"given/a", "given/b", "given/c", "given/d"};
  for (int i = 0; i < 4; ++i) {
    int number;
    FILE *file = fopen(names[i], "r");
    if (!file || fscanf(file, "%d", &number) != 1 || number != i + 1) exit(3);
    printf("%d\n", number);
  }
  return 0;
}
