import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import type { CreateCallInput } from "../../src/domain/inputs.ts";
import type { Command, ParsedLine } from "./command.ts";
import { tellStory } from "./demo-story.ts";
import { createLog } from "./log.ts";
import { readSettings } from "./read-settings.ts";
import { serverAdapter } from "./server-adapter.ts";
import { SETTINGS } from "./settings.ts";
import { printBeside } from "./terminal.ts";
import { UsageError } from "./usage-error.ts";

const TEXT = "Hello! This is Ringport. Your phone rang, and you heard every word of this message.";
const VOICE = "en-US-1";
const NUMBER = "+12025550100";
/** Larger files are refused by the interface; reading them first would only take time. */
const MOST_AUDIO_BYTES = 10 * 1024 * 1024;

const DEMO_SETTINGS = SETTINGS.filter(({ option }) => option === "log" || option.startsWith("embedded."));

/** `ringport demo`: the whole story on a Ringport of its own, from the instance to the recording. */
export const demo: Command = {
  path: ["demo"],
  summary: "Shows the whole story in ten seconds: an instance, its QR code, a call, what the callee heard.",
  details: "Nobody's phone rings: the call goes over the simulated network. The exit code is 0 when it was COMPLETED.",
  options: [
    { name: "text", placeholder: "TEXT", help: "What is said." },
    { name: "voice", placeholder: "VOICE", help: `Who says it. Default: ${VOICE}.` },
    { name: "to", placeholder: "NUMBER", help: `Who is called. Default: ${NUMBER}, who answers and listens.` },
    { name: "audio", placeholder: "FILE", help: "Plays this MP3 or WAV file instead of speaking." },
    { name: "data", placeholder: "FOLDER", help: "Keeps the data there. Default: a folder that is gone afterwards." },
  ],
  settings: DEMO_SETTINGS,
  async run(line) {
    const { options, logLevel } = readSettings(DEMO_SETTINGS, line, process.env);
    const message = await messageOf(line);
    const log = createLog({
      level: logLevel ?? "warn",
      pretty: process.stderr.isTTY === true,
      write: printBeside,
    });
    const kept = line.values.get("data") as string | undefined;
    const data = kept === undefined ? await mkdtemp(join(tmpdir(), "ringport-demo-")) : resolve(kept);
    try {
      const { createRingport } = await import("../../src/ringport.ts");
      // A key of its own keeps a variable that is meant for the server out of the story.
      const secret = kept === undefined ? randomBytes(32).toString("hex") : undefined;
      const ringport = createRingport({ ...options, data, log, secret });
      const adapter = await serverAdapter();
      const listening = await adapter.serve(ringport, { port: 0 });
      try {
        await ringport.start();
        const status = await tellStory({ ringport, url: listening.url, message, data, keepsData: kept !== undefined });
        return status === "COMPLETED" ? 0 : 1;
      } finally {
        await ringport.stop({ drainMs: 0 });
        await listening.close();
      }
    } finally {
      if (kept === undefined) await rm(data, { recursive: true, force: true });
    }
  },
};

/** The call that is to be placed, but for its instance. */
async function messageOf({ values }: ParsedLine): Promise<Omit<CreateCallInput, "instanceId">> {
  const target = { phoneNumber: String(values.get("to") ?? NUMBER) };
  const file = values.get("audio") as string | undefined;
  if (file === undefined) {
    const tts = { text: String(values.get("text") ?? TEXT), voiceId: String(values.get("voice") ?? VOICE) };
    return { type: "FIXED_TTS", target, tts };
  }
  const spoken = ["text", "voice"].find((name) => values.has(name));
  if (spoken) throw new UsageError(`--audio plays a file instead of speaking: leave out --${spoken}`);
  const bytes = await readFile(file).catch((cause: NodeJS.ErrnoException) => {
    throw new UsageError(`--audio is "${file}": the file cannot be read (${cause.code ?? cause.message})`, { cause });
  });
  if (bytes.length > MOST_AUDIO_BYTES)
    throw new UsageError(`--audio is "${file}": it has ${bytes.length} bytes, at most ${MOST_AUDIO_BYTES} are allowed`);
  return { type: "FIXED_AUDIO", target, audio: { audioBase64: bytes.toString("base64") } };
}
