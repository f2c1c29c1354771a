import { createHash } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { toneShare } from "../../../../../src/audio/tones/tone.ts";
import { BEYOND_PARSING } from "../../../../sip-stack/message/torture/beyond-parsing.ts";
import { INVALID } from "../../../../sip-stack/message/torture/invalid.ts";
import { VALID } from "../../../../sip-stack/message/torture/valid.ts";
import { type Responses, TorturedTrunk } from "./tortured-trunk.ts";

const ALL_MESSAGES: Readonly<Record<string, Uint8Array>> = { ...VALID, ...INVALID, ...BEYOND_PARSING };
/** SHA-256 of the 49 files from RFC 4475 appendix A.1, concatenated in name order. */
const ARCHIVE_HASH = "e6cf1e5e4ec89ebb736976dfeab5baa4bcad5116d1492d810d53106fc6fc964e";

/** Responses to requests that we have not sent get no response. */
const NO_RESPONSE: Responses = [];

/**
 * A trunk's responses to each message if it accepts no calls: over UDP, and over TCP if they differ there. RFC 4475
 * allows some of the messages to be accepted or refused; "liberal" in a reason means that we accept.
 */
const OUTCOMES: readonly (readonly [name: string, reason: string, udp: Responses, tcp?: Responses])[] = [
  ["wsinv", "its To has the tag of an unknown dialog", ["481 0009 INVITE"]],
  ["intmeth", "an unknown method", ["501 139122385 !interesting-Method0123456789_*+`.%indeed'~"]],
  ["esc01", "a call", ["480 234234 INVITE"]],
  ["escnull", "no registrar", ["405 14398234 REGISTER"]],
  ["esc02", "an escaped letter makes another method", ["501 29344 RE%47IST%45R"]],
  ["lwsdisp", "OPTIONS", ["200 60 OPTIONS"]],
  ["longreq", "a call", ["480 3882340 INVITE"]],
  ["dblreq", "a datagram is one message, a stream has two", ["405 8 REGISTER"], ["405 8 REGISTER", "480 8 INVITE"]],
  ["semiuri", "OPTIONS", ["200 8 OPTIONS"]],
  ["transports", "OPTIONS", ["200 60 OPTIONS"]],
  ["mpart01", "text messages are unsupported", ["405 1 MESSAGE"]],
  ["unreason", "a 200 of another call", NO_RESPONSE],
  ["noreason", "a 100 of another call", NO_RESPONSE],
  ["badinv01", "Via", ["400 8 INVITE"]],
  ["clerr", "Content-Length: a stream waits for the rest", ["400 8 INVITE"], NO_RESPONSE],
  ["ncl", "Content-Length", ["400 0 INVITE"]],
  ["scalar02", "CSeq", ["400 36893488147419103232 REGISTER"]],
  ["scalarlg", "a response with an invalid CSeq", NO_RESPONSE],
  ["quotbal", "To", ["400 8 INVITE"]],
  ["ltgtruri", "Request-URI", ["400 1 INVITE"]],
  ["lwsruri", "Request-URI", ["400 2130706432 INVITE"]],
  ["lwsstart", "liberal: a call", ["480 1893884 INVITE"]],
  ["trws", "liberal: OPTIONS", ["200 238923 OPTIONS"]],
  ["escruri", "Request-URI", ["400 149209342 INVITE"]],
  ["baddate", "Date is not read: a call", ["480 1392934 INVITE"]],
  ["regbadct", "no registrar", ["405 1 REGISTER"]],
  ["badaspec", "liberal: OPTIONS", ["200 3923239 OPTIONS"]],
  ["baddn", "liberal: OPTIONS", ["200 3923239 OPTIONS"]],
  ["badvers", "SIP/7.0", ["505 1 OPTIONS"]],
  ["mismatch01", "CSeq", ["400 8 INVITE"]],
  ["mismatch02", "CSeq", ["400 8 INVITE"]],
  ["bigcode", "a response with an invalid status", NO_RESPONSE],
  ["badbranch", "matched by the rules of RFC 2543", ["200 8 OPTIONS"]],
  ["insuf", "From is missing", ["400 193942 INVITE"]],
  ["unkscm", "an unknown scheme", ["416 3923423 OPTIONS"]],
  ["novelsc", "an unsupported scheme", ["416 3923423 OPTIONS"]],
  ["unksm2", "no registrar", ["405 234902 REGISTER"]],
  ["bext01", "unknown extensions", ["420 8 OPTIONS"]],
  ["invut", "a call, whatever its body", ["480 235448 INVITE"]],
  ["regaut01", "no registrar", ["405 9338 REGISTER"]],
  ["multi01", "From and other fields are repeated", ["400 5 INVITE"]],
  ["mcl01", "two lengths", ["400 15932 OPTIONS"]],
  ["bcast", "a response whose Via is not ours", NO_RESPONSE],
  ["zeromf", "only a proxy refuses it", ["200 39234321 OPTIONS"]],
  ["cparam01", "no registrar", ["405 2 REGISTER"]],
  ["cparam02", "no registrar", ["405 3 REGISTER"]],
  ["regescrt", "no registrar", ["405 14398234 REGISTER"]],
  ["sdp01", "a call, whatever it accepts", ["480 8 INVITE"]],
  ["inv2543", "RFC 2543 needed no length, but a stream does", ["480 56 INVITE"], ["400 56 INVITE"]],
];

