import { createSocket, type Socket } from "node:dgram";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { concatPcm } from "../../../src/audio/samples/pcm.ts";
import { until } from "../../support/server-client.ts";
import { phaseJump, toneShare } from "../../support/server-sound.ts";
import { callees, startFarEnd } from "../../support/sip/far-end.ts";
import { field, writeSip } from "../../support/sip/sip-text.ts";
import { openTrunk } from "./caller.ts";
import { SENT_HZ } from "./sound.ts";
import { Stage } from "./stage.ts";

const bytes = fc.uint8Array({ maxLength: 400 }).map((content) => Buffer.from(content));

/** Valid RTP: audio from an unknown sender, in the call's codec. */
const rtp = fc
  .tuple(fc.nat(0xffff), fc.nat(0xffffffff), fc.nat(0xffffffff), fc.constantFrom(0, 8, 13, 101, 96, 127, 72), bytes)
  .map(([sequence, timestamp, ssrc, type, payload]) => {
    const header = Buffer.from([0x80, type, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    header.writeUInt16BE(sequence, 2);
    header.writeUInt32BE(timestamp, 4);
    header.writeUInt32BE(ssrc, 8);
    return Buffer.concat([header, payload]);
  });

/** Well-formed RTCP, including BYEs from other sources. */
const rtcp = fc.tuple(fc.constantFrom(200, 201, 203, 204), bytes).map(([type, content]) => {
  const words = content.length >> 2;
  return Buffer.concat([Buffer.from([0x81, type, words >> 8, words & 255]), content.subarray(0, 4 * words)]);
});

/** Traffic from unknown senders to a SIP port: noise, damaged messages, requests and responses about unknown calls. */
const sip = (genuine: Buffer): fc.Arbitrary<Buffer> =>
  fc.oneof(
    bytes,
    fc
      .tuple(fc.nat(genuine.length), fc.nat(genuine.length))
      .map(([a, b]) => genuine.subarray(Math.min(a, b), Math.max(a, b))),
    fc.array(fc.tuple(fc.nat(genuine.length - 1), fc.nat(255)), { minLength: 1, maxLength: 20 }).map((changes) => {
      const damagedPacket = Buffer.from(genuine);
      for (const [offset, byte] of changes) damagedPacket[offset] = byte;
      // It must not match the test's call, because a sender with its ids may end it.
      return Buffer.from(damagedPacket.toString("latin1").replaceAll(/Call-ID:.*/gi, "Call-ID: x"), "latin1");
    }),
    fc.constantFrom("BYE", "CANCEL", "ACK", "INVITE", "NOTIFY", "SIP/2.0").map((method) => {
      const start = method === "SIP/2.0" ? "SIP/2.0 603 Decline" : `${method} sip:x@127.0.0.1 SIP/2.0`;
      const fields = [
        ["Via", `SIP/2.0/UDP 127.0.0.1:9;branch=z9hG4bK${Math.random()}`],
        ["From", "<sip:stranger@127.0.0.1>;tag=1"],
        ["To", "<sip:x@127.0.0.1>;tag=2"],
        ["Call-ID", `${Math.random()}`],
        ["CSeq", `1 ${method === "SIP/2.0" ? "INVITE" : method}`],
      ] as const;
      return writeSip({ start, fields, body: "" });
    }),
  );

describe("unknown senders of datagrams to the ports of a live call", () => {
  const stage = new Stage();

  test("do not disturb it: every sample of both tones arrives", {
    timeout: 60_000,
  }, async () => {
    const farEnd = stage.add(await startFarEnd({ callees: { "*": callees.speaks } }), (it) => it.close());
    const { dial } = await openTrunk(stage, { server: farEnd.uri }, "disturbed");
    const { leg, events, recorder } = await dial();
    await events.next("connected", 5_000);
    await until(
      () => recorder.frames.length,
      (frames) => frames >= 25,
      5_000,
      "half a second of sound",
    );
    const call = farEnd.calls[0]!;
    const rtpPort = Number(call.voice!.packets[0]!.from.split(":")[1]);
    const sipPort = Number(/:(\d+)/.exec(field(call.requests[0]!.text, "Via"))?.[1]);
    const genuine = writeSip(call.requests[0]!.text);

    const unknownSender: Socket = createSocket("udp4");
    await new Promise<void>((resolve) => unknownSender.bind(0, "127.0.0.1", resolve));
    stage.add(unknownSender, (it) => it.close());
    const noise: { readonly to: number; readonly datagrams: Buffer[] }[] = [
      { to: rtpPort, datagrams: fc.sample(fc.oneof(bytes, rtp, rtcp), 2_000) },
      { to: rtpPort + 1, datagrams: fc.sample(fc.oneof(bytes, rtcp), 500) },
      { to: sipPort, datagrams: fc.sample(sip(genuine), 1_500) },
    ];
    const start = recorder.frames.length;
    for (let sentCount = 0; noise.some(({ datagrams }) => datagrams.length > sentCount); sentCount += 10) {
      for (const { to, datagrams } of noise)
        for (const datagram of datagrams.slice(sentCount, sentCount + 10))
          unknownSender.send(datagram, to, "127.0.0.1", () => {});
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const end = recorder.frames.length;
    expect(end - start).toBeGreaterThan(80);
    const heardSound = { sampleRate: leg.sampleRate, samples: concatPcm(recorder.frames.slice(start, end)) };
    expect(toneShare(heardSound, 1000)).toBeGreaterThan(0.98);
    expect(phaseJump(heardSound, 1000)).toBeLessThan(0.3);
    expect(events.types.filter((type) => type !== "noted")).toEqual(["placed", "alerting", "answered", "connected"]);
    await leg.hangUp();
    await events.over;
    expect(events.cause).toBe("released");
    expect(call.end).toBe("caller hung up");
    const { samples, gaps } = call.voice!.heardAudio();
    expect(gaps).toEqual([]);
    expect(toneShare({ sampleRate: 8000, samples }, SENT_HZ)).toBeGreaterThan(0.98);
    expect(events.keys).toBe("");
  });
});
