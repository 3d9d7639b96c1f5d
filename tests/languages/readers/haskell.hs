import Control.Monad (forM_, when)

main :: IO ()
main = forM_ (zip "abcd" [1 :: Int ..]) $ \(name, wanted) -> do
  number <- read <$> readFile ("given/" ++ [name])
  when (number /= wanted) $ error "another number"
  print number
