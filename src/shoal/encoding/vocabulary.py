"""What the name of a column says about people, in the common European languages.

A name is split into words (`birthDate`, `birth-date`, `birth_date`: birth, date), folded to plain
letters (`Größe`: grosse), and runs of up to three of them are looked up, written together. Where several
match, the last one wins: it is what the name is about (a `health region` is a region). A word that is
not known is looked up by a long known word at its begin or end (`fatheduc`, `lowincome`).

The languages are English, German, French, Spanish, Italian, Dutch, Portuguese, Polish, Danish,
Norwegian, Swedish and Finnish. Words that mean something else in another of them are left out.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Literal

Hint = Literal["person", "household", "quasi", "sensitive", "preference", "weight"]

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
LONGEST_RUN = 3
SHORTEST_PART = 5
"""Letters that a known word has at least to be recognised inside of a longer one."""
SPECIAL = str.maketrans(
    {"ß": "ss", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "ł": "l", "Ł": "L"}
    | {"đ": "d", "Đ": "D", "ı": "i", "þ": "th", "Þ": "Th", "ð": "d", "Ð": "D"}
)
"""Letters that Unicode does not decompose into a plain one and an accent."""


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


PERSON = word_set(
    """
    surname forename firstname lastname fullname givenname familyname middlename maidenname
    nickname username login email mail emailaddress phone telephone tel mobile cellphone fax ssn
    socialsecurity passport licence license licenceplate licenseplate plate vin iban bic
    accountnumber accountno creditcard cardnumber ip ipaddress macaddress deviceid imei uuid guid
    patnum patientnum persnum personnum pidnum subjnum respnum membernum
    mrn medicalrecord recordnumber nhsnumber nino insurancenumber policynumber taxid taxnumber
    nationalid nationalinsurance address addressline homeaddress street url website
    homepage photo picture signature fingerprint twitter facebook
    vorname nachname familienname geburtsname benutzername telefon telefonnummer handy handynummer
    mobiltelefon anschrift adresse strasse hausnummer kontonummer bankverbindung kreditkarte
    sozialversicherungsnummer steuerid steueridentifikationsnummer steuernummer versichertennummer
    krankenversichertennummer personalausweis ausweisnummer reisepass kennzeichen unterschrift
    prenom nomdefamille nomprenom courriel telephoneportable adressepostale rue numerosecu numsecu
    securitesociale nir carteidentite passeport immatriculation
    apellido apellidos nombrecompleto correo correoelectronico telefono movil direccion domicilio
    calle dni nie nif pasaporte cuentabancaria tarjetacredito
    cognome codicefiscale cellulare indirizzo targa partitaiva
    voornaam achternaam familienaam geboortenaam gebruikersnaam telefoonnummer telefoon adres straat
    huisnummer bsn burgerservicenummer rekeningnummer kenteken rijbewijs paspoort
    apelido sobrenome telefone telemovel morada endereco cpf cartaocidadao passaporte
    nazwisko imienazwisko komorka ulica pesel nip paszport
    fornavn etternavn efternavn fornamn efternamn telefonnr epost epostadresse sahkoposti
    mobilnummer gatuadress vej personnummer personnr fodselsnummer cpr cprnummer
    henkilotunnus hetu etunimi sukunimi puhelin puhelinnumero osoite katuosoite
    """
)
"""Identifies one person, whatever the values look like."""

PEOPLE = word_set(
    """
    first last full given family middle maiden legal birth display person people patient
    customer client user employee worker staff member student pupil teacher citizen resident
    applicant respondent subject participant donor passenger contact mother father parent child
    spouse partner doctor physician nurse
    patienten patientin kunde kunden klient mitarbeiter mitglied schuler teilnehmer proband personen
    salarie employe eleve etudiant membre personne assure
    paciente cliente empleado alumno estudiante miembro participante persona
    paziente dipendente studente socio partecipante
    klant medewerker leerling deelnemer persoon lid
    funcionario aluno pessoa utente
    pacjent pracownik uczen uczestnik osoba osoby
    pasient kund ansatt anstalld elev medlem deltager deltager potilas asiakas henkilo
    """
)
"""Together with `name` or `id`, the name or number of one person."""
NAME_WORDS = word_set("name names nom nome nombre naam navn namn nimi imie")
ID_WORDS = word_set(
    """
    id ids identifier key number no nr num code nummer kennung kennziffer schlussel numero numer
    identifiant identificador identificativo codigo codice kod kode kenmerk tunnus identyfikator
    """
)

NUMBERED = ("num", "nbr", "nummer")
"""Ends of words that are numbers too: `pidnum`, `villnum`."""

HOUSEHOLD = word_set(
    """
    householdid householdnumber householdno householdnr householdkey hhid hhno hhnr hhnum hhserial
    hid famid familyid familynumber familyno dwellingid haushaltsid haushaltsnummer haushaltsnr
    haushaltid idmenage menageid numeromenage hogarid idhogar numerohogar idfamiglia famigliaid
    huishoudid huishoudennummer idagregado gospodarstwoid husholdningsid husholdid hushallsid
    kotitalousid
    """
)
"""The number of a household."""

WEIGHT = word_set(
    """
    fnlwgt finalwgt wtmec wtmec2yr wtmec4yr wtmecprp wtint wtint2yr wtint4yr wtintprp wtssall wtssnr
    wtssps hrf fexp facteurpond facteurponderation facteurdeponderation
    perwt hhwt pweight pwgt pwgtp wgtp finalweight sampleweight samplingweight surveyweight
    personweight householdweight designweight analysisweight populationweight weightfactor
    expansionfactor hochrechnungsfaktor gewichtungsfaktor stichprobengewicht ponderation
    poidssondage factorexpansion factordeexpansion ponderacion pesocampionario weegfactor
    weegfaktor fatorexpansao wagaanalityczna
    """
)
"""A survey weight, whatever the values are."""
MAYBE_WEIGHT = word_set(
    "weight weights wt wgt wght gewicht gewichtung poids peso vekt vikt waga paino"
)
"""A survey weight, or the weight of a body: the values decide."""

QUASI = word_set(
    """
    age ages agegroup sex gender birth birthdate birthday birthyear birthmonth birthplace
    dateofbirth placeofbirth dob yob born deathdate zip zipcode postcode postalcode postal race
    ethnicity ethnic ethn ethnicgroup black hispanic hispan hisp asian white female
    male
    nationality citizenship country nativecountry origin immigrant immigration migrant city town
    village county state province region reg district municipality borough neighbourhood
    neighborhood area location residence latitude longitude lat lon lng geo urban rural metro
    metropolitan msa smsa puma tract south north west east
    education educationlevel educ degree enrolled enroll
    school schooling qualification university marital maritalstatus married marry divorced divorce
    widowed spouse civilstatus marstat employmentstatus workstatus workstat wrkstat literacy
    occupation occ job jobtitle profession position employment employed unemployed employer
    selfemployed workclass industry hours workhours workinghours hoursperweek exper experience
    language mothertongue household householdsize children kids dependents relationship familysize
    height admission admitted discharge discharged
    visit visitdate tenure rank department housing vehicle car veteran eyecolour eyecolor haircolour
    haircolor
    alter altersgruppe geschlecht geburtsdatum geburtstag geburtsjahr geburtsort geburt plz
    postleitzahl ort wohnort stadt gemeinde kreis landkreis bezirk bundesland land
    staatsangehorigkeit nationalitat herkunft migrationshintergrund familienstand verheiratet beruf
    tatigkeit branche bildung bildungsabschluss schulabschluss schule ausbildung haushalt
    haushaltsgrosse kinder kinderzahl sprache muttersprache grosse korpergrosse aufnahmedatum
    entlassungsdatum arbeitszeit wochenstunden beschaftigung
    sexe naissance datenaissance datedenaissance lieunaissance lieudenaissance codepostal ville
    commune departement pays nationalite etatcivil situationfamiliale situationmatrimoniale metier
    emploi diplome niveauetudes enfants langue taille menage
    edad sexo genero fechanacimiento fechadenacimiento nacimiento lugarnacimiento codigopostal
    ciudad municipio provincia comunidad pais nacionalidad estadocivil ocupacion profesion oficio
    educacion estudios nivelestudios hijos idioma estatura hogar
    eta sesso nascita datanascita datadinascita luogonascita cap codicepostale citta comune
    regione paese nazionalita cittadinanza statocivile occupazione professione mestiere istruzione
    titolodistudio titolostudio figli lingua altezza famiglia
    leeftijd geslacht geboortedatum geboortejaar geboorteplaats woonplaats stad gemeente
    provincie nationaliteit burgerlijkestaat beroep opleiding opleidingsniveau kinderen taal lengte
    huishouden
    idade datanascimento datadenascimento nascimento naturalidade codigopostal cidade concelho
    distrito nacionalidade profissao ocupacao escolaridade educacao filhos altura agregado
    wiek plec dataurodzenia rokurodzenia miejsceurodzenia kodpocztowy miasto gmina powiat
    wojewodztwo kraj narodowosc obywatelstwo stancywilny zawod wyksztalcenie dzieci jezyk wzrost
    alder kjonn kon fodselsdato fodselsar fodelsedatum fodelsear fodested fodelseort postnummer
    postnr kommune kommun fylke landsdel by lan sivilstatus sivilstand civilstand civilstatus yrke
    erhverv utdanning uddannelse utbildning barn sprak sprog hoyde hojde langd husholdning hushall
    nasjonalitet nationalitet
    ika sukupuoli syntymaaika syntymavuosi syntymapaikka postinumero kunta kaupunki maakunta maa
    kansalaisuus siviilisaaty ammatti koulutus lapset kieli pituus kotitalous
    """
)
"""What neighbours, colleagues or another table may know about a person."""

SENSITIVE = word_set(
    """
    disease diseases diagnosis diagnoses illness condition symptom symptoms complaint treatment
    therapy medication medicine drug drugs prescription procedure surgery icd hiv aids disability
    disorder hepatitis tuberculosis tb tumor tumour cancer diabetes asthma epilepsy depression
    stroke infection allergy allergies pregnancy pregnant health medical vaccination bloodtype
    bloodpressure systolic diastolic cholesterol glucose hemoglobin haemoglobin creatinine
    viralload cd4 cd8 mentalhealth smoker smoking alcohol suicide abortion
    status event outcome relapse recurrence
    salary income wage wages pay payment earnings earn revenue
    bonus credit creditscore debt loan balance wealth assets savings mortgage capitalgain
    capitalloss expenditure expenditures expense expenses spending spent poverty welfare
    iq testscore score
    religion religious faith belief denomination politics political party vote union
    sexualorientation orientation sexuality criminal crime offence offense conviction convictions
    arrest arrests prison sentence genetic genotype dna gene biometric testresult labresult
    krankheit erkrankung diagnose diagnosen befund behandlung medikament schwangerschaft gesundheit
    behinderung gehalt einkommen lohn verdienst schulden vermogen ausgaben konfession partei
    gewerkschaft vorstrafe vorstrafen
    maladie diagnostic traitement medicament grossesse sante handicap salaire revenu revenus dette
    depenses syndicat
    enfermedad diagnostico tratamiento medicamento embarazo salud discapacidad salario sueldo
    ingreso ingresos renta deuda gasto gastos sindicato
    malattia diagnosi trattamento farmaco gravidanza salute disabilita stipendio reddito debito
    spesa spese religione sindacato
    ziekte behandeling medicijn zwangerschap gezondheid salaris inkomen loon uitgaven geloof
    vakbond
    doenca tratamento gravidez saude deficiencia rendimento divida despesa despesas religiao
    choroba diagnoza rozpoznanie leczenie lek ciaza zdrowie pensja wynagrodzenie dochod zarobki
    dlug wydatki religia
    sykdom sygdom sjukdom diagnos behandling medisin graviditet helse halsa lonn lon inntekt
    indkomst inkomst gjeld gaeld skuld fagforening fackforbund
    sairaus diagnoosi hoito laake raskaus terveys palkka tulot velka uskonto
    """
)
"""What people may want to keep to themselves."""

PREFERENCE = word_set(
    """
    protectionlevel protectionlevels privacylevel privacypreference privacypreferences
    protectionpreference ppl guardingnode protection privacy
    """
)
"""The protection that people prefer."""

POSTAL = word_set(
    """
    zip zipcode zipcd zipc homezip ptzip patientzip zcta postcode postalcode postal plz
    postleitzahl codepostal codigopostal cap
    codicepostale kodpocztowy postnummer postnr postinumero
    """
)
"""Codes that are generalised by masking characters from the right."""

NOMINAL = word_set(
    """
    region reg district province state county country nativecountry city municipality birthplace
    race
    ethnicity ethnic ethnicgroup nationality citizenship origin language religion denomination
    marital maritalstatus civilstatus occupation occ job profession industry workclass
    employmentstatus
    bundesland land kreis landkreis bezirk gemeinde stadt staatsangehorigkeit nationalitat herkunft
    sprache konfession familienstand beruf branche
    departement commune pays nationalite langue etatcivil situationfamiliale situationmatrimoniale
    metier religionsgemeinschaft
    comunidad provincia municipio pais nacionalidad idioma estadocivil ocupacion profesion oficio
    regione comune paese nazionalita cittadinanza lingua statocivile occupazione professione
    religione
    provincie gemeente nationaliteit taal burgerlijkestaat beroep geloof
    concelho distrito nacionalidade profissao ocupacao religiao
    wojewodztwo powiat gmina kraj narodowosc obywatelstwo jezyk stancywilny zawod religia
    fylke kommune kommun sivilstatus sivilstand civilstand yrke erhverv sprak sprog nasjonalitet
    maakunta kunta kansalaisuus siviilisaaty ammatti kieli uskonto
    """
)
"""Things without an order: their numbers are codes."""

PLACES = word_set(
    """
    address addressline homeaddress street city town village county parish precinct district
    municipality borough neighborhood neighbourhood suburb latitude longitude lat lon lng geocode
    geohash gps latlon latlong coordinates censusblock censustract tract addr homeaddr
    blockgroup puma fips msa smsa birthplace placeofbirth
    adresse anschrift strasse hausnummer ort wohnort geburtsort stadt stadtteil ortsteil
    gemeinde kreis
    landkreis bezirk
    adressepostale rue ville quartier commune arrondissement departement lieunaissance
    lieudenaissance lieuderesidence
    direccion domicilio calle barrio ciudad localidad municipio provincia lugarnacimiento
    lugardenacimiento
    indirizzo quartiere citta comune luogonascita luogodinascita
    adres straat huisnummer woonplaats geboorteplaats wijk stad gemeente
    morada endereco bairro cidade concelho freguesia distrito naturalidade
    ulica dzielnica miasto miejscowosc miejsceurodzenia gmina powiat
    gatuadress gate vej bydel bostedsadresse bostadsort bosted fodested fodelseort kommune kommun
    osoite katuosoite kaupunki kaupunginosa kunta syntymapaikka kotikunta
    """
)
"""Places smaller than a state."""

BIRTH_YEARS = word_set(
    """
    birthyear birthyr yearofbirth yearborn yearbirth dobyear dobyr yob geburtsjahr
    anneenaissance anneedenaissance anonacimiento
    anodenacimiento annonascita annodinascita geboortejaar anonascimento anodenascimento
    rokurodzenia
    fodselsar fodelsear syntymavuosi
    """
)
BIRTHS = BIRTH_YEARS | word_set(
    """
    dob birthdate birthday dateofbirth geburtsdatum geburtstag gebdatum gebdat datenaissance
    datedenaissance ddn fechanacimiento fechadenacimiento datanascita datadinascita geboortedatum
    datanascimento datadenascimento dataurodzenia fodselsdato fodselsdag fodelsedatum fodelsedag
    syntymaaika syntymapaiva
    """
)
"""Dates or years of birth."""
WHOLE_BIRTHS = word_set(
    "birth born geburt geboren naissance nacimiento nascita geboorte nascimento"
)
"""Dates or years of birth where the name has no other word: a birth weight is none."""

DATES = BIRTHS | word_set(
    """
    date dates datetime timestamp dod birthdate deathdate admitdate admdate admissiondate dischdate
    dischargedate visitdate servicedate surgerydate dt admitdt admdt dischdt visitdt servicedt
    datum dato datoer fecha pvm paivamaara
    aufnahmedatum entlassungsdatum sterbedatum todesdatum behandlungsdatum
    opnamedatum ontslagdatum overlijdensdatum
    dataricovero datadiricovero dataammissione datadimissione datadecesso datavisita
    dataadmissao dataalta datainternamento dataobito dataconsulta
    dataprzyjecia datawypisu datazgonu datawizyty
    innleggelsesdato utskrivningsdato indlaeggelsesdato udskrivningsdato dodsdato
    inskrivningsdatum utskrivningsdatum dodsdatum tulopaiva lahtopaiva kuolinpaiva kayntipaiva
    """
)
"""Dates."""
DATE_ENDS = ("datum", "datums", "sdato", "paiva")
"""Ends of words that are dates too: `aufnahmedatum`, `operasjonsdato`."""

AGES = word_set(
    "age ages ageyrs patientage ptage agey alter lebensalter edad eta leeftijd idade wiek alder ika"
)
"""Ages; in years, where no word says otherwise."""
AGE_GROUPS = word_set(
    """
    agegroup agegrp ageband agerange ageclass ageyears altersgruppe altersklasse grupoedad
    grupodeedad
    gruppoeta fasciaeta fasciadieta leeftijdsgroep leeftijdsklasse grupoetario faixaetaria
    grupawiekowa
    aldersgruppe aldersgrupp ikaryhma
    """
)
"""Ages that are grouped already."""
SHORT_TIMES = word_set(
    """
    month months week weeks day days monat monate monaten woche wochen tag tage tagen mois semaine
    semaines jour jours mes meses semana semanas dia dias mese mesi settimana settimane giorno
    giorni
    maand maanden weken dagen miesiac miesiace miesiecy tydzien tygodnie dzien dni maned maneder
    uke uker manad manader vecka veckor dager dage kuukausi kuukautta viikko viikkoa paivaa
    """
)
"""Parts of a year."""
DATE_PARTS = word_set(
    """
    birthmonth monthofbirth dayofbirth admissionmonth dischargemonth deathmonth visitmonth
    monthofadmission monthofdischarge monthofdeath monthofvisit dow
    weekday dayofweek admissionday dischargeday geburtsmonat aufnahmemonat entlassungsmonat
    sterbemonat wochentag moisnaissance moisdenaissance joursemaine jourdelasemaine mesnacimiento
    mesdenacimiento diasemana diadelasemana mesenascita mesedinascita giornosettimana
    giornodellasettimana geboortemaand opnamemaand weekdag mesnascimento mesdenascimento
    miesiacurodzenia dzientygodnia fodselsmaned fodelsemanad ukedag ugedag veckodag syntymakuukausi
    viikonpaiva
    """
)
"""Parts of dates other than the year."""

WEAK = word_set("status event score")
"""Words that say something only where no other word of the name does."""

PARTS = word_set("educ wage wages birth race marr")
"""Shorter words that are recognised inside of longer ones too."""

HINTS: dict[str, Hint] = {
    **dict.fromkeys(SENSITIVE, "sensitive"),
    **dict.fromkeys(QUASI, "quasi"),
    **dict.fromkeys(PERSON, "person"),
    **dict.fromkeys(HOUSEHOLD, "household"),
    **dict.fromkeys(PREFERENCE, "preference"),
    **dict.fromkeys(WEIGHT, "weight"),
}
LONG_HINTS = {
    word: hint
    for word, hint in HINTS.items()
    if hint in ("quasi", "sensitive") and (len(word) >= SHORTEST_PART or word in PARTS)
}
"""The words that are recognised inside of others."""
INSIDE = re.compile(
    r"^(?:{0})|(?:{0})$".format("|".join(sorted(LONG_HINTS, key=lambda word: (-len(word), word))))
)


def folded(name: str) -> str:
    """A name in plain letters, without accents."""
    parts = unicodedata.normalize("NFKD", name.translate(SPECIAL))
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


def words_of(name: str) -> list[str]:
    """The words of a column's name, in plain lower case."""
    return [word.lower() for word in WORD.findall(folded(name))]


