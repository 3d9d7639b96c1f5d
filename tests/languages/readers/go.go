package main

import (
	"fmt"
	"os"
	"strings"
)

func main() {
	for i, name := range []string{"a", "b", "c", "d"} {
		text, err := os.ReadFile("given/" + name)
		number := strings.TrimSpace(string(text))
		if err != nil || number != fmt.Sprint(i+1) {
			panic("another number")
		}
		fmt.Println(number)
	}
}
