// A WhatsApp without phones: the callees answer after a second and listen. The audio that each of them has heard is
// in `heard-N.wav`. In the terminal you are the owner of the number:
//
//   scan      scans the code that is shown now; GET /v1/instances/:instanceId/configure shows one
//   ABCD1234  types this pairing code; POST /v1/instances/:instanceId/pairing-code returns one for +5511912345678
//   restrict  WhatsApp locks the number out of calling people who have not written to it, as it does after many such calls
//   release   the lock ends
//   unlink    removes the device, as the app does under Settings, Linked devices
import { writeFileSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";
import { FakeWhatsApp, type FakeWhatsAppCall } from "ringport/testing";

const OWNER = "+5511912345678";
const SAMPLE_RATE = 16_000;

const network = new FakeWhatsApp();
network.onCallEnd = (call) => {
  const file = `heard-${network.calls.indexOf(call) + 1}.wav`;
  writeFileSync(file, wavOf(call));
  console.log(`The call to +${call.phone} has ended; what the callee heard: ${file}`);
};
/** Passed to `whatsapp({ client })`. */
export const client = network.client;

function runCommand(command: string): string {
  if (command === "scan") {
    const code = network.clients.findLast(({ shown }) => shown.qr !== undefined)?.shown.qr;
    if (code === undefined) return "no code is shown: fetch one with GET /v1/instances/:instanceId/configure";
    network.scan(code, OWNER);
    return `${OWNER} has scanned the code`;
  }
  if (command === "restrict") {
    network.refuseOffers({ error: 463, from: OWNER, to: "strangers" });
    return `${OWNER} is restricted: it cannot call people who have not written to it`;
  }
  if (command === "release") {
    network.acceptOffers();
    return `${OWNER} may call everyone again`;
  }
  if (command === "unlink") {
    network.unlink(OWNER);
    return `${OWNER} has removed the device`;
  }
  if (!/^[0-9a-z]{4}-?[0-9a-z]{4}$/i.test(command)) return "Type scan, a pairing code, restrict, release, or unlink";
  try {
    network.typeCode(command, OWNER);
    return `${OWNER} has typed the code`;
  } catch (error) {
    return (error as Error).message;
  }
}

createInterface({ input: process.stdin }).on("line", (line) => console.log(runCommand(line.trim())));

/** The WAV file of what a callee heard: mono, 16 bits (WAVE_FORMAT_PCM). */
function wavOf({ heard }: FakeWhatsAppCall): Uint8Array {
  const bytes = Buffer.alloc(44 + 2 * heard.length);
  bytes.write("RIFF    WAVEfmt ");
  bytes.writeUInt32LE(bytes.length - 8, 4);
  for (const [at, value] of [
    [16, 16],
    [24, SAMPLE_RATE],
    [28, 2 * SAMPLE_RATE],
  ] as const)
    bytes.writeUInt32LE(value, at);
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 2],
    [34, 16],
  ] as const)
    bytes.writeUInt16LE(value, at);
  bytes.write("data", 36);
  bytes.writeUInt32LE(2 * heard.length, 40);
  for (const [at, sample] of heard.entries()) bytes.writeInt16LE(sample, 44 + 2 * at);
  return bytes;
}
