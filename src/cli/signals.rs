//! Handles the signals that stop a long command.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The first SIGINT or SIGTERM asks a long command to stop; the second one kills the process.
pub(super) struct Signals {
    /// Whether a signal has arrived.
    pub(super) is_stopped: Arc<AtomicBool>,
    /// Whether the default action of signals is restored.
    is_over: Arc<AtomicBool>,
    /// The actions to unregister when a screen opens afterwards, which handles signals itself.
    actions: Vec<signal_hook::SigId>,
}

impl Signals {
    pub(super) fn new(before_screen: bool) -> Self {
        use signal_hook::consts::{SIGINT, SIGTERM};
        use signal_hook::flag::{register, register_conditional_default};
        let (is_stopped, is_over): (Arc<AtomicBool>, Arc<AtomicBool>) = Default::default();
        let mut actions = Vec::new();
        for signal in [SIGINT, SIGTERM] {
            actions.extend(register_conditional_default(signal, Arc::clone(&is_over)));
            actions.extend(register_conditional_default(signal, Arc::clone(&is_stopped)));
            actions.extend(register(signal, Arc::clone(&is_stopped)));
        }
        actions.retain(|_| before_screen);
        Self { is_stopped, is_over, actions }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for action in self.actions.drain(..) {
            signal_hook::low_level::unregister(action);
        }
        self.is_over.store(true, Ordering::Relaxed);
    }
}
