//! The names of a workload's variables, each with its slot.

use std::collections::HashMap;
use std::sync::Arc;

use super::program::Slot;

/// Names seen so far; slots are given out in order.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    names: Vec<String>,
    slots: HashMap<String, Slot>,
    assigned: Vec<bool>,
}

impl Variables {
    /// The slot of `name`, a new one when it is new.
    pub fn slot(&mut self, name: &str) -> Slot {
        if let Some(&slot) = self.slots.get(name) {
            return slot;
        }
        let slot = Slot(u32::try_from(self.names.len()).expect("a script is shorter than 4 GB"));
        self.names.push(name.to_owned());
        self.assigned.push(false);
        self.slots.insert(name.to_owned(), slot);
        slot
    }

    /// The slot of `name`, noting that something gives it a value.
    pub fn assign(&mut self, name: &str) -> Slot {
        let slot = self.slot(name);
        self.assigned[slot.0 as usize] = true;
        slot
    }

    /// Whether something gives the variable a value, as far as the scripts show by its name.
    pub fn is_assigned(&self, slot: Slot) -> bool {
        self.assigned[slot.0 as usize]
    }

    /// All names, by slot.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The name of a slot.
    pub fn name(&self, slot: Slot) -> &str {
        &self.names[slot.0 as usize]
    }
}

/// Finds the variables that start with a prefix, for `\gset` and `\aset`.
#[derive(Debug)]
pub struct Prefixes<'v> {
    sorted: Vec<(&'v str, Slot)>,
    found: HashMap<String, Arc<[(String, Slot)]>>,
}

impl<'v> Prefixes<'v> {
    /// An index over all names so far.
    pub fn new(variables: &'v Variables) -> Self {
        let names = variables.names.iter().map(String::as_str);
        let mut sorted: Vec<_> = names.zip((0..).map(Slot)).collect();
        sorted.sort_unstable();
        Self { sorted, found: HashMap::new() }
    }

    /// The variables that start with `prefix`, without it, sorted.
    pub fn columns(&mut self, prefix: &str) -> Arc<[(String, Slot)]> {
        if let Some(found) = self.found.get(prefix) {
            return Arc::clone(found);
        }
        let first = self.sorted.partition_point(|(name, _)| *name < prefix);
        let columns: Arc<[_]> = self.sorted[first..]
            .iter()
            .map_while(|(name, slot)| Some((name.strip_prefix(prefix)?.to_owned(), *slot)))
            .filter(|(column, _)| !column.is_empty())
            .collect();
        self.found.insert(prefix.to_owned(), Arc::clone(&columns));
        columns
    }
}

/// Whether `name` may be the name of a variable: letters (also non-ASCII), digits and underscores,
/// no digit at the start.
pub fn is_valid_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(starts_name) && bytes.all(continues_name)
}

/// Whether a name can start with `byte`.
pub(crate) fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii()
}

/// Whether a name can go on with `byte`.
pub(crate) fn continues_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}
