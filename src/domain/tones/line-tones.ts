import type { AnsweredBy, AnswerReason } from "../answering/answering-machine.ts";

/** The tones of networks and machines, besides the beep of a voicemail box. */
export const LINE_TONES = ["fax", "special_information", "busy", "continuous", "ringback"] as const;
/** A tone of a network or of a machine. */
export type LineTone = (typeof LINE_TONES)[number];

/** The meaning of a tone for a call. */
export interface ToneMeaning {
  /** The verdict about the callee; undefined: it is still unknown. */
  readonly verdict: { readonly answeredBy: AnsweredBy; readonly reason: AnswerReason } | undefined;
  /** True if no person follows: the message stops, and the call ends. */
  readonly endsCall: boolean;
  /** True if it also sounds after a person has hung up. */
  readonly followsPerson: boolean;
  /** A sentence for a person. */
  readonly text: string;
}

/** The meaning of each tone: the verdict, and the end of the call if there is one. */
export const TONE_MEANINGS: { readonly [T in LineTone]: ToneMeaning } = {
  fax: {
    verdict: { answeredBy: "fax", reason: "fax_tone" },
    endsCall: true,
    followsPerson: false,
    text: "a fax machine or a modem answered",
  },
  special_information: {
    verdict: { answeredBy: "machine", reason: "network_tone" },
    endsCall: true,
    followsPerson: false,
    text: "the network played a special information tone",
  },
  busy: {
    verdict: { answeredBy: "machine", reason: "network_tone" },
    endsCall: true,
    followsPerson: true,
    text: "the network played a busy or reorder tone",
  },
  continuous: {
    verdict: { answeredBy: "machine", reason: "network_tone" },
    endsCall: true,
    followsPerson: true,
    text: "the network played a continuous tone, that of an unobtainable number or a dial tone",
  },
  // A switchboard that has answered rings the phone of a person.
  ringback: { verdict: undefined, endsCall: false, followsPerson: false, text: "the phone rings behind a switchboard" },
};

/** A tone that was recognised. */
export interface ToneFinding {
  readonly tone: LineTone;
  /** Frequencies of the tone, Hz: one, a pair, or a sequence. */
  readonly hz: readonly number[];
  /** Time of its beginning, ms since the answer. */
  readonly atMs: number;
}

/** The tone as a sentence: `the network played a busy or reorder tone (480, 620 Hz)`. */
export function toneText({ tone, hz }: Pick<ToneFinding, "tone" | "hz">): string {
  return `${TONE_MEANINGS[tone].text} (${hz.join(", ")} Hz)`;
}
