#!/usr/bin/env node
// An agent with a language model: it follows free instructions, listens, and replies. It runs on the simulated network.
//
//   Start   MODEL_URL=http://127.0.0.1:11434/v1 MODEL=… SPEECH_TO_TEXT_URL=http://127.0.0.1:8000/v1 SPEECH_TO_TEXT=… \\
//           node agent-openai-compatible.ts [+12025550106]
//           with any servers that support OpenAI's protocols: Ollama, vLLM, LocalAI, Speaches …
import process from "node:process";
import { createRingport } from "ringport";
import { cascadeAgent } from "ringport/agent";
import { serve } from "ringport/node";
import { openaiTranscription } from "ringport/transcription";

const { MODEL_URL = "", MODEL = "", MODEL_KEY, SPEECH_TO_TEXT_URL = MODEL_URL, SPEECH_TO_TEXT = "" } = process.env;
const ringport = createRingport({
  data: "./agent-data",
  agent: cascadeAgent({ baseUrl: MODEL_URL, model: MODEL, apiKey: MODEL_KEY }),
  transcription: openaiTranscription({ baseUrl: SPEECH_TO_TEXT_URL, model: SPEECH_TO_TEXT, apiKey: MODEL_KEY }),
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
