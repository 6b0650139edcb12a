//! Detects generated dates: whether all or most dates of a file are the same, or within one minute.
//!
//! Nothing is stored per date. Whether all dates are equal follows from three sums. The number of dates in the fullest
//! minute is computed once and then bounded: adding or removing *k* dates changes it by at most *k*, so the dates are
//! read again only if the threshold is between the bounds.

/// More than this many fifths are a majority (rule catalogue, `set-lastmod-generated`: over 80 %).
const MAX_FIFTHS: u64 = 4;
/// Dates at most this many seconds apart are in one minute.
const MINUTE: i64 = 60;
/// Dates at most this many seconds from the modification time of the file count as generated with it.
const DAY: i64 = 86_400;
/// Dates are clamped to about 1,000 years around 1970, so that the sums cannot overflow.
const FARTHEST: i64 = 1 << 35;
/// Number of counters in the first pass over the dates.
const BINS: usize = 64;

/// A property that the dates of a file share; the first variant that applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Agreement {
    /// All are the same.
    Identical,
    /// Over 80 % lie within one minute.
    OneMinute,
    /// Over 80 % lie within a day of the modification time of the file.
    FileTime,
}

/// Calls a function with every date of the file.
pub(super) type EachDate<'a> = &'a mut dyn FnMut(&mut dyn FnMut(i64));

/// Sums over the dates of one file, in seconds since 1970.
#[derive(Debug, Clone, Default)]
pub(super) struct Dates {
    count: u32,
    sum: i128,
    squares: i128,
    mtime: Option<i64>,
    near_mtime: u32,
    /// Whether `near_mtime` must be counted again.
    is_mtime_new: bool,
    /// Lower and upper bound of the number of dates in the fullest minute.
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

    /// Adds the dates of another tally, which has no modification time; `minutes` are its counts per minute.
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

    /// Removes a date that was added.
    pub(super) fn remove(&mut self, seconds: i64) {
        let value = i128::from(seconds.clamp(-FARTHEST, FARTHEST));
        self.count = self.count.saturating_sub(1);
        self.sum -= value;
        self.squares -= value * value;
        self.least = self.least.saturating_sub(1);
        self.near_mtime = self.near_mtime.saturating_sub(u32::from(self.is_near_mtime(seconds)));
    }

    /// Number of dates.
    pub(super) fn len(&self) -> u32 {
        self.count
    }

    /// The modification time of the file.
    pub(super) const fn mtime(&self) -> Option<i64> {
        self.mtime
    }

    /// Sets the modification time; the dates near it are counted again by the next [`Self::agreement`].
    pub(super) fn set_mtime(&mut self, mtime: Option<i64>) {
        if self.mtime != mtime {
            self.mtime = mtime;
            self.is_mtime_new = self.count > 0;
            self.near_mtime = 0;
        }
    }

    /// The property that the dates share, if any. `each` is called only if the sums and bounds do not decide.
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

    /// Whether all dates are equal, which is the case if and only if n·Σx² = (Σx)² (Cauchy–Schwarz).
    /// With |x| ≤ 2^35 and n ≤ 2^27 (a file is at most 4 GiB) both sides are below 2^127.
    fn is_identical(&self) -> bool {
        i128::from(self.count) * self.squares == self.sum * self.sum
    }

    fn is_majority(&self, part: u32) -> bool {
        u64::from(part) * 5 > u64::from(self.count) * MAX_FIFTHS
    }

    fn is_near_mtime(&self, seconds: i64) -> bool {
        self.mtime.is_some_and(|mtime| mtime.abs_diff(seconds) <= DAY.unsigned_abs())
    }
}

/// Number of dates per minute of the clock, hashed into a few counters.
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

    /// Adds the dates of other rows.
    pub(super) fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(count, more)| *count += more);
    }

    /// Upper bound of the dates within any minute, which overlaps at most two minutes of the clock.
    fn max_per_minute(&self) -> u32 {
        self.0.iter().max().map_or(0, |most| most.saturating_mul(2))
    }
}

/// Bounds of the largest number of dates within a minute.
///
/// A minute with over 80 % of the dates overlaps at most two minutes of the clock, so one of these has over 40 %, and
/// so has its counter. Only dates near such hot counters are sorted; any other minute has at most twice the largest
/// other counter.
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
