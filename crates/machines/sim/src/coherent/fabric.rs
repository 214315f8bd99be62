//! Nodes, directed links and routes: the wires between caches and directories.

/// A set of wires of a link: addresses, data and acknowledgements have separate ones.
#[derive(Clone, Copy, PartialEq)]
pub enum Lane {
    /// Requests and snoops.
    Address,
    /// Lines.
    Data,
    /// Messages without address or data.
    Acknowledge,
}

/// Lanes of every link.
pub const LANES: usize = 3;

impl Lane {
    /// All lanes, in order of their numbers.
    pub const ALL: [Lane; LANES] = [Lane::Address, Lane::Data, Lane::Acknowledge];

    /// The name of the lane in counters.
    pub fn name(self) -> &'static str {
        match self {
            Lane::Address => "address",
            Lane::Data => "data",
            Lane::Acknowledge => "acknowledge",
        }
    }
}

/// One direction between two neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Node at which it begins.
    pub from: u16,
    /// Node at which it ends.
    pub to: u16,
    /// Cycles from its beginning to its end.
    pub cycles: u32,
    /// Cycles for which a message of each lane delays the next one.
    pub busy: [u32; LANES],
}

/// Nodes with links between them, and a route from each node to each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Fabric {
    nodes: usize,
    links: Vec<Link>,
    next: Vec<u16>,
}

impl Fabric {
    /// A fabric in which `towards(at, to)` is the next neighbour. `None` without a link to it, or
    /// if a route never arrives.
    pub fn new(nodes: usize, links: Vec<Link>, towards: impl Fn(u16, u16) -> u16) -> Option<Self> {
        let mut next = vec![0; nodes * nodes];
        for at in 0..nodes {
            for to in (0..nodes).filter(|to| *to != at) {
                next[at * nodes + to] =
                    link_between(&links, at as u16, towards(at as u16, to as u16))? as u16;
            }
        }
        let fabric = Fabric { nodes, links, next };
        // A route that visits a node twice is endless: `towards` comes from a file.
        (0..nodes as u16)
            .all(|from| {
                (0..nodes as u16).all(|to| fabric.route(from, to).take(nodes).count() < nodes)
            })
            .then_some(fabric)
    }

    /// Counts nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// All links.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The next link from one node towards another.
    #[inline]
    pub fn next(&self, at: u16, to: u16) -> usize {
        self.next[at as usize * self.nodes + to as usize] as usize
    }

    /// The links from one node to another.
    pub fn route(&self, from: u16, to: u16) -> impl Iterator<Item = &Link> {
        std::iter::successors(self.step(from, to), move |link| self.step(link.to, to))
    }

    fn step(&self, at: u16, to: u16) -> Option<&Link> {
        (at != to).then(|| &self.links[self.next(at, to)])
    }

    /// Cycles of a message without other traffic.
    pub fn cycles(&self, from: u16, to: u16) -> u64 {
        self.route(from, to).map(|link| u64::from(link.cycles)).sum()
    }
}

fn link_between(links: &[Link], from: u16, to: u16) -> Option<usize> {
    links.iter().position(|link| (link.from, link.to) == (from, to))
}

/// A ring of stops with links in both directions; messages take the shorter direction, or clockwise
/// if equal.
pub fn ring(stops: u16, cycles: u32, busy: [u32; LANES]) -> Option<Fabric> {
    let back = stops.saturating_sub(1);
    let around = |step: u16| {
        (0..stops).map(move |at| Link { from: at, to: (at + step) % stops, cycles, busy })
    };
    Fabric::new(stops.into(), around(1).chain(around(back)).collect(), |at, to| {
        let is_near = 2 * ((to + stops - at) % stops) <= stops;
        (at + if is_near { 1 } else { back }) % stops
    })
}

