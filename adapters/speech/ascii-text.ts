/**
 * Plain letters, each followed by similar letters from European and African languages and phonetic alphabets, in lower
 * case.
 */
const LETTERS = `a ⱥɐɑɒʌ
ae æ
b ƀɓƃʙ
c ƈȼɕ
d ðđẟɖɗƌƍȡ
e ǝəɛɇɘɚɜɝɞʚ
f ƒɸ
g ɠɣǥɡɢɤ
h ħɥɦɧʜʮʯ
hv ƕ
i ıɨɩɪ
j ȷɉɟʄʝ
k ĸƙʞ
l łƚɫɬɭɮʟȴƛỻ
m ɯɰɱ
n ŋɲƞɳɴȵ
o øɔɵ
oe œɶ
ou ȣ
p ƥ
q ɋʠ
r ɍʀɹɺɻɼɽɾɿʁ
s ƨʃʂȿƪẜẝ
ss ß
t ŧƭʈƫȶʇⱦ
th þ
ts ʦ
u ʉʊ
v ʋʌỽ
w ƿʍ
y ƴɏʎʏỿȝ
z ƶȥʐʑʒɀƹƺʓ`;

/** Spoken words for symbols. */
const SYMBOLS = {
  "‘": "'",
  "’": "'",
  "“": '"',
  "”": '"',
  "–": ", ",
  "—": ", ",
  "…": "...",
  "€": " euros ",
  "£": " pounds ",
  "¥": " yen ",
  "₹": " rupees ",
  "₽": " rubles ",
  "¢": " cents ",
  "°": " degrees ",
  "×": " times ",
  "÷": " divided by ",
  "±": " plus or minus ",
  µ: " micro ",
  "½": " one half ",
  "¼": " one quarter ",
  "¾": " three quarters ",
  "©": " copyright ",
  "№": " number ",
};

const ASCII_EQUIVALENTS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(SYMBOLS),
  ...LETTERS.split("\n").flatMap((row) => {
    const [plain = "", letters = ""] = row.split(" ");
    return [...letters].map((letter): [string, string] => [letter, plain]);
  }),
]);

/** English text in ASCII: other letters and symbols become their plain equivalents, or a space. */
export function asciiText(text: string): string {
  const equivalent = (part: string): string =>
    part.replace(/\P{ASCII}/gu, (character) => ASCII_EQUIVALENTS.get(character.toLowerCase()) ?? character);
  return equivalent(equivalent(text).normalize("NFKD").replace(/\p{M}/gu, "")).replace(/[^\x20-\x7e]/gu, " ");
}
