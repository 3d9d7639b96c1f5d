import std.conv, std.file, std.stdio, std.string;
void main() {
  int wanted = 0;
  foreach (name; ["a", "b", "c", "d"]) {
    int number = readText("given/" ~ name).strip.to!int;
    if (number != ++wanted) throw new Exception("another number");
    writeln(number);
  }
}
