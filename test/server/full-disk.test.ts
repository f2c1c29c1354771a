import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fillDisk, mountInMemory, unmount } from "../support/mount.ts";
import { expectProblem } from "../support/response-shapes.ts";
import { describeEach, ON_NODE, Server } from "../support/server.ts";
import { expected, type InstanceView, until } from "../support/server-client.ts";
import { type FarEnd, startFarEnd } from "../support/sip/far-end.ts";

const DISK_SIZE = "size=6m";
/** About a minute of speech. */
const LONG_MESSAGE = {
  text: "Please bring the documents that you were sent last week. ".repeat(20),
  voiceId: "en-US-1",
};
const [HUNG_UP, CRASHED, RINGING] = ["+12025550171", "+12025550172", "+12025550173"];

describeEach([ON_NODE], (target) => {
  const disk = join(tmpdir(), `ringport-call-disk-${process.pid}`);
  const missing = mountInMemory(disk, DISK_SIZE);
  unmount(disk); // hooks, which would unmount it, do not run for tests that a filter leaves out

  describe.skipIf(missing)(`a disk that fills up during a call${missing ? ` (skipped: ${missing})` : ""}`, () => {
    const filler = join(disk, "filler");
    const server = new Server(target, { data: join(disk, "data") });
    let farEnd: FarEnd;
    const start = () =>
      server.start({ RINGPORT_SIP_TRUNKS: JSON.stringify([{ name: "desk", server: farEnd.uri, users: "*" }]) });
    const callsTo = (number: string) => farEnd.calls.filter(({ user }) => user === number);

    beforeAll(async () => {
      farEnd = await startFarEnd({ callees: { "*": {}, [RINGING!]: { status: "never" } } });
      mountInMemory(disk, DISK_SIZE);
      await start();
    });
    afterAll(async () => {
      await server.dispose();
      await farEnd.close();
      unmount(disk);
    });

    async function callTo(number: string, status: "RINGING" | "IN_PROGRESS") {
      const client = await server.as("ada");
      const body = { name: number, provider: "sip/desk" };
      const { id } = expected(201, await client.post("/v1/instances", body)).json<InstanceView>();
      await client.waitForInstance(id, "ACTIVE");
      const call = await client.call(id, { tts: LONG_MESSAGE, target: { phoneNumber: number } });
      await client.waitForCall(call.id, [status]);
      return { client, id: call.id };
    }

    test("DELETE hangs up immediately; the end is stored later", async () => {
      const { client, id } = await callTo(HUNG_UP!, "IN_PROGRESS");
      fillDisk(filler);
      const requestedAt = performance.now();
      const refusal = await client.delete(`/v1/calls/${id}`);
      expectProblem(refusal, 503, "storage_unavailable");
      expect(refusal.json<{ detail: string }>().detail).toMatch(/ends anyway/);
      const [farEndCall] = callsTo(HUNG_UP!);
      expect(farEndCall?.end).toBe("caller hung up");
      const bye = farEndCall?.requests.find(({ method }) => method === "BYE");
      expect(bye!.at - requestedAt, "BYE does not wait for the disk").toBeLessThan(3_000);
      expect((await client.readCall(id)).status).toBe("IN_PROGRESS");

      rmSync(filler);
      const statuses = [503];
      await until(
        async () => statuses.push((await client.delete(`/v1/calls/${id}`)).status) && statuses.at(-1),
        (status) => status !== 503,
        20_000,
        "the end to be stored",
      );
      expect(statuses.at(-1)).toBe(204);
      expectProblem(await client.delete(`/v1/calls/${id}`), 404, "call_not_found");
      const call = await client.readCall(id);
      expect(call).toMatchObject({ status: "FAILED", outcome: { reason: "terminated" } });
      expect((await client.timeline(id)).filter(({ type }) => type === "failed")).toHaveLength(1);
      expect(callsTo(HUNG_UP!)).toHaveLength(1);
    });

    test.each([
      ["talks", CRASHED!, "IN_PROGRESS"],
      ["rings", RINGING!, "RINGING"],
    ] as const)(
      "and a crash while it %s leave one interrupted call and no second INVITE",
      async (_, number, status) => {
        const { client, id } = await callTo(number, status);
        fillDisk(filler);
        await server.kill9();
        rmSync(filler);
        await start();
        const call = await client.readCall(id);
        expect(call).toMatchObject({ status: "FAILED", outcome: { reason: "interrupted" } });
        // The instance accepts a new call: the leftovers have been settled and do not block it.
        const nextCall = await callTo(`${number}9`, "IN_PROGRESS");
        expect((await nextCall.client.delete(`/v1/calls/${nextCall.id}`)).status).toBe(204);
        expect(callsTo(number)).toHaveLength(1);
      },
    );
  });
});
