//! Detects generated dates: whether all or most dates of a file are the same, or within one minute.
//!
//! Nothing is kept per date. "All one" follows from three sums. "Most of one minute" is looked up once
//! and then bounded: adding or removing *k* dates moves the fullest minute by at most *k*, so the dates
//! need to be seen again only when the bounds meet the threshold.

/// A share of more than this many fifths is "most" (rule catalogue, `set-lastmod-generated`: over 80 %).
const MOST_FIFTHS: u64 = 4;
/// Dates this many seconds apart, at most, are of one minute.
const MINUTE: i64 = 60;
/// How near to the file's own time counts as generated with it, in seconds.
const DAY: i64 = 86_400;
/// Dates count as no further than about 1,000 years from 1970, so that the sums cannot overflow.
const FARTHEST: i64 = 1 << 35;
/// Counters of the first look over the dates.
const BINS: usize = 64;

/// What the dates of a file have in common; the first that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Agreement {
    /// All are the same.
    Identical,
    /// Over 80 % lie within one minute.
    OneMinute,
    /// Over 80 % lie within a day of the file's own time.
    FileTime,
}

/// Shows all dates of the file to a function.
pub(super) type EachDate<'a> = &'a mut dyn FnMut(&mut dyn FnMut(i64));

/// Sums over the dates of one file, in seconds since 1970.
#[derive(Debug, Clone, Default)]
pub(super) struct Dates {
    count: u32,
    sum: i128,
    squares: i128,
    mtime: Option<i64>,
    near_mtime: u32,
    /// `near_mtime` must be counted again.
    is_mtime_new: bool,
    /// At least and at most so many dates are in the fullest minute.
    least: u32,
    most: u32,
}

impl Dates {
    /// Adds a date.
    pub(super) fn add(&mut self, seconds: i64) {
        let value = i128::from(seconds.clamp(-FARTHEST, FARTHEST));
        self.count += 1;
        self.sum += value;
        self.squares += value * value;
        self.most += 1;
        self.near_mtime += u32::from(self.is_near_mtime(seconds));
    }

    /// Adds dates that others have added up, without a time of the file, and sorted into minutes.
    pub(super) fn merge(&mut self, other: &Self, minutes: &Minutes) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
        self.least = self.least.max(other.least);
        self.most += other.most.min(minutes.max_per_minute());
        if self.mtime.is_some() {
            (self.is_mtime_new, self.near_mtime) = (other.count > 0 || self.is_mtime_new, 0);
        }
    }

    /// Takes a date out that was added.
    pub(super) fn remove(&mut self, seconds: i64) {
        let value = i128::from(seconds.clamp(-FARTHEST, FARTHEST));
        self.count = self.count.saturating_sub(1);
        self.sum -= value;
        self.squares -= value * value;
        self.least = self.least.saturating_sub(1);
        self.near_mtime = self.near_mtime.saturating_sub(u32::from(self.is_near_mtime(seconds)));
    }

    /// How many dates there are.
    pub(super) fn len(&self) -> u32 {
        self.count
    }

    /// The time of the file itself.
    pub(super) const fn mtime(&self) -> Option<i64> {
        self.mtime
    }

    /// Tells it; the dates near it are counted again when the next verdict is drawn.
    pub(super) fn set_mtime(&mut self, mtime: Option<i64>) {
        if self.mtime != mtime {
            self.mtime = mtime;
            self.is_mtime_new = self.count > 0;
            self.near_mtime = 0;
        }
    }

    /// What most dates agree in, if anything.
    /// `each` shows all dates; it is asked only if what is known does not decide.
    pub(super) fn agreement(&mut self, each: EachDate<'_>) -> Option<Agreement> {
        if self.is_identical() {
            return Some(Agreement::Identical);
        }
        if self.is_mtime_new {
            let mut near = 0;
            each(&mut |seconds| near += u32::from(self.is_near_mtime(seconds)));
            self.near_mtime = near;
            self.is_mtime_new = false;
        }
        if self.is_majority(self.most) && !self.is_majority(self.least) {
            (self.least, self.most) = fullest_minute(each);
        }
        if self.is_majority(self.least) {
            Some(Agreement::OneMinute)
        } else {
            self.is_majority(self.near_mtime).then_some(Agreement::FileTime)
        }
    }

    /// Whether all dates are one and the same: exactly then n·Σx² = (Σx)² (Cauchy and Schwarz).
    /// With |x| ≤ 2^35 and n ≤ 2^27 (a file is at most 4 GiB) both sides are below 2^127.
    fn is_identical(&self) -> bool {
        i128::from(self.count) * self.squares == self.sum * self.sum
    }

    fn is_majority(&self, part: u32) -> bool {
        u64::from(part) * 5 > u64::from(self.count) * MOST_FIFTHS
    }

    fn is_near_mtime(&self, seconds: i64) -> bool {
        self.mtime.is_some_and(|mtime| mtime.abs_diff(seconds) <= DAY.unsigned_abs())
    }
}

/// How many dates lie in a minute of the clock, minutes counted together in a few groups.
#[derive(Debug, Clone)]
pub(super) struct Minutes([u32; BINS]);

impl Default for Minutes {
    fn default() -> Self {
        Self([0; BINS])
    }
}

impl Minutes {
    /// Adds a date.
    #[inline]
    pub(super) fn add(&mut self, seconds: i64) {
        self.0[bin(seconds.div_euclid(MINUTE))] += 1;
    }

    /// No minute holds more: it covers parts of two minutes of the clock.
    fn max_per_minute(&self) -> u32 {
        self.0.iter().max().map_or(0, |most| most.saturating_mul(2))
    }
}

/// Bounds of the largest number of dates within a minute.
///
/// A minute that holds over 80 % covers parts of two minutes of the clock, so one of those holds over
/// 40 %, and so does its counter. Only the dates about such hot counters are examined closely; of all
/// others, a minute holds at most twice the largest counter.
fn fullest_minute(each: EachDate<'_>) -> (u32, u32) {
    let mut bins = [0_u32; BINS];
    let mut count = 0_u64;
    each(&mut |seconds| {
        bins[bin(seconds.div_euclid(MINUTE))] += 1;
        count += 1;
    });
    let is_hot = |minute: i64| u64::from(bins[bin(minute)]) * 5 > count * 2;
    let mut near_hot = Vec::new();
    each(&mut |seconds| {
        let minute = seconds.div_euclid(MINUTE);
        if is_hot(minute) || is_hot(minute - 1) || is_hot(minute + 1) {
            near_hot.push(seconds);
        }
    });
    near_hot.sort_unstable();
    let (mut start, mut best) = (0, 0);
    for (end, &last) in near_hot.iter().enumerate() {
        while near_hot.get(start).is_some_and(|&first| last.saturating_sub(first) > MINUTE) {
            start += 1;
        }
        best = best.max(end + 1 - start);
    }
    let cold = bins.iter().copied().filter(|&bin| u64::from(bin) * 5 <= count * 2).max().unwrap_or(0);
    (best as u32, cold.saturating_mul(2).max(best as u32))
}

fn bin(minute: i64) -> usize {
    ((minute as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize
}
