import { describe, expect, test } from "vitest";
import type { FarEndCall, Script } from "../../support/sip/far-end.ts";
import { Scene } from "./scene.ts";

const NUMBER = "+12025550100";

/** A call to such a callee, hung up by us; it is over here. */
async function hungUp(callee: Script): Promise<readonly [scene: Scene, far: FarEndCall]> {
  const scene = await Scene.open({}, { callees: { "*": callee } });
  const { leg, events } = await scene.call(NUMBER);
  await events.next("connected", 5_000);
  await leg.hangUp();
  await events.over;
  expect(events.cause).toBe("released");
  return [scene, scene.farEnd.calls[0]!];
}

const down = (scene: Scene, far: FarEndCall): Promise<void> =>
  scene.network.until(() => far.end === "they hung up", "the end of the far leg");

describe("a far leg is hung up, though the call is over here:", () => {
  test("a BYE that is answered with 503 is sent again", async () => {
    const [scene, far] = await hungUp({ byes: [{ status: 503 }] });
    await down(scene, far);
    const [first, second, ...more] = far.requests.filter(({ method }) => method === "BYE");
    expect(second!.at - first!.at).toBeGreaterThan(990);
    expect(more).toEqual([]);
  });

  test("a server that names a time is left alone until then", async () => {
    const [scene, far] = await hungUp({ byes: [{ status: 503, fields: [["Retry-After", "2"]] }] });
    await down(scene, far);
    const [first, second] = far.requests.filter(({ method }) => method === "BYE");
    expect(second!.at - first!.at).toBeGreaterThan(1_990);
  });

  test("a BYE whose Contact leads nowhere goes the way of the INVITE", async () => {
    const [scene, far] = await hungUp({ contact: "<sip:callee@127.0.0.1:9>" });
    await down(scene, far);
    expect(far.requests.find(({ method }) => method === "BYE")?.text.start).toBe("BYE sip:callee@127.0.0.1:9 SIP/2.0");
  });

  test("closing the trunk gives a BYE up that waits to be sent again", async () => {
    const [scene, far] = await hungUp({ byes: [{ status: 503, fields: [["Retry-After", "30"]] }] });
    expect(far.count("BYE")).toBe(1);
    await scene.close();
    expect(scene.system.waiting).toBe(0);
  });
});
