#!/usr/bin/env node
// A call from TypeScript, from an instance that is already linked: the README's program.
//
//   Start   INSTANCE=inst_… RINGPORT_URL=http://127.0.0.1:8080 RINGPORT_TOKEN=rp_live_… node first-call.ts
import process from "node:process";
import { createClient } from "ringport/client";

const { RINGPORT_URL: url = "", RINGPORT_TOKEN: token = "", INSTANCE: instanceId = "" } = process.env;
const ringport = createClient({ url, token });
const message = { type: "FIXED_TTS", tts: { text: "Hello from TypeScript.", voiceId: "en-US-1" } } as const;
const target = { phoneNumber: "+12025550100" };
const { call, isNew } = await ringport.calls.place({ instanceId, target, ...message });
const { outcome } = await ringport.waitForCall(call.id, { onProgress: (event) => console.log(event.type) });
console.log(isNew, outcome.reason, outcome.heard_ratio);
