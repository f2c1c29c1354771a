import type { FaultyDatabase } from "./faulty-database.ts";
import type { Journal } from "./journal.ts";
import type { Moments } from "./moments.ts";
import type { Phones } from "./phones.ts";
import type { RoundServer } from "./round-server.ts";

/** Objects that a sequence's parts share. */
export interface SequenceContext {
  readonly seed: number;
  readonly database: FaultyDatabase;
  readonly server: RoundServer;
  readonly journal: Journal;
  readonly moments: Moments;
  readonly phones: Phones;
  /** Number of an instance's calls that may be live at the same time. */
  readonly lines: number;
}
