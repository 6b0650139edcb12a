//! When the next frame is due.

use std::time::{Duration, Instant};

/// Minimum time between two frames.
const FRAME_INTERVAL: Duration = Duration::from_millis(16);

/// Limits the rate of frames, since input and the parts of a load arrive faster than a terminal shows them.
#[derive(Debug, Default)]
pub(super) struct FramePacer {
    /// When the last frame was drawn.
    drawn: Option<Instant>,
    /// Whether the next frame does not wait.
    is_urgent: bool,
}

impl FramePacer {
    /// Records that a frame was drawn.
    pub(super) const fn record(&mut self, now: Instant) {
        *self = Self { drawn: Some(now), is_urgent: false };
    }

    /// Makes the next frame due at once.
    pub(super) const fn hurry(&mut self) {
        self.is_urgent = true;
    }

    /// Time until the next frame may be drawn.
    pub(super) fn until_due(&self, now: Instant) -> Duration {
        let drawn = self.drawn.filter(|_| !self.is_urgent);
        drawn.map_or(Duration::ZERO, |drawn| FRAME_INTERVAL.saturating_sub(now.saturating_duration_since(drawn)))
    }

    /// Whether no frame was drawn for that long.
    pub(super) fn is_older_than(&self, age: Duration, now: Instant) -> bool {
        self.drawn.is_none_or(|drawn| now.saturating_duration_since(drawn) >= age)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_waits_for_the_interval_unless_it_is_urgent() {
        let start = Instant::now();
        let after = |millis| start + Duration::from_millis(millis);
        let mut pacer = FramePacer::default();
        assert_eq!(pacer.until_due(start), Duration::ZERO, "the first frame");
        pacer.record(start);
        assert_eq!(pacer.until_due(after(6)), Duration::from_millis(10));
        assert_eq!(pacer.until_due(after(17)), Duration::ZERO);
        pacer.hurry();
        assert_eq!(pacer.until_due(after(6)), Duration::ZERO);
        pacer.record(after(6));
        assert_eq!(pacer.until_due(after(6)), FRAME_INTERVAL, "only one frame is urgent");
    }

    #[test]
    fn an_urgent_frame_does_not_make_the_last_one_older() {
        let start = Instant::now();
        let mut pacer = FramePacer::default();
        assert!(pacer.is_older_than(FRAME_INTERVAL, start), "there is none");
        pacer.record(start);
        pacer.hurry();
        assert!(!pacer.is_older_than(FRAME_INTERVAL, start));
        assert!(pacer.is_older_than(FRAME_INTERVAL, start + FRAME_INTERVAL));
    }
}
