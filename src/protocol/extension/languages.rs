//! Three-letter language codes (ISO 639-3, individual languages and macrolanguages).
//!
//! The table answers only whether a code exists. It has the first two letters of codes, followed by all third letters:
//! `aabc` stands for `aab` and `aac`. Source: code set of 2025 (SIL International, ISO 639-3).

const LANGUAGES: &str = "aaabcdefghiklnopqrstuwxz ababcdefghijklmnopqrstuvwxyz acabdefhiklmnpqrstuvwxyz \
    adabdefghijlnoqrstuwxyz aeabcdeklmnqrsuwyz afbdeghiknoprstuz agabcdefghijklmnoqrstuvwxyz \
    ahabghiklmnoprst aiabcdefghijklmnopqrtwxy ajaginsuwz akabcdefghijklmopqrstuvwxyz \
    alacdefhijklmnopqrstuwxyz amabcefghijklmnopqrstuvwxyz anabcdefghijklmnopqrstuvwxyz \
    aoabcdefgijklmnrstuxz apbcdefghijklmnopqrstuvwxyz aqcdgkmnprtz arabcdeghijklnopqrsuvwxyz \
    asabcefghijklmnopqrstuvwxyz atabcdegijklmnopqrstuvwxyz auabcdghijklmnopqrtuwxyz avabdeiklmnostuv \
    awabceghikmnorstuvwxy axbegklmx ayabcdeghiklmnopqrstuz azabdegjmnotz baabcefghjklmnoprsuvwxy \
    bbabcdefghijklmnopqrstuvwxy bcabcdefghijklmnopqrstuvwyz bdabcdefghijklmnopqrstuvwxyz \
    beabcdefghijklmnopqstuvwxyz bfabcdefghijklmnopqrstuwxyz bgabcdefgijklnopqrstuvwxyz \
    bhabcdefghijlmnopqrstuvwxyz biabdefgklmnopqrstuvwxyz bjabcefghijklmnoprstuvwxyz \
    bkacdfghijklmnopqrstuvwxyz blabcdefhijklmnopqrstvwxyz bmabcdefghijklmnopqrstuvwxz \
    bnabcdefgijklmnopqrsuvwxyz boabdefghijklmnopqrstuvwxyz bpacdeghijklmnopqrstuvwxyz \
    bqabcdfghijklmnopqrstuvwxyz brabcdefghijklmnopqrstuvwxyz bsabcefghijklmnopqrstuvwxy \
    btacdefghijmnopqrstuvwxyz buabcdefghijklmnopqstuvwxyz bvabcdefghijklmnopqrtuvwxyz \
    bwabcdefghijklmnopqrstuwxyz bxabcdefghijklmnopqrsuvwz byabcdefghijklmnopqrstvwxz \
    bzabcdefghijklmnopqrstuvwxyz caabcdefghjklmnopqrstvwxyz cbbcdgijklnoqrstuvwy cccdeghjlmopr \
    cdaefhijmnorsyz ceabgknsty cfadgm cgacgk chabcdefghjklmnopqrtuvwxyz ciabcdehkmnprwy cjaehikmnopsvy \
    ckbhlmnoqrstuvxyz clacdehijklmotuwy cmaegilmnorst cnabcghiklopqrstuwx coabcdefghjklmnopqrstuvwxz \
    cpabcginosuxy cqd crabcdefghijklmnoqrstvwxyz csabcdefghijklmnopqrstvwxyz ctacdeghlmnopstuyz \
    cuabchijklopqrtuvwxy cvgn cwabdegt cxh cyabmo czhknot daacdeghijklmnoqrsuvwxz dbabdefgijlmnopqrtuvwy \
    dccr ddadegijnorsw decdefghiklmnpqrsuvz dgabcdeghiklnorstwxz dhdgilmnorsuvwx \
    diabcdfghijklmnopqrsuvwxyz djabcdefijkmnoruw dkagkrsx dlgkmn dmabcdefgklmorsuvwxy dnadegijknortuvwy \
    doabcefhiklnopqrstvwxyz dpp drbcdegilnoqstuy dsbehiklnoqz dtabdhikmnoprstuy \
    duabcefghiklmnopqrsuvwxyz dva dwakrsuwyz dyabdgimnoruy dzadeglno eaa ebcgkoru ecrsy eee efaei \
    egalmoy ehsu eiptv eja ekaegiklmopry elehiklmoux emabegikmnpqsuwxyz enabcdfghlmnoqruvwx eot epio \
    eraghikorstw eseghiklmnoqstuy etbchnorstuxz euds evehn eweo ext eyao ezae faabdfghijklmnoprstuxyz \
    fbl fcs fer ffim fgr fiaefjlnprtw fkkv flahilnry fmpu fnbgi fodimnrs fpe fqs fracdkmopqrsty fsels \
    fubcdefhijlmnqrtuvy fvr fwae gaabcdefghijklmnopqrstuwxyz gbabdefghijklmnopqrsuvwxyz gccdeflnrt \
    gdabcdefghijklmnoqrstux geabcdfghijklqsvwxyz gfkt ggabdegkltuw ghacehklnorst giabcdeghilmnpqrstuwxyz \
    gjkmnru gkadenopu glabcdeghjkloruvwy gmabdghlmnruvxyz gnabcdeghijklmnoqrtuwz \
    goabcdefghijklmnopqrstuvwxyz gpaen gqainru grabcdghijmnoqrstuvwxyz gseglmnopsw gtau \
    guabcdefghijklmnopqrstuwxz gvacefjlmnoprsy gwabcdefgijmnrtuwx gxx gyabdefgilmnoryz gzain \
    haabcdefghijklmnopqrstuvwxyz hbabnosu hcah hdnsy heabdghimr hgmw hhiry hiabdfghijklnortwx hji \
    hkaehkns hlabdetu hmabcdefghijklmnopqrstuvwyz hnadeghijnosu hoabcdehijlmoprstvwyz hpos \
    hracekmoptuvwxz hsbhlns htiosux hubcdefghijklmnopqrstuvwxyz hvceknv hwaco hyaew iainr \
    ibabdeghlmnoruy icahlr idabcdeiorstu ifabefkmuy igbeglmnosw ihbipw iiin ijcejns ikehikloprstuvwxz \
    ilabegikmopsuv imailnorsty inabdghjlmnopstz ioruw ipiko iquw irehiknruxy isacdeghiklmnortu \
    itabdeiklmorstvwxyz ium ivbv iwkmos ixcl iyaox izhmrz jaabcdefhjklmnoqstuvxyz jbeijkmnortuw jcst \
    jdagt jebehiklnrtu jgbeko jhis jiabcdeghilmoqtuvy jjer jkamoprsu jles jmabcdilnrswx jnadgijls \
    jobdgrsw jpanr jqr jrabrtu jsl juabcdhiklmnoprstuwy jvdn jwi jyaey kaabcdefghijklmnopqstuvwxyz \
    kbabcdeghijklmnopqrstuvwxyz kcabcdefghijklmnopqrstuvwxyz kdacdefghijklmnpqrtuwxyz \
    keabcdefghijklmnopqrstuvwxyz kfabcdefghijklmnopqrstuvwxyz kgabefgijklnopqrstuvwxy \
    khabcdefghjklmnopqrstuvwxyz kiabcdefghijklmnopqrstuvwxyz kjabcdeghijklmnopqrstuvxyz \
    kkabcdefghijklmnopqrstuvwxyz klabcdefghijklmnopqrstuvwxyz kmabcdefghijklmnopqrstuvwxyz \
    knabcdefgijklmnopqrstuvwxyz koacdefghiklmnopqrstuvwyz kpabcdefghijklmnoqrstuvwxyz \
    kqabcdefghijklmnopqrstuvwxyz krabcdefhijklnprstuvwxyz ksbcdefghijklmnopqrstuvwxyz \
    ktabcdefghijklmnopqstuvwxyz kuabcdefghijklmnopqrstuvwxyz kvabcdefghijklmnopqrtuvwxyz \
    kwabcdefghijklmnoprstuvwxyz kxabcdfhijkmnopqrstvwxyz kyabcdefghijklmnopqrstuvwxyz \
    kzabcdefgiklmnopqrsuvwxyz laabcdefghijlmnopqrstuvwxyz lbbcefgijklmnoqrstuvwxyz lccdefhlmpqs \
    ldabdghijklmnopq leabcdefhijklmnopqrstuvwxyz lfan lgabghiklmnoqrstuz lhahilmnpstu \
    liabcdefghjklmnopqrstuvwxyz ljaeilpwx lkabcdehijlmnorstuy llabcdefghijklmnpqsux \
    lmabcdefghijklnopqruvwxy lnabdghijlmnsuwz loabcefghijklmnopqrstuvwxyz lpaenox lqr lracegiklmnortvz \
    lsabcdehilmnoprstvwy ltcghinosuz luabcdefgijklmnopqrstuvwyz lvaiklsu lwaeghlmostuw lxm lyagn lzhlnz \
    maabdefghijklmnqrstuvwxz mbabcdefhijklmnopqrstuvwxyz mcabcdefghijklmnopqrstuvwxyz \
    mdabcdefghijklmnpqrstuvwxyz meabcdefhijklmnopqrstuvwyz mfabcdefghijklmnopqrstuvwxyz \
    mgabcdefghijklmnopqrstuvwyz mhabcdefgijklmnopqrstuwxyz miabcdefghijklmnopqrstuwxyz \
    mjbcdeghijklmnopqrstuvwxyz mkabcdefgijklmnopqrstuvwxyz mlabcefghijklmnopqrstuvwxz \
    mmabcdefghijklmnopqrtuvwxyz mnabcdefghijklmnpqrsuvwxyz moacdeghijkmnopqrstuvwxyz \
    mpabcdeghijklmnopqrstuvwxyz mqabcefghijklmnopqrstuvwxyz mrabcdefghijklmnopqrstuvwxyz \
    msabcdefghijklmnopqrsuvwxyz mtabcdefghijklmnopqrstuvwxy muabcdeghijklmopqrstuvxyz \
    mvabdefghiklnopqrstuvwxyz mwabcefghiklmnopqrstuvwz mxabcdefghijklmnopqrstuvwxyz \
    myabcefghjklmoprsuvwxyz mzabcdeghijklmnopqrstuvwxyz naabcefgjklmnopqrstuvwxyz \
    nbabcdeghijklmnopqrstuvwy ncabcdefghijklmnoqrstuxz ndabcdefghijklmnopqrstuvwxyz \
    neabcdefghijkmnopqrstuvwxyz nfadlru ngabcdeghijklmnpqrstuvwxyz nhabcdefghikmnopqrtuvwxyz \
    niabdefghijklmnoqrstuvwxyz njabdhijlmnorstuxyz nkabcdefghijkmnopqrstuvwxz nlacdegijklmoquvwxyz \
    nmabcdefghijklmnopqrstuvwxyz nnabcdefghijklmnopqrtuvwyz noabcdefghijklnpqrstuvwyz npabghilnosuxy \
    nqgklmnoqty nrabcefgiklmnprtuxz nsabcdefghiklmnopqrstuvwxyz ntdegijkmopruwxyz \
    nuacdefghijklmnopqrstuvwxyz nvhmo nwabcegimorwxy nxadegiklmnoqrx nyabcdefghijklmnopqrstuvwxy \
    nzabdikmrsuyz oaacrv obiklmortu ocahimou odaktu ofosu ogbcegou ohtu oiaen ojbcgipsvw \
    okabcdeghijklmnorsuvxz oladekmortu omabcgiklnoprtuwxy onabegijknoprstuwx oodgnrs opakmoty \
    oraceghimnorstuvwxyz osacinopstux otabdeiklmnqrstuwxyz ouabeim ovd owil oybdmy ozm \
    pabcdefghiklmnopqrsuvwxyz pbbcefghilmnoprstuvy pcabcdefghijklmnpw pdacinotu peabdefghijklmopqsvxyz \
    pfael pgadgiklnsuz phadghjklmnoqrtuvw piabcdefghjlmnoprstuvwxyz pjt pkabcghnoprstu \
    plabcdeghiklnoqrstuvwyz pmabdefhijlmnoqrstwxyz pnabcdeghijklmnopqrstuvwxyz pocefghiklmnopqrstvwxy \
    ppeiklmnopqstu pqam prcdefghiklmnoqrstuwxz psacdeghilmnopqrstuwy ptahinopqrtuvwy \
    puabcdefgijmopqrstuwxy pwabgimnorw pxm pyemnsuxy pzehn quabcdefghiklmnpqrsvwxyz qvacehijlmnopswyz \
    qwachmst qxachlnopqrstuw qyap raabcdfghijklmnopqrstuvwxyz rbbklp rcf rdb reabegijlmnrsty rgaeknrsu \
    rhgp riabflmnrtu rjgis rkabhimtw rmabcdefghiklmnopqstuvwxyz rnbdglnprw robcdefghlmnopruw rpnt rriot \
    rsbklmnw rtchmsw rubcefghiknopqstuyz rwaklmor rxdw rynsu rzh saabcdefghjkmnoqrstuvwxyz \
    sbabcdefghijklmnopqrstuvwxyz scbefghiklnopqstuvwx sdabcefghjklnopqrstuxz seabcdefghijklnopqrstuvwyz \
    sfbemsw sgabcdeghijkmprstuwxyz shabcdeghijklmnopqrstuvwxyz siabdefghijklmnpqrsuvwxyz \
    sjabdegklmnoprstuw skabcdefghijmnopqrstuvwxyz slcdefghijklmnprstuvwxyz smabcefghjklmnopqrstuvwxyz \
    snacdefgijklmnopqrsuvwxyz soabcdeghijklmopqrstuvwxyz spabcdegiklmnopqrstuvxy sqahikmnoqrstux \
    srabcdefghiklmnopqrstuvwxyz ssbcdefghijklmnopqrstuvwxyz stabdefghijklmnopqrstuvwy \
    suabcegijknoqrstvwxyz svabcekmsx swabcefghijklmnopqrstuvwxy sxbcegklmnorsuw syabciklmnorswxy \
    szabceglnpsvwy taabcdefghjklmnopqrstuvwxyz tbacdefghijklmnoprstuvwxyz tcabcdefghiklmnopqstuwxyz \
    tdabcdefghijklmnoqrstvxy teabcdefghiklmnopqrstuvwxyz tfinort tgabcdefhijklnopqrstuvwxyz \
    thadefhiklmnpqrstuvyz tiacfghijklmnopqrstuvwxyz tjagijlmnopsuw tkabdefglmnpqrstuvwxz \
    tlabcdfghijklmnopqrstuvxy tmabcdefghijlmnoqrstuvwyz tnabcdghiklmnopqrstuvwxyz \
    tobcdfghijklmnopqrsuvwxyz tpacefgijklmnopqrtuvxyz tqblmnopqrtuw trabcdefghijlmnopqrstuvwxyz \
    tsabcdeghijklmnopqrstuvwxyz ttabcdefghijklmnopqrstuvwyz tuabcdefghijklmnoqrsuvxyz tvadeiklmnostuwxy \
    twabcdefghilmnopqrtuwxy txabceghijmnoqrstuxy tyaehijlnprstuvxyz tzahjlmnox uamnr ubailruy udaegijlmu \
    ues ufi ugabehnoy uhan uigsv uji ukaghiklpqrsuvwy ulabcefiklmnuwy umabcdgimnoprsu unadegikmnruxz uon \
    upiv urabcdefghiklmnoprtuvwxyz usahikpsu utaehpru uumru uvehl uwa uya uzbns vaaefghijlmnoprsuvy vbbk \
    vecdlmnopr vgrt vicdefglnstv vjk vkajklmnoptuz vlps vmabcdefghijklmpqrsuvwxyz vnkmp volrt vraost \
    vsilv vto vumnt vwa waabcdefghijlmnopqrstuvwxyz wbabefhijklmpqrstvw wcai wddgjktuy weacdghimoprstuw \
    wfg wgabgiouy whagku wibcefghijklmnruvy wjai wkabdlruwy wlaceghiklmnorsuvwxy wmabcdeghimnostwx \
    wnbcdegikmnopuwy woabcdefgiklmnorswy wpc wrbghiklmnoprsuvwxyz wsagikrsuv wtbfhikmw wuabdhlmnrtuvxy \
    wwaborw wxaw wybimnry xaabcdegijklmnopqrstuvwy xbbcdegijmnoprwy xcbceghlmnortuvwy xdackmoqy \
    xebdglmprstu xfa xgabdfgilmruw xhacdemortuv xibilnrsvy xjbt xkabcdefgijklnopqrstuvwxyz \
    xlabcdeginopsuy xmabcdefghjklmnopqrstuvwxyz xnabghijkmnoqrstuyz xocdgikmnoprw \
    xpabcdefghijklmnopqrstuvwxyz xqat xrabdegimnrtuw xsabcdehijlmnopqruvy xtabcdeghijlmnopqrstuvwy \
    xuabdgjlmnoprtu xveinos xwacdegjklortw xxbkmrt xyabjklty xzhmp yaabcdefghijklmnopqrstuvwxyz \
    ybabehijklmnoxy ychlnpr ydadegk yeaceijlrstuvy ygailmprsuw yhadls yiadfghijklmnpqrstuvxz \
    ykaghiklmnortuy ylabegilmnoruy ymbcdeghiklmnopqrsxz ynadegklnoqsu yobgiklmnrtxy ypabghmnopz \
    yrabeklmnoswy yscdglmnoprsy ytalpwy yuabcdefgijklmnpqrtwxyz yvat ywaglnqrtuw yxaglmuy yyruz yzgk \
    zaabcdefghijklmopqrstuvwxyz zbaceltuw zcadh zdj zeaghmn zgabhmnr zhabdinow ziabklmnwz \
    zkadghknoprtuvz zlajmnqu zmabcdefghijklmnopqrstuvwxyz znaegks zochmoqrs zpabcdefghijklmnopqrstuvwxyz \
    zqe zragnops zsaklmru zteglmnpqstuxy zuhlmny zwa zxx zybgjnp zzaj";

