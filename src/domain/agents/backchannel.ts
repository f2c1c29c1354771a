/** Sounds without a meaning, in the spellings of speech recognisers. */
const SOUNDS = new Set(
  [
    "uh um uhm uhum uhun uhuh uhhuh huh mm mmm mhm mmhm mh hm hmm hum ah aha aham ahm oh ooh eh",
    // Portuguese, Spanish, German, French
    "ahã ahan hã arrã ãrrã unhum ajá ajam äh ähm ach euh hein",
  ].flatMap((words) => words.split(" ")),
);

/** Short phrases that ask the speaker to continue, by language. A plain yes or okay is not included, because it may be an answer. */
const PHRASES = new Set([
  ...["right", "i see", "go on", "got it"],
  ...["pois é", "entendi", "sei", "ah tá", "ah sim"],
  ...["ya", "ya ya", "ya veo", "ah ya", "vale", "entiendo"],
  ...["ja ja", "ach so", "ach ja", "ah ja", "verstehe"],
  ...["ah oui", "ah bon", "je vois"],
  ...["capisco", "ah sì", "già", "ho capito"],
]);

/** Sounds in a row that are still one sign of listening. */
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
