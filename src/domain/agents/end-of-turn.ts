/** Silence that ends a turn, ms. */
export const END_OF_TURN_MS = 500;
/** Silence after a text that continues, such as "my number is": the longest pause within a turn, ms. */
export const MAX_PAUSE_MS = 3_000;
/** Silence after a text that is probably not finished, ms. */
const UNFINISHED_MS = 1_500;
/** Length of the checked end of a text, characters. */
const MAX_TAIL = 200;

/** The words of one language that show whether a text continues; in lower case. */
interface Words {
  /** Answers that are complete. */
  readonly answers: readonly string[];
  /** Words after which a sentence continues: conjunctions, articles, prepositions, sounds of hesitation. */
  readonly continuations: readonly string[];
  /** "is": after the name of a number or an address. */
  readonly copulas: readonly string[];
  /** Items that callees dictate: numbers, names, addresses. */
  readonly dictatedItems: readonly string[];
  /** The digits as words. */
  readonly digits: readonly string[];
}

const wordList = (words: string): string[] => words.split(" ");

const WORDS: ReadonlyMap<string, Words> = new Map(
  Object.entries<Words>({
    en: {
      answers: wordList("yes no yeah yep nope okay ok sure correct exactly right hello goodbye bye thanks"),
      continuations: wordList(
        "and or but because so if when that which who the a an to of with for from my your our their his her um uh er erm uhm hmm well",
      ),
      copulas: wordList("is are was it's"),
      dictatedItems: wordList(
        "number name address code email e-mail mail phone telephone pin postcode zip birthday birth account order",
      ),
      digits: wordList("zero oh one two three four five six seven eight nine double"),
    },
    pt: {
      answers: wordList(
        "sim não claro certo correto exato isso alô oi tchau obrigado obrigada pode quero beleza ok okay",
      ),
      continuations: wordList(
        "e ou mas porque pois que se quando então com de do da dos das em no na nos nas para pra pro por o a os as um uma meu minha seu sua hum hã ahn",
      ),
      copulas: wordList("é são era"),
      dictatedItems: wordList(
        "número nome endereço código e-mail email telefone celular cpf cnpj cep rg nascimento conta pedido senha",
      ),
      digits: wordList("zero um uma dois duas três quatro cinco seis meia sete oito nove"),
    },
    es: {
      answers: wordList("sí si no claro correcto exacto vale bueno hola adiós gracias ok okay"),
      continuations: wordList(
        "y e o u pero porque que cuando entonces con de del en para por el la los las un una mi su eh este pues em",
      ),
      copulas: wordList("es son era"),
      dictatedItems: wordList(
        "número nombre dirección código correo email teléfono móvil celular dni nif nacimiento cuenta pedido clave",
      ),
      digits: wordList("cero uno una dos tres cuatro cinco seis siete ocho nueve"),
    },
    de: {
      answers: wordList("ja nein doch genau richtig stimmt okay ok gut hallo tschüss danke gerne klar"),
      continuations: wordList(
        "und oder aber weil denn dass wenn ob mit von zu zum zur für aus in im der die das den dem ein eine einen mein meine ihr ihre äh ähm hm also",
      ),
      copulas: wordList("ist sind war lautet"),
      dictatedItems: wordList(
        "nummer name adresse code e-mail email mail telefonnummer handynummer kundennummer postleitzahl geburtsdatum kontonummer anschrift",
      ),
      digits: wordList("null eins ein zwei zwo drei vier fünf sechs sieben acht neun"),
    },
    fr: {
      answers: wordList("oui non si d'accord exactement voilà bonjour allô merci ok okay parfait"),
      continuations: wordList(
        "et ou mais parce que car donc si quand avec de du des en dans pour par le la les un une mon ma mes son sa votre à euh heu hum ben",
      ),
      copulas: wordList("est sont c'est était"),
      dictatedItems: wordList(
        "numéro nom adresse code e-mail email mail courriel téléphone portable naissance compte commande postal",
      ),
      digits: wordList("zéro un une deux trois quatre cinq six sept huit neuf"),
    },
    it: {
      answers: wordList("sì si no certo esatto giusto va bene pronto ciao grazie ok okay"),
      continuations: wordList(
        "e o ma perché che se quando quindi allora con di del della da in nel nella per il lo la i gli le un una mio mia ehm uhm cioè",
      ),
      copulas: wordList("è sono era"),
      dictatedItems: wordList(
        "numero nome indirizzo codice e-mail email mail telefono cellulare fiscale nascita conto ordine",
      ),
      digits: wordList("zero uno una due tre quattro cinque sei sette otto nove"),
    },
  }),
);

