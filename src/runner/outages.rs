//! Times in which clients were without a connection: noted by each, told as outages of the run.

use std::time::Duration;

use tokio::time::Instant;

use super::ClientId;

/// Notes of one worker that are kept; further ones lengthen the last. A client makes at most a
/// hundred in a second.
const MOST: usize = 10_000;

/// A client was without a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Disconnected {
    pub(crate) client: ClientId,
    /// When it noticed that its connection was gone.
    pub(crate) from: Instant,
    /// When it had another one, or gave up.
    pub(crate) until: Instant,
}

/// A time in which at least one client was without a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outage {
    /// Its start, after that of the window.
    pub(crate) start: Duration,
    pub(crate) length: Duration,
    /// Clients that were without a connection at some time in it.
    pub(crate) clients: u32,
}

/// Adds a note.
pub(crate) fn note(notes: &mut Vec<Disconnected>, new: Disconnected) {
    let is_full = notes.len() >= MOST;
    match notes.last_mut().filter(|_| is_full) {
        Some(last) => last.until = last.until.max(new.until),
        None => notes.push(new),
    }
}

/// The outages within the window from `start` to `end`, in their order: what overlaps is one.
pub(crate) fn outages(mut notes: Vec<Disconnected>, start: Instant, end: Instant) -> Vec<Outage> {
    notes.retain(|note| note.until > start && note.from < end);
    notes.sort_by_key(|note| note.from);
    let mut outages: Vec<(Instant, Instant, Vec<ClientId>)> = Vec::new();
    for note in notes {
        let (from, until) = (note.from.max(start), note.until.min(end));
        match outages.last_mut() {
            Some((_, last, clients)) if from <= *last => {
                *last = until.max(*last);
                if !clients.contains(&note.client) {
                    clients.push(note.client);
                }
            }
            _ => outages.push((from, until, vec![note.client])),
        }
    }
    let outage = |(from, until, clients): (Instant, Instant, Vec<ClientId>)| Outage {
        start: from - start,
        length: until - from,
        clients: u32::try_from(clients.len()).unwrap_or(u32::MAX),
    };
    outages.into_iter().map(outage).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_is_one_outage_and_the_window_cuts_off_the_rest() {
        let zero = Instant::now();
        let at = |ms: u64| zero + Duration::from_millis(ms);
        let note = |client, from, until| Disconnected {
            client: ClientId(client),
            from: at(from),
            until: at(until),
        };
        let notes = vec![
            note(3, 9_500, 12_000),
            note(1, 2_000, 2_500),
            note(2, 2_100, 2_900),
            note(1, 2_600, 2_700),
            note(1, 5_000, 5_100),
            note(1, 100, 900),
        ];
        let ms = Duration::from_millis;
        let outage =
            |start, length, clients| Outage { start: ms(start), length: ms(length), clients };
        assert_eq!(
            outages(notes, at(1_000), at(10_000)),
            [outage(1_000, 900, 2), outage(4_000, 100, 1), outage(8_500, 500, 1)]
        );
    }

    #[test]
    fn notes_stay_few_however_often_a_connection_is_lost() {
        let (mut notes, now) = (Vec::new(), Instant::now());
        for number in 0..=MOST as u64 {
            let from = now + Duration::from_millis(number);
            note(&mut notes, Disconnected { client: ClientId(0), from, until: from });
        }
        assert_eq!(notes.len(), MOST);
        assert_eq!(notes[MOST - 1].until, now + Duration::from_millis(MOST as u64));
    }
}