def hint_of(name: str) -> tuple[Hint, str] | None:
    """The meaning of a column's name and the words that give it; None for a name without one."""
    words = words_of(name)
    if identifies_a_person(words):
        return "person", " ".join(words)
    best: tuple[bool, int, int, Hint, str] | None = None
    for start, end in _runs(words):
        run = "".join(words[start:end])
        hint = _known(run)
        # the last word wins; of two runs that end there, the longer one is more specific
        key = (run not in WEAK, end, end - start)
        if hint and (best is None or key > best[:3]):
            best = (*key, hint, " ".join(words[start:end]))
    if best is not None:
        return best[3], best[4]
    for word in reversed(words):
        inside = INSIDE.search(word)
        if inside:
            return LONG_HINTS[inside.group()], inside.group()
    return None


def meaning_of(name: str, meanings: Mapping[str, frozenset[str]]) -> str | None:
    """The first of the meanings that a run of a name's words has; None for a name without one."""
    runs = runs_of(name)
    return next((meaning for meaning, known in meanings.items() if runs & known), None)


def runs_of(name: str) -> set[str]:
    """Runs of a name's words, written together, with umlauts as one letter and as two."""
    words = words_of(name)
    runs = {"".join(words[start:end]) for start, end in _runs(words)}
    return runs | {without_umlauts(run) for run in runs}


