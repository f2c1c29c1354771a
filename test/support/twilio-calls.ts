import { expect } from "vitest";
import { type CallView, type Client, until } from "./server-client.ts";
import type { Sound } from "./server-sound.ts";
import type { StreamServer } from "./stream-calls.ts";
import { connect } from "./stream-client.ts";
import { levelOf, TwilioBot, type TwilioBotOptions } from "./twilio-bot.ts";

/** Numbers of the simulated network. */
export const NUMBERS = {
  listens: "+12025550100",
  busy: "+12025550101",
  ringsOn: "+12025550102",
  hangsUp: "+12025550104",
  greetsAndBeeps: "+12025550105",
  pressesKeys: "+12025550107",
} as const;

/** A stream call to a number, on a new instance. */
export async function placeCall(server: StreamServer, number: string): Promise<{ client: Client; callId: string }> {
  const client = await server.as("ada");
  const { id } = await client.activeInstance();
  const call = await client.call(id, { type: "DYNAMIC_STREAM", target: { phoneNumber: number }, tts: undefined });
  return { client, callId: call.id };
}

/** A bot at the stream of a call, with our client. */
export async function attach(
  server: StreamServer,
  { client, callId }: { client: Client; callId: string },
  options: TwilioBotOptions = {},
  parameters = "",
): Promise<TwilioBot> {
  const url = `${server.base.replace(/^http/, "ws")}/v1/calls/${callId}/stream?protocol=twilio${parameters}`;
  return connect(url, { authorization: `Bearer ${client.token}` }, (ws) => new TwilioBot(ws, options));
}

/** End of a bot's connection. */
export const waitUntilClosed = (bot: TwilioBot): Promise<TwilioBot["closed"]> =>
  until(
    () => bot.closed,
    (entry) => entry !== undefined,
    20_000,
    "the bot to be disconnected",
  );

/** The sound of mu-law codes. */
export const decodeHeard = (codes: Buffer): Sound => ({ sampleRate: 8_000, samples: Int16Array.from(codes, levelOf) });

/** Position of exactly these samples in the callee's audio, or -1. */
export function indexOfSamples({ samples }: Sound, pattern: Int16Array): number {
  const first = pattern.findIndex((sample) => sample !== 0);
  for (let at = samples.indexOf(pattern[first]!); at >= 0; at = samples.indexOf(pattern[first]!, at + 1)) {
    const from = at - first;
    if (from >= 0 && pattern.every((sample, i) => samples[from + i] === sample)) return from;
  }
  return -1;
}

/** A part of a sound, by samples. */
export function part({ sampleRate, samples }: Sound, from: number, to: number): Sound {
  return { sampleRate, samples: samples.subarray(from, to) };
}

/** Asserts that the client has ended the call. */
export function expectClosedOnPurpose(call: CallView): void {
  expect([call.status, call.outcome?.reason]).toEqual(["COMPLETED", "stream_closed"]);
}

/** The telephone network's own rate: the callee hears the bot sample by sample. */
export const TWILIO_SETTINGS = { RINGPORT_STREAM_PREVIEW: "1", RINGPORT_SIMULATOR_SAMPLE_RATE: "8000" };
