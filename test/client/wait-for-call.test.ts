import { createClient } from "ringport/client";
import { describe, expect, test } from "vitest";

/** A server whose timeline has one more piece at each reading, in pages as long as they are asked for. */
function growing(pieces: readonly number[]) {
  let length = 0;
  let reading = 0;
  const cursors: (string | null)[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url);
    if (!pathname.endsWith("/events"))
      return Response.json({ id: "call_1", status: "COMPLETED", outcome: { reason: "message_played" } });
    const cursor = searchParams.get("cursor");
    if (cursor === null || cursor === cursors.at(-1)) length += pieces[reading++] ?? 0;
    cursors.push(cursor);
    const start = Number(cursor ?? 0);
    const end = Math.min(length, start + Number(searchParams.get("limit")));
    const last = reading >= pieces.length ? length - 1 : -1;
    const items = Array.from({ length: end - start }, (_, index) => ({
      id: `evt_${start + index}`,
      type: start + index === last ? "completed" : "dtmf",
    }));
    const link = `</elsewhere/v1/calls/call_1/events?limit=1&cursor=${end}>; rel="next"`;
    return Response.json(items, end < length ? { headers: { link } } : {});
  };
  return { client: createClient({ url: "http://ringport.test", token: "t", fetch }), cursors };
}

describe("waitForCall", () => {
  test.each([[[1, 0, 2]], [[450]], [[150, 150, 150]], [[200, 1, 199, 1]]])(
    "tells each event of a timeline that grows by %j once and in order",
    async (pieces) => {
      const { client } = growing(pieces);
      const told: string[] = [];
      await client.waitForCall("call_1", { onProgress: ({ id }) => void told.push(id), timeoutMs: 5_000 });
      const all = pieces.reduce((sum, piece) => sum + piece, 0);
      expect(told).toEqual(Array.from({ length: all }, (_, index) => `evt_${index}`));
    },
  );

  test("does not read again what filled a page", async () => {
    const { client, cursors } = growing([450, 0, 1]);
    await client.waitForCall("call_1");
    expect(cursors).toEqual([null, "200", "400", "400", "400"]);
  });

  test("waits for one event to be dealt with before it tells the next", async () => {
    const { client } = growing([3]);
    const steps: string[] = [];
    await client.waitForCall("call_1", {
      onProgress: async ({ id }) => {
        steps.push(`${id} begins`);
        await new Promise((done) => setTimeout(done, 5));
        steps.push(`${id} ends`);
      },
    });
    expect(steps).toEqual([0, 1, 2].flatMap((index) => [`evt_${index} begins`, `evt_${index} ends`]));
  });
});
