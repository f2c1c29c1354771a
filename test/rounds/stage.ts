import type { Journal } from "./journal.ts";
import type { Moments } from "./moments.ts";
import type { Phones } from "./phones.ts";
import type { Place } from "./place.ts";
import type { RoundServer } from "./round-server.ts";

/** Objects shared by the parts of a sequence. */
export interface Stage {
  readonly seed: number;
  readonly place: Place;
  readonly server: RoundServer;
  readonly journal: Journal;
  readonly moments: Moments;
  readonly phones: Phones;
}
