import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import process from "node:process";
import type { Call, CallStatus } from "../../src/domain/call.ts";
import type { Event } from "../../src/domain/events.ts";
import type { CreateCallInput } from "../../src/domain/inputs.ts";
import type { Principal } from "../../src/domain/principal.ts";
import type { Ringport } from "../../src/ringport.ts";
import { ProgressBar, progressBar } from "./progress.ts";
import { coloursAllowed, paint, print } from "./terminal.ts";
import { terminalQr } from "./terminal-qr.ts";

/** What the story is told with. */
export interface Story {
  readonly ringport: Ringport;
  /** Where it listens. */
  readonly url: string;
  readonly message: Omit<CreateCallInput, "instanceId">;
  readonly data: string;
  /** Whether the data folder is there afterwards. */
  readonly keepsData: boolean;
}

const ACTIVE_WITHIN_MS = 10_000;
const WAV_NAME = "ringport-demo.wav";

/** Tells it step by step; answers how the call turned out. */
export async function tellStory({ ringport, url, message, data, keepsData }: Story): Promise<CallStatus> {
  const { userId, token } = await ringport.tokens.issue({ userName: "demo", label: "demo" });
  const principal: Principal = { userId };

  step(1, "An instance: one phone number that calls can be placed from");
  const { id: instanceId, status } = await ringport.instances.create(principal, { name: "Demo phone" });
  print(`  ${instanceId} is ${status}`);

  step(2, "Its QR code, to be scanned with the phone");
  const { payload } = await ringport.instances.configure(principal, instanceId);
  for (const line of terminalQr(payload, { colours: coloursAllowed(process.stdout) })) print(`  ${line}`);
  print(`  ${payload}`);
  print("  No phone at hand, so the demo presses the button on that page itself.");
  const linked = await fetch(payload, { method: "POST", headers: { accept: "application/json" } });
  if (!linked.ok) throw new Error(`the linking page answered ${linked.status} instead of linking the phone`);
  const phone = await activePhone(ringport, principal, instanceId);
  print(`  ${instanceId} is ACTIVE${phone ? ` and calls as ${phone}` : ""}`);

  step(3, `A ${message.type} call to ${message.target.phoneNumber}`);
  if (message.tts) print(`  ${message.tts.voiceId}: “${message.tts.text}”`);
  const { id: callId } = await ringport.calls.create(principal, { ...message, instanceId });
  await showTimeline(ringport.calls.events(callId));
  const call = await ringport.calls.get(principal, callId);

  step(4, "How it turned out");
  showOutcome(call);
  const wav = await fetch(`${url}/simulator/calls/${callId}/heard.wav`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (wav.ok) {
    const path = await keep(new Uint8Array(await wav.arrayBuffer()), data, keepsData);
    print(`  What the callee heard: ${path}`);
  } else print("  The callee heard nothing: there is no recording.");
  print();
  return call.status;
}

function step(number: number, title: string): void {
  print();
  print(paint(1, `${number}. ${title}`));
}

async function activePhone(ringport: Ringport, principal: Principal, instanceId: string): Promise<string | null> {
  const deadline = performance.now() + ACTIVE_WITHIN_MS;
  for (;;) {
    const { status, connection } = await ringport.instances.get(principal, instanceId);
    if (status === "ACTIVE") return connection.phone;
    if (performance.now() > deadline)
      throw new Error(
        `the instance is ${status} ${ACTIVE_WITHIN_MS} ms after linking: ${connection.reason ?? "unknown why"}`,
      );
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Prints each event as it happens, and below the last one a bar while the message is heard. */
async function showTimeline(events: AsyncIterable<Event>): Promise<void> {
  let began: number | undefined;
  let messageMs: number | undefined;
  let answered = false;
  let bar: ProgressBar | undefined;
  for await (const event of events) {
    began ??= event.timestamp;
    if (event.type === "message_ready") messageMs = Number(event.data.message_ms) || undefined;
    if (event.type === "answered") answered = true;
    bar?.clear();
    print(`  ${eventLine(event, began)}`);
    if (answered && messageMs !== undefined) bar ??= new ProgressBar(messageMs);
  }
  bar?.stop();
}

function eventLine({ type, timestamp, data }: Event, began: number): string {
  const time = `${((timestamp - began) / 1000).toFixed(2).padStart(6)} s`;
  const facts = Object.entries(data)
    .filter(([, value]) => value !== null && value !== "")
    .map(([name, value]) => `${name}=${value}`);
  return `${paint(2, time)}  ${type.padEnd(13)} ${paint(2, facts.join(" "))}`.trimEnd();
}

function showOutcome({ status, outcome }: Call): void {
  print(`  ${paint(status === "COMPLETED" ? 32 : 31, status)}: ${outcome?.reason ?? "no outcome"}`);
  if (!outcome) return;
  const { heardMs, heardRatio, durationMs, detail } = outcome;
  if (detail) print(`  ${detail}`);
  if (heardRatio) print(`  ${progressBar(heardMs, heardMs / heardRatio)}`);
  print(`  heard_ms ${heardMs}, heard_ratio ${heardRatio ?? "none"}, duration_ms ${durationMs}`);
}

/** Writes the recording where the person is, or into the data folder where that is not allowed. */
async function keep(wav: Uint8Array, data: string, keepsData: boolean): Promise<string> {
  const here = resolve(WAV_NAME);
  try {
    await writeFile(here, wav);
    return here;
  } catch (error) {
    if (!keepsData) return `not kept, ${here} cannot be written (${(error as Error).message}); --data FOLDER keeps it`;
    const there = join(data, WAV_NAME);
    await writeFile(there, wav);
    return there;
  }
}
