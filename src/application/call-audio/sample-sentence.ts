/** Sentences that present a voice, by language. */
const SENTENCES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ca: "Hola! Així sona la meva veu per telèfon.",
    cmn: "你好！这就是我在电话里的声音。",
    cs: "Ahoj! Takhle zní můj hlas v telefonu.",
    cv: "Пӗр, иккӗ, виҫҫӗ, тӑваттӑ, пиллӗк.",
    da: "Hej! Sådan lyder min stemme i telefonen.",
    de: "Hallo! So klingt meine Stimme am Telefon.",
    el: "Γεια σας! Έτσι ακούγεται η φωνή μου στο τηλέφωνο.",
    en: "Hello! This is how my voice sounds on the telephone.",
    es: "¡Hola! Así suena mi voz por teléfono.",
    fi: "Hei! Tältä ääneni kuulostaa puhelimessa.",
    fr: "Bonjour ! Voici ma voix au téléphone.",
    hu: "Jó napot! Így szól a hangom a telefonban.",
    it: "Ciao! Così suona la mia voce al telefono.",
    nb: "Hei! Slik høres stemmen min ut på telefonen.",
    nl: "Hallo! Zo klinkt mijn stem aan de telefoon.",
    no: "Hei! Slik høres stemmen min ut på telefonen.",
    pl: "Cześć! Tak brzmi mój głos przez telefon.",
    pt: "Olá! É assim que a minha voz soa ao telefone.",
    ro: "Bună! Așa sună vocea mea la telefon.",
    ru: "Здравствуйте! Так звучит мой голос по телефону.",
    sjn: "Min, tad, neled, canad, leben.",
    sv: "Hej! Så här låter min röst i telefon.",
    tr: "Merhaba! Sesim telefonda böyle geliyor.",
    uk: "Вітаю! Так звучить мій голос по телефону.",
    zh: "你好！这就是我在电话里的声音。",
  }),
);

/** Digits, which engines read in the voice's own language; the other languages have a sentence above. */
const FIGURES = "1, 2, 3, 4, 5.";

/**
 * The text of a voice's sample.
 * @param language the voice's BCP 47 tag
 */
export function sampleSentence(language: string): string {
  const [primary = ""] = language.toLowerCase().split("-");
  return SENTENCES.get(primary) ?? FIGURES;
}
