//! What the system allows one process: open files.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::engine::Engine;

/// Files open beside the clients': results, standard streams, the connection for administration,
/// libraries.
const SPARE: u64 = 64;
/// A socket, and a timer in an open loop or for `\sleep`.
const NETWORK_CLIENT: u64 = 2;
/// The database, its log and the log's index, and a timer.
const EMBEDDED_CLIENT: u64 = 4;
/// A worker's runtime: the poller twice, and its wake-up.
const PER_WORKER: u64 = 4;

/// More files than the process may open.
#[derive(Debug, thiserror::Error)]
#[error(
    "{clients} clients need about {needed} open files, and this process may have {allowed}: take \
     fewer clients, or raise the limit (`ulimit -Hn`, LimitNOFILE= of a service)"
)]
pub(crate) struct TooFewFiles {
    clients: u32,
    needed: u64,
    allowed: u64,
}

/// Makes sure that `clients` clients of engine `E`, on `workers` workers, can open all the files that
/// they need. Raises the soft limit to the hard one where it is too low.
pub(crate) fn allow_files<E: Engine>(clients: u32, workers: u32) -> Result<(), TooFewFiles> {
    let (workers, per_client) =
        if E::BLOCKING { (clients, EMBEDDED_CLIENT) } else { (workers, NETWORK_CLIENT) };
    let needed = SPARE + u64::from(clients) * per_client + u64::from(workers) * PER_WORKER;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let is_enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= needed);
    if is_enough(current) {
        return Ok(());
    }
    let raised = Rlimit { current: maximum, maximum };
    if is_enough(maximum) && setrlimit(Resource::Nofile, raised).is_ok() {
        return Ok(());
    }
    let allowed = maximum.or(current).unwrap_or(u64::MAX);
    Err(TooFewFiles { clients, needed, allowed })
}
