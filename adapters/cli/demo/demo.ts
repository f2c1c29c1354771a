import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { CallMessageInput } from "../../../src/domain/calls/call-type-input.ts";
import type { Ringport } from "../../../src/ringport.ts";
import { MESSAGE_OPTIONS, messageOf } from "../call/call-type-options.ts";
import type { CommandSpec } from "../command.ts";
import { ENGINE_FIX } from "../doctor/speech-findings.ts";
import { createLog } from "../serve/log.ts";
import { serverAdapter } from "../serve/server-adapter.ts";
import { readSettings } from "../settings/read-settings.ts";
import { SETTINGS } from "../settings/settings.ts";
import { print, printBeside } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { AGENT_NUMBER, AGENT_SCRIPT } from "./agent-story.ts";
import { runDemo } from "./demo-story.ts";

const TEXT = "Hello! This is Ringport. Your phone rang, and you heard every word of this message.";
const NUMBER = "+12025550100";

/** The demo rings no real phone, so it takes no settings of real networks. */
const DEMO_SETTINGS = SETTINGS.filter(
  ({ option }) =>
    option.startsWith("log") || (option.startsWith("embedded.") && !/^embedded\.(networks|sip\.)/.test(option)),
);

/** `ringport demo`: a whole call on a separate Ringport, from the instance to the recording. */
export const demo: CommandSpec = {
  summary: "Shows everything in ten seconds: an instance, its QR code, a call, what the callee heard.",
  details:
    "No real phone rings: the call uses the simulated network, even if SIP is configured. Without a speech engine " +
    "the callee hears a recorded message; --agent needs an engine. The exit code is 0 if the call was COMPLETED.",
  options: [
    ...MESSAGE_OPTIONS,
    {
      name: "agent",
      help: "An agent conducts the call: it asks questions, which the callee answers by pressing keys.",
    },
    {
      name: "to",
      placeholder: "NUMBER",
      help: `Number to call. Default: ${NUMBER}, which answers and listens; with --agent ${AGENT_NUMBER}.`,
    },
    { name: "data", placeholder: "FOLDER", help: "Keeps the data in this folder. Default: a temporary folder." },
  ],
  settings: DEMO_SETTINGS,
  async run(line) {
    const { options, logLevel, logMaskNumbers } = readSettings(DEMO_SETTINGS, line, process.env);
    const agent = line.values.has("agent");
    const messageOption = ["text", "voice", "audio"].find((name) => line.values.has(name));
    if (agent && messageOption !== undefined)
      throw new UsageError(`--agent speaks its own sentences: leave out --${messageOption}`);
    const target = { phoneNumber: String(line.values.get("to") ?? (agent ? AGENT_NUMBER : NUMBER)) };
    const input: CallMessageInput = agent
      ? { type: "DYNAMIC_AGENT", agent: { instructions: [...AGENT_SCRIPT] } }
      : await messageOf(line, TEXT);
    const log = createLog({
      level: logLevel ?? "warn",
      pretty: process.stderr.isTTY === true,
      write: printBeside,
      maskNumbers: logMaskNumbers,
    });
    const dataFolder = line.values.get("data") as string | undefined;
    const data = dataFolder === undefined ? await mkdtemp(join(tmpdir(), "ringport-demo-")) : resolve(dataFolder);
    try {
      const { createRingport } = await import("../../../src/ringport.ts");
      // A separate key, so that a variable meant for the server has no effect here.
      const secret = dataFolder === undefined ? randomBytes(32).toString("hex") : undefined;
      const ringport = createRingport({ ...options, data, log, secret });
      const adapter = await serverAdapter();
      const listening = await adapter.serve(ringport, { port: 0 });
      try {
        await ringport.start();
        const message = { ...(messageOption !== undefined ? input : await playableMessage(ringport, input)), target };
        const status = await runDemo({
          ringport,
          url: listening.url,
          message,
          data,
          keepsData: dataFolder !== undefined,
        });
        return status === "COMPLETED" ? 0 : 1;
      } finally {
        await ringport.stop({ drainMs: 0 });
        await listening.close();
      }
    } finally {
      if (dataFolder === undefined) await rm(data, { recursive: true, force: true });
    }
  },
};

/** The demo's own message: spoken, or as a recording if no engine here can speak it. */
async function playableMessage(ringport: Ringport, message: CallMessageInput): Promise<CallMessageInput> {
  const voices = await ringport.voices();
  if (message.type === "DYNAMIC_AGENT" && voices.length === 0)
    throw new UsageError(`--agent needs a voice, and no speech engine is installed here: ${ENGINE_FIX.flite}`);
  if (message.type !== "FIXED_TTS" || voices.some(({ id }) => id === message.tts.voiceId)) return message;
  const recording = await recordedMessage();
  if (recording === undefined) return message;
  print("No speech engine is installed here, so the callee hears a recorded message. For voices that speak your text:");
  print(`  ${ENGINE_FIX.flite}`);
  return { type: "FIXED_AUDIO", audio: { audioBase64: Buffer.from(recording).toString("base64") } };
}

/** Paths of the recording: next to the built file, and in the source tree. */
const RECORDING_PATHS = ["./assets/hello.mp3", "../../../examples/hello.mp3"];

/** An MP3 file with a spoken message; undefined if it was not shipped. */
async function recordedMessage(): Promise<Uint8Array | undefined> {
  if (!import.meta.url.startsWith("file:")) return undefined;
  for (const path of RECORDING_PATHS) {
    const bytes = await readFile(fileURLToPath(new URL(path, import.meta.url))).catch(() => undefined);
    if (bytes) return bytes;
  }
  return undefined;
}
