//! Viridis: dark violet for near, yellow for far.
//!
//! Perceptually uniform, legible for colour-blind people and in grey print.

/// Red, green and blue, 0 to 255 each.
pub type Rgb = [u8; 3];

/// Ten equidistant points of matplotlib's viridis (van der Walt and Smith 2015, released as CC0).
pub const VIRIDIS: [Rgb; 10] = [
    [68, 1, 84],
    [72, 40, 120],
    [62, 74, 137],
    [49, 104, 142],
    [38, 130, 142],
    [31, 158, 137],
    [53, 183, 121],
    [110, 206, 88],
    [181, 222, 43],
    [253, 231, 37],
];

/// The colour of an unknown value: a grey that viridis does not contain.
pub const UNKNOWN: Rgb = [128, 128, 128];

/// The levels of each channel in xterm's colour cube.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// The colour at a position between 0 (near) and 1 (far); positions outside are clamped.
pub fn colour(position: f64) -> Rgb {
    let last = VIRIDIS.len() - 1;
    // clamp passes NaN through, which would make the colour black.
    let at = if position.is_nan() { 0.0 } else { position.clamp(0.0, 1.0) * last as f64 };
    // The far end belongs to the last pair of colours.
    let left = (at as usize).min(last - 1);
    let share = at - left as f64;
    [0, 1, 2].map(|channel| {
        let [from, to] = [VIRIDIS[left][channel], VIRIDIS[left + 1][channel]].map(f64::from);
        (from + (to - from) * share).round() as u8
    })
}

/// The nearest of a 256-colour terminal's fixed colours: the 6 x 6 x 6 cube or the 24 greys.
pub fn ansi256(rgb: Rgb) -> u8 {
    let nearest = rgb.map(|value| (0..6).min_by_key(|at| CUBE[*at].abs_diff(value)).unwrap_or(0));
    // Of xterm's colours, 16 to 231 are the cube, and 232 to 255 the greys 8, 18, up to 238.
    let cube = (16 + 36 * nearest[0] + 6 * nearest[1] + nearest[2]) as u8;
    let mean = rgb.iter().map(|value| u32::from(*value)).sum::<u32>() / 3;
    let step = (mean.saturating_sub(3) / 10).min(23) as u8;
    let grey = [8 + 10 * step; 3];
    if distance(rgb, grey) < distance(rgb, nearest.map(|at| CUBE[at])) { 232 + step } else { cube }
}

/// Whether dark text is more legible than light text on this background (Rec. 709 luma).
pub fn is_light(rgb: Rgb) -> bool {
    let [r, g, b] = rgb.map(f64::from);
    0.2126 * r + 0.7152 * g + 0.0722 * b > 120.0
}

/// `#rrggbb`.
pub fn hex([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn distance(a: Rgb, b: Rgb) -> u32 {
    a.iter().zip(b).map(|(x, y)| u32::from(x.abs_diff(y)).pow(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_clamped_and_interpolated() {
        assert_eq!(colour(0.0), VIRIDIS[0]);
        assert_eq!(colour(1.0), VIRIDIS[9]);
        assert_eq!(colour(7.0), VIRIDIS[9]);
        assert_eq!(colour(f64::NAN), VIRIDIS[0]);
        assert_eq!(colour(4.0 / 9.0), VIRIDIS[4]);
        assert_eq!(colour(0.25 / 9.0), [69, 11, 93]);
    }

    #[test]
    fn colours_get_lighter_monotonically() {
        let luma = |step: u32| {
            let [r, g, b] = colour(f64::from(step) / 100.0).map(f64::from);
            0.2126 * r + 0.7152 * g + 0.0722 * b
        };
        assert!((0..100).all(|step| luma(step) < luma(step + 1)));
    }

    #[test]
    fn ansi256_maps_to_nearest_colour() {
        assert_eq!(ansi256([255, 0, 0]), 196);
        assert_eq!(ansi256([0, 95, 135]), 24);
        assert_eq!(ansi256(UNKNOWN), 244);
    }

    #[test]
    fn unknown_colour_differs_from_every_level() {
        assert!((0..=100).all(|step| distance(colour(f64::from(step) / 100.0), UNKNOWN) > 1500));
    }
}
