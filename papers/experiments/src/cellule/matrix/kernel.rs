//! A block times a block.

pub const BLOCK: usize = 64;

/// Rows and columns of C kept in registers: eight vectors of AVX2 for the sums.
const ROWS: usize = 4;
const COLUMNS: usize = 16;

type Block = [f32; BLOCK * BLOCK];

/// Adds the product of a store's first two blocks to its third; false if the store is too small.
pub fn multiply(store: &mut [f32]) -> bool {
    let Some((a, rest)) = store.split_first_chunk_mut() else { return false };
    let Some((b, rest)) = rest.split_first_chunk_mut() else { return false };
    let Some((c, _)) = rest.split_first_chunk_mut() else { return false };
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: this processor has both.
        unsafe { fused(a, b, c) };
        return true;
    }
    add_product(a, b, c, |a, b, sum| a * b + sum);
    true
}

/// The same code, compiled for wider vectors.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn fused(a: &Block, b: &Block, c: &mut Block) {
    add_product(a, b, c, f32::mul_add);
}

#[inline(always)]
fn add_product(a: &Block, b: &Block, c: &mut Block, fused: impl Fn(f32, f32, f32) -> f32 + Copy) {
    for row in (0..BLOCK).step_by(ROWS) {
        for column in (0..BLOCK).step_by(COLUMNS) {
            // One tile of C at a time: its sums stay in registers.
            let mut sums = [[0.0_f32; COLUMNS]; ROWS];
            for k in 0..BLOCK {
                let b = &b[k * BLOCK + column..][..COLUMNS];
                for (at, sums) in sums.iter_mut().enumerate() {
                    let a = a[(row + at) * BLOCK + k];
                    sums.iter_mut().zip(b).for_each(|(sum, b)| *sum = fused(a, *b, *sum));
                }
            }
            for (at, sums) in sums.iter().enumerate() {
                let c = &mut c[(row + at) * BLOCK + column..][..COLUMNS];
                c.iter_mut().zip(sums).for_each(|(c, sum)| *c += sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_product_is_accumulated() {
        let mut store: Vec<f32> = (0..3 * BLOCK * BLOCK).map(|at| (at % 7) as f32 - 3.0).collect();
        let before = store.clone();
        assert!(multiply(&mut store));
        let at = |block: usize, row: usize, column: usize| {
            before[(block * BLOCK + row) * BLOCK + column]
        };
        for (row, column) in [(0, 0), (1, 17), (63, 63), (31, 40)] {
            let product: f32 = (0..BLOCK).map(|k| at(0, row, k) * at(1, k, column)).sum();
            assert_eq!(store[(2 * BLOCK + row) * BLOCK + column], at(2, row, column) + product);
        }
        assert!(!multiply(&mut store[1..]));
    }
}