let trunk: TorturedTrunk | undefined;
afterEach(() => trunk?.close());

test("the messages are those of RFC 4475, each with an outcome", () => {
  const hash = createHash("sha256");
  for (const name of Object.keys(ALL_MESSAGES).sort()) hash.update(ALL_MESSAGES[name]!);
  expect(hash.digest("hex")).toBe(ARCHIVE_HASH);
  expect(OUTCOMES.map(([name]) => name)).toEqual(Object.keys(ALL_MESSAGES));
  expect(OUTCOMES).toHaveLength(49);
});

describe("a running trunk responds to a message of RFC 4475", () => {
  for (const [name, reason, udp, tcp = udp] of OUTCOMES)
    test(`${name} (${reason})`, async () => {
      trunk = await TorturedTrunk.open();
      expect(await trunk.overUdp(ALL_MESSAGES[name]!), "over UDP").toEqual(udp);
      await trunk.close();
      trunk = await TorturedTrunk.open();
      expect(await trunk.overTcp(ALL_MESSAGES[name]!), "over TCP").toEqual(tcp);
    });

  test("without disturbing a call or any later calls", async () => {
    trunk = await TorturedTrunk.open();
    const { network } = trunk.scene;
    const first = await trunk.scene.call("+12025550100");
    await first.events.next("connected", 5_000);
    for (const bytes of Object.values(ALL_MESSAGES)) {
      await trunk.overUdp(bytes);
      await trunk.overTcp(bytes);
    }
    const framesBefore = first.recorder.frames.length;
    await network.until(() => first.recorder.frames.length >= framesBefore + 30, "its audio");
    expect(toneShare(first.recorder.heard().subarray(1_600), 1000, 8_000)).toBeGreaterThan(0.95);
    expect(first.events.types).not.toContain("ended");
    await first.leg.hangUp();
    const second = await trunk.scene.call("+12025550101");
    await second.events.next("connected", 5_000);
    await network.until(() => second.recorder.frames.length >= 40, "its audio");
    expect(toneShare(second.recorder.heard().subarray(1_600), 1000, 8_000)).toBeGreaterThan(0.95);
    await second.leg.hangUp();
    await Promise.all([first, second].map(({ events }) => events.over));
    expect([first.events.cause, second.events.cause]).toEqual(["released", "released"]);
    expect(trunk.scene.farEnd.calls.map(({ end }) => end)).toEqual(["caller hung up", "caller hung up"]);
  });
});
