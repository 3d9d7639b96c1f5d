"""Programs run as under `< in > out`, with the limits that a request gets if it sets none."""

from __future__ import annotations

import asyncio

import pytest

from reward_server.app import App
from reward_server.domain import (
    Assessment,
    Extraction,
    LimitKind,
    StdioCase,
    StdioTests,
    Submission,
    Verdict,
)
from reward_server.languages import load_languages
from tests.support.sampling import times
from tests.support.tools import needs

from .conftest import HOST_LANGUAGES

pytestmark = pytest.mark.asyncio(loop_scope="session")

NUMBERS = b"20\n22\n"
SUM = b"42\n"
# What reads its input at once, by its size or as a mapping.
QUICK_INPUT = {
    "c mmap": """
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
int main(void) {
  struct stat told;
  fstat(0, &told);
  char *text = mmap(0, told.st_size, PROT_READ, MAP_SHARED, 0, 0), *end;
  long first = strtol(text, &end, 10);
  printf("%ld\\n", first + strtol(end, &end, 10));
}
""",
    "c++ mmap": """
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <sys/stat.h>
int main() {
  struct stat told;
  fstat(0, &told);
  void *mapped = mmap(nullptr, told.st_size, PROT_READ, MAP_PRIVATE, 0, 0);
  if (mapped == MAP_FAILED) return 3;
  char *end;
  long first = std::strtol(static_cast<char *>(mapped), &end, 10);
  std::printf("%ld\\n", first + std::strtol(end, &end, 10));
}
""",
    "c++ fread of the size": """
#include <cstdio>
#include <sstream>
#include <string>
#include <sys/stat.h>
int main() {
  struct stat told;
  fstat(fileno(stdin), &told);
  std::string text(told.st_size, 0);
  if (std::fread(&text[0], 1, text.size(), stdin) != text.size()) return 3;
  long a, b;
  std::istringstream(text) >> a >> b;
  std::printf("%ld\\n", a + b);
}
""",
    "c++ seekg and tellg": """
#include <iostream>
int main() {
  std::cin.seekg(0, std::ios::end);
  long size = std::cin.tellg(), a, b;
  std::cin.seekg(0);
  std::cin >> a >> b;
  std::cout << (size == 6 ? a + b : -1) << std::endl;
}
""",
    "python mmap": """
import mmap
with mmap.mmap(0, 0, access=mmap.ACCESS_READ) as text:
    print(sum(map(int, text[:].split())))
""",
    "python os.read of the size": """
import os
print(sum(map(int, os.read(0, os.fstat(0).st_size).split())))
""",
    "python sys.stdin.buffer": """
import sys
first = sys.stdin.buffer.read()
sys.stdin.seek(0)
print(sum(map(int, first.split())) if sys.stdin.read() == first.decode() else -1)
""",
    "rust a file of the descriptor": """
use std::fs::File;
use std::io::Read;
use std::os::unix::io::FromRawFd;
fn main() {
    let mut file = unsafe { File::from_raw_fd(0) };
    let mut text = vec![0; file.metadata().unwrap().len() as usize];
    file.read_exact(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    println!("{}", text.split_whitespace().map(|one| one.parse::<i64>().unwrap()).sum::<i64>());
}
""",
    "go syscall.Mmap": """
package main

import (
	"fmt"
	"os"
	"syscall"
)

func main() {
	told, _ := os.Stdin.Stat()
	text, err := syscall.Mmap(0, 0, int(told.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	var a, b int
	fmt.Sscan(string(text), &a, &b)
	fmt.Println(a + b)
}
""",
    "java a mapped channel": """
import java.io.*;
import java.nio.*;
import java.nio.channels.FileChannel;
import java.util.Scanner;

public class Main {
  public static void main(String[] args) throws Exception {
    FileChannel channel = new FileInputStream(FileDescriptor.in).getChannel();
    ByteBuffer text = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
    byte[] bytes = new byte[text.remaining()];
    text.get(bytes);
    Scanner numbers = new Scanner(new String(bytes));
    System.out.println(numbers.nextInt() + numbers.nextInt());
  }
}
""",
    "javascript readFileSync": """
const text = require('fs').readFileSync('/dev/stdin', 'utf8');
console.log(text.trim().split('\\n').map(Number).reduce((a, b) => a + b));
""",
    "perl the size": """
my $size = -s STDIN;
read(STDIN, my $text, $size) == $size or die;
my ($a, $b) = split ' ', $text;
print $a + $b, "\\n";
""",
}
LARGE_OUTPUT = {
    "300 kB": ("console.log('x'.repeat(300000)); process.exit(0)", b"x" * 300_000),
    "3 MB": ("console.log('x'.repeat(3000000)); process.exit(0)", b"x" * 3_000_000),
    "3 MB in pieces": (
        "for (let i = 0; i < 3000; ++i) process.stdout.write('x'.repeat(1000)); process.exit(0)",
        b"x" * 3_000_000,
    ),
    "3 MB before an uncaught error is handled": (
        "process.on('uncaughtException', () => process.exit(0));\n"
        "process.stdout.write('x'.repeat(3000000)); throw new Error()",
        b"x" * 3_000_000,
    ),
}
SIXTY_FOUR = {
    "python threads": """
import threading
together = threading.Barrier(64)
threads = [threading.Thread(target=together.wait) for _ in range(64)]
for one in threads: one.start()
for one in threads: one.join()
print(64)
""",
    "python processes": """
import subprocess
waiting = [subprocess.Popen(["cat"], stdin=subprocess.PIPE) for _ in range(64)]
for one in waiting: one.communicate()
print(sum(one.returncode == 0 for one in waiting))
""",
    "c++ threads": """
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>
int main() {
  std::mutex mutex;
  std::condition_variable arrived;
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 64; ++i)
    threads.emplace_back([&] {
      std::unique_lock<std::mutex> lock(mutex);
      ++count;
      arrived.notify_all();
      arrived.wait(lock, [&] { return count == 64; });
    });
  for (auto &one : threads) one.join();
  std::cout << count << std::endl;
}
""",
    "java threads": """
import java.util.concurrent.*;

public class Main {
  public static void main(String[] args) throws Exception {
    CyclicBarrier together = new CyclicBarrier(64);
    ExecutorService threads = Executors.newFixedThreadPool(64);
    for (int i = 0; i < 64; ++i) threads.submit(() -> together.await());
    threads.shutdown();
    threads.awaitTermination(1, TimeUnit.HOURS);
    System.out.println(64);
  }
}
""",
    "go threads": """
package main

import (
	"fmt"
	"runtime"
	"sync"
)

func main() {
	var arrived, ended sync.WaitGroup
	arrived.Add(64)
	ended.Add(64)
	for i := 0; i < 64; i++ {
		go func() {
			runtime.LockOSThread()
			arrived.Done()
			arrived.Wait()
			ended.Done()
		}()
	}
	ended.Wait()
	fmt.Println(64)
}
""",
    "rust threads": """
use std::sync::{Arc, Barrier};
fn main() {
    let together = Arc::new(Barrier::new(64));
    let threads: Vec<_> = (0..64)
        .map(|_| Arc::clone(&together))
        .map(|one| std::thread::spawn(move || { one.wait(); }))
        .collect();
    for one in threads { one.join().unwrap(); }
    println!("64");
}
""",
    "javascript workers": """
const { Worker } = require('worker_threads');
const memory = new Int32Array(new SharedArrayBuffer(4));
let ended = 0;
for (let i = 0; i < 64; ++i) {
  new Worker(`
    const memory = require('worker_threads').workerData;
    if (Atomics.add(memory, 0, 1) === 63) Atomics.notify(memory, 0);
    for (let now; (now = Atomics.load(memory, 0)) < 64;) Atomics.wait(memory, 0, now);
  `, { eval: true, workerData: memory }).on('exit', () => { if (++ended === 64) console.log(64); });
}
""",
}


