/** A sentence that a recogniser listens for. */
export interface Sentence {
  /** The recognised form: in lower case, without punctuation. */
  readonly heard: string;
  /** Words of the sentence, each with the words that it could be mistaken for. */
  readonly words: readonly (readonly string[])[];
}

/** A message to be spoken. */
export const APPOINTMENT: Sentence & { readonly text: string } = {
  text: "Your appointment is confirmed for Monday at nine thirty.",
  heard: "your appointment is confirmed for monday at nine thirty",
  words: [
    ["your", "our"],
    ["appointment", "apartment", "account"],
    ["is"],
    ["confirmed", "cancelled", "completed"],
    ["for"],
    ["monday", "sunday", "tomorrow", "friday"],
    ["at"],
    ["nine", "five", "four", "one"],
    ["thirty", "fifteen", "forty", "twenty"],
  ],
};

/** Sample sentence of an English voice. */
export const SAMPLE: Sentence = {
  heard: "hello this is how my voice sounds on the telephone",
  words: [
    ["hello", "yellow", "fellow"],
    ["this", "that", "these"],
    ["is", "was"],
    ["how", "who", "now"],
    ["my", "your", "our"],
    ["voice", "boys", "choice"],
    ["sounds", "signs", "sings"],
    ["on", "in", "at"],
    ["the", "a"],
    ["telephone", "television", "elephant"],
  ],
};

/** Sentence of the simulated phone that speaks. */
export const SIMULATED: Sentence = {
  heard: "hello this is the simulated phone speaking",
  words: [
    ["hello", "yellow", "fellow"],
    ["this", "that", "these"],
    ["is", "was"],
    ["the", "a"],
    ["simulated", "stimulated", "simple"],
    ["phone", "bone", "foam"],
    ["speaking", "sneaking", "sleeping"],
  ],
};

/** Replies of the simulated callees that converse. */
export const ANSWERS: readonly Sentence[] = [
  {
    heard: "yes that is right",
    words: [
      ["yes", "guess", "less"],
      ["that", "this"],
      ["is", "was"],
      ["right", "night", "light"],
    ],
  },
  {
    heard: "on monday please",
    words: [
      ["on", "in"],
      ["monday", "sunday", "friday"],
      ["please", "peace", "police"],
    ],
  },
  {
    heard: "we are two people",
    words: [
      ["we", "he"],
      ["are", "were"],
      ["two", "three", "four"],
      ["people", "purple"],
    ],
  },
  {
    heard: "please wait a moment",
    words: [
      ["please", "peace", "police"],
      ["wait", "stay", "walk"],
      ["a", "the"],
      ["moment", "minute"],
    ],
  },
];
