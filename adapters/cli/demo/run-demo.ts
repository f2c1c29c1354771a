import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import process from "node:process";
import { type CallEvent, createClient, type FinishedCall } from "../../../src/client/index.ts";
import type { Principal } from "../../../src/domain/access/principal.ts";
import type { CommonCallInput } from "../../../src/domain/calls/call-input.ts";
import type { CallMessageInput } from "../../../src/domain/calls/call-type-input.ts";
import type { Ringport } from "../../../src/ringport.ts";
import { outcomeLines } from "../call/outcome-lines.ts";
import { Timeline } from "../call/timeline.ts";
import { pressLink } from "../instance/simulated-phone.ts";
import { modulesOfText } from "../terminal/qr-modules.ts";
import { table } from "../terminal/table.ts";
import { coloursAllowed, paint, print } from "../terminal/terminal.ts";
import { terminalQr } from "../terminal/terminal-qr.ts";
import { conversationLines } from "./agent-script.ts";

/** Options of {@link runDemo}. */
export interface DemoOptions {
  readonly ringport: Ringport;
  /** The server's URL. */
  readonly url: string;
  readonly message: Omit<CommonCallInput, "instanceId"> & CallMessageInput;
  /** The parts of the local agent, if the demo uses one. */
  readonly parts?: readonly (readonly [part: string, name: string])[] | undefined;
  readonly data: string;
  /** True to keep the data folder. */
  readonly keepsData: boolean;
}

const ACTIVATION_TIMEOUT_MS = 10_000;
const WAV_NAME = "ringport-demo.wav";

/** Runs the demo step by step; returns the final status of the call. */
export async function runDemo({
  ringport,
  url,
  message,
  parts,
  data,
  keepsData,
}: DemoOptions): Promise<FinishedCall["status"]> {
  const { userId, token } = await ringport.tokens.issue({ userName: "demo", label: "demo" });
  const principal: Principal = { userId };

  step(1, "An instance: one phone number that calls can be placed from");
  const { id: instanceId, status } = await ringport.instances.create(principal, { name: "Demo phone" });
  print(`  ${instanceId} is ${status}`);

  step(2, "Its QR code, to be scanned with the phone");
  const { payload } = await ringport.instances.configure(principal, instanceId);
  for (const line of terminalQr(modulesOfText(payload), { colours: coloursAllowed(process.stdout) }))
    print(`  ${line}`);
  print(`  ${payload}`);
  print("  No phone at hand, so the demo presses the button on that page itself.");
  if (!(await pressLink(payload))) throw new Error(`the code of ${payload} expired before its button was pressed`);
  const phone = await activePhone(ringport, principal, instanceId);
  print(`  ${instanceId} is ACTIVE${phone ? ` and calls as ${phone}` : ""}`);

  step(3, `A ${message.type} call to ${message.target.phoneNumber}`);
  for (const text of table(parts ?? [])) print(text);
  if (message.type === "DYNAMIC_AGENT") for (const text of message.agent.instructions) print(`  ${text}`);
  if (message.type === "FIXED_TTS") print(`  ${message.tts.voiceId}: “${message.tts.text}”`);
  const client = createClient({ url, token });
  const { id: callId } = await client.calls.create({ ...message, instanceId });
  const timeline = new Timeline();
  const events: CallEvent[] = [];
  const onProgress = (event: CallEvent): void => {
    events.push(event);
    timeline.show(event);
  };
  const call = await client.waitForCall(callId, { onProgress, longestPauseMs: 100 }).finally(() => timeline.stop());

  step(4, "The outcome");
  for (const text of outcomeLines(call)) print(`  ${text}`);
  if (message.type === "DYNAMIC_AGENT" && call.started_at !== null) {
    const conversation = await client.calls.get(callId, { expand: ["transcript", "result", "metrics"] });
    for (const text of conversationLines(conversation, events)) print(text);
  }
  if (call.started_at === null) print("  The callee heard nothing: there is no recording.");
  else print(`  What the callee heard: ${await saveRecording(await heardWav(url, token, callId), data, keepsData)}`);
  print();
  return call.status;
}

function step(number: number, title: string): void {
  print();
  print(paint(1, `${number}. ${title}`));
}

async function activePhone(ringport: Ringport, principal: Principal, instanceId: string): Promise<string | null> {
  const deadline = performance.now() + ACTIVATION_TIMEOUT_MS;
  for (;;) {
    const { status, connection } = await ringport.instances.get(principal, instanceId);
    if (status === "ACTIVE") return connection.phone;
    if (performance.now() > deadline)
      throw new Error(
        `the instance is ${status} ${ACTIVATION_TIMEOUT_MS} ms after linking: ${connection.reason ?? "no reason is known"}`,
      );
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Writes the recording into the current folder, or into the data folder if that is read-only. */
async function saveRecording(wav: Uint8Array, data: string, keepsData: boolean): Promise<string> {
  const path = resolve(WAV_NAME);
  try {
    await writeFile(path, wav);
    return path;
  } catch (error) {
    if (!keepsData) return `not kept, ${path} cannot be written (${(error as Error).message}); --data FOLDER keeps it`;
    const fallbackPath = join(data, WAV_NAME);
    await writeFile(fallbackPath, wav);
    return fallbackPath;
  }
}

/**
 * Audio that the callee of a simulated call heard, as the bytes of a WAV file. The client has no method for this
 * simulator route.
 */
export async function heardWav(url: string, token: string, callId: string): Promise<Uint8Array> {
  const address = `${url}/simulator/calls/${callId}/heard.wav`;
  const response = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) throw new Error(`${address} returned ${response.status} instead of the recording`);
  return new Uint8Array(await response.arrayBuffer());
}