def _installed(table: dict[str, str]) -> list[str]:
    """Returns the rows whose language, their first word, this host has."""
    return [name for name in table if load_languages().find(name.split()[0]) in HOST_LANGUAGES]


async def judged(
    app: App, language: str, source: str, expected: bytes, stdin: bytes = b""
) -> Assessment:
    case = StdioCase(stdin=stdin, expected_stdout=expected)
    submission = Submission(
        completion=source,
        language=load_languages().find(language).name,
        extraction=Extraction.NONE,
        tests=StdioTests(cases=(case,)),
    )
    return await app.evaluation.score(submission)


@pytest.mark.parametrize("row", _installed(QUICK_INPUT))
async def test_input_can_be_read_by_its_size_or_as_a_mapping(row: str, host: App) -> None:
    said = await judged(host, row.split()[0], QUICK_INPUT[row], SUM, NUMBERS)
    assert said.verdict is Verdict.PASSED, said


@pytest.mark.parametrize("row", LARGE_OUTPUT)
@needs("node")
async def test_no_output_is_lost_when_a_runtime_exits(row: str, host: App) -> None:
    source, expected = LARGE_OUTPUT[row]
    texts = [f"{source} // {number}" for number in range(times(200, 10))]
    answers = await asyncio.gather(
        *(judged(host, "javascript", text, expected + b"\n") for text in texts)
    )
    assert [said for said in answers if said.verdict is not Verdict.PASSED] == []


@pytest.mark.parametrize("row", _installed(SIXTY_FOUR))
async def test_sixty_four_threads_or_processes_run_at_once(row: str, host: App) -> None:
    said = await judged(host, row.split()[0], SIXTY_FOUR[row], b"64\n")
    assert said.verdict is Verdict.PASSED, said


async def test_a_bomb_of_processes_is_still_bounded(host: App) -> None:
    source = """
import os
count, (reader, _) = 1, os.pipe()
try:
    while os.fork(): count += 1
    os.read(reader, 1)
except OSError: print(64 < count <= 128)
"""
    said = await judged(host, "python", source, b"True\n")
    assert (said.verdict, said.limits_hit) == (Verdict.PASSED, (LimitKind.PROCESSES,))
