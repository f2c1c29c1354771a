/** The parts of a voice id. */
export interface VoiceId {
  readonly id: string;
  /** `pt-BR`. */
  readonly tag: string;
  /** `pt`. */
  readonly language: string;
  /** `BR`, or a UN M.49 area such as `419`. */
  readonly region: string;
  readonly number: number;
}

const VOICE_ID = /^([a-z]{2,3})-([A-Z]{2}|[0-9]{3})-([1-9][0-9]?)$/;

/** Parses `pt-BR-1`; returns undefined for a malformed id. */
export function parseVoiceId(id: string): VoiceId | undefined {
  const [, language, region, number] = VOICE_ID.exec(id) ?? [];
  if (language === undefined || region === undefined) return undefined;
  return { id, tag: `${language}-${region}`, language, region, number: Number(number) };
}

/** Compares voice ids by tag, then by number, so that 10 comes after 9. */
export function compareVoiceIds(a: string, b: string): number {
  const [tagA, numberA] = splitId(a);
  const [tagB, numberB] = splitId(b);
  if (tagA !== tagB) return tagA < tagB ? -1 : 1;
  return numberA - numberB;
}

function splitId(id: string): readonly [string, number] {
  const separator = id.lastIndexOf("-");
  return [id.slice(0, separator), Number(id.slice(separator + 1))];
}
