#!/usr/bin/env node
// A call without a webhook: create an instance, link it, call from it, and poll until the call has ended.
//
//   Start   RINGPORT_TOKEN=rp_live_… node polling-client.ts [message.mp3]
//           against a running server at RINGPORT_URL, by default http://127.0.0.1:8080
import { readFile } from "node:fs/promises";
import process from "node:process";
import { createClient, type RingportError } from "ringport/client";

const { RINGPORT_URL: url = "http://127.0.0.1:8080", RINGPORT_TOKEN: token = "" } = process.env;
const ringport = createClient({ url, token });
const message = await readFile(process.argv[2] ?? new URL("hello.mp3", import.meta.url));

const instance = await ringport.instances.create({ name: "Polling client" });
// Scan the code, or open the address within half a minute and press the button; a SIP trunk needs neither.
const code = await ringport.instances.configure(instance.id).catch((error: RingportError) => error);
console.log(code.message);

// The call can already be created: it waits until the phone is linked, ten minutes at most.
const created = await ringport.calls.create({
  instanceId: instance.id,
  type: "FIXED_AUDIO",
  target: { phoneNumber: "+12025550100" },
  audio: { audioBase64: message.toString("base64") },
});
const call = await ringport.waitForCall(created.id, {
  onProgress: ({ timestamp, type, data }) => console.log(timestamp, type, data),
});
console.log(call.status, call.outcome);
