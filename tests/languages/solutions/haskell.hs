-- crash
error "crash"
-- endless
mapM_ print (filter (< 0) [1 :: Integer ..])
-- crash: guard
| True = error "crash"
-- endless: guard
| null (filter (< 0) [1 :: Integer ..]) = undefined

-- problem: add
main :: IO ()
main = do
  [a, b] <- map read . words <$> getLine
  ⟪!⟫
  print (a ⟪+⟫⟪-⟫ b :: Int)

-- problem: reverse
main :: IO ()
main = do
  line <- getLine
  ⟪!⟫
  putStrLn (⟪reverse⟫⟪tail⟫ line)

-- problem: primes
module Main where

primes :: Int -> [Int]
primes n = sieve [2 .. n]
  where
    sieve [] = []
    sieve (p : rest) = p : sieve [x | x <- rest, x `mod` p ⟪/=⟫⟪>⟫ ⟪0⟫⟪1⟫]

main :: IO ()
main = do
  n <- readLn
  ⟪!⟫
  putStrLn . unwords . map show $ primes n

-- problem: words
import qualified Data.Map.Strict as Map

main :: IO ()
main = do
  text <- getContents
  let counts = Map.fromListWith ⟪(+)⟫⟪const⟫ [(word, 1 :: Int) | word <- words text]
  ⟪!⟫
  mapM_ (\(word, count) -> putStrLn (word ++ " " ++ show count)) (Map.toList counts)

-- problem: matrix
import Control.Monad (replicateM)
import Data.List (transpose)

main :: IO ()
main = do
  n <- readLn :: IO Int
  rows <- replicateM n (map read . words <$> getLine) :: IO [[Int]]
  ⟪!⟫
  mapM_ (putStrLn . unwords . map show) (⟪transpose⟫⟪reverse⟫ rows)

-- problem: fibonacci
fibonacci :: Int -> Integer
fibonacci n = go n 0 ⟪1⟫⟪2⟫
  where
    go 0 a _ = a
    go k a b = go (k - 1) b (a + b)

main :: IO ()
main = do
  n <- readLn
  ⟪!⟫
  print (fibonacci n)

-- problem: gcd
import Prelude hiding (gcd)

gcd :: Int -> Int -> Int
gcd a b
  ⟪!guard⟫
  | b == 0 = ⟪a⟫⟪b⟫
  | otherwise = gcd b (a `mod` b)
-- tests: gcd
check :: Int -> Int -> IO ()
check found expected
  | found == expected = return ()
  | otherwise = error ("expected " ++ show expected ++ ", got " ++ show found)

main :: IO ()
main = do
  check (gcd 12 18) 6
  check (gcd 7 13) 1
  check (gcd 100 75) 25
  check (gcd 9 9) 9

-- problem: palindrome
import Data.Char (isAlpha, toLower)

isPalindrome :: String -> Bool
isPalindrome text
  ⟪!guard⟫
  | otherwise = letters == reverse letters
  where
    letters = ⟪map toLower⟫⟪id⟫ (filter isAlpha text)
-- tests: palindrome
main :: IO ()
main
  | results == [True, False, True, True, False] = putStrLn "ok"
  | otherwise = ioError (userError (show results))
  where
    results =
      map isPalindrome ["A man, a plan, a canal: Panama!", "Hello", "x", "No 'x' in Nixon", "ab"]

-- problem: running_max
runningMax :: [Int] -> [Int]
runningMax values
  ⟪!guard⟫
  | otherwise = scanl1 ⟪max⟫⟪min⟫ values
-- tests: running_max
main = mapM_ check
  [ ([1, 3, 2, 5, 4], [1, 3, 3, 5, 5])
  , ([-3], [-3])
  , ([5, 4, 3], [5, 5, 5])
  , ([-2, -5, -1], [-2, -2, -1])
  ]
  where
    check (values, expected) =
      if runningMax values == expected then return () else error (show values)

-- problem: fizzbuzz
module Main where

fizzbuzz :: Int -> [String]
fizzbuzz n = map text [1 .. n]
  where
    text i
      ⟪!guard⟫
      | i `mod` ⟪15⟫⟪9⟫ == 0 = "FizzBuzz"
      | i `mod` 3 == 0 = "Fizz"
      | i `mod` 5 == 0 = "Buzz"
      | otherwise = show i
-- tests: fizzbuzz
expected :: [(Int, String)]
expected = [(0, "1"), (2, "Fizz"), (4, "Buzz"), (14, "FizzBuzz")]

main :: IO ()
main = do
  let texts = fizzbuzz 15
  if length texts == 15 then return () else error "length"
  mapM_ (\(place, text) -> if texts !! place == text then return () else error text) expected
