// A server over a scripted WhatsApp, for tests that start it as a process. It reads the actions of the phones' owners, one
// line each: `scan <code> <phone>`, `type <pairing code> <phone>`, `unlink <phone>`. A callee's audio goes to
// `heard-<digits>.s16` in its data folder: 16 kHz, mono, 16 bits.
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { serverAdapter } from "../../../adapters/cli/serve/server-adapter.ts";
import { whatsapp } from "../../../adapters/telephony/whatsapp/index.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import { createRingport } from "../../../src/index.ts";
import { FakeWhatsApp } from "../../../src/testing/index.ts";

const { RINGPORT_DATA: data = "", PORT } = process.env;
const network = new FakeWhatsApp();
network.number("+12025550101", { devices: [{ does: "busy", afterMs: 100 }] });
network.number("+12025550105", { speaks: tone(440, 1_500, 16_000, 8_000) });
network.onCallEnd = ({ phone, heard }) => {
  const file = join(data, `heard-${phone}.s16`);
  writeFileSync(`${file}.part`, new Uint8Array(heard.buffer));
  renameSync(`${file}.part`, file);
};

const ringport = createRingport({
  telephony: whatsapp({ client: network.client }),
  queue: { kind: "single", paceMs: 0 },
  streamPreview: true,
  data,
});
const { serve } = await serverAdapter();
const { url, close } = await serve(ringport, { port: Number(PORT) });
console.log(`listening on ${url}`);

createInterface({ input: process.stdin }).on("line", (line) => {
  const [act, ...words] = line.split(" ");
  if (act === "scan") network.scan(words[0]!, words[1]!);
  else if (act === "type") network.typeCode(words[0]!, words[1]!);
  else network.unlink(words[0]!);
});
process.once("SIGTERM", async () => {
  await ringport.stop();
  await close();
  process.exit(0);
});
