#!/usr/bin/env node
// Calls everyone in a CSV file, calls busy numbers again, and writes a file of the results: docs/batches.md.
//
//   Start   INSTANCE=inst_… RINGPORT_URL=http://127.0.0.1:8080 RINGPORT_TOKEN=rp_live_… node call-your-customers.ts [people.csv [message.wav]]
import { readFile, writeFile } from "node:fs/promises";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { createClient } from "ringport/client";

const { RINGPORT_URL: url = "http://127.0.0.1:8080", RINGPORT_TOKEN: token = "", INSTANCE = "" } = process.env;
const [file, audio] = process.argv.slice(2);
const people = file
  ? await readFile(file, "utf8")
  : "phone,name,time\n+12025550100,Ana,nine o'clock\n+1 202 555 0111,Ben,half past ten\n12,Cleo,noon\n";
const ringport = createClient({ url, token });

const batch = await ringport.batches.create({
  name: "Appointments",
  instanceIds: [INSTANCE],
  message: audio
    ? { type: "FIXED_AUDIO", audio: { audioBase64: await readFile(audio, "base64") } }
    : { type: "FIXED_TTS", tts: { text: "Hello {{name}}, we expect you at {{time}}.", voiceId: "en-US-1" } },
  retry: { on: ["busy", "no_answer"], times: 2, afterMs: 10_000 },
});
// Invalid rows are stored too, so that they can be corrected.
const { faults } = await ringport.batches.addTargets(batch.id, people);
for (const { row, faults: problems } of faults) for (const { detail } of problems) console.log(`row ${row}: ${detail}`);

await ringport.batches.start(batch.id, { skipInvalid: true });
for (;;) {
  const { status, reason, counts } = await ringport.batches.get(batch.id);
  const { COMPLETED = 0, FAILED = 0, CALLING = 0, WAITING = 0 } = counts.by_status;
  console.log(`${status}: ${COMPLETED} heard it, ${FAILED} failed, ${CALLING} on the phone, ${WAITING} waiting`);
  if (status !== "RUNNING") {
    if (reason !== null) console.log(reason);
    break;
  }
  await setTimeout(1_000);
}
await writeFile("results.csv", await ringport.batches.results(batch.id));
console.log("results.csv has the result of each row");
