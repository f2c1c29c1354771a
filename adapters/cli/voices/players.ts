import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";

/** A program that plays a WAV file. */
export interface AudioPlayer {
  readonly program: string;
  /** Path of the player. */
  readonly path: string;
  /** Arguments that play a file and then exit. */
  arguments(file: string): string[];
}

type Arguments = (file: string) => string[];

/** The system's players first, then installed ones. */
const PLAYERS = new Map(
  Object.entries<Arguments>({
    afplay: (file) => [file],
    "pw-play": (file) => [file],
    paplay: (file) => [file],
    aplay: (file) => ["-q", file],
    play: (file) => ["-q", file],
    ffplay: (file) => ["-nodisp", "-autoexit", "-loglevel", "error", file],
    mpv: (file) => ["--no-video", "--really-quiet", file],
  }),
);

const WINDOWS_PLAYERS = new Map(
  Object.entries<Arguments>({
    powershell: (file) => [
      "-NoProfile",
      "-Command",
      `(New-Object System.Media.SoundPlayer '${file.replaceAll("'", "''")}').PlaySync()`,
    ],
  }),
);

/** The players on this machine, those most likely to work first. */
export function players(): AudioPlayer[] {
  const candidates = process.platform === "win32" ? [...WINDOWS_PLAYERS, ...PLAYERS] : [...PLAYERS];
  return candidates.flatMap(([program, playArguments]) => {
    const path = onPath(program);
    return path === undefined ? [] : [{ program, path, arguments: playArguments }];
  });
}

function onPath(program: string): string | undefined {
  const names = process.platform === "win32" ? [`${program}.exe`] : [program];
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
