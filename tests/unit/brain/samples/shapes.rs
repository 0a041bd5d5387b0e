//! Shapes and their areas.

use std::collections::{hash_map::Entry, HashMap as Map};
use std::fmt;
use crate::draw::*;
use super::color as paint;
pub use self::circle::{self, Circle};

mod circle;

pub const MAX_SIDES: usize = 12;

static NAMES: [&str; 2] = [
    "circle",
    "square",
];

/// Something flat.
pub trait Shape: Draw + fmt::Debug {
    const SIDES: usize;

    /// Its area.
    fn area(&self) -> f64;

    fn describe(&self) -> String {
        format!("{} of {}", self.name(), self.area())
    }
}

/// A square.
#[derive(Debug, Clone)]
pub struct Square<T> {
    side: T,
    color: paint::Color,
}

pub enum Kind {
    Round(Circle),
    Flat,
}

type Table = Map<String, Square<f64>>;

impl<T> Square<T> {
    // Makes one.
    #[inline]
    pub fn new(side: T) -> Self {
        let color = paint::Color::default();
        Square { side, color }
    }
}

impl Shape for Square<f64> {
    const SIDES: usize = 4;

    fn area(&self) -> f64 {
        let side = self.side;
        square_of(side)
    }
}

macro_rules! shape {
    ($name:ident) => {
        struct $name;
    };
}

pub fn largest<'a, S: Shape>(shapes: &'a [S]) -> Option<&'a S> {
    shapes.iter().max_by(|a, b| compare(a.area(), b.area()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_has_an_area() {
        assert_eq!(Square::<f64>::new(2.0).area(), 4.0);
        let kind = Kind::Flat;
        Table::new().insert("x".into(), kind);
    }
}
