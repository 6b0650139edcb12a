//! ISO codes of languages, scripts and countries.
//!
//! The tables answer only whether a code exists.

use super::languages;

/// Languages of two letters (ISO 639-1).
const LANGUAGES: &str = "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de \
    dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id \
    ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu \
    lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu \
    rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr \
    ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu";

/// Languages of three letters (ISO 639-2, bibliographic and terminological codes).
const LANGUAGES_OF_THREE: &str = "aar abk ace ach ada ady afa afh afr ain aka akk alb ale alg alt amh ang anp apa ara arc arg arm arn \
    arp art arw asm ast ath aus ava ave awa aym aze bad bai bak bal bam ban baq bas bat bej bel bem ben \
    ber bho bih bik bin bis bla bnt bod bos bra bre btk bua bug bul bur byn cad cai car cat cau ceb cel \
    ces cha chb che chg chi chk chm chn cho chp chr chu chv chy cmc cnr cop cor cos cpe cpf cpp cre crh \
    crp csb cus cym cze dak dan dar day del den deu dgr din div doi dra dsb dua dum dut dyu dzo efi egy \
    eka ell elx eng enm epo est eus ewe ewo fan fao fas fat fij fil fin fiu fon fra fre frm fro frr frs \
    fry ful fur gaa gay gba gem geo ger gez gil gla gle glg glv gmh goh gon gor got grb grc gre grn gsw \
    guj gwi hai hat hau haw heb her hil him hin hit hmn hmo hrv hsb hun hup hye iba ibo ice ido iii ijo \
    iku ile ilo ina inc ind ine inh ipk ira iro isl ita jav jbo jpn jpr jrb kaa kab kac kal kam kan kar \
    kas kat kau kaw kaz kbd kha khi khm kho kik kin kir kmb kok kom kon kor kos kpe krc krl kro kru kua \
    kum kur kut lad lah lam lao lat lav lez lim lin lit lol loz ltz lua lub lug lui lun luo lus mac mad \
    mag mah mai mak mal man mao map mar mas may mdf mdr men mga mic min mis mkd mkh mlg mlt mnc mni mno \
    moh mon mos mri msa mul mun mus mwl mwr mya myn myv nah nai nap nau nav nbl nde ndo nds nep new nia \
    nic niu nld nno nob nog non nor nqo nso nub nwc nya nym nyn nyo nzi oci oji ori orm osa oss ota oto \
    paa pag pal pam pan pap pau peo per phi phn pli pol pon por pra pro pus que raj rap rar roa roh rom \
    ron rum run rup rus sad sag sah sai sal sam san sas sat scn sco sel sem sga sgn shn sid sin sio sit \
    sla slk slo slv sma sme smi smj smn smo sms sna snd snk sog som son sot spa sqi srd srn srp srr ssa \
    ssw suk sun sus sux swa swe syc syr tah tai tam tat tel tem ter tet tgk tgl tha tib tig tir tiv tkl \
    tlh tli tmh tog ton tpi tsi tsn tso tuk tum tup tur tut tvl twi tyv udm uga uig ukr umb und urd uzb \
    vai ven vie vol vot wak wal war was wel wen wln wol xal xho yao yap yid yor ypk zap zbl zen zgh zha \
    zho znd zul zun zxx zza";

/// Scripts (ISO 15924).
const SCRIPTS: &str = "Adlm Afak Aghb Ahom Arab Aran Armi Armn Avst Bali Bamu Bass Batk Beng Bhks Blis Bopo Brah Brai Bugi \
    Buhd Cakm Cans Cari Cham Cher Cirt Copt Cprt Cyrl Cyrs Deva Dsrt Dupl Egyd Egyh Egyp Elba Ethi Geok \
    Geor Glag Goth Gran Grek Gujr Guru Hanb Hang Hani Hano Hans Hant Hatr Hebr Hira Hluw Hmng Hrkt Hung \
    Inds Ital Jamo Java Jpan Jurc Kali Kana Khar Khmr Khoj Kitl Kits Knda Kore Kpel Kthi Lana Laoo Latf \
    Latg Latn Leke Lepc Limb Lina Linb Lisu Loma Lyci Lydi Mahj Mand Mani Marc Maya Mend Merc Mero Mlym \
    Modi Mong Moon Mroo Mtei Mult Mymr Narb Nbat Newa Nkgb Nkoo Nshu Ogam Olck Orkh Orya Osge Osma Palm \
    Pauc Perm Phag Phli Phlp Phlv Phnx Piqd Plrd Prti Qaaa Qabx Rjng Roro Runr Samr Sara Sarb Saur Sgnw \
    Shaw Shrd Sidd Sind Sinh Sora Sund Sylo Syrc Syre Syrj Syrn Tagb Takr Tale Talu Taml Tang Tavt Telu \
    Teng Tfng Tglg Thaa Thai Tibt Tirh Ugar Vaii Visp Wara Wole Xpeo Xsux Yiii Zinh Zmth Zsye Zsym Zxxx \
    Zyyy Zzzz";

