//! The elements of a floor plan, in user units from its upper left corner.

use crate::svg::{number, point};

/// A point.
pub type Point = (f64, f64);

/// The seat of a thread: one PU.
#[derive(Debug, Default)]
pub struct FloorSeat {
    /// PU.
    pub os: u32,
    /// Centre.
    pub at: Point,
    /// Side of the square, or the diameter if it is round.
    pub size: f64,
    /// Whether the seat is a circle.
    pub is_round: bool,
    /// Full name.
    pub name: String,
    /// Mark next to its task; empty if it shows the CPU's number.
    pub element: String,
    /// Start and end point of its traffic.
    pub anchor: Point,
    /// Point towards which its traffic bends, on a ring.
    pub hub: Option<Point>,
}

/// A part of the machine: a box around the PUs that share it, or a part without PUs.
#[derive(Default)]
pub struct FloorArea {
    /// Its names, from the outermost level with these PUs to the innermost.
    pub names: Vec<String>,
    /// Upper left corner.
    pub corner: Point,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
    /// PUs inside; empty for an area without threads, such as a memory controller.
    pub pus: Vec<u32>,
    /// The widest its border may be drawn, if the border is a link (nested levels); else 0.
    pub border: f64,
    /// Height of its name's line; 0 without a name.
    pub caption: f64,
}

/// One direction between two neighbours on a ring or mesh.
pub struct DrawnLink {
    /// Its path, as an SVG path.
    pub path: String,
    /// Wires that form one link for data, as SVG paths.
    pub tracks: Vec<String>,
    /// Names of both ends.
    pub name: String,
}

/// A home: the place that keeps lines coherent.
pub struct HomeMark {
    /// Centre of its mark.
    pub at: Point,
    /// Full name.
    pub name: String,
    /// Point towards which its traffic bends, on a ring.
    pub hub: Option<Point>,
}

/// A label.
pub struct Label {
    /// Centre.
    pub at: Point,
    /// Text.
    pub text: String,
}

/// A point on a circle, at a share of its circumference clockwise from the top.
pub fn on_circle((x, y): Point, radius: f64, share: f64) -> Point {
    let angle = share * std::f64::consts::TAU;
    (x + radius * angle.sin(), y - radius * angle.cos())
}

/// An arc of at most half the circle.
pub fn arc(middle: Point, radius: f64, from: f64, to: f64) -> String {
    let [begin, end] = [from, to].map(|share| point(on_circle(middle, radius, share)));
    let radius = number(radius);
    // SVG's sweep flag: 1 is the direction of growing angles, which is clockwise on a screen.
    let is_clockwise = u8::from(to > from);
    format!("M{begin}A{radius} {radius} 0 0 {is_clockwise} {end}")
}
