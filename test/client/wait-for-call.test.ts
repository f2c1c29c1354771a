import { createClient } from "ringport/client";
import { describe, expect, test } from "vitest";

/** A server whose timeline grows by one piece at each request, in pages of the requested length. */
function growingTimeline(pieces: readonly number[]) {
  let length = 0;
  let requestCount = 0;
  const cursors: (string | null)[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url);
    if (!pathname.endsWith("/events"))
      return Response.json({ id: "call_1", status: "COMPLETED", outcome: { reason: "message_played" } });
    const cursor = searchParams.get("cursor");
    if (cursor === null || cursor === cursors.at(-1)) length += pieces[requestCount++] ?? 0;
    cursors.push(cursor);
    const start = Number(cursor ?? 0);
    const end = Math.min(length, start + Number(searchParams.get("limit")));
    const finalIndex = requestCount >= pieces.length ? length - 1 : -1;
    const items = Array.from({ length: end - start }, (_, index) => ({
      id: `evt_${start + index}`,
      type: start + index === finalIndex ? "completed" : "dtmf",
    }));
    const link = `</elsewhere/v1/calls/call_1/events?limit=1&cursor=${end}>; rel="next"`;
    return Response.json(items, end < length ? { headers: { link } } : {});
  };
  return { client: createClient({ url: "http://ringport.test", token: "t", fetch }), cursors };
}

describe("waitForCall", () => {
  test.each([[[1, 0, 2]], [[450]], [[150, 150, 150]], [[200, 1, 199, 1]]])(
    "each event of a timeline that grows by %j is reported once and in order",
    async (pieces) => {
      const { client } = growingTimeline(pieces);
      const reportedIds: string[] = [];
      await client.waitForCall("call_1", { onProgress: ({ id }) => void reportedIds.push(id), timeoutMs: 5_000 });
      const total = pieces.reduce((sum, piece) => sum + piece, 0);
      expect(reportedIds).toEqual(Array.from({ length: total }, (_, index) => `evt_${index}`));
    },
  );

  test("a full page is not requested again", async () => {
    const { client, cursors } = growingTimeline([450, 0, 1]);
    await client.waitForCall("call_1");
    expect(cursors).toEqual([null, "200", "400", "400", "400"]);
  });

  test("the next event waits for onProgress", async () => {
    const { client } = growingTimeline([3]);
    const steps: string[] = [];
    await client.waitForCall("call_1", {
      onProgress: async ({ id }) => {
        steps.push(`${id} begins`);
        await new Promise((resolve) => setTimeout(resolve, 5));
        steps.push(`${id} ends`);
      },
    });
    expect(steps).toEqual([0, 1, 2].flatMap((index) => [`evt_${index} begins`, `evt_${index} ends`]));
  });
});
