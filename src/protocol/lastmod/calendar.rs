//! Arithmetic of the proleptic Gregorian calendar: days, dates, month lengths.
//!
//! Agrees with chrono on every day of the years 1 to 9999 (tested). Implemented here for speed, since the dates of
//! every entry are validated.

/// Number of cycles of 400 years before the year 0 from which years are counted; any year of an `i32` follows it.
const ERAS: i64 = 1 << 24;

/// Number of days from the first of March to each month, by its number; 0 for one that does not exist.
const DAYS_BEFORE: [u16; 16] = [0, 306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275, 0, 0, 0];

/// The first and the last year of [`MONTH_STARTS`].
const RECENT_YEARS: (i32, i32) = (1990, 2099);

/// For each month of the recent years, and the one after them, the days from 1970-01-01 to its first day.
static MONTH_STARTS: [u16; 12 * (RECENT_YEARS.1 - RECENT_YEARS.0 + 1) as usize + 1] = {
    let (mut starts, mut month) = ([0; _], 0);
    while month < starts.len() {
        let (year, number) = (RECENT_YEARS.0 + month as i32 / 12, month % 12 + 1);
        starts[month] = Date { year, month: number as u8, day: 1 }.days() as u16;
        month += 1;
    }
    starts
};

/// Seconds in a day; W3C Datetime has no leap seconds.
pub(super) const DAY: i64 = 86_400;

/// A day of the calendar; not necessarily one that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Date {
    /// Astronomical year.
    pub year: i32,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
}

impl Date {
    /// Whether the calendar has this day.
    #[inline]
    pub(super) const fn exists(self) -> bool {
        self.month >= 1 && self.month <= 12 && self.day >= 1 && self.day <= days_in_month(self.year, self.month)
    }

    /// Days since 1970-01-01; meaningful only for a day that exists.
    #[inline]
    pub(super) const fn days(self) -> i64 {
        // Years begin in March, so that the leap day is the last of its year. They are counted from a year so early that
        // no operand is negative: unsigned divisions by constants take fewer instructions.
        let year = (self.year as i64 + 400 * ERAS - (self.month <= 2) as i64) as u64;
        let day_of_year = DAYS_BEFORE[self.month as usize % DAYS_BEFORE.len()] as u64 + self.day as u64;
        let days = year * 365 + year / 4 - year / 100 + year / 400 + day_of_year;
        days as i64 - ERAS * 146_097 - 719_469
    }

    /// [`Self::days`], if the calendar has this day.
    #[inline]
    pub(super) fn existing_days(self) -> Option<i64> {
        let (month, day) = (self.month.wrapping_sub(1), u16::from(self.day).wrapping_sub(1));
        let years = u64::from(self.year.wrapping_sub(RECENT_YEARS.0).cast_unsigned());
        let index = usize::try_from(12 * years + u64::from(month)).unwrap_or(usize::MAX);
        // Nearly all dates of real files are of recent years.
        if let Some(&[start, end, ..]) = MONTH_STARTS.get(index..) {
            return (month < 12 && day < end - start).then(|| i64::from(start + day));
        }
        self.exists().then(|| self.days())
    }

    /// The date `days` days after 1970-01-01.
    pub(super) const fn from_days(days: i64) -> Self {
        let days = days + 719_468;
        let era = days.div_euclid(146_097);
        let day_of_era = days.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        let year = year_of_era + era * 400 + (month <= 2) as i64;
        Self { year: year as i32, month: month as u8, day: day as u8 }
    }

    /// The same day in another month, or the last day of a shorter month.
    pub(super) const fn plus_months(self, months: i64) -> Self {
        let total = self.year as i64 * 12 + self.month as i64 - 1 + months;
        let year = total.div_euclid(12) as i32;
        let month = (total.rem_euclid(12) + 1) as u8;
        let last = days_in_month(year, month);
        Self { year, month, day: if self.day < last { self.day } else { last } }
    }

    /// 0 for Sunday to 6 for Saturday.
    pub(super) const fn weekday(self) -> u8 {
        (self.days() + 4).rem_euclid(7) as u8
    }
}

/// Number of days of a month; 0 for a month that does not exist.
pub(super) const fn days_in_month(year: i32, month: u8) -> u8 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::{Datelike, NaiveDate};
    use proptest::prelude::*;

    #[test]
    fn every_day_agrees_with_chrono() {
        let mut date = NaiveDate::from_ymd_opt(1, 1, 1).unwrap();
        let epoch = NaiveDate::from_ymd_opt(1970, 1, 1).unwrap();
        while date.year() <= 9999 {
            let ours = Date { year: date.year(), month: date.month() as u8, day: date.day() as u8 };
            let days = (date - epoch).num_days();
            assert_eq!(ours.days(), days, "{date}");
            assert_eq!(Date::from_days(days), ours, "{date}");
            assert_eq!(u32::from(ours.weekday()), date.weekday().num_days_from_sunday(), "{date}");
            date = date.succ_opt().unwrap();
        }
    }

    proptest! {
        #[test]
        fn exists_agrees_with_chrono(year in 1..=9999i32, month in 0..=14u8, day in 0..=33u8) {
            let chrono = NaiveDate::from_ymd_opt(year, month.into(), day.into()).is_some();
            prop_assert_eq!(Date { year, month, day }.exists(), chrono);
        }

        #[test]
        fn existing_days_are_counted_in_recent_years_and_others(
            year in prop_oneof![1_985..=2_105i32, any::<i32>()], month in any::<u8>(), day in any::<u8>(),
        ) {
            let any = Date { year, month, day };
            let likely = Date { year, month: month % 14, day: day % 33 };
            for date in [any, likely] {
                prop_assert_eq!(date.existing_days(), date.exists().then(|| date.days()), "{:?}", date);
            }
        }

        #[test]
        fn months_agree_with_chrono(days in -300_000..300_000i64, months in -500..500i32) {
            let date = Date::from_days(days);
            let theirs = NaiveDate::from_ymd_opt(date.year, date.month.into(), date.day.into()).unwrap();
            let span = chrono::Months::new(months.unsigned_abs());
            let theirs = if months < 0 { theirs - span } else { theirs + span };
            let ours = date.plus_months(months.into());
            prop_assert_eq!((ours.year, u32::from(ours.month), u32::from(ours.day)),
                (theirs.year(), theirs.month(), theirs.day()));
        }
    }
}
