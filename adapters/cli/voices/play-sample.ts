import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { UsageError } from "../usage-error.ts";
import { type AudioPlayer, players } from "./players.ts";

/** Result of playing a sample: either the player, or the file it was saved to. */
export interface PlayedSample {
  readonly player: string | null;
  readonly file: string | null;
}

/**
 * Plays a WAV file with the first player on this machine that works; if none does, saves the file under this name.
 * @throws {UsageError} no player works, and the file cannot be written
 */
export async function playSample(wav: Uint8Array, name: string): Promise<PlayedSample> {
  const availablePlayers = players();
  if (availablePlayers.length > 0) {
    const folder = await mkdtemp(join(tmpdir(), "ringport-sample-"));
    try {
      const file = join(folder, name);
      await writeFile(file, wav);
      for (const player of availablePlayers)
        if (await canPlay(player, file)) return { player: player.program, file: null };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  const file = resolve(name);
  await writeFile(file, wav).catch((cause: NodeJS.ErrnoException) => {
    throw new UsageError(`no player works, and ${file} cannot be written (${cause.code}); change to another folder`, {
      cause,
    });
  });
  return { player: null, file };
}

/** True if the player succeeds: a machine may have the program but no sound card. */
function canPlay(player: AudioPlayer, file: string): Promise<boolean> {
  return new Promise((resolve) => {
    try {
      const child = spawn(player.path, player.arguments(file), { stdio: "ignore" });
      child.once("error", () => resolve(false));
      child.once("exit", (code) => resolve(code === 0));
    } catch {
      resolve(false); // Deno without --allow-run
    }
  });
}
