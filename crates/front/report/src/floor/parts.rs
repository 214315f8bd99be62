//! The elements of a picture of a machine, in user units from its upper left corner.

/// A point.
pub type Point = (f64, f64);

/// Where a thread can sit: one PU.
#[derive(Clone, Debug, PartialEq)]
pub struct FloorSeat {
    /// The PU.
    pub os: u32,
    /// The middle.
    pub at: Point,
    /// Side of the square, or diameter where it is round.
    pub size: f64,
    /// Whether it is round.
    pub is_round: bool,
    /// The seat's full name.
    pub name: String,
    /// The mark in it beside its task; empty where it shows the CPU's number.
    pub element: String,
    /// Where its traffic begins and ends.
    pub anchor: Point,
    /// The point towards which its traffic bends, on a ring.
    pub hub: Option<Point>,
}

/// A part of the machine that has a place: a box around the seats of PUs that share it, or anything
/// else.
#[derive(Clone, Debug, PartialEq)]
pub struct FloorArea {
    /// Its names, from the outermost level to the innermost that hold the same PUs.
    pub names: Vec<String>,
    /// Its upper left corner.
    pub corner: Point,
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// The PUs inside; none for an area that seats no threads, such as a memory controller.
    pub pus: Vec<u32>,
    /// How wide its border may be drawn, if that is a link, as where machines are levels inside
    /// each other; 0 if not.
    pub border: f64,
    /// Height of the line in which its name stands; 0 where it shows none.
    pub caption: f64,
}

/// One direction between two neighbours on a ring or mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnLink {
    /// Its way, as an SVG path.
    pub path: String,
    /// The wires that are one link to data, as SVG paths.
    pub tracks: Vec<String>,
    /// The names of its two ends.
    pub name: String,
}

/// Where lines are kept coherent.
#[derive(Clone, Debug, PartialEq)]
pub struct HomeMark {
    /// The middle of its mark.
    pub at: Point,
    /// Its full name.
    pub name: String,
    /// The point towards which its traffic bends, on a ring.
    pub hub: Option<Point>,
}

/// A word beside something, its middle at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Its middle.
    pub at: Point,
    /// The word.
    pub text: String,
}

/// A point on a circle around a middle, at a share of it clockwise from the top.
#[must_use]
pub fn on_circle((x, y): Point, radius: f64, share: f64) -> Point {
    let angle = share * std::f64::consts::TAU;
    (x + radius * angle.sin(), y - radius * angle.cos())
}

/// A clockwise or counter-clockwise arc around a middle, no longer than half the circle.
pub(crate) fn arc(middle: Point, radius: f64, from: f64, to: f64) -> String {
    let number = crate::svg::number;
    let (x, y) = on_circle(middle, radius, from);
    let (to_x, to_y) = on_circle(middle, radius, to);
    let radius = number(radius);
    // SVG's sweep flag: 1 is the direction of growing angles, which on a screen is clockwise.
    let is_clockwise = u8::from(to > from);
    format!(
        "M{} {}A{radius} {radius} 0 0 {is_clockwise} {} {}",
        number(x),
        number(y),
        number(to_x),
        number(to_y)
    )
}
