{-# LANGUAGE LambdaCase #-}
-- | Parses arithmetic.
module Data.Parser
  ( Expr (..)
  , parse
  ) where

import Control.Monad (void, when)
import qualified Data.Map.Strict as Map
import Data.Char hiding (isDigit)

-- | An expression.
data Expr a
  = Number Int
  | Add (Expr a) (Expr a)
  deriving (Show, Eq)

newtype Parser a = Parser { runParser :: String -> Maybe (a, String) }

type Env = Map.Map String Int

class Pretty a where
  pretty :: a -> String
  pretty = const ""

instance Pretty (Expr a) where
  pretty (Number n) = show n
  pretty (Add l r) = pretty l ++ "+" ++ pretty r

-- | Evaluates an expression.
eval :: Env -> Expr a -> Int
eval _ (Number n) = n
eval env (Add l r) = go l + go r
  where
    go x = eval env x

parse :: String -> Maybe (Expr ())
parse input = case runParser expr input of
  Just (e, "") -> Just (simplify e)
  _ -> Nothing

limit :: Int
limit = 10

(<+>) :: Parser a -> Parser a -> Parser a
p <+> q = Parser $ \s -> maybe (runParser q s) Just (runParser p s)
