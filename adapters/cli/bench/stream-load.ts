import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Principal } from "../../../src/domain/access/principal.ts";
import { type Speech, VoiceUnavailable } from "../../../src/ports/speech.ts";
import { createRingport, type Ringport } from "../../../src/ringport.ts";
import { simulator } from "../../telephony/simulator/index.ts";
import { serverAdapter } from "../serve/server-adapter.ts";
import type { StreamClients } from "./stream-clients.ts";
import type { AudioLoad } from "./trial.ts";

/** Each stream has its own user, because a user may open only a few on Deno; the token is the number. */
const userOf = (number: number | string): Principal => ({ userId: `usr_bench_${number}` });
const TARGET = { phoneNumber: "+12025550100" };
/** Batch size for new calls. */
const AT_ONCE = 25;
const POLL_MS = 20;
const MAX_DURATION_MS = 3_600_000;
const ATTACH_MS = 60_000;
/** Factor for the times of simulated callees. */
const TIME_SCALE = 0.1;

/** No voice is loaded: streams do not speak. */
const SPEECH: Speech = {
  voices: async () => [],
  async voice(id) {
    throw new VoiceUnavailable(`${id} is not used`);
  },
  async *speak() {},
  async close() {},
};

/**
 * Starts a Ringport with live streams in this process, on the simulated network and 127.0.0.1.
 * @param folder its data folder
 * @param clients clients of the streams, in another process
 */
export async function startStreamLoad(folder: string, clients: StreamClients): Promise<AudioLoad> {
  const network = simulator({ timeScale: TIME_SCALE, spoolDir: join(folder, "recordings"), maxRecordingMs: 0 });
  const ringport = createRingport({
    data: folder,
    telephony: network,
    speech: SPEECH,
    streamPreview: true,
    authenticate: async (token) => userOf(token),
    maxDurationMs: MAX_DURATION_MS,
    streamAttachMs: ATTACH_MS,
  });
  await ringport.start();
  const { serve } = await serverAdapter();
  const listening = await serve(ringport, { hostname: "127.0.0.1", port: 0 });
  const instanceIds: string[] = [];
  const callIds: string[] = [];

  /** Places a call; returns the address of its stream. */
  async function place(index: number): Promise<string> {
    instanceIds[index] ??= await linkedInstance(ringport, index);
    const call = { instanceId: instanceIds[index], type: "DYNAMIC_STREAM", target: TARGET } as const;
    const { id } = await ringport.calls.create(userOf(index), call);
    callIds[index] = id;
    const url = listening.url.replace("://", `://${index}@`);
    return `${url}/v1/calls/${id}/stream?audio=callee&encoding=pcm_s16le&sample_rate=16000`;
  }

  return {
    lateness: network.clock.lateness,
    async resize(count) {
      while (callIds.length < count) {
        const first = callIds.length;
        const batch = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, i) => place(first + i));
        await clients.open(await Promise.all(batch));
      }
      await Promise.all(callIds.splice(count).map((id, i) => ringport.calls.hangUp(userOf(count + i), id)));
      while (network.clock.size !== count) await pause(POLL_MS);
    },
    async begin() {
      await clients.begin();
      network.clock.lateness.reset();
    },
    async counts() {
      const sent = network.clock.lateness.frames;
      const { sent: sentByClients, received } = await clients.counts();
      return { sent, received: Math.min(sentByClients, received), underruns: 0 };
    },
    async close() {
      await listening.close();
      await ringport.stop({ drainMs: 0 });
    },
  };
}

async function linkedInstance(ringport: Ringport, number: number): Promise<string> {
  const user = userOf(number);
  const { id } = await ringport.instances.create(user, { name: `bench ${number}` });
  const { payload } = await ringport.instances.configure(user, id);
  await ringport.handle({ method: "POST", url: payload, headers: new Headers(), body: null });
  while ((await ringport.instances.get(user, id)).status !== "ACTIVE") await pause(POLL_MS);
  return id;
}
