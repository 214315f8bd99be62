//! Limits the number of clients, in total and per user, so that no user keeps the others out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Clone, Debug)]
pub struct Guests {
    inside: Arc<Mutex<BTreeMap<u32, usize>>>,
    most: usize,
    most_of_a_user: usize,
}

/// Dropping it frees its place.
#[derive(Debug)]
pub struct ConnectedClient {
    guests: Guests,
    uid: u32,
}

impl Guests {
    pub fn new(most: usize, most_of_a_user: usize) -> Self {
        Guests { inside: Arc::default(), most, most_of_a_user }
    }

    pub fn enter(&self, uid: u32) -> Option<ConnectedClient> {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        // Entries of users without clients remain, with 0.
        let all: usize = inside.values().sum();
        let own = inside.entry(uid).or_default();
        if all >= self.most || *own >= self.most_of_a_user {
            return None;
        }
        *own += 1;
        Some(ConnectedClient { guests: self.clone(), uid })
    }
}

impl Drop for ConnectedClient {
    fn drop(&mut self) {
        let mut inside = self.guests.inside.lock().unwrap_or_else(PoisonError::into_inner);
        inside.entry(self.uid).and_modify(|own| *own = own.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_per_user_are_limited() {
        let guests = Guests::new(64, 16);
        let entered =
            |uid| (0..100).map_while(|_| guests.enter(uid)).collect::<Vec<ConnectedClient>>();
        let mut inside = [1, 2, 3, 4, 5].map(entered);
        assert_eq!(inside.each_ref().map(Vec::len), [16, 16, 16, 16, 0]);
        inside[1].pop();
        assert!(guests.enter(1).is_none());
        let fifth = guests.enter(5);
        assert!(fifth.is_some() && guests.enter(2).is_none());
    }
}
