#!/usr/bin/env node
// A radio on the phone: streams an MP3 to the callee while it is still downloading, at playback speed.
//
//   Start   RINGPORT_TOKEN=rp_live_… node stream-mp3-radio.ts [file or URL of an MP3]
//           against a server with live streams: RINGPORT_STREAM_PREVIEW=1 npx ringport serve
//           RINGPORT_URL is its address, by default http://127.0.0.1:8080
import { createReadStream } from "node:fs";
import process from "node:process";
import { createClient, type RingportError } from "ringport/client";

const { RINGPORT_URL: url = "http://127.0.0.1:8080", RINGPORT_TOKEN: token = "" } = process.env;
const ringport = createClient({ url, token });

const instance = await ringport.instances.create({ name: "Radio" });
const { message } = await ringport.instances.configure(instance.id).catch((error: RingportError) => error);
console.log(message); // open the address and press the button; over a SIP trunk there is no need

const target = { phoneNumber: "+12025550100" };
const call = await ringport.calls.create({ instanceId: instance.id, type: "DYNAMIC_STREAM", target });
const stream = await ringport.stream(call.id, { encoding: "mp3" });

for await (const piece of await broadcast(process.argv[2])) {
  // Waits while enough audio is queued; resolves with false once the callee has hung up.
  if (!(await stream.write(piece))) break;
}
await stream.mark("the end"); // hanging up before the answer would end the call before anything is heard
console.log(await stream.hangUp());

/** The bytes of an MP3, as they arrive. */
async function broadcast(source: string | undefined): Promise<AsyncIterable<Uint8Array>> {
  if (source === undefined || !/^https?:/.test(source))
    return createReadStream(source ?? new URL("hello.mp3", import.meta.url));
  const { body, status } = await fetch(source);
  if (status !== 200 || body === null) throw new Error(`${source} responded with ${status}`);
  return body;
}