/**
 * Silence, ms, after which the callee's turn is complete: half a second, or longer if the text looks
 * unfinished.
 * @param language BCP 47 tag; for a language that is not listed, only the punctuation is considered
 */
export function endOfTurnMs(text: string, language: string): number {
  const tail = text.slice(-MAX_TAIL).trim().toLowerCase();
  const words = WORDS.get(language.split("-", 1)[0]!.toLowerCase());
  const tokens = tokensOf(tail);
  const lastToken = tokens.at(-1);
  if (lastToken === undefined) return END_OF_TURN_MS;
  if (tokens.length === 1 && words?.answers.includes(lastToken)) return END_OF_TURN_MS;
  const isQuestion = /[?!]["'”’»)]*$/u.test(tail);
  if (words !== undefined && !isQuestion) {
    if (words.copulas.includes(lastToken) && tokens.slice(-7).some((token) => words.dictatedItems.includes(token)))
      return MAX_PAUSE_MS;
    if (words.continuations.includes(lastToken)) return UNFINISHED_MS;
  }
  if (/(?:\.\.\.|…|[,;:–—-])$/u.test(tail)) return UNFINISHED_MS;
  if (/[.?!。？！]["'”’»)]*$/u.test(tail)) return END_OF_TURN_MS;
  if (words?.copulas.includes(lastToken)) return UNFINISHED_MS;
  const isDictation = tokens.slice(-2).every((token) => /^\d+$/.test(token) || words?.digits.includes(token));
  return tokens.length > 1 && isDictation ? UNFINISHED_MS : END_OF_TURN_MS;
}

function tokensOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu) ?? [];
}

/** Meaningless sounds, as speech recognisers spell them. */
const SOUNDS = new Set(
  [
    "uh um uhm uhum uhun uhuh uhhuh huh mm mmm mhm mmhm mh hm hmm hum ah aha aham ahm oh ooh eh",
    // Portuguese, Spanish, German, French
    "ahã ahan hã arrã ãrrã unhum ajá ajam äh ähm ach euh hein",
  ].flatMap((words) => words.split(" ")),
);

/**
 * Short phrases that ask the speaker to continue, by language. A plain yes or okay is not included, because it may be
 * an answer.
 */
const PHRASES = new Set([
  ...["right", "i see", "go on", "got it"],
  ...["pois é", "entendi", "sei", "ah tá", "ah sim"],
  ...["ya", "ya ya", "ya veo", "ah ya", "vale", "entiendo"],
  ...["ja ja", "ach so", "ach ja", "ah ja", "verstehe"],
  ...["ah oui", "ah bon", "je vois"],
  ...["capisco", "ah sì", "già", "ho capito"],
]);

/** Maximum number of sounds in one sign of listening. */
const MAX_SOUNDS = 4;

/** True if a text is only a sign of listening, such as "uhum", which does not take a turn. */
export function isBackchannel(text: string): boolean {
  const words = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
  if (PHRASES.has(words)) return true;
  const sounds = words.split(" ");
  return sounds.length <= MAX_SOUNDS && sounds.every((sound) => SOUNDS.has(sound));
}
