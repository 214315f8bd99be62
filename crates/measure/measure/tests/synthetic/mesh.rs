//! Tiles on a mesh.

/// The positions of tiles on a rectangular mesh, with distances in hops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mesh {
    places: Vec<(u32, u32)>,
}

impl Mesh {
    /// `columns` by `rows` tiles, numbered column by column, without those at `blanks` (column,
    /// row).
    pub fn new(columns: u32, rows: u32, blanks: &[(u32, u32)]) -> Self {
        let all = (0..columns).flat_map(|column| (0..rows).map(move |row| (column, row)));
        Mesh { places: all.filter(|place| !blanks.contains(place)).collect() }
    }

    /// 38 tiles as on Knights Landing: 6 columns of 7 rows without 4 positions. These, and the
    /// numbering of slices, are a guess; only the shape matters.
    pub fn knl_38() -> Self {
        Mesh::new(6, 7, &[(0, 3), (5, 3), (2, 6), (3, 6)])
    }

    /// 28 tiles as on the largest Skylake servers: 6 columns of 5 rows with a memory controller on
    /// each side.
    pub fn skx_28() -> Self {
        Mesh::new(6, 5, &[(0, 2), (5, 2)])
    }

    /// Counts tiles.
    pub fn tiles(&self) -> usize {
        self.places.len()
    }

    /// Hops between two tiles, along one side and then the other; `None` for a missing tile.
    pub fn hops(&self, a: usize, b: usize) -> Option<u32> {
        let a = self.places.get(a)?;
        let b = self.places.get(b)?;
        Some(a.0.abs_diff(b.0) + a.1.abs_diff(b.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_tiles_are_not_numbered() {
        let mesh = Mesh::new(2, 2, &[(0, 1)]);
        assert_eq!((mesh.tiles(), mesh.hops(0, 2), mesh.hops(0, 3)), (3, Some(2), None));
        assert_eq!((Mesh::knl_38().tiles(), Mesh::skx_28().tiles()), (38, 28));
    }
}
