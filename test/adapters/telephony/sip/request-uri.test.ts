import { describe, expect, test } from "vitest";
import { callees } from "../../../support/sip/far-end.ts";
import { field, userOf } from "../../../support/sip/sip-text.ts";
import { Scene } from "./scene.ts";

const NUMBER = "+12025550100";

describe("the Request-URI", () => {
  test("names the server with its port, unlike To and From", async () => {
    const scene = await Scene.open({ register: true, user: "100" }, { callees: { "*": callees.answers } });
    const { leg, events } = await scene.call(NUMBER);
    await events.next("connected", 5_000);
    await leg.hangUp();
    const host = `127.0.0.1:${scene.farEnd.port}`;
    const [register, invite] = ["REGISTER", "INVITE"].map(
      (method) => scene.farEnd.requests.find(({ start }) => start.startsWith(method))!,
    );
    expect(register!.start).toBe(`REGISTER sip:${host} SIP/2.0`);
    expect(invite!.start).toBe(`INVITE sip:${NUMBER}@${host} SIP/2.0`);
    expect(field(invite!, "To")).toBe(`<sip:${NUMBER}@127.0.0.1>`);
    expect(field(invite!, "From")).toMatch(/^<sip:100@127\.0\.0\.1>;tag=/);
    const probingScene = await Scene.open();
    await probingScene.line();
    const options = probingScene.farEnd.requests.find(({ start }) => start.startsWith("OPTIONS"))!;
    expect(options.start).toBe(`OPTIONS ${probingScene.farEnd.uri} SIP/2.0`);
    expect(field(options, "To")).toBe("<sip:127.0.0.1>");
  });

  test("marks a telephone number with userPhone", async () => {
    const scene = await Scene.open({ domain: "example.com", userPhone: true }, { callees: { "*": callees.answers } });
    const { leg, events } = await scene.call(NUMBER);
    await events.next("connected", 5_000);
    await leg.hangUp();
    const { text } = scene.farEnd.calls[0]!.requests[0]!;
    expect(text.start).toBe(`INVITE sip:${NUMBER}@example.com;user=phone SIP/2.0`);
    expect(field(text, "To")).toBe(`<sip:${NUMBER}@example.com;user=phone>`);
  });

  test("keeps the trunk's next hop after a redirection to the server", async () => {
    const redirectingCallees = { "*": callees.redirects("sip:200@127.0.0.1") };
    const scene = await Scene.open({ followRedirects: true }, { callees: redirectingCallees });
    expect((await scene.endOf(NUMBER))[1]).toMatch(/^SIP 302 .*already tried/);
    const invites = scene.farEnd.requests.map(({ start }) => start).filter((start) => start.startsWith("INVITE"));
    expect(invites.map((start) => userOf(start.split(" ")[1]!))).toEqual([NUMBER, "200"]);
  });
});