/// Countries (ISO 3166-1 alpha-2).
const COUNTRIES: &str = "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT \
    BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH \
    ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT \
    HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS \
    LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI \
    NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG \
    SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG \
    UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW";

/// A bit for each pair of letters.
type Pairs = [u64; 11];

static LANGUAGE_PAIRS: Pairs = pairs(LANGUAGES);
static COUNTRY_PAIRS: Pairs = pairs(COUNTRIES);

/// Whether a code, in any case, is a language of two letters (ISO 639-1).
pub(crate) fn is_language(code: &str) -> bool {
    is_pair(&LANGUAGE_PAIRS, code)
}

/// Whether a code in lower case is a language of two or three letters (ISO 639-1, 639-2, 639-3).
pub(crate) fn is_language_of_two_or_three(code: &str) -> bool {
    if code.len() == 2 {
        is_language(code)
    } else {
        languages::is_language(code) || is_listed((LANGUAGES_OF_THREE, 3), code)
    }
}

/// Whether a code, written like `Latn`, is a script (ISO 15924).
pub(crate) fn is_script(code: &str) -> bool {
    is_listed((SCRIPTS, 4), code)
}

/// Whether a code, in any case, is a country (ISO 3166-1 alpha-2).
pub(crate) fn is_country(code: &str) -> bool {
    is_pair(&COUNTRY_PAIRS, code)
}

/// Whether a sorted list of codes of one length, separated by spaces, contains a code.
fn is_listed((list, len): (&str, usize), code: &str) -> bool {
    let width = len + 1;
    if code.len() != len {
        return false;
    }
    let at = |entry: usize| list.get(entry * width..entry * width + len).unwrap_or_default();
    let (mut low, mut high) = (0, list.len() / width + 1);
    while low < high {
        let middle = usize::midpoint(low, high);
        match at(middle).cmp(code) {
            std::cmp::Ordering::Equal => return true,
            // Past the end of the list, the empty string compares less than any code.
            std::cmp::Ordering::Less if !at(middle).is_empty() => low = middle + 1,
            _ => high = middle,
        }
    }
    false
}

fn is_pair(pairs: &Pairs, code: &str) -> bool {
    match code.as_bytes() {
        [first, second] if first.is_ascii_alphabetic() && second.is_ascii_alphabetic() => {
            let index = index_of([*first, *second]);
            pairs.get(index / 64).is_some_and(|word| word & 1 << (index % 64) != 0)
        }
        _ => false,
    }
}

const fn index_of(pair: [u8; 2]) -> usize {
    (pair[0].to_ascii_lowercase() - b'a') as usize * 26 + (pair[1].to_ascii_lowercase() - b'a') as usize
}

/// The set of the pairs in a list. Evaluated at compile time, so that a wrong index is a compile error.
const fn pairs(list: &str) -> Pairs {
    let (list, mut set, mut at) = (list.as_bytes(), [0; 11], 0);
    while at < list.len() {
        let index = index_of([list[at], list[at + 1]]);
        set[index / 64] |= 1 << (index % 64);
        at += 3;
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_of_one_width() {
        let table = [(LANGUAGES, 2), (LANGUAGES_OF_THREE, 3), (SCRIPTS, 4), (COUNTRIES, 2)];
        for (list, width) in table {
            let codes: Vec<&str> = list.split(' ').collect();
            assert!(codes.iter().all(|code| code.len() == width));
            assert!(codes.is_sorted_by(|one, other| one < other), "{list}");
            assert!(codes.iter().all(|code| is_listed((list, width), code)));
        }
    }

    #[test]
    fn codes_are_known_or_not() {
        type Row = (fn(&str) -> bool, &'static [&'static str], &'static [&'static str]);
        let table: [Row; 4] = [
            (is_language, &["en", "EN", "zu", "aa"], &["", "e", "eng", "us", "e1", "ü", "zz"]),
            (is_language_of_two_or_three, &["en", "deu", "ger", "zza", "yue", "aaa"], &["", "zzz", "xxx", "engl", "e"]),
            (is_script, &["Latn", "Hans", "Adlm", "Zzzz"], &["latn", "Latin", "Aaaa", ""]),
            (is_country, &["GB", "us", "AD", "ZW"], &["UK", "EU", "UN", "419", "", "G"]),
        ];
        for (is_known, known, unknown) in table {
            assert!(known.iter().all(|code| is_known(code)), "{known:?}");
            assert!(unknown.iter().all(|code| !is_known(code)), "{unknown:?}");
        }
    }
}
