//! A finished column of integers in the fewest whole bytes that its spread needs: the smallest
//! value is kept once, and each entry is its distance from it. A column that holds one value
//! throughout (a fixed period, a count of 1) takes no bytes a sample.

/// A column that no longer grows.
#[derive(Clone, Debug)]
pub(crate) struct PackedColumn {
    base: u64,
    width: u8,
    bytes: Box<[u8]>,
}

impl PackedColumn {
    pub(crate) fn new(values: &[u64]) -> Self {
        let base = values.iter().copied().min().unwrap_or(0);
        let spread = values.iter().copied().max().unwrap_or(0) - base;
        let width = (u64::BITS - spread.leading_zeros()).div_ceil(8) as u8;
        let bytes =
            values.iter().flat_map(|value| (value - base).to_le_bytes().into_iter().take(usize::from(width))).collect();
        Self { base, width, bytes }
    }

    pub(crate) fn get(&self, index: usize) -> u64 {
        let width = usize::from(self.width);
        let mut distance = [0; 8];
        distance[..width].copy_from_slice(&self.bytes[index * width..][..width]);
        self.base + u64::from_le_bytes(distance)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_and_take_the_bytes_of_their_spread() {
        let cases: [(&[u64], usize); 5] = [
            (&[7, 7, 7], 0),
            (&[1_000_000, 1_000_255], 1),
            (&[1_000_000, 1_000_256], 2),
            (&[0, u64::MAX], 8),
            (&[u64::MAX, u64::MAX - (1 << 32)], 5),
        ];
        for (values, width) in cases {
            let column = PackedColumn::new(values);
            assert_eq!(usize::from(column.width), width, "{values:?}");
            let back: Vec<_> = (0..values.len()).map(|index| column.get(index)).collect();
            assert_eq!(back, values);
        }
    }
}
