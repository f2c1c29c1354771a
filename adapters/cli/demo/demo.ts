import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { CallMessageInput } from "../../../src/domain/calls/call-type-input.ts";
import type { Ringport } from "../../../src/ringport.ts";
import { DEFAULT_DATA, modelFolder } from "../../defaults/data-folder.ts";
import { MESSAGE_OPTIONS, messageOf } from "../call/call-type-options.ts";
import type { CommandSpec, ParsedLine } from "../command.ts";
import type { Finding } from "../doctor/finding.ts";
import { naturalParts, voicesFix } from "../doctor/speech-fixes.ts";
import { EXIT } from "../exit-codes.ts";
import { createLog } from "../serve/log.ts";
import { serverAdapter } from "../serve/server-adapter.ts";
import { SETTINGS, settingsOf } from "../settings/all-settings.ts";
import { readSettings, type ServerSettings, settingValue } from "../settings/read-settings.ts";
import type { Setting } from "../settings/setting.ts";
import { markedLine } from "../terminal/marked-line.ts";
import { print, printToStderr } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { AGENT_NUMBER, AGENT_SCRIPT, LOCAL_NUMBER } from "./agent-script.ts";
import type { LocalDemo } from "./local-demo.ts";
import { runDemo } from "./run-demo.ts";

const TEXT = "Hello! This is Ringport. Your phone rang, and you heard every word of this message.";
const NUMBER = "+12025550100";

/** The demo rings no real phone, so it accepts no settings for real networks. */
const DEMO_SETTINGS = SETTINGS.filter(
  ({ option }) =>
    option.startsWith("log") || (option.startsWith("embedded.") && !/^embedded\.(networks|sip\.)/.test(option)),
);

/** `ringport demo`: a whole call on a separate Ringport, from the instance to the recording. */
export const demo: CommandSpec = {
  summary: "Shows everything in ten seconds: an instance, its QR code, a call, what the callee heard.",
  details:
    "No real phone rings: the call uses the simulated network, even if SIP is configured. Without a speech engine " +
    "the callee hears a recorded message; --agent needs an engine. The exit code is 0 if the call was COMPLETED. " +
    "--local looks for a language model at RINGPORT_AGENT_URL, or else at the usual addresses of Ollama, llama.cpp, vLLM and LM Studio on " +
    "this machine, and lists everything that is missing.",
  options: [
    ...MESSAGE_OPTIONS,
    {
      name: "agent",
      help: "An agent conducts the call: it asks questions, which the callee answers by pressing keys.",
    },
    {
      name: "local",
      help: "With --agent: a language model, a recogniser and a voice of this machine conduct the call, and the callee answers with words.",
    },
    {
      name: "to",
      placeholder: "NUMBER",
      help: `Number to call. Default: ${NUMBER}, which answers and listens; with --agent ${AGENT_NUMBER}, with --local ${LOCAL_NUMBER}.`,
    },
    { name: "data", placeholder: "FOLDER", help: "Keeps the data in this folder. Default: a temporary folder." },
  ],
  settings: DEMO_SETTINGS,
  async run(line) {
    const demoCall = await demoCallOf(line);
    if ("missing" in demoCall) {
      printToStderr("ringport: these parts of the agent are missing:");
      for (const finding of demoCall.missing) printToStderr(markedLine(finding));
      return EXIT.usage;
    }
    const { settings, target, parts } = demoCall;
    const { options, logLevel, logMaskNumbers } = settings;
    const log = createLog({
      level: logLevel ?? "warn",
      pretty: process.stderr.isTTY === true,
      write: printToStderr,
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
        const message = demoCall.isFinal
          ? demoCall.message
          : await playableMessage(ringport, demoCall.message, modelFolder(data, options.embedded?.neural?.models));
        const status = await runDemo({
          ringport,
          url: listening.url,
          message: { ...message, target },
          parts,
          data,
          keepsData: dataFolder !== undefined,
        });
        return status === "COMPLETED" ? EXIT.done : EXIT.failed;
      } finally {
        await ringport.stop({ drainMs: 0 });
        await listening.close();
      }
    } finally {
      if (dataFolder === undefined) await rm(data, { recursive: true, force: true });
    }
  },
};

