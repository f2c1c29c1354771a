#!/usr/bin/env node
// An agent that follows a script: it asks about an appointment, and the callee answers by pressing keys. It runs on the
// simulated network.
//
//   Start   node agent-appointment.ts
import process from "node:process";
import { createRingport } from "ringport";
import { serve } from "ringport/node";

const ringport = createRingport({ data: "./agent-data" });
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
  target: { phoneNumber: process.argv[2] ?? "+12025550112" }, // its callee presses 1, 2, 1 and 5
  agent: {
    instructions: [
      "Say: Hello, this is an automated call from the Riverside clinic.",
      "Ask appointment: Your appointment is tomorrow at ten. Press 1 to keep it, or 2 to cancel it.",
      "If 1: say: Good, we expect you at ten.",
      "If 2: say: Your appointment is cancelled.; hang up",
      "Ask people for 1 digit: How many people will come?",
      "Say: Thank you. Goodbye.",
    ],
  },
});
const { outcome, result } = await ringport.calls.wait(clinic, call.id);
const transcripts = await ringport.calls.transcripts(clinic, [call]);
for (const { speaker, text } of transcripts.get(call.id) ?? []) console.log(`${speaker}: ${text}`);
console.log(outcome?.reason, result ?? outcome?.detail);

await ringport.stop();
await server.close();
