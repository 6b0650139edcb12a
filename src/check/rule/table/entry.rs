//! Rule table: one entry and its dates, frequencies and priorities.
//!
//! Rule catalogue, sections 5.1, 5.3 and 5.4.

use super::rows;

rows! { super::xml::END;
    LOC_MISSING "loc-missing" E(ENTRY_DROPPED) Entry None TAGS,
        "an entry without loc",
        "Every entry needs a loc: it is what the entry is about. Crawlers drop the entry, and Search Console reports a missing XML tag. Give it a URL or delete the row.";
    LOC_EMPTY "loc-empty" E(ENTRY_DROPPED) Field None TAGS,
        "loc is empty",
        "The element is there, but holds no URL. Crawlers drop the entry; some readers also lose the entries after it. Give it a URL or delete the row.";
    FIELD_DUPLICATE "field-duplicate" E(AMBIGUOUS) Entry Ask SCHEMA,
        "the same element twice in one entry",
        "Each field may occur once in an entry. Readers take the first, the last or both, so which value counts is undefined. Two loc usually belong to two entries whose tags in between were lost.";
    FIELD_EMPTY "field-empty" W("Crawlers ignore the empty element, but the schema rejects the file.") Field Safe SCHEMA,
        "an element without a value",
        "An optional field without a value has no effect, and the schema rejects it. Leave the element out instead. Crawlers ignore it.", [(Yandex, W)];
    FIELD_HAS_CHILDREN "field-has-children" E(ENTRY_DROPPED) Field Ask SCHEMA,
        "elements inside a value",
        "A value must be text, but this one contains an element. Often a tag was not closed. Readers take part of the text or drop the entry, and the schema rejects the file.";
    FIELD_WHITESPACE "field-whitespace" I(HARMLESS) Field Safe SCHEMA,
        "whitespace around a value",
        "There are spaces or line breaks between the tags and the value. Most readers trim them, as the schema does. A few treat them as part of the value.";
    FIELD_WHITESPACE_STRICT = FIELD_WHITESPACE W("Readers do not trim this whitespace, so they may not recognise the value.") Field Safe SCHEMA_CHANGEFREQ,
        "whitespace around a value that readers do not trim",
        "The schema does not trim changefreq, and elsewhere it trims only spaces, tabs and line breaks (not a no-break space, a zero-width space or a byte order mark). The value is then not one of the valid ones.";
    FIELD_TOO_LONG_YANDEX "field-too-long-yandex" OFF(ENGINE_LIMIT) Field None YANDEX,
        "over 100 bytes in lastmod, changefreq or priority",
        "Yandex reads at most 100 bytes of lastmod, changefreq and priority. It ignores a longer value and reports a warning.", [(Yandex, W)];
    ENTRY_CHILD_ORDER "entry-child-order" I(SCHEMA_ONLY) Entry Safe SCHEMA,
        "fields out of order",
        "The schema fixes the order loc, lastmod, changefreq, priority, then extensions. Google takes any order. A strict validator rejects the file. Baidu documents its mobile element after loc.", [(Baidu, OFF), (Legacy084, OFF)];

    LASTMOD_INVALID "lastmod-invalid" E(DATE_IGNORED) Field Ask TAGS,
        "not a date",
        "lastmod is a date as YYYY-MM-DD, or a time as YYYY-MM-DDThh:mm:ss with Z or +hh:mm. Search Console reports an invalid date and ignores it. No date is better than a wrong one.", [(Yandex, W), (Baidu, W)];
    LASTMOD_IMPOSSIBLE "lastmod-impossible" E(DATE_IGNORED) Field None W3C,
        "a day or time that does not exist",
        "The form is right, but the calendar or the clock has no such moment: month 13, 30 February, hour 25, second 60. Crawlers ignore the value, and the schema rejects the file.", [(Yandex, W), (Baidu, W)];
    LASTMOD_REDUCED_PRECISION "lastmod-reduced-precision" E(DATE_IGNORED) Field None SCHEMA_LASTMOD,
        "a year or month instead of a date",
        "W3C Datetime allows 2005 and 2005-05, but the schema and Google ask for a complete date. Write the day if you know it, or leave lastmod out; an invented day misleads crawlers.", [(Yandex, W), (Baidu, W)];
    LASTMOD_NO_SECONDS "lastmod-no-seconds" W("W3C and Google accept it, but the schema rejects the file, and Google wants seconds in video sitemaps.") Field Safe SCHEMA_LASTMOD,
        "a time without seconds",
        "W3C Datetime and Google accept hours and minutes alone, but the schema rejects them. Adding :00 satisfies all three.";
    LASTMOD_NO_TIMEZONE "lastmod-no-timezone" E(DATE_IGNORED) Field Ask GOOGLE_LASTMOD,
        "a time without a zone",
        "A time needs Z or an offset such as +02:00, or the moment is ambiguous. The schema lets it pass, but Google reports an invalid date. Add the zone, or keep only the date.", [(Yandex, W), (Baidu, W)];
    LASTMOD_SPACE_SEPARATOR "lastmod-space-separator" E(DATE_IGNORED) Field Safe W3C,
        "a space between date and time",
        "Databases print times like this; W3C Datetime puts a T between date and time. Search Console reports an invalid date, and the schema rejects the file.", [(Yandex, W), (Baidu, W)];
    LASTMOD_OFFSET_FORMAT "lastmod-offset-format" E(DATE_IGNORED) Field Safe W3C,
        "a zone not written Z or +hh:mm",
        "A zone is Z, or a sign, two digits for the hours, a colon and two for the minutes. +0800, +08 and GMT are other notations. The schema rejects them, Google reports an invalid date.", [(Yandex, W), (Baidu, W)];
    LASTMOD_OFFSET_RANGE "lastmod-offset-range" E(DATE_IGNORED) Field None SCHEMA_LASTMOD,
        "a zone that does not exist",
        "Zones reach from -14:00 to +14:00, and an hour has 60 minutes. Probably the sign, or a digit, is wrong. The schema rejects the value.", [(Yandex, W), (Baidu, W)];
    LASTMOD_FRACTION "lastmod-fraction" W("The format is valid, but Search Console has been seen to reject long fractions.") Field Safe W3C,
        "more than three decimals of a second",
        "W3C Datetime and the schema allow any number of decimals, and milliseconds (1 to 3 digits) are common. Search Console has been seen to report an invalid date for longer ones. A page has no use for them; whole seconds are safe.";
    LASTMOD_LOWERCASE "lastmod-lowercase" E(DATE_IGNORED) Field Safe W3C,
        "a lower-case t or z",
        "T and Z are capital letters in W3C Datetime. The schema rejects lower case.", [(Yandex, W), (Baidu, W)];
    LASTMOD_DATE_ZONE "lastmod-date-zone" E(DATE_IGNORED) Field Safe W3C,
        "a zone after a date without a time",
        "W3C Datetime gives a zone to times only. The schema happens to accept it; crawlers need not. The date alone means the same.", [(Yandex, W), (Baidu, W)];
    LASTMOD_24_00 "lastmod-24-00" E(DATE_IGNORED) Field Safe W3C,
        "midnight written 24:00",
        "W3C Datetime counts hours from 00 to 23; the end of a day is 00:00 of the next. The schema happens to accept 24:00:00. The fix keeps the moment.", [(Yandex, W), (Baidu, W)];
    LASTMOD_UNPADDED "lastmod-unpadded" E(DATE_IGNORED) Field Safe W3C,
        "one digit where two belong",
        "Months, days, hours, minutes and seconds have two digits each: 2005-05-09. The schema rejects 2005-5-9, and Search Console reports an invalid date.", [(Yandex, W), (Baidu, W)];
    LASTMOD_BASIC_FORMAT "lastmod-basic-format" E(DATE_IGNORED) Field Safe W3C,
        "a date without separators",
        "ISO 8601 allows 20050510, but W3C Datetime asks for the separators: 2005-05-10. The schema rejects the short form.", [(Yandex, W), (Baidu, W)];
    LASTMOD_RFC822 "lastmod-rfc822" E(DATE_IGNORED) Field Safe W3C,
        "a date as in mail and feeds",
        "Mail, HTTP and RSS write Tue, 10 May 2005 17:33:30 GMT; a sitemap writes 2005-05-10T17:33:30Z. Crawlers ignore the former, and the schema rejects it.", [(Yandex, W), (Baidu, W)];
    LASTMOD_EPOCH "lastmod-epoch" E(DATE_IGNORED) Field Ask W3C,
        "a Unix timestamp instead of a date",
        "Ten or thirteen digits look like seconds or milliseconds since 1970 (a Unix timestamp). A sitemap needs a date. Crawlers ignore the number, and the schema rejects it.", [(Yandex, W), (Baidu, W)];
    LASTMOD_LOCALE "lastmod-locale" E(DATE_IGNORED) Field Ask W3C,
        "a date in a local notation",
        "10.05.2005 and 10/05/05 put day, month and year in a national order. Write the year first: 2005-05-10. Crawlers cannot guess the order and ignore the value.", [(Yandex, W), (Baidu, W)];
    LASTMOD_MULTIPLE "lastmod-multiple" E(DATE_IGNORED) Field Ask TAGS,
        "several dates in one value",
        "lastmod is one moment: when the page last changed. Keep the newest of the dates. Crawlers ignore the value, and the schema rejects it.", [(Yandex, W), (Baidu, W)];
    LASTMOD_YEAR_RANGE "lastmod-year-range" W(DATES_DISTRUSTED) Field None PRACTICE,
        "a date before the web",
        "No web page changed before 1990. Often a program stored an empty date as the first day of its calendar. Correct it, or leave lastmod out.";
    LASTMOD_YEAR_RANGE_DIGITS = LASTMOD_YEAR_RANGE E(DATE_IGNORED) Field None W3C,
        "a year of more than four digits, or before the year 0",
        "A year has four digits in W3C Datetime. The schema happens to accept others; crawlers do not. Usually a digit or a dash slipped in.", [(Yandex, W), (Baidu, W)];
    LASTMOD_ZERO "lastmod-zero" E(DATE_IGNORED) Field Ask PRACTICE,
        "the empty date of a database",
        "0000-00-00 and 0001-01-01 stand for \"no date\" in databases. In a sitemap, omit lastmod instead. Crawlers report or ignore the value.", [(Yandex, W), (Baidu, W)];
    LASTMOD_ZERO_UNIX = LASTMOD_ZERO W(DATES_DISTRUSTED) Field Ask PRACTICE,
        "1970-01-01, the zero of Unix time",
        "The date is valid, but no page changed on the day Unix time begins: a program wrote an empty date. Crawlers that find such dates trust the others less. Leave lastmod out instead.";
    LASTMOD_NEGATIVE_ZERO "lastmod-negative-zero" I(HARMLESS) Field Safe RFC3339,
        "the zone -00:00",
        "RFC 3339 reads -00:00 as \"UTC, but the local zone is unknown\"; ISO 8601 forbids it. +00:00 is the same moment and unambiguous. Readers accept either.";
    LASTMOD_FUTURE "lastmod-future" W(DATES_DISTRUSTED) Field Ask BING,
        "a date in the future",
        "lastmod says when the page last changed; that cannot be more than a day ahead. Bing is reported to reject such dates, and crawlers that notice trust the others less.";
    LASTMOD_MISSING "lastmod-missing" I(HINT) Entry None BING,
        "no lastmod, although other entries have one",
        "Some entries of the set are dated and this one is not. Bing asks for lastmod on every URL; Google uses it where it proves accurate. An invented date would be worse than none.";
    LASTMOD_DATE_ONLY "lastmod-date-only" OFF(HINT) Field None BING,
        "a date without a time",
        "Bing asks for date and time, because it schedules by the hour. A date alone is valid and loses nothing else. Only add a time that is known.", [(Bing, I)];

    CHANGEFREQ_INVALID "changefreq-invalid" E(VALUE_IGNORED) Field Ask TAGS,
        "not one of the seven words",
        "changefreq is always, hourly, daily, weekly, monthly, yearly or never. Any other word is ignored, and the schema rejects the file.", [(Google, W), (Bing, W), (Yandex, W)];
    CHANGEFREQ_CASE "changefreq-case" E(VALUE_IGNORED) Field Safe SCHEMA_CHANGEFREQ,
        "capital letters in changefreq",
        "The seven words are written in lower case. The schema rejects other spellings; most crawlers that read changefreq accept them.", [(Google, OFF), (Bing, OFF), (Yandex, W)];
    CHANGEFREQ_IGNORED "changefreq-ignored" OFF(ENGINE_IGNORES) Set None GOOGLE_BUILD,
        "changefreq has no effect here",
        "Google and Bing ignore changefreq. It does no harm, but has no effect.", [(Google, I), (Bing, I)];
    CHANGEFREQ_LASTMOD_CONFLICT "changefreq-lastmod-conflict" I(HINT) Entry None PRACTICE,
        "changefreq and lastmod contradict each other",
        "A page that changes daily or more often was last changed over a year ago, or one that never changes changed within the last day. One of the two is out of date.", [(Google, OFF), (Bing, OFF)];

    PRIORITY_INVALID "priority-invalid" E(VALUE_IGNORED) Field Ask SCHEMA_PRIORITY,
        "not a decimal number",
        "priority is a number from 0.0 to 1.0, with a point. Words, percentages and fractions are ignored, and the schema rejects the file.", [(Google, W), (Bing, W), (Yandex, W)];
    PRIORITY_COMMA "priority-comma" E(VALUE_IGNORED) Field Safe SCHEMA_PRIORITY,
        "a comma instead of a point",
        "priority is written with a point, whatever the language of the site. The schema rejects 0,5, and crawlers ignore it.", [(Google, W), (Bing, W), (Yandex, W)];
    PRIORITY_RANGE "priority-range" E(VALUE_IGNORED) Field Ask TAGS,
        "not between 0.0 and 1.0",
        "priority is a number from 0.0 to 1.0; the default is 0.5. Other numbers are ignored, and the schema rejects the file.", [(Google, W), (Bing, W), (Yandex, W)];
    PRIORITY_FORM "priority-form" I(HARMLESS) Field Safe SCHEMA_PRIORITY,
        "an unusual number format",
        "The number is valid, but written in a way that not every reader expects: .5, 1., +0.5, -0, 00.5 or 0.50000. One digit, a point and one digit works everywhere.", [(Google, OFF), (Bing, OFF)];
    PRIORITY_PRECISION "priority-precision" I(HARMLESS) Field Ask PRACTICE,
        "more than two decimals",
        "No crawler distinguishes thousandths of a priority. The value is valid; it usually is a calculated number that was never rounded.", [(Google, OFF), (Bing, OFF)];
    PRIORITY_IGNORED "priority-ignored" OFF(ENGINE_IGNORES) Set None GOOGLE_BUILD,
        "priority has no effect here",
        "Google and Bing ignore priority; Yandex documents that it affects the order of loading. It does no harm.", [(Google, I), (Bing, I)];
}
