import { describe, expect, test } from "vitest";
import { useLocalServer } from "../../support/local-server.ts";
import { expectProblem } from "../../support/response-shapes.ts";
import { expected, type ProblemView } from "../../support/server-client.ts";

const DAY_S = 24 * 60 * 60;

describe("a token with limits", () => {
  const server = useLocalServer();

  test("numbers without an allowed prefix are refused, and no call is created", async () => {
    const client = server.client(await server.token("ada", { allowedPrefixes: ["+1202", "+49"] }));
    const { id } = await client.createInstance();
    const problem = expectProblem(
      await client.postCall(id, { target: { phoneNumber: "+4412345678" } }),
      403,
      "destination_not_allowed",
    );
    expect(problem.detail).toBe("this token may not call +4412345678, only numbers that begin with +1202, +49");
    expect((await server.rows()).calls).toEqual([]);
    await client.call(id);
  });

  test("the daily limit holds for concurrent requests and after a restart", async () => {
    const client = server.client(await server.token("ben", { maxCallsPerDay: 3 }));
    const instances = [];
    for (let n = 0; n < 8; n++) instances.push(await client.createInstance());
    const responses = await Promise.all(instances.map(({ id }) => client.postCall(id)));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(3);
    const refusals = responses.filter(({ status }) => status !== 201);
    expect(refusals).toHaveLength(5);
    for (const response of refusals) {
      const problem = expectProblem(response, 429, "daily_call_limit") as ProblemView & { limit: number };
      expect(problem.limit).toBe(3);
      expect(Number(response.headers["retry-after"])).toBeGreaterThan(DAY_S - 60);
      expect(Number(response.headers["retry-after"])).toBeLessThanOrEqual(DAY_S);
    }
    await server.stop();
    await server.start();
    const freeInstance = instances.at(responses.findIndex(({ status }) => status !== 201))!;
    expectProblem(await client.postCall(freeInstance.id), 429, "daily_call_limit");
    const busyInstance = instances.at(responses.findIndex(({ status }) => status === 201))!;
    expected(200, await client.postCall(busyInstance.id));
  });
});

describe("a server with limits", () => {
  const server = useLocalServer({ RINGPORT_ALLOWED_PREFIXES: "+1202", RINGPORT_MAX_CALLS_PER_DAY: "1" });

  test("its limits hold for every token", async () => {
    const client = await server.as("ada");
    const [first, second] = [await client.createInstance(), await client.createInstance()];
    expectProblem(
      await client.postCall(first.id, { target: { phoneNumber: "+4930123456" } }),
      403,
      "destination_not_allowed",
    );
    await client.call(first.id);
    expectProblem(await client.postCall(second.id), 429, "daily_call_limit");
  });
});
