#!/usr/bin/env node
// Live audio both ways: for ten seconds callees hear their own voice.
//
//   Start   RINGPORT_TOKEN=rp_live_… node stream-echo.ts [phone number]
//           against a server with live streams: RINGPORT_STREAM_PREVIEW=1 npx ringport serve
//           RINGPORT_URL is its address, by default http://127.0.0.1:8080
import process from "node:process";
import { createClient, type RingportError } from "ringport/client";

const { RINGPORT_URL: url = "http://127.0.0.1:8080", RINGPORT_TOKEN: token = "" } = process.env;
const ringport = createClient({ url, token });

const instance = await ringport.instances.create({ name: "Echo" });
const { message } = await ringport.instances.configure(instance.id).catch((error: RingportError) => error);
console.log(message); // open the address and press the button; over a SIP trunk there is no need

// The simulated phone behind this number speaks a sentence.
const phoneNumber = process.argv[2] ?? "+12025550106";
const call = await ringport.calls.create({ instanceId: instance.id, type: "DYNAMIC_STREAM", target: { phoneNumber } });
const stream = await ringport.stream(call.id, { audio: "callee" });

let frameCount = 0;
for await (const frame of stream.audio()) {
  frameCount++;
  if (frameCount === 500)
    void stream.hangUp(); // frames of 20 ms; audio already written is still played
  else await stream.write(frame);
}
console.log(await stream.ended);
