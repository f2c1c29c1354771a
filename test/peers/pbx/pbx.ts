import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Trunk } from "../../../adapters/telephony/sip/config/trunk-config.ts";
import { until } from "../../support/server-client.ts";
import { untilComplete } from "../sip/sound.ts";

/** The account that each PBX gives us. */
export const ACCOUNT = { user: "ringport", password: "s3cret" } as const;

/** The extensions of each PBX: all answer, play 1,000 Hz and record the caller. */
export const CALLEES = {
  /** Speaks immediately. */
  talks: "+12025550100",
  /** Presses 1, 5, # and 0, and is otherwise silent. */
  presses: "+12025550101",
  /** Is silent for 12 s, then speaks. */
  listens: "+12025550102",
  /** Another phone behind the PBX, which redirects the audio to it. */
  behind: "+12025550103",
  /** Is busy. */
  busy: "+12025550104",
} as const;

/** The tone that a PBX plays, Hz. */
export const PEER_HZ = 1_000;

/** A PBX built from source that runs during the tests. */
export interface Pbx {
  /** Port for UDP and TCP; TLS uses the next one. */
  readonly port: number;
  /** Trunk options that it requires besides `server`, `user` and `password`. */
  readonly trunk: Partial<Trunk>;
  /** Additional options for SRTP only. */
  readonly protected: Partial<Trunk>;
  readonly speaksG722?: boolean;
  /** Options for pressing keys as tones; undefined if unsupported. */
  readonly keysAsTones?: Partial<Trunk>;
  /** The recorded audio of the last call to this number; waits until the file is closed. */
  recordingOf(number: string): Promise<string>;
}

/**
 * The folder that a PBX was installed into.
 * @param name name of the environment variable with its path
 * @throws {Error} the variable is not set, or the program is missing
 */
export function installFolder(name: "ASTERISK" | "FREESWITCH", program: string): string {
  const prefix = process.env[name];
  if (!prefix)
    throw new Error(
      `set ${name} to the folder that it was installed into; test/peers/pbx/README.md describes how to build it`,
    );
  if (!existsSync(join(prefix, program))) throw new Error(`${name} is ${prefix}, and there is no ${program} in it`);
  return prefix;
}

/** The last recording whose name starts with this number; waits until it is complete. */
export async function newestRecording(folder: string, number: string): Promise<string> {
  const recordings = (): string[] => readdirSync(folder).filter((name) => name.startsWith(number));
  const names = await until(recordings, ({ length }) => length > 0, 5_000, `a recording of ${number}`);
  return await untilComplete(join(folder, names.sort().at(-1)!));
}
