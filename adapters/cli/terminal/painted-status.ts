import { paint } from "./terminal.ts";

const COLOURS: Readonly<Record<string, 31 | 32 | 33 | 36>> = {
  ACTIVE: 32,
  CONFIGURED: 33,
  RINGING: 36,
  IN_PROGRESS: 36,
  COMPLETED: 32,
  FAILED: 31,
};

/** The status of an instance or a call, in its colour. */
export function paintedStatus(status: string): string {
  const colour = COLOURS[status];
  return colour === undefined ? status : paint(colour, status);
}
