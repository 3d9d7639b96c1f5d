for {name, wanted} <- Enum.zip(["a", "b", "c", "d"], 1..4) do
  ^wanted = File.read!("given/" <> name) |> String.trim() |> String.to_integer()
  IO.puts(wanted)
end
