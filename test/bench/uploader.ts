import { request } from "node:http";
import process from "node:process";
import { toneWav } from "../support/server-sound.ts";

/** Options of an uploader. */
export interface UploaderStart {
  readonly url: string;
  /** Linked instances of which one is called with each upload. */
  readonly instances: readonly string[];
  readonly uploads: number;
}

/** Five and a half minutes: 10 MiB. */
const WAV = { sampleRate: 16_000, ms: Math.floor((10 * 2 ** 20 - 44) / 32) };
const POLL_MS = 50;
const HEARD_MS = 200;
/** Bytes that a line of 100 Mbit/s transfers in … */
const LINE_BYTES = 125_000;
/** … this time, ms. */
const LINE_MS = 10;

/** Uploads one file after the other, each the message of a call that is hung up once it is being played; answers how many went well. */
async function upload({ url, instances, uploads }: UploaderStart): Promise<number> {
  const audioBase64 = toneWav(WAV).toString("base64");
  let answered = 0;
  for (let n = 0; n < uploads; n++) {
    const instanceId = instances[n % instances.length];
    const call = { instanceId, type: "FIXED_AUDIO", target: { phoneNumber: "+12025550100" }, audio: { audioBase64 } };
    const reply = await send(`${url}/v1/calls`, Buffer.from(JSON.stringify(call)));
    if (reply.status !== 201) continue;
    answered++;
    const { id } = JSON.parse(reply.text) as { id: string };
    const status = async () => ((await (await ask(url, "GET", `/v1/calls/${id}`)).json()) as { status: string }).status;
    while (["QUEUED", "RINGING"].includes(await status())) await pause(POLL_MS);
    await pause(HEARD_MS);
    await ask(url, "DELETE", `/v1/calls/${id}`);
  }
  return answered;
}

/** Sends a body at the pace of a line, not of the memory that client and server share. */
async function send(url: string, body: Buffer): Promise<{ status: number | undefined; text: string }> {
  const headers = {
    ...HEADERS,
    "content-type": "application/json",
    "content-length": body.length,
    "idempotency-key": crypto.randomUUID(),
  };
  const sending = request(url, { method: "POST", headers });
  const answer = new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    sending.once("error", reject);
    sending.once("response", async (response) => {
      let text = "";
      for await (const piece of response.setEncoding("utf8")) text += piece;
      resolve({ status: response.statusCode, text });
    });
  });
  const startedAt = performance.now();
  for (let sent = 0; sent < body.length; ) {
    const due = Math.ceil((performance.now() - startedAt) / LINE_MS) * LINE_BYTES;
    if (due > sent) sending.write(body.subarray(sent, due));
    sent = Math.max(sent, due);
    await pause(LINE_MS);
  }
  sending.end();
  return answer;
}

function ask(url: string, method: string, path: string) {
  return fetch(url + path, { method, headers: HEADERS });
}

const HEADERS = { authorization: "Bearer x" };

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

console.log(await upload(JSON.parse(process.argv[2] ?? "")));
