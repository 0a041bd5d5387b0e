//! A growing list.

const std = @import("std");
const Allocator = std.mem.Allocator;
const util = @import("util.zig");

pub const MAX_ITEMS: usize = 64;

/// What can go wrong.
pub const ListError = error{
    Full,
    Empty,
};

/// A list of items.
pub const List = struct {
    items: []u8,
    allocator: Allocator,

    pub fn init(allocator: Allocator) !List {
        const items = try allocator.alloc(u8, MAX_ITEMS);
        return List{ .items = items, .allocator = allocator };
    }

    /// Adds one.
    pub fn push(self: *List, item: u8) ListError!void {
        if (self.items.len >= MAX_ITEMS) return ListError.Full;
        self.grow();
        util.log("push", item);
    }

    const Node = struct { value: u8 };
};

const Mode = enum { fast, slow };

const Value = union(enum) {
    int: i64,
    none,
};

fn swap(comptime T: type, a: *T, b: *T) void {
    const c = a.*;
    a.* = b.*;
    b.* = c;
}

test "a list holds what was pushed" {
    var list = try List.init(std.testing.allocator);
    try list.push(1);
    try std.testing.expect(list.items.len == 1);
}
