//! The order of the cells: rounds one after the other; in a round the levels in drawn order; in a
//! level the arms next to each other, in drawn order. Pure: a seed decides all of it.

use crate::rng::ScriptRng;

/// One run of one arm at one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Round, from 1.
    pub round: u32,
    /// Index of the arm.
    pub arm: usize,
    /// Clients.
    pub clients: u32,
}

/// All cells in the order of measuring.
pub fn draw(seed: u64, rounds: u32, arms: usize, levels: &[u32]) -> Vec<Cell> {
    let mut rng = ScriptRng::new(seed);
    let mut cells = Vec::new();
    for round in 1..=rounds {
        let mut levels = levels.to_vec();
        shuffle(&mut rng, &mut levels);
        for clients in levels {
            let mut order: Vec<usize> = (0..arms).collect();
            shuffle(&mut rng, &mut order);
            cells.extend(order.into_iter().map(|arm| Cell { round, arm, clients }));
        }
    }
    cells
}

/// Every order is as likely as every other (Fisher and Yates).
fn shuffle<T>(rng: &mut ScriptRng, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        let other = usize::try_from(rng.up_to(last as u64)).unwrap_or(0);
        items.swap(last, other);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_cell_is_there_once_and_arms_stand_together(
            seed in any::<u64>(), rounds in 1_u32..6, arms in 1_usize..5, levels in 1_u32..6,
        ) {
            let levels: Vec<u32> = (1..=levels).map(|level| level * level).collect();
            let cells = draw(seed, rounds, arms, &levels);
            prop_assert_eq!(cells.len(), rounds as usize * arms * levels.len());
            for group in cells.chunks(arms) {
                prop_assert!(group.iter().all(|cell| cell.round == group[0].round));
                prop_assert!(group.iter().all(|cell| cell.clients == group[0].clients));
                let mut found: Vec<usize> = group.iter().map(|cell| cell.arm).collect();
                found.sort_unstable();
                prop_assert_eq!(found, (0..arms).collect::<Vec<_>>());
            }
            for round in cells.chunks(arms * levels.len()) {
                let mut found: Vec<u32> = round.chunks(arms).map(|cell| cell[0].clients).collect();
                found.sort_unstable();
                prop_assert_eq!(&found, &levels);
            }
            prop_assert!(cells.is_sorted_by_key(|cell| cell.round));
            prop_assert_eq!(&cells, &draw(seed, rounds, arms, &levels));
        }
    }

    #[test]
    fn no_arm_is_always_first() {
        let cells = draw(1, 200, 2, &[1]);
        let first = cells.chunks(2).filter(|pair| pair[0].arm == 0).count();
        assert!((60..=140).contains(&first), "{first} of 200");
    }
}
