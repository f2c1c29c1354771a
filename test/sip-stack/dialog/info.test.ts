import { describe, expect, test } from "vitest";
import { TransportError } from "../../../adapters/sip-stack/transport/transport.ts";
import { ScriptedCall } from "./support/scripted-call.ts";

describe("SIP INFO keys", () => {
  test("are read from both body types", async () => {
    const call = await ScriptedCall.answered();
    const bodies = [
      ["Signal=5\r\nDuration=160\r\n", "application/dtmf-relay"],
      ["Signal= *\nDuration= 250", "application/dtmf-relay"],
      ["signal=11", "application/dtmf-relay"],
      ["7", "application/dtmf"],
      ["d\r\n", "application/dtmf"],
    ] as const;
    for (const [index, [body, type]] of bodies.entries()) {
      const response = await call.receive("INFO", { cseq: index + 1, body, type });
      expect(response.status).toBe(200);
    }
    expect(call.log.slice(2)).toEqual(["digit 5", "digit *", "digit #", "digit 7", "digit D"]);
  });

  test("a flash or an empty INFO is ignored; another body is refused", async () => {
    const call = await ScriptedCall.answered();
    expect((await call.receive("INFO", { cseq: 1, body: "Signal=16", type: "application/dtmf-relay" })).status).toBe(
      200,
    );
    expect((await call.receive("INFO", { cseq: 2 })).status).toBe(200);
    const response = await call.receive("INFO", { cseq: 3, body: "<xml/>", type: "application/media_control+xml" });
    expect(response.status).toBe(415);
    expect(response.header("Accept")).toContain("application/dtmf-relay");
    expect(call.log).toEqual(["placed", "answered"]);
  });

  test("are sent in order; a refusal rejects", async () => {
    const call = await ScriptedCall.answered();
    const sending = call.usage.sendDigit("#", 160);
    const info = call.tx.last("INFO");
    expect(info.body).toBe("Signal=#\r\nDuration=160\r\n");
    expect(info.header("Content-Type")).toBe("application/dtmf-relay");
    info.respond(200);
    await sending;
    const refusal = call.usage.sendDigit("1", 160);
    call.tx.last("INFO").respond(415, { reason: "Unsupported Media Type" });
    await expect(refusal).rejects.toThrow("415 Unsupported Media Type");
    const failure = call.usage.sendDigit("2", 160);
    call.tx.last("INFO").fail(new TransportError("timeout", "silence"));
    await expect(failure).rejects.toThrow("silence");
  });

  test("are rejected when the call ends", async () => {
    const call = await ScriptedCall.answered();
    const refusal = expect(call.usage.sendDigit("1", 160)).rejects.toThrow("ended");
    await call.receive("BYE");
    await refusal;
    await expect(call.usage.sendDigit("1", 160)).rejects.toThrow("not been answered");
    expect(call.leftovers).toBe(0);
  });
});
