import { expect } from "vitest";
import type { Trunk } from "../../../adapters/telephony/sip/config/trunk-config.ts";
import type { ReleaseCause } from "../../../src/ports/telephony.ts";
import type { DirectCall } from "./caller.ts";
import {
  accept,
  ack,
  CONTACT,
  expectBye,
  expectInvite,
  expectRequest,
  expectResponse,
  pause,
  request,
  respond,
  ringing,
  sdp,
} from "./sipp-script.ts";
import { SENT_HZ, toneIn } from "./sound.ts";

/** A call to a sipp: sipp's steps, our side's actions, and the end of the call. */
export interface Scenario {
  /** "a callee who …" */
  readonly title: string;
  readonly steps: readonly string[];
  readonly trunk?: Partial<Trunk>;
  readonly transport?: "udp" | "tcp";
  /** Runs after the call has been placed. Default: hangs up after half a second of echoed sound. */
  readonly act?: (call: DirectCall) => Promise<void>;
  readonly cause: ReleaseCause;
  readonly detail?: RegExp;
  /** Events that must not be reported. */
  readonly forbiddenEvents?: readonly string[];
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
/** Asserts that our audio is echoed. */
const expectEcho = async ({ events, recorder, leg }: DirectCall): Promise<void> => {
  await events.next("connected", 8_000);
  await toneIn(recorder, leg.sampleRate, SENT_HZ, 300);
};
export const echoThenHangUp = async (call: DirectCall): Promise<void> => {
  await expectEcho(call);
  await call.leg.hangUp();
};
const untilEnded = async ({ events }: DirectCall): Promise<void> => void (await events.next("ended", 15_000));
const allow = "Allow: INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE, PRACK";

/** A pattern that sipp searches for in the whole message. */
const withBody = (pattern: string) => ({ pattern });

const challenge = (status: 401 | 407, fields = "", nonce = "47ebe028cda119c35d4877b383027d28da013815"): string =>
  respond(status === 401 ? "401 Unauthorized" : "407 Proxy Authentication Required", {
    fields: `${status === 401 ? "WWW" : "Proxy"}-Authenticate: Digest realm="sipp.test", nonce="${nonce}", opaque="440badfc", algorithm=MD5, qop="auth"${fields}`,
    repeated: true,
  });
const verifiedInvite = `<recv request="INVITE" crlf="true"><action><verifyauth assign_to="ok" username="agent" password="s3cret"/></action></recv>
  <nop test="ok" next="good"/>${respond("403 Bad Credentials")}<recv request="ACK" next="end"/><label id="good"/>`;
const credentials = { user: "agent", password: "s3cret" };

export const SCENARIOS: readonly Scenario[] = [
  {
    title: "answers is heard, and is then hung up on",
    steps: [expectInvite(), respond("100 Trying", { keepsTo: true }), ringing, pause(200), accept(), ack, expectBye],
    cause: "released",
  },
  {
    title: "answers over TCP is also heard",
    transport: "tcp",
    steps: [expectInvite(), ringing, accept(), ack, expectBye],
    cause: "released",
  },
  {
    title: "is cancelled while ringing does not answer",
    steps: [
      expectInvite(),
      ringing,
      expectRequest("CANCEL"),
      respond("200 OK"),
      respond("487 Request Terminated", { toInvite: true, repeated: true }),
      ack,
    ],
    async act({ events, leg }) {
      await events.next("alerting", 5_000);
      await leg.hangUp();
    },
    cause: "released",
    forbiddenEvents: ["answered"],
  },
  {
    title: "answers just as the CANCEL arrives is hung up on at once",
    steps: [
      expectInvite(),
      ringing,
      expectRequest("CANCEL"),
      respond("200 OK"),
      accept({ toInvite: true }),
      ack,
      expectBye,
    ],
    async act({ events, leg }) {
      await events.next("alerting", 5_000);
      await leg.hangUp();
    },
    cause: "released",
    forbiddenEvents: ["connected"],
  },
  {
    title: "hangs up is reported with the reason",
    steps: [
      ...[expectInvite(), ringing, accept(), ack, pause(700)],
      ...[request("BYE", { fields: 'Reason: Q.850;cause=16;text="Normal call clearing"' }), expectResponse(200)],
    ],
    act: untilEnded,
    cause: "callee_hung_up",
    detail: /16/,
  },
  {
    title: "holds and resumes hears no audio in between, and all of it afterwards",
    steps: [
      ...[expectInvite(), ringing, accept(), ack, pause(800)],
      ...[
        request("INVITE", { sdp: sdp({ version: 2, direction: "sendonly" }) }),
        expectResponse(200, withBody("a=recvonly")),
        request("ACK"),
      ],
      pause(1_000),
      ...[
        request("INVITE", { number: 2, sdp: sdp({ version: 3 }) }),
        expectResponse(200, withBody("a=sendrecv")),
        request("ACK", { number: 2 }),
      ],
      expectBye,
    ],
    async act(call) {
      await expectEcho(call);
      const hasNoted = (event: string) => () =>
        call.events.all.some((entry) => entry.type === "noted" && entry.fact.event === event);
      await until(hasNoted("held"), "the hold");
      const pulledBefore = call.pulledFrames();
      await until(hasNoted("resumed"), "the end of the hold");
      expect(call.pulledFrames() - pulledBefore).toBeLessThan(10); // out of fifty
      const firstFrame = call.recorder.frames.length;
      await toneIn(call.recorder, call.leg.sampleRate, SENT_HZ, 300, firstFrame);
      await call.leg.hangUp();
    },
    cause: "released",
  },
  {
    title: "moves its audio to another port by re-INVITE is heard there",
    steps: [
      ...[expectInvite(), ringing, accept(), ack, pause(500)],
      ...[
        request("INVITE", { sdp: sdp({ version: 2, port: "[media_port+2]" }) }),
        expectResponse(200, withBody("m=audio")),
        request("ACK"),
      ],
      ...[request("OPTIONS", { number: 2 }), expectResponse(200), expectBye],
    ],
    async act(call) {
      await expectEcho(call);
      await wait(1_000);
      await toneIn(call.recorder, call.leg.sampleRate, SENT_HZ, 300, call.recorder.frames.length);
      await call.leg.hangUp();
    },
    cause: "released",
  },
  {
    title: "sends a re-INVITE without SDP gets an offer",
    steps: [
      ...[expectInvite(), ringing, accept(), ack, pause(300)],
      ...[
        request("INVITE"),
        expectResponse(200, withBody("m=audio")),
        request("ACK", { sdp: sdp({ version: 2 }) }),
        pause(300),
        expectBye,
      ],
    ],
    async act(call) {
      await wait(1_000);
      await toneIn(call.recorder, call.leg.sampleRate, SENT_HZ, 300, call.recorder.frames.length);
      await call.leg.hangUp();
    },
    cause: "released",
  },
  {
    title: "offers only a codec that we lack gets 488, and the call continues",
    steps: [
      ...[expectInvite(), ringing, accept(), ack, pause(300)],
      ...[
        request("INVITE", { sdp: sdp({ version: 2, formats: "9" }) }),
        expectResponse(488),
        request("ACK"),
        pause(300),
        expectBye,
      ],
    ],
    async act(call) {
      await wait(1_000);
      await toneIn(call.recorder, call.leg.sampleRate, SENT_HZ, 300, call.recorder.frames.length);
      await call.leg.hangUp();
    },
    cause: "released",
  },
  {
    title: "holds and refreshes by UPDATE, or makes unsupported requests, gets a response each time",
    steps: [
      ...[expectInvite(), ringing, accept(), ack, pause(300)],
      ...[
        request("UPDATE", { sdp: sdp({ version: 2, direction: "sendonly" }) }),
        expectResponse(200, withBody("a=recvonly")),
      ],
      ...[request("UPDATE", { number: 2, sdp: sdp({ version: 3 }) }), expectResponse(200, withBody("a=sendrecv"))],
      ...[
        request("UPDATE", { number: 3 }),
        expectResponse(200),
        request("OPTIONS", { number: 4 }),
        expectResponse(200),
      ],
      ...[request("REFER", { number: 5, fields: "Refer-To: <sip:x@127.0.0.1>" }), expectResponse(603), expectBye],
    ],
    async act(call) {
      await call.events.next("connected", 5_000);
      await wait(1_500);
      await call.leg.hangUp();
    },
    cause: "released",
  },
  {
    title: "requires PRACK while ringing gets it",
    steps: [
      expectInvite({ field: "Supported", pattern: "100rel" }),
      respond("183 Session Progress", {
        fields: `${CONTACT}\n${allow}\nRequire: 100rel\nRSeq: 4711`,
        sdp: sdp(),
        repeated: true,
      }),
      ...[expectRequest("PRACK", { field: "RAck", pattern: "4711 1 INVITE" }), respond("200 OK", { keepsTo: true })],
      ...[pause(300), accept({ toInvite: true }), ack, expectBye],
    ],
    cause: "released",
  },
  {
    title: "sends early media is heard before and after the answer",
    steps: [
      expectInvite(),
      respond("183 Session Progress", { fields: CONTACT, sdp: sdp() }),
      pause(1_000),
      accept(),
      ack,
      expectBye,
    ],
    async act(call) {
      await call.events.next("early_media", 5_000);
      await echoThenHangUp(call);
    },
    cause: "released",
  },
  {
    title: "sends every ringing status is reported as ringing once",
    steps: [
      ...[
        expectInvite(),
        ringing,
        ringing,
        respond("182 Queued", { fields: CONTACT }),
        respond("181 Call Is Being Forwarded", { fields: CONTACT }),
      ],
      ...[ringing, accept(), ack, expectBye],
    ],
    async act(call) {
      await expectEcho(call);
      expect(call.events.types.filter((type) => type === "alerting")).toEqual(["alerting"]);
      await call.leg.hangUp();
    },
    cause: "released",
  },
  {
    title: "rings again after answering does not disturb the call",
    steps: [
      expectInvite(),
      accept({ repeated: false }),
      ack,
      respond("180 Ringing", { toInvite: true, fields: CONTACT }),
      expectBye,
    ],
    cause: "released",
  },
  {
    title: "answers on two devices is heard on the first; the other gets ACK and BYE",
    steps: [
      ...[expectInvite(), ringing, accept({ repeated: false }), ack],
      ...[
        accept({ repeated: false, fork: "second", toInvite: true }),
        expectRequest("ACK", { field: "To", pattern: "second" }),
      ],
      ...[expectRequest("BYE", { field: "To", pattern: "second" }), respond("200 OK", { keepsTo: true }), expectBye],
    ],
    async act(call) {
      await expectEcho(call);
      await wait(500);
      await call.leg.hangUp();
    },
    cause: "released",
  },
  {
    title: "uses short names and odd spaces is understood",
    steps: [expectInvite(), respond("180 Ringing", { oddSpacing: true }), accept({ oddSpacing: true }), ack, expectBye],
    cause: "released",
  },
  {
    title: "repeats its 200 because the ACK was late gets another ACK",
    steps: [
      expectInvite(),
      ringing,
      accept(),
      '  <recv request="ACK"/>\n',
      respond("200 OK", { toInvite: true, sdp: sdp(), fields: CONTACT }),
      ack,
      expectBye,
    ],
    async act(call) {
      await expectEcho(call);
      await wait(300);
      await call.leg.hangUp();
    },
    cause: "released",
  },
  {
    title: "requires a digest (401, MD5) gets one",
    trunk: credentials,
    steps: [
      expectInvite(),
      challenge(401),
      ack,
      verifiedInvite,
      ringing,
      accept(),
      ack,
      expectBye,
      '<label id="end"/>',
    ],
    cause: "released",
  },
  {
    title: "requires a digest (407) for a different user gets one",
    trunk: { ...credentials, user: "100", authUser: "agent" },
    steps: [
      ...[
        expectInvite(),
        challenge(407),
        ack,
        expectRequest("INVITE", { field: "Proxy-Authorization", pattern: 'username="agent"' }),
      ],
      ...[ringing, accept(), ack, expectBye],
    ],
    cause: "released",
  },
  {
    title: "reports a stale nonce gets a digest with the new one",
    trunk: credentials,
    steps: [
      ...[
        expectInvite(),
        challenge(401),
        ack,
        expectRequest("INVITE"),
        challenge(401, ", stale=true", "93bf0001"),
        ack,
      ],
      ...[expectRequest("INVITE", { field: "Authorization", pattern: "93bf0001" }), ringing, accept(), ack, expectBye],
    ],
    cause: "released",
  },
  {
    title: "rejects the password is tried only twice",
    trunk: { user: "agent", password: "wrong" },
    steps: [expectInvite(), challenge(401), ack, expectRequest("INVITE"), challenge(401, "", "93bf0002"), ack],
    act: untilEnded,
    cause: "rejected_by_network",
    detail: /password/,
    forbiddenEvents: ["answered"],
  },
  {
    title: "requires a digest from a trunk without a password fails at once",
    steps: [expectInvite(), challenge(401), ack],
    act: untilEnded,
    cause: "rejected_by_network",
    detail: /password/,
    forbiddenEvents: ["answered"],
  },
  {
    title: "requires longer session timers (422) gets them",
    steps: [
      ...[expectInvite(), respond("422 Session Interval Too Small", { fields: "Min-SE: 3600", repeated: true }), ack],
      ...[
        expectRequest("INVITE", { field: "Min-SE", pattern: "3600" }),
        ringing,
        accept({ fields: "Supported: timer\nSession-Expires: 3600;refresher=uas" }),
        ack,
      ],
      ...[
        request("UPDATE", { fields: "Supported: timer\nSession-Expires: 3600;refresher=uac" }),
        expectResponse(200, { field: "Session-Expires", pattern: "3600" }),
        expectBye,
      ],
    ],
    async act(call) {
      await expectEcho(call);
      await wait(300);
      await call.leg.hangUp();
    },
    cause: "released",
  },
  {
    title: "answers without SDP gets ACK and BYE",
    steps: [expectInvite(), ringing, respond("200 OK", { fields: CONTACT, repeated: true }), ack, expectBye],
    act: untilEnded,
    cause: "media_failed",
    detail: /SDP/,
    forbiddenEvents: ["answered", "connected"],
  },
  {
    title: "answers with a codec that was not offered gets ACK and BYE",
    steps: [expectInvite(), ringing, accept({ sdp: sdp({ formats: "9" }) }), ack, expectBye],
    act: untilEnded,
    cause: "media_failed",
    detail: /codec/i,
    forbiddenEvents: ["answered", "connected"],
  },
  {
    title: "answers with invalid SDP gets ACK and BYE",
    steps: [expectInvite(), ringing, accept({ sdp: "v=0\nthis is no SDP at all" }), ack, expectBye],
    act: untilEnded,
    cause: "media_failed",
    forbiddenEvents: ["answered", "connected"],
  },
  {
    title: "refuses the audio in its answer (port 0) gets ACK and BYE",
    steps: [expectInvite(), ringing, accept({ sdp: sdp({ port: "0" }) }), ack, expectBye],
    act: untilEnded,
    cause: "media_failed",
    forbiddenEvents: ["answered", "connected"],
  },
  {
    title: "presses a key by INFO is understood",
    steps: [
      ...[expectInvite(), ringing, accept(), ack, pause(300)],
      request("INFO", {
        content: "Content-Type: application/dtmf-relay\nContent-Length: [len]\n\nSignal=5\nDuration=160\n",
      }),
      ...[
        expectResponse(200),
        request("INFO", { number: 2, content: "Content-Type: application/dtmf\nContent-Length: [len]\n\n#\n" }),
        expectResponse(200),
        expectBye,
      ],
    ],
    async act({ events, leg }) {
      await until(() => events.keys.length === 2, "two keys");
      expect(events.keys).toBe("5#");
      await leg.hangUp();
    },
    cause: "released",
  },
  {
    title: "does not support telephone-event gets our keys by INFO",
    steps: [
      ...[expectInvite(), ringing, accept({ sdp: sdp({ formats: "0" }) }), ack],
      ...["4", "#"].flatMap((key) => [
        expectRequest("INFO", withBody(`Signal *= *${key}`)),
        respond("200 OK", { keepsTo: true }),
      ]),
      expectBye,
    ],
    async act({ events, leg }) {
      await events.next("connected", 5_000);
      await leg.sendDtmf?.("4#");
      await leg.hangUp();
    },
    cause: "released",
  },
  {
    title: "has forgotten the call (481 to our BYE) still ends it",
    steps: [
      expectInvite(),
      ringing,
      accept(),
      ack,
      expectRequest("BYE"),
      respond("481 Call Does Not Exist", { keepsTo: true }),
    ],
    cause: "released",
  },
];

async function until(condition: () => boolean, goal: string): Promise<void> {
  const end = performance.now() + 8_000;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`waited in vain for ${goal}`);
    await wait(10);
  }
}
