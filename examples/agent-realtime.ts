#!/usr/bin/env node
// An agent whose model hears and speaks audio, over OpenAI's realtime protocol. It runs on the simulated network.
//
//   Start   REALTIME_URL=https://api.openai.com/v1 REALTIME_MODEL=… REALTIME_KEY=… node agent-realtime.ts [+12025550106]
import process from "node:process";
import { createRingport } from "ringport";
import { realtimeAgent } from "ringport/agent";
import { serve } from "ringport/node";

const { REALTIME_URL = "", REALTIME_MODEL = "", REALTIME_KEY, REALTIME_VOICE, REALTIME_TRANSCRIPTION } = process.env;
const ringport = createRingport({
  data: "./agent-data",
  agent: realtimeAgent({
    baseUrl: REALTIME_URL,
    model: REALTIME_MODEL,
    apiKey: REALTIME_KEY,
    voice: REALTIME_VOICE,
    transcriptionModel: REALTIME_TRANSCRIPTION,
  }),
});
const server = await serve(ringport, { port: 0 });
await ringport.start();
const { userId } = await ringport.tokens.issue({ userName: "clinic", label: "example" });
const clinic = { userId };

const instance = await ringport.instances.create(clinic, { name: "Clinic" });
const { payload } = await ringport.instances.configure(clinic, instance.id);
await fetch(payload, { method: "POST" }); // presses the button behind the QR code: a simulated number has no phone

const call = await ringport.calls.create(clinic, {
  instanceId: instance.id,
  type: "DYNAMIC_AGENT",
  target: { phoneNumber: process.argv[2] ?? "+12025550106" }, // its callee speaks a sentence
  agent: { instructions: ["You call for the Riverside clinic.", "Ask whether tomorrow at ten suits the callee."] },
});
const { outcome } = await ringport.calls.wait(clinic, call.id);
const transcripts = await ringport.calls.transcripts(clinic, [call]);
for (const { speaker, text } of transcripts.get(call.id) ?? []) console.log(`${speaker}: ${text}`);
if (outcome) console.log(outcome.detail === null ? outcome.reason : `${outcome.reason}: ${outcome.detail}`);

await ringport.stop();
await server.close();