/** Settings and call for a demo. */
interface DemoCall {
  readonly settings: ServerSettings;
  readonly message: CallMessageInput;
  /** True if the message needs no voice, or its voice has been found. */
  readonly isFinal: boolean;
  readonly target: { readonly phoneNumber: string };
  readonly parts?: LocalDemo["parts"];
}

/**
 * The call that the options ask for, or the missing parts of its agent. @throws {UsageError} options exclude each other
 */
async function demoCallOf(line: ParsedLine): Promise<DemoCall | { readonly missing: readonly Finding[] }> {
  const [agent, local] = [line.values.has("agent"), line.values.has("local")];
  const messageOption = ["text", "voice", "audio"].find((name) => line.values.has(name));
  const target = (defaultNumber: string) => ({ phoneNumber: String(line.values.get("to") ?? defaultNumber) });
  if (local) {
    if (!agent) throw new UsageError("--local needs an agent: ringport demo --agent --local");
    const conflict = ["text", "audio"].find((name) => line.values.has(name));
    if (conflict !== undefined) throw new UsageError(`--agent speaks its own sentences: leave out --${conflict}`);
    const { localDemo } = await import("./local-demo.ts");
    const { settings, models } = settingsOfDemo(
      DEMO_SETTINGS.filter(({ option }) => !/^embedded\.(agent|transcription)\./.test(option)),
      line,
    );
    const result = await localDemo(settings, models, line);
    return "parts" in result ? { ...result, isFinal: true, target: target(LOCAL_NUMBER) } : { missing: result };
  }
  if (agent && messageOption !== undefined)
    throw new UsageError(`--agent speaks its own sentences: leave out --${messageOption}`);
  const { settings } = settingsOfDemo(DEMO_SETTINGS, line);
  const message: CallMessageInput = agent
    ? { type: "DYNAMIC_AGENT", agent: { instructions: [...AGENT_SCRIPT] } }
    : await messageOf(line, TEXT);
  return { settings, message, isFinal: messageOption !== undefined, target: target(agent ? AGENT_NUMBER : NUMBER) };
}

/** The settings of a demo, with the server's model folder: the demo's own data folder has none. */
function settingsOfDemo(specs: readonly Setting[], line: ParsedLine): { settings: ServerSettings; models: string } {
  const settings = readSettings(specs, line, process.env);
  const { embedded = {} } = settings.options;
  const [data] = settingsOf("data");
  const folder = data && (settingValue(data, line, process.env) as string | undefined);
  const models = modelFolder(folder ?? DEFAULT_DATA, embedded.neural?.models);
  const options = { ...settings.options, embedded: { ...embedded, neural: { ...embedded.neural, models } } };
  return { settings: { ...settings, options }, models };
}

/** The demo's own message: spoken, or as a recording if no engine here can speak it. */
async function playableMessage(
  ringport: Ringport,
  message: CallMessageInput,
  models: string,
): Promise<CallMessageInput> {
  const voices = await ringport.voices();
  const fix = async (): Promise<string> => voicesFix(await naturalParts(models));
  if (message.type === "DYNAMIC_AGENT" && voices.length === 0)
    throw new UsageError(`--agent needs a voice, and no speech engine is installed here: ${await fix()}`);
  if (message.type !== "FIXED_TTS" || voices.some(({ id }) => id === message.tts.voiceId)) return message;
  const recording = await recordedMessage();
  if (recording === undefined) return message;
  const [first] = voices;
  if (first) {
    print(`The voice ${message.tts.voiceId} is not installed here, so the callee hears a recorded message.`);
    print(`  To use an installed voice: ringport demo --voice ${first.id}`);
  } else {
    print("No voice is installed here, so the callee hears a recorded message. For voices that speak your text:");
    print(`  ${await fix()}`);
  }
  return { type: "FIXED_AUDIO", audio: { audioBase64: Buffer.from(recording).toString("base64") } };
}

/** Paths of the recording: next to the built file, and in the source tree. */
const RECORDING_PATHS = ["./assets/hello.mp3", "../../../examples/hello.mp3"];

/** An MP3 file with a spoken message; undefined if the package does not include it. */
async function recordedMessage(): Promise<Uint8Array | undefined> {
  if (!import.meta.url.startsWith("file:")) return undefined;
  for (const path of RECORDING_PATHS) {
    const bytes = await readFile(fileURLToPath(new URL(path, import.meta.url))).catch(() => undefined);
    if (bytes) return bytes;
  }
  return undefined;
}
