#!/usr/bin/env node
// A small voice menu: it reacts to keys, and to words if the server transcribes, according to a table of rules.
//
//   Start   RINGPORT_TOKEN=rp_live_… node stream-bot.ts [phone number]
//           against a server with live streams: RINGPORT_STREAM_PREVIEW=1 npx ringport serve
//           RINGPORT_URL is its address, by default http://127.0.0.1:8080
import process from "node:process";
import { createClient, type RingportError, type StreamEvent } from "ringport/client";

const { RINGPORT_URL: url = "http://127.0.0.1:8080", RINGPORT_TOKEN: token = "" } = process.env;
const ringport = createClient({ url, token });
const RATE = 16_000;

/**
 * The bot's reactions to keys and words. It ignores everything else; its only sentence is the sample of a server voice.
 */
const RULES = [
  { heard: /^1$|\bone\b/i, does: "a low tone", sound: async () => tone(440) },
  { heard: /^2$|\btwo\b/i, does: "a middle tone", sound: async () => tone(660) },
  { heard: /^3$|\bthree\b/i, does: "a high tone", sound: async () => tone(880) },
  { heard: /^#$|\bbye\b/i, does: "a sentence, and goodbye", sound: sentence, last: true },
];

const instance = await ringport.instances.create({ name: "Bot" });
const { message } = await ringport.instances.configure(instance.id).catch((error: RingportError) => error);
console.log(message); // open the address and press the button; not needed over a SIP trunk

// The simulated phone behind this number presses 1 2 3 4 #.
const phoneNumber = process.argv[2] ?? "+12025550107";
const call = await ringport.calls.create({ instanceId: instance.id, type: "DYNAMIC_STREAM", target: { phoneNumber } });
const stream = await ringport.stream(call.id);

for await (const event of stream.events()) {
  const heard = inputOf(event);
  const rule = heard === undefined ? undefined : RULES.find(({ heard: pattern }) => pattern.test(heard));
  if (heard !== undefined) console.log(`heard ${heard}: ${rule?.does ?? "nothing to do"}`);
  if (rule) await stream.write(await rule.sound());
  if (rule?.last) void stream.hangUp(); // everything written so far is played first
}
console.log(await stream.ended);

/** The key or the final transcript in an event; undefined for other events. */
function inputOf(event: StreamEvent): string | undefined {
  if (event.type === "transcript") return event.final && event.speaker === "callee" ? event.text : undefined;
  return event.type === "call_event" && event.event === "dtmf" ? event.digit : undefined;
}

function tone(hz: number): Int16Array {
  return Int16Array.from({ length: 0.4 * RATE }, (_, i) => 8_000 * Math.sin((2 * Math.PI * hz * i) / RATE));
}

/** The sample of the first voice, a WAV file with a header of 44 bytes; a tone if the server has no voices. */
async function sentence(): Promise<Int16Array | Uint8Array> {
  const [voice] = await ringport.voices();
  return voice ? (await ringport.voiceSample(voice.id)).subarray(44) : tone(330);
}
