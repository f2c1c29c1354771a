import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readPhoneCommand } from "../../../../adapters/telephony/simulator/phones/phone-message.ts";
import { FakePhone } from "./fake-phone.ts";
import { SimulatedNetwork } from "./network.ts";

const NUMBER = "+12025550147";
const CALL = "call_1";

let network: SimulatedNetwork;
beforeEach(async () => {
  network = await SimulatedNetwork.create();
});
afterEach(() => network.close());

describe("a message from a phone", () => {
  test.each([
    [{ type: "answer", call_id: CALL }],
    [{ type: "decline", call_id: CALL }],
    [{ type: "hang_up", call_id: CALL }],
    [{ type: "digit", call_id: CALL, digit: "#" }],
    [{ type: "muted", call_id: CALL, muted: false }],
  ])("is read: %j", (message) => {
    expect(readPhoneCommand(JSON.stringify(message))).toEqual(message);
    expect(readPhoneCommand(JSON.stringify({ ...message, more: 1 }))).toEqual(message);
  });

  test.each([
    ["", "invalid_json", "a text message must be a JSON object; send audio as binary"],
    ["[]", "invalid_json", "a text message must be a JSON object"],
    ["null", "invalid_json", "a text message must be a JSON object"],
    ["{}", "unknown_message", "type is missing: it must be one of answer, decline, hang_up, digit, muted"],
    ['{"type":"awnser"}', "unknown_message", 'type is "awnser": it must be one of'],
    ['{"type":"constructor"}', "unknown_message", 'type is "constructor"'],
    ['{"type":"answer"}', "invalid_message", "answer: call_id must be the call_id of a ringing message"],
    ['{"type":"digit","call_id":"c","digit":"12"}', "invalid_message", "digit: digit must be one of the keys"],
    ['{"type":"digit","call_id":"c"}', "invalid_message", "digit must be one of the keys 0-9 * # A-D"],
    ['{"type":"muted","call_id":"c","muted":"yes"}', "invalid_message", "muted: muted must be true or false"],
  ])("%j is refused", (text, code, detail) => {
    const fault = readPhoneCommand(text);
    expect(fault).toMatchObject({ type: "error", code });
    expect(fault).toHaveProperty("detail", expect.stringContaining(detail));
  });
});

describe("a phone that sends", () => {
  test.each([
    ["a command for an unknown call", { type: "answer", call_id: "call_9" }, "no_such_call"],
    ["a key before the answer", { type: "digit", call_id: CALL, digit: "1" }, "not_now"],
    ["a hang-up before the answer", { type: "hang_up", call_id: CALL }, "not_now"],
  ])("%s gets an error", async (_, message, code) => {
    const phone = new FakePhone(network.simulator, NUMBER);
    await network.call(NUMBER);
    phone.send(message);
    expect(phone.log).toEqual(["ready", "ringing", `error ${code}`]);
    expect(phone.serverClose).toBe(undefined);
  });

  test("a second answer gets an error", async () => {
    const phone = new FakePhone(network.simulator, NUMBER);
    await network.call(NUMBER);
    phone.send({ type: "answer", call_id: CALL });
    phone.send({ type: "answer", call_id: CALL });
    expect(phone.log.at(-1)).toBe("error not_now");
  });

  test.each([0, 1, 641])("%i bytes of audio get an error", async (bytes) => {
    const phone = new FakePhone(network.simulator, NUMBER);
    await network.call(NUMBER);
    phone.send({ type: "answer", call_id: CALL });
    phone.sendBytes(new Uint8Array(bytes));
    expect(phone.log.at(-1)).toBe("error invalid_audio");
  });

  test.each([["1,025 characters", "x".repeat(1_025)] as const, ["3,201 bytes", new Uint8Array(3_201)] as const])(
    "%s is disconnected",
    async (_, data) => {
      const phone = new FakePhone(network.simulator, NUMBER);
      const call = await network.call(NUMBER);
      phone.send({ type: "answer", call_id: CALL });
      if (typeof data === "string") phone.send(data);
      else phone.sendBytes(data);
      expect(phone.serverClose?.code).toBe(1009);
      await network.system.advance(0);
      expect(call.log.at(-1)?.[0]).toBe("ended callee_hung_up");
    },
  );

  test("random input never breaks another phone's call", async () => {
    const otherPhone = new FakePhone(network.simulator, "+12025550148");
    const call = await network.call("+12025550148");
    otherPhone.send({ type: "answer", call_id: call.callId });
    const type = fc.constantFrom("answer", "decline", "hang_up", "digit", "muted", "ready", "__proto__");
    const command = fc.record(
      { type, call_id: fc.constantFrom("call_1", "call_2", "call_3", "") },
      { requiredKeys: [] },
    );
    const extendedCommand = fc.tuple(command, fc.dictionary(fc.constantFrom("digit", "muted", "x"), fc.jsonValue()));
    const message = fc.oneof(
      extendedCommand.map(([fields, extra]) => JSON.stringify({ ...fields, ...extra })),
      fc.json(),
      fc.string({ maxLength: 1_100 }),
      fc.uint8Array({ maxLength: 3_300 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 20 }), async (messages) => {
        const phone = new FakePhone(network.simulator, NUMBER);
        const ownCall = await network.call(NUMBER);
        for (const data of messages) {
          const before = phone.messages.length;
          if (typeof data === "string") phone.send(data);
          else phone.sendBytes(data);
          expect(phone.messages.length - before).toBeLessThanOrEqual(2);
        }
        await network.system.advance(20);
        await ownCall.leg.hangUp();
        phone.leave();
        expect(call.log.at(-1)?.[0]).toBe("connected");
      }),
      { numRuns: 100 },
    );
  });
});
