import { parentPort, workerData } from "node:worker_threads";
import { toneWav } from "../support/server-sound.ts";

/** What an uploader is started with. */
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

/** Uploads one file after the other, each the message of a call that is hung up once it is being played; posts how many went well. */
async function upload({ url, instances, uploads }: UploaderStart): Promise<number> {
  const audioBase64 = toneWav(WAV).toString("base64");
  let answered = 0;
  for (let n = 0; n < uploads; n++) {
    const instanceId = instances[n % instances.length];
    const call = { instanceId, type: "FIXED_AUDIO", target: { phoneNumber: "+12025550100" }, audio: { audioBase64 } };
    const reply = await ask(url, "POST", "/v1/calls", JSON.stringify(call), { "idempotency-key": crypto.randomUUID() });
    if (reply.status !== 201) continue;
    answered++;
    const { id } = (await reply.json()) as { id: string };
    const status = async () => ((await (await ask(url, "GET", `/v1/calls/${id}`)).json()) as { status: string }).status;
    while (["QUEUED", "RINGING"].includes(await status())) await pause(POLL_MS);
    await pause(HEARD_MS);
    await ask(url, "DELETE", `/v1/calls/${id}`);
  }
  return answered;
}

function ask(url: string, method: string, path: string, body?: string, more: Record<string, string> = {}) {
  return fetch(url + path, {
    method,
    headers: { authorization: "Bearer x", "content-type": "application/json", ...more },
    ...(body === undefined ? {} : { body }),
  });
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

parentPort?.postMessage(await upload(workerData as UploaderStart));
