//! Which random streams a client draws from.

use super::ClientId;
use crate::rng::{PgbenchSeeds, Purpose, stream_seed};

/// The source of all streams of a run.
#[derive(Debug, Clone)]
pub(crate) enum Seeds {
    /// Streams of our own: seed, client and purpose decide.
    Own(u64),
    /// The sequence that pgbench draws from `--random-seed`, so that scripts draw its values.
    Pgbench { seed: u64, drawn: PgbenchSeeds },
}

/// One client's seeds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientSeeds {
    /// For the random functions of scripts.
    pub(crate) script: u64,
    /// For drawing the next script of a mix.
    pub(crate) choose: u64,
    /// Value of `:random_seed`.
    pub(crate) random_seed: i64,
    /// Value of `:default_seed`, the seed of `hash` and `permute`: one for all clients.
    pub(crate) default_seed: i64,
}

impl Seeds {
    /// The seeds of client `id`.
    pub(crate) fn client(&self, id: ClientId) -> ClientSeeds {
        match self {
            Self::Own(seed) => ClientSeeds {
                script: stream_seed(*seed, id.0, Purpose::Script),
                choose: stream_seed(*seed, id.0, Purpose::Choose),
                random_seed: seed.cast_signed(),
                // A purpose of no client: the same for all.
                default_seed: stream_seed(*seed, u32::MAX, Purpose::Script).cast_signed(),
            },
            Self::Pgbench { seed, drawn } => ClientSeeds {
                script: drawn.clients[id.0 as usize],
                choose: drawn.threads[id.0 as usize].choose,
                random_seed: seed.cast_signed(),
                default_seed: drawn.default_seed,
            },
        }
    }
}
