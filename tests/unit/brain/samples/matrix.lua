-- Matrices of numbers.

local json = require("dkjson")
local vector = require "math.vector"

local M = {}
local MAX_SIZE = 16

M.defaults = {
  rows = 2,
  columns = 2,
}

local Matrix = {}
Matrix.__index = Matrix

--- Makes a matrix.
-- @param rows how many
function M.new(rows, columns)
  local self = setmetatable({}, Matrix)
  for row = 1, rows do
    self[row] = vector.zeros(columns)
  end
  return self
end

function Matrix:scale(factor)
  self.factor = factor
  return M.map(self, function(x) return x * factor end)
end

local function check(size)
  assert(size < MAX_SIZE, "too big")
end

M.map = function(matrix, fn)
  check(#matrix)
  return fn(matrix)
end

local print_all = function(...)
  print(json.encode(...))
end

function global_one() print_all(M.new(1, 1):scale(2)) end

return M
