import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embeddedWorkers } from "../../../adapters/embedded/worker-pool.ts";
import { embeddedSpeech } from "../../../adapters/speech/embedded-engines.ts";
import { sqliteStorage } from "../../../adapters/storage/sqlite/sqlite-storage.ts";
import { type MediaPlace, sip } from "../../../adapters/telephony/sip/index.ts";
import { type Call, type CreateCallInput, createRingport, type Ringport } from "../../../src/index.ts";
import { ME, pause } from "../many-calls.ts";

/** A whole Ringport in this process with one SIP trunk and its own data folder. */
export interface TrunkWorld {
  readonly ringport: Ringport;
  /** Makes instances that are online. */
  link(count: number): Promise<string[]>;
  place(call: CreateCallInput): Promise<Call>;
  stop(): Promise<void>;
}

/** @param server the trunk's, a SIP URI */
export async function startTrunkWorld(server: string, media: MediaPlace): Promise<TrunkWorld> {
  const data = await mkdtemp(join(tmpdir(), "ringport-bench-"));
  const pool = embeddedWorkers();
  const ringport = createRingport({
    data,
    storage: sqliteStorage({ path: join(data, "bench.sqlite") }),
    telephony: sip({ trunks: [{ name: "bench", server, users: "*", rtpPorts: [16_384, 49_151] }], media }),
    speech: embeddedSpeech({ pool }),
  });
  await ringport.start();
  return {
    ringport,
    async link(count) {
      const ids: string[] = [];
      for (let n = 0; n < count; n++)
        ids.push((await ringport.instances.create(ME, { name: `bench ${n}`, provider: "sip/bench" })).id);
      for (const id of ids) while ((await ringport.instances.get(ME, id)).status !== "ACTIVE") await pause(50);
      return ids;
    },
    place: (call) => ringport.calls.create(ME, call),
    async stop() {
      await ringport.stop({ drainMs: 0 });
      await pool.close();
      await rm(data, { recursive: true, force: true });
    },
  };
}
