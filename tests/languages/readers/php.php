<?php
foreach (["a", "b", "c", "d"] as $index => $name) {
  $number = (int) file_get_contents("given/$name");
  if ($number !== $index + 1) throw new Exception("another number");
  echo $number, "\n";
}