/// A mesh of tiles, row by row; messages go along the row first, then along the column.
pub fn mesh(columns: u16, rows: u16, cycles: u32, busy: [u32; LANES]) -> Option<Fabric> {
    let tiles = columns * rows;
    Fabric::new(
        tiles.into(),
        (0..tiles)
            .flat_map(|from| {
                (0..tiles)
                    .filter(move |to| tiles_apart(columns, from, *to) == 1)
                    .map(move |to| Link { from, to, cycles, busy })
            })
            .collect(),
        // Along the row first (dimension order), which prevents a cycle of waits.
        |at, to| match ((at % columns).cmp(&(to % columns)), at < to) {
            (std::cmp::Ordering::Less, _) => at + 1,
            (std::cmp::Ordering::Greater, _) => at - 1,
            (_, true) => at + columns,
            (_, false) => at - columns,
        },
    )
}

fn tiles_apart(columns: u16, a: u16, b: u16) -> u16 {
    (a % columns).abs_diff(b % columns) + (a / columns).abs_diff(b / columns)
}

/// A tree: `up[n]` is the link from node n to its parent, which has a larger number; the last node
/// is the root.
pub fn tree(up: &[Link]) -> Option<Fabric> {
    let links = up
        .iter()
        .copied()
        .chain(up.iter().map(|link| Link { from: link.to, to: link.from, ..*link }))
        .collect();
    // A child has a smaller number than its parent, so going up from the target passes the
    // message's node or ends there.
    Fabric::new(up.len() + 1, links, |at, to| {
        let mut below = to;
        while parent(up, below) < at {
            below = parent(up, below);
        }
        if to < at && parent(up, below) == at { below } else { parent(up, at) }
    })
}

fn parent(up: &[Link], node: u16) -> u16 {
    up.get(node as usize).map_or(up.len() as u16, |link| link.to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BUSY: [u32; LANES] = [1, 1, 1];

    fn hops(fabric: &Fabric, from: u16, to: u16) -> usize {
        fabric.route(from, to).count()
    }

    #[test]
    fn mesh_route_crosses_columns_first() {
        let mesh = mesh(6, 4, 4, BUSY).unwrap();
        let route: Vec<u16> = mesh.route(0, 14).map(|link| link.to).collect();
        assert_eq!(route, [1, 2, 8, 14]);
        assert_eq!(mesh.links().len(), 2 * (5 * 4 + 6 * 3));
    }

    #[test]
    fn tree_route_climbs_only_as_needed() {
        // Leaves 0 to 3, two groups 4 and 5, root 6.
        let link = |from: u16, to: u16| Link { from, to, cycles: 5, busy: BUSY };
        let tree = tree(&[link(0, 4), link(1, 4), link(2, 5), link(3, 5), link(4, 6), link(5, 6)])
            .unwrap();
        let route = |from, to| tree.route(from, to).map(|link| link.to).collect::<Vec<_>>();
        assert_eq!(
            (route(0, 1), route(3, 0), route(6, 2)),
            (vec![4, 1], vec![5, 6, 4, 0], vec![5, 2])
        );
    }

    #[test]
    fn dead_end_routes_are_refused() {
        let link = |(from, to)| Link { from, to, cycles: 1, busy: BUSY };
        assert_eq!(Fabric::new(2, vec![link((0, 1))], |at, _| 1 - at), None, "no link back");
        let around = [(0, 1), (1, 2), (2, 0)].map(link);
        assert_eq!(
            Fabric::new(3, around.to_vec(), |at, _| (at + 1) % 3).map(|it| it.nodes()),
            Some(3)
        );
        let back = [(0, 1), (1, 0), (1, 2), (2, 1)].map(link);
        assert_eq!(
            Fabric::new(3, back.to_vec(), |at, _| if at == 1 { 0 } else { 1 }),
            None,
            "there and back for ever"
        );
    }

    proptest! {
        #[test]
        fn every_route_is_shortest(stops in 2_u16..90, columns in 1_u16..9, rows in 1_u16..9, a: u16, b: u16) {
            let ring = ring(stops, 1, BUSY).unwrap();
            let from = a % stops;
            let to = b % stops;
            let around = from.abs_diff(to);
            prop_assert_eq!(hops(&ring, from, to), around.min(stops - around) as usize);
            let mesh = mesh(columns, rows, 1, BUSY).unwrap();
            let from = a % (columns * rows);
            let to = b % (columns * rows);
            let apart = (from % columns).abs_diff(to % columns) + (from / columns).abs_diff(to / columns);
            prop_assert_eq!(hops(&mesh, from, to), apart as usize);
        }
    }
}