/// One bit for each combination of three letters.
type Triples = [u64; 275];

static TRIPLES: Triples = triples();

/// Whether a code in lower case is a language of ISO 639-3.
pub(super) fn is_language(code: &str) -> bool {
    let [first, second, third] = code.as_bytes() else { return false };
    let letters = [*first, *second, *third];
    let index = index_of(letters);
    letters.iter().all(u8::is_ascii_lowercase)
        && TRIPLES.get(index / 64).is_some_and(|word| word & 1 << (index % 64) != 0)
}

const fn index_of(letters: [u8; 3]) -> usize {
    let [first, second, third] = letters;
    (first.wrapping_sub(b'a') as usize * 26 + second.wrapping_sub(b'a') as usize) * 26
        + third.wrapping_sub(b'a') as usize
}

/// The set of the codes in the list. Evaluated at compile time, so that a wrong index is a compile error.
const fn triples() -> Triples {
    let (list, mut set, mut at) = (LANGUAGES.as_bytes(), [0; 275], 0);
    while at < list.len() {
        let (first, second) = (list[at], list[at + 1]);
        at += 2;
        while at < list.len() && list[at] != b' ' {
            let index = index_of([first, second, list[at]]);
            set[index / 64] |= 1 << (index % 64);
            at += 1;
        }
        at += 1;
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_known_by_three_letters() {
        for code in ["aaa", "deu", "eng", "yue", "cmn", "zzj", "gsw", "nan", "arz"] {
            assert!(is_language(code), "{code}");
        }
        for code in ["", "e", "en", "zzz", "EnG", "e1g", "é", "xxx", "ger", "engl", "{{{"] {
            assert!(!is_language(code), "{code}");
        }
        let count: u32 = TRIPLES.iter().map(|word| word.count_ones()).sum();
        assert_eq!(count as usize, LANGUAGES.split(' ').map(|group| group.len() - 2).sum::<usize>());
        assert!(LANGUAGES.split(' ').is_sorted(), "by the first two letters");
    }
}