def _runs(words: list[str]) -> Iterator[tuple[int, int]]:
    """Where each run of up to three words starts and ends."""
    for start in range(len(words)):
        for end in range(start + 1, min(start + LONGEST_RUN, len(words)) + 1):
            yield start, end


def _known(word: str) -> Hint | None:
    """The meaning of a word, whether its umlauts are written as one letter or as two."""
    found = HINTS.get(word)
    return HINTS.get(without_umlauts(word)) if found is None else found


def without_umlauts(word: str) -> str:
    """A word whose umlauts are written as two letters (`groesse`), with one for each."""
    return word.replace("ae", "a").replace("oe", "o").replace("ue", "u")


def is_number_name(name: str) -> bool:
    """Whether a name ends like those of keys and serial numbers: `ward_id`, `case no`."""
    words = words_of(name)
    return bool(words) and (words[-1] in ID_WORDS or words[-1].endswith(NUMBERED))


def is_postal(name: str) -> bool:
    """Whether a name is that of a postal code."""
    words = words_of(name)
    pairs = ["".join(pair) for pair in pairwise(words)]
    return not POSTAL.isdisjoint([*words, *pairs])


def names_a_nominal(name: str) -> bool:
    """Whether a name is that of something without an order: regions, occupations, religions."""
    hint = hint_of(name)
    return hint is not None and hint[1].replace(" ", "") in NOMINAL


def may_be_weight(name: str) -> bool:
    """Whether a name is that of a survey weight, or of the weight of a body."""
    return not MAYBE_WEIGHT.isdisjoint(words_of(name))


def identifies_a_person(words: list[str]) -> bool:
    """`name`, `patient name`, `nom patient`, `id`, `patient id`; not `country name`, `ward id`."""
    if words in (["id"], ["ids"], ["identifier"]):
        return True
    for about, others in ((words[-1:], words[:-1]), (words[:1], words[1:])):
        if about and set(others) <= PEOPLE:
            if about[0] in NAME_WORDS:
                return True
            if others and about[0] in ID_WORDS:
                return True
    return False
