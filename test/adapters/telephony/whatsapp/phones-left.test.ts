import { describe, expect, test } from "vitest";
import type { FakeNumber } from "../../../../src/testing/index.ts";
import type { NetworkFault } from "../../../../src/testing/whatsapp/faults.ts";
import { ANA, type DialledCall, NumberScene } from "./number-scene.ts";

const PHASES: readonly (readonly [string, FakeNumber])[] = [
  ["is not acknowledged", { offer: "ignored" }],
  ["rings", { devices: [{ does: "nothing" }] }],
  ["rings at two devices", { devices: [{ does: "nothing" }, { does: "nothing" }], addressForm: "both" }],
  ["was accepted", { devices: [{ does: "answer", afterMs: 500 }], media: "never" }],
  ["is active", { devices: [{ does: "answer", afterMs: 500 }] }],
  ["is active at a second device", { devices: [{ does: "nothing" }, { does: "answer", afterMs: 500 }] }],
];

/** Maximum duration of a run: an outdated client tries again after 15 to 30 minutes. */
const MAX_MINUTES = 40;

/** Events that may end a call or happen while it ends. */
const ENDS: Readonly<Record<string, (scene: NumberScene, call: DialledCall) => unknown>> = {
  "the core hangs up": (_, call) => hangUp(call),
  "the callee hangs up": ({ network }) => network.call().hangUp(),
  "the callee declines": ({ network }) => network.call().decline(),
  "the phone is busy": ({ network }) => network.call().busy(),
  "the network times out": ({ network }) => network.call().end("network", "timeout"),
  "the network terminates it without a reason": ({ network }) => network.call().end("network"),
  "the callee hangs up in a dropped socket": (scene) => whileDisconnected(scene, () => scene.network.call().hangUp()),
  "the callee declines in a dropped socket": (scene) => whileDisconnected(scene, () => scene.network.call().decline()),
  "the core hangs up in a dropped socket": (scene, call) => whileDisconnected(scene, () => hangUp(call)),
  "endCall hangs": (scene, call) => hangUpWith(scene, call, "hang"),
  "endCall hangs twice": (scene, call) => hangUpWith(scene, call, "hang", 2),
  "endCall fails": (scene, call) => hangUpWith(scene, call, new Error("the socket is gone")),
  "endCall is late": (scene, call) => hangUpWith(scene, call, { afterMs: 6_000 }),
  "WhatsApp is unavailable (503)": ({ client }) => client.fail(503),
  "the client is outdated (405)": ({ client }) => client.fail(405),
  "the client is refused (409)": (scene) => haltAndLink(scene, () => scene.client.fail(409)),
  "another client replaces it": (scene) => haltAndLink(scene, () => scene.client.streamError("replaced")),
  "the number is restricted (402)": ({ client }) => client.fail(402, { expire: "60" }),
  "WhatsApp asks for a new connection (515)": ({ client }) => client.streamError(515),
  "the stream has an error": ({ client }) => client.streamError("other"),
  "the socket drops for 2 s": ({ client }) => client.dropSocket(2_000),
  "the socket drops for 20 s": ({ client }) => client.dropSocket(20_000),
  "the socket drops and stays down": ({ client }) => client.dropSocket(Infinity),
  "the socket drops, and disconnect hangs"({ client }) {
    client.disturb("disconnect", "hang");
    client.dropSocket(Infinity);
  },
  "WhatsApp is unreachable for two minutes"(scene) {
    scene.network.reachable = false;
    schedule(scene, 120_000, () => {
      scene.network.reachable = true;
    });
  },
  "the server may not act for a minute"(scene) {
    const { deadlines } = scene.host;
    deadlines.send = deadlines.dial = scene.system.monotonic();
    schedule(scene, 60_000, () => {
      deadlines.send = deadlines.dial = Infinity;
    });
  },
  "the number is unlinked here": (scene) => scene.line.unlink(),
  "the line is closed": (scene) => closeAndRestart(scene),
  "the line is closed, and endCall hangs"(scene) {
    scene.client.disturb("endCall", "hang", 5);
    closeAndRestart(scene);
  },
  "the line is closed in a dropped socket"(scene) {
    scene.client.dropSocket(Infinity);
    closeAndRestart(scene);
  },
  "the process is killed": (scene) => scene.restart(),
  "the process is killed in an outage"(scene) {
    scene.client.dropSocket(Infinity);
    schedule(scene, 5_000, () => scene.restart());
  },
  "two processes are killed in succession"(scene) {
    schedule(scene, 0, () => scene.restart());
    schedule(scene, 10, () => scene.restart());
  },
  "another process takes the number over": (scene) => scene.takeOver(),
};

/** True while a phone rings or is connected. */
function isOpen({ network }: NumberScene): boolean {
  return network.calls.some(({ ended }) => ended === undefined);
}

function hangUp(call: DialledCall): void {
  void call.leg?.hangUp();
}

function hangUpWith({ client }: NumberScene, call: DialledCall, fault: NetworkFault, times = 1): void {
  client.disturb("endCall", fault, times);
  hangUp(call);
}

/** Halts a number; its owner requests another attempt. */
function haltAndLink(scene: NumberScene, halt: () => void): void {
  halt();
  schedule(scene, 60_000, () => scene.line.link?.());
}

/** Closes the line, and restarts the server. */
function closeAndRestart(scene: NumberScene): void {
  void scene.line.close();
  schedule(scene, 10_000, () => scene.restart());
}

/** Runs an event while the socket is down for some seconds. */
function whileDisconnected(scene: NumberScene, run: () => void): void {
  scene.client.dropSocket(4_000);
  schedule(scene, 1_500, run);
}

function schedule({ system }: NumberScene, ms: number, run: () => unknown): void {
  system.after(ms, () => void run());
}

describe.each(PHASES)("no phone stays ringing or connected after a call that %s", (_, callee) => {
  test.each(Object.entries(ENDS))("%s", async (_, end) => {
    const scene = await NumberScene.openLinked();
    scene.network.number(ANA, callee);
    const call = scene.dial();
    await scene.system.advance(2_000);
    expect(scene.network.call().ended).toBeUndefined();
    void end(scene, call);
    await scene.system.advance(12_000);
    hangUp(call); // the core's ring timeout, or the end of the message
    for (let minute = 0; minute < MAX_MINUTES && isOpen(scene); minute++) await scene.system.advance(60_000);
    expect(isOpen(scene)).toBe(false);
    await scene.system.advance(12_000);
    expect(scene.clientCalls).toEqual([]);
  });
});
