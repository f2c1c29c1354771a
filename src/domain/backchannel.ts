/** Sounds and words that mean "I am listening", by which nobody takes the turn. */
const BACKCHANNELS = new Set([
  ...[
    "uh huh",
    "uhhuh",
    "uhuh",
    "uhum",
    "um hum",
    "aham",
    "mhm",
    "mm hm",
    "mmhm",
    "mm",
    "mmm",
    "hm",
    "hmm",
    "hum",
    "aha",
    "ah",
  ],
  ...[
    "oh",
    "uh",
    "um",
    "eh",
    "ahm",
    "äh",
    "ja ja",
    "right",
    "i see",
    "go on",
    "ach so",
    "pois é",
    "entendi",
    "ahã",
    "ah oui",
    "vale",
  ],
]);

/** Whether a text is no more than a sign of listening: "uhum". */
export function isBackchannel(text: string): boolean {
  const words = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
  return BACKCHANNELS.has(words);
}
