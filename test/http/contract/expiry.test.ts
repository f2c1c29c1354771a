import { describe, expect, test } from "vitest";
import { useLocalServer } from "../../support/local-server.ts";
import { expectProblem, KEYS, keysOf, pointersOf, sorted } from "../../support/response-shapes.ts";
import { type CallView, expected } from "../../support/server-client.ts";

const server = useLocalServer();
const WEEK_MS = 7 * 86_400_000;

describe("a call's expiresAfterMs", () => {
  const body = (instanceId: string, fields: object) => ({
    instanceId,
    type: "FIXED_TTS",
    target: { phoneNumber: "+12025550100" },
    tts: { text: "Hello", voiceId: "en-US-1" },
    ...fields,
  });

  test("is shown as the end of its time in the queue", async () => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const createdCall = expected(
      201,
      await client.post("/v1/calls", body(id, { expiresAfterMs: WEEK_MS })),
    ).json<CallView>();
    const readCall = expected(200, await client.get(`/v1/calls/${createdCall.id}`)).json<
      CallView & { expires_at: string }
    >();
    expect(keysOf(readCall)).toEqual(sorted([...KEYS.call, "expires_at"]));
    expect(Date.parse(readCall.expires_at) - Date.parse(readCall.created_at)).toBe(WEEK_MS);
    const { id: otherId } = await client.createInstance();
    const defaultCall = expected(201, await client.post("/v1/calls", body(otherId, {}))).json<CallView>();
    expect(keysOf(expected(200, await client.get(`/v1/calls/${defaultCall.id}`)).json())).toEqual(sorted(KEYS.call));
  });

  test.each([0, -1, 1.5, WEEK_MS + 1, "60000", null])("is refused if it is %j", async (expiresAfterMs) => {
    const client = await server.as("ada");
    const { id } = await client.createInstance();
    const response = await client.post("/v1/calls", body(id, { expiresAfterMs }));
    const problem = expectProblem(response, 400, "invalid_request", "/v1/calls");
    expect(pointersOf(problem)).toEqual(["/expiresAfterMs"]);
    expect(JSON.stringify(problem)).toContain(`must be a whole number from 1 to ${WEEK_MS} (ms)`);
  });
});
