import { paint } from "./terminal.ts";

type Colour = 31 | 32 | 33 | 36;

const COLOURS: ReadonlyMap<string, Colour> = new Map(
  Object.entries<Colour>({
    ACTIVE: 32,
    CONFIGURED: 33,
    RINGING: 36,
    IN_PROGRESS: 36,
    COMPLETED: 32,
    FAILED: 31,
    SCHEDULED: 33,
    PAUSED: 33,
    RUNNING: 36,
    CALLING: 36,
    INVALID: 31,
  }),
);

/** The status of an instance or a call, in its colour. */
export function paintedStatus(status: string): string {
  const colour = COLOURS.get(status);
  return colour === undefined ? status : paint(colour, status);
}
