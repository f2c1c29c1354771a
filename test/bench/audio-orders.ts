import { request } from "node:http";
import { start } from "../support/runtimes.ts";
import { toneWav } from "../support/server-sound.ts";
import { atMost, benchmark, inRounds, median, ms, ratioOf, row } from "./harness/benchmark.ts";
import { ALL_RUNTIMES, serverScript, underEach } from "./harness/programs.ts";
import { timeSpent, untilIdle } from "./harness/resources.ts";
import { insertInstances, withStoredData } from "./harness/stored-data.ts";

const CONCURRENT = 4;
/** 30 s in 16 bits at 8 kHz: 480 kB. */
const WAV = toneWav({ ms: 30_000, sampleRate: 8_000 }).toString("base64");
/** Maximum number of orders per second on any machine. */
const MAX_PER_SECOND = 3_000;
const TARGET_MS = 15;

/** Orders with an audio file of 30 s: the file in each order, against the id of a stored file. */
export const AUDIO_ORDERS = benchmark({
  options: {
    rounds: { meaning: "rounds, each with both kinds of orders", value: 5, quick: 1 },
    seconds: { meaning: "length of one kind's turn", value: 3, quick: 1 },
  },
  run: ({ rounds, seconds }) =>
    underEach(ALL_RUNTIMES, (runtime) =>
      withStoredData(async (data) => {
        let instances: string[] = [];
        data.fill((database) => {
          instances = insertInstances(database, data.userId, (rounds + 1) * seconds * MAX_PER_SECOND);
        });
        const server = await start(runtime, serverScript("ringport"), { args: [data.folder] });
        const headers = { authorization: `Bearer ${data.token}`, "content-type": "application/json" };
        const post = (path: string, body: object) => responseTo(server.url + path, headers, JSON.stringify(body));
        let usedCount = 0;
        /** Places orders with this audio one after the other, several at a time; returns the processor time of each, ms. */
        async function placeOrders(audio: object): Promise<number> {
          const endAt = performance.now() + seconds * 1_000;
          let orders = 0;
          const placeSome = async (): Promise<void> => {
            while (performance.now() < endAt) {
              const instanceId = instances[usedCount++];
              const target = { phoneNumber: "+12025550100" };
              await post("/v1/calls", { instanceId, type: "FIXED_AUDIO", target, audio });
              orders++;
            }
          };
          const { processor = Number.NaN } = await timeSpent(server.pid, () =>
            Promise.all(Array.from({ length: CONCURRENT }, placeSome)),
          );
          return (processor * 1_000) / orders;
        }
        try {
          const { id: audioId } = await post("/v1/audio", { audio: { audioBase64: WAV } });
          await untilIdle(server.pid);
          const sides = { inline: () => placeOrders({ audioBase64: WAV }), stored: () => placeOrders({ audioId }) };
          const { inline, stored } = await inRounds(rounds, sides, { label: runtime.name });
          const storedMs = median(stored);
          return [
            row("processor per order that carries the file", ms(median(inline))),
            atMost("processor per order that names a stored file", storedMs, TARGET_MS, "ms", ms(storedMs, 2)),
            row("the second against the first", ratioOf(stored, inline).toFixed(3)),
          ];
        } finally {
          await server.stop("SIGKILL");
        }
      }),
    ),
});

/** Posts JSON on a new connection, since Deno ends one after a large body. @throws {Error} any status but 201 */
function responseTo(url: string, headers: Record<string, string>, body: string): Promise<{ readonly id: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: "POST", headers, agent: false }, async (response) => {
      const text = Buffer.concat(await Array.fromAsync(response)).toString();
      if (response.statusCode === 201) resolve(JSON.parse(text) as { id: string });
      else reject(new Error(`${url} responded with ${response.statusCode}: ${text}`));
    });
    outgoing.once("error", reject).end(body);
  });
}
