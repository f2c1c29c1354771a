/** Kinds of sealed values: the credentials of an instance, a record of its line, a key or the headers of a webhook. */
export const SEALED_KINDS = [
  "credentials",
  "line_record",
  "webhook_key",
  "webhook_old_key",
  "webhook_headers",
] as const;
/** One of {@link SEALED_KINDS}. */
export type SealedKind = (typeof SEALED_KINDS)[number];

/** The place of a sealed value within its kind. */
export interface SealedPlace {
  /** Id of the instance or webhook. */
  readonly id: string;
  /** Key of the line's record; otherwise empty. */
  readonly key: string;
}

/** One sealed value. */
export interface SealedValue extends SealedPlace {
  readonly sealed: Uint8Array;
}

/** All sealed values, wherever they are stored: for changing the sealing key. */
export interface SealedStore {
  /** Values of a kind by ascending id, then key, both by code points; those after a place. */
  list(kind: SealedKind, limit: number, after?: SealedPlace): Promise<SealedValue[]>;
  /** Replaces a value, and no other part of its record; only if it is still the same. Returns whether it was. */
  replace(kind: SealedKind, value: SealedValue, sealed: Uint8Array): Promise<boolean>;
}
