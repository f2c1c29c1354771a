// Uploads files in succession, each as the message of a call that is hung up once it plays; prints the number of accepted uploads.
import { request } from "node:http";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { toneWav } from "../support/server-sound.ts";

/** The argument of the program, as JSON. */
export interface UploaderStart {
  readonly url: string;
  /** Linked instances that the uploads rotate through. */
  readonly instances: readonly string[];
  readonly uploads: number;
}

/** Five and a half minutes: 10 MiB. */
const WAV = { sampleRate: 16_000, ms: Math.floor((10 * 2 ** 20 - 44) / 32) };
const POLL_MS = 50;
const HEARD_MS = 200;
/** Bytes that a line of 100 Mbit/s carries during one piece. */
const PIECE_BYTES = 125_000;
const PIECE_MS = 10;
const HEADERS = { authorization: "Bearer x" };

const { url, instances, uploads } = JSON.parse(process.argv[2] ?? "") as UploaderStart;
const audioBase64 = toneWav(WAV).toString("base64");
let acceptedCount = 0;
for (let n = 0; n < uploads; n++) {
  const instanceId = instances[n % instances.length];
  const call = { instanceId, type: "FIXED_AUDIO", target: { phoneNumber: "+12025550100" }, audio: { audioBase64 } };
  const { status, text } = await send(`${url}/v1/calls`, Buffer.from(JSON.stringify(call)));
  if (status !== 201) continue;
  acceptedCount++;
  const path = `${url}/v1/calls/${(JSON.parse(text) as { id: string }).id}`;
  const isWaiting = async () =>
    /"status":"(?:QUEUED|RINGING)"/.test(await (await fetch(path, { headers: HEADERS })).text());
  while (await isWaiting()) await pause(POLL_MS);
  await pause(HEARD_MS);
  await fetch(path, { method: "DELETE", headers: HEADERS });
}
console.log(acceptedCount);

/** Sends a body at the rate of a network line, not of shared memory. */
async function send(to: string, body: Buffer): Promise<{ status: number | undefined; text: string }> {
  const key = { "idempotency-key": crypto.randomUUID() };
  const type = { "content-type": "application/json", "content-length": body.length };
  const outgoing = request(to, { method: "POST", headers: { ...HEADERS, ...type, ...key } });
  const reply = new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    outgoing.once("error", reject);
    outgoing.once("response", async (response) => {
      resolve({ status: response.statusCode, text: Buffer.concat(await Array.fromAsync(response)).toString() });
    });
  });
  const startedAt = performance.now();
  for (let sentBytes = 0; sentBytes < body.length; ) {
    const dueBytes = Math.ceil((performance.now() - startedAt) / PIECE_MS) * PIECE_BYTES;
    if (dueBytes > sentBytes) outgoing.write(body.subarray(sentBytes, dueBytes));
    sentBytes = Math.max(sentBytes, dueBytes);
    await pause(PIECE_MS);
  }
  outgoing.end();
  return reply;
}
