import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OWNERSHIP_MS } from "../../../../../adapters/telephony/whatsapp/session/flow/ownership-flow.ts";
import type { FaultyMethod } from "../../../../../src/testing/whatsapp/faults.ts";
import { PHONE, SessionScene } from "./sessions.ts";

/** Time between two polls of an idle line, and the sampling interval of a test, ms. */
const PERIOD_MS = 5_000;
const SAMPLE_MS = 500;

type Incident = (scene: SessionScene) => unknown;

const incident = (name: string, run: Incident): fc.Arbitrary<Incident> =>
  fc.constant(Object.assign(run, { [fc.toStringMethod]: () => name }));

const drops = fc
  .constantFrom(100, 2_000, 10_000, Infinity)
  .map<Incident>((ms) => (scene) => scene.client.dropSocket(ms));
/** Maximum delay that a scene's incidents may cause in a report, ms. */
const delays = new WeakMap<SessionScene, number>();
const addDelay = (scene: SessionScene, ms: number): unknown => delays.set(scene, (delays.get(scene) ?? 0) + ms);
/** Delay after which a client that does not disconnect is abandoned or disconnected again, ms. */
const BAD_DISCONNECT_MS = 5_000;
const faultOf = (method: FaultyMethod, fault: "hang" | Error): Incident =>
  Object.assign(
    (scene: SessionScene) => {
      if (method === "disconnect") addDelay(scene, BAD_DISCONNECT_MS);
      scene.client.disturb(method, fault);
    },
    { [fc.toStringMethod]: () => `${method}: ${fault}` },
  );
const faults = fc
  .tuple(fc.constantFrom<FaultyMethod>("connect", "disconnect"), fc.constantFrom("hang" as const, new Error("no")))
  .map(([method, fault]) => faultOf(method, fault));
const makeUnreachable: Incident = (scene) => {
  scene.network.reachable = false;
};

/** Incidents that pass without intervention. */
const transientIncidents: fc.Arbitrary<Incident> = fc.oneof(
  drops,
  faults,
  incident("515", (scene) => scene.client.streamError(515)),
  incident("other stream error", (scene) => scene.client.streamError("other")),
  incident("503", (scene) => scene.client.fail(503)),
  incident("405", (scene) => scene.client.fail(405)),
  incident("unreachable", makeUnreachable),
  incident("reachable", (scene) => {
    scene.network.reachable = true;
  }),
  incident("overloaded", (scene) => {
    scene.network.refuses = 503;
  }),
  incident("ready", (scene) => {
    scene.network.refuses = undefined;
  }),
  incident("link", (scene) => void scene.session.link().catch(() => {})),
  incident("probe", (scene) => scene.session.probe()),
  incident("lease lost", (scene) => {
    addDelay(scene, OWNERSHIP_MS); // the renewal may merely be late
    scene.host.deadlines.send = -Infinity;
  }),
  incident("lease back", (scene) => {
    scene.host.deadlines.send = Infinity;
  }),
);
const pauses = fc.constantFrom(0, 10, 25, 60, 500, 2_000, 5_000, 31_000, 300_000);

/** A client whose disconnect failed reconnects while the next connect hangs. */
const UNNOTICED_RECONNECT: [Incident, number][] = [
  [makeUnreachable, 0],
  [faultOf("connect", "hang"), 31_000],
  [faultOf("disconnect", new Error("no")), 0],
];

/** Advances time and records how long the last report contradicted the client's state. */
class StatusWatch {
  maxContradictionMs = 0;
  #contradictionSince: number | undefined;
  #isReportedOnline = false;
  readonly #scene: SessionScene;

  constructor(scene: SessionScene) {
    this.#scene = scene;
  }

  async pass(ms: number): Promise<void> {
    const { system } = this.#scene;
    for (let remainingMs = ms; remainingMs > 0; remainingMs -= SAMPLE_MS) {
      await system.advance(Math.min(remainingMs, SAMPLE_MS));
      this.#sample(system.monotonic());
    }
    if (ms === 0) await system.settle();
  }

  #sample(now: number): void {
    const { host, network } = this.#scene;
    const lastReport = host.reports.all.findLast(
      ({ type }) => type === "online" || type === "offline" || type === "unlinked",
    );
    const { connected, registered } = network.clientOf().getState();
    const isReportedOnline = lastReport?.type === "online";
    // After another report, a contradiction counts as a new one.
    if (isReportedOnline === (connected && registered) || isReportedOnline !== this.#isReportedOnline)
      this.#contradictionSince = undefined;
    else this.#contradictionSince ??= now - SAMPLE_MS;
    this.#isReportedOnline = isReportedOnline;
    if (this.#contradictionSince !== undefined)
      this.maxContradictionMs = Math.max(this.maxContradictionMs, now - this.#contradictionSince);
  }
}

describe("over any order of client, network and core events", () => {
  test("the status is wrong for at most a probe period, and the number recovers", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(transientIncidents, pauses), { maxLength: 20 }),
        fc.nat(1_000),
        async (incidentList, seed) => {
          const scene = await new SessionScene({ seed }).linkNumber();
          const watch = new StatusWatch(scene);
          for (const [run, ms] of incidentList) {
            run(scene);
            await watch.pass(ms);
          }
          scene.network.reachable = true;
          scene.network.refuses = undefined;
          scene.host.deadlines.send = Infinity;
          await watch.pass(60_000);
          await scene.session.link().catch(() => {}); // after a 405
          await scene.system.advance(15 * 60_000);
          expect(watch.maxContradictionMs).toBeLessThanOrEqual(PERIOD_MS + 2 * SAMPLE_MS + (delays.get(scene) ?? 0));
          expect(scene.reports).not.toContain("unlinked");
          expect(scene.clientRecords).toBe(1);
          expect(scene.isOnline).toBe(true);
          await expectCleanClose(scene);
        },
      ),
      { numRuns: 60, examples: [[UNNOTICED_RECONNECT, 0]] },
    );
  });

  test("after a replacement, no client connects without a request", async () => {
    const incidentList = fc.array(fc.tuple(fc.oneof(drops, faults), pauses), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(incidentList, incidentList, async (before, after) => {
        const scene = await new SessionScene().linkNumber();
        for (const [run, ms] of before) {
          run(scene);
          await scene.system.advance(ms);
        }
        scene.network.reachable = true;
        await scene.system.advance(10 * 60_000);
        scene.client.streamError("replaced");
        await scene.system.advance(5_000);
        const { length } = scene.network.clients;
        for (const [run, ms] of after) {
          run(scene);
          await scene.system.advance(ms);
          expect(scene.network.clients.some((client) => client.getState().connected)).toBe(false);
          expect(scene.network.clients).toHaveLength(length);
        }
        await expectCleanClose(scene);
      }),
      { numRuns: 40 },
    );
  });

  test("a link is reported only once all keys are stored", async () => {
    const incidents = fc.array(
      fc.tuple(
        fc.oneof(
          drops,
          faults,
          incident("515", (scene) => scene.client.streamError(515)),
        ),
        pauses,
      ),
      {
        maxLength: 5,
      },
    );
    await fc.assert(
      fc.asyncProperty(incidents, incidents, pauses, async (before, after, ms) => {
        const scene = new SessionScene();
        let isComplete = true;
        const { linked } = scene.host;
        Object.assign(scene.host, {
          linked(...args: Parameters<typeof linked>) {
            isComplete &&= scene.clientRecords === 1;
            return linked.apply(scene.host, args);
          },
        });
        await scene.code();
        for (const [run, pause] of before) {
          run(scene);
          await scene.system.advance(pause);
        }
        const qr = scene.client.shown.qr;
        if (qr !== undefined) scene.network.scan(qr, PHONE);
        for (const [run, pause] of after) {
          run(scene);
          await scene.system.advance(pause);
        }
        await scene.system.advance(ms);
        expect(isComplete).toBe(true);
        const types = scene.reports;
        if (types.includes("online")) expect(types.indexOf("linked")).toBeLessThan(types.indexOf("online"));
        await expectCleanClose(scene);
      }),
      { numRuns: 60 },
    );
  });

  test("closing at any moment leaves no connection and no waiting request", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(transientIncidents, pauses), { maxLength: 8 }),
        fc.boolean(),
        async (incidentList, unlink) => {
          const scene = new SessionScene();
          const linking = scene.session.link().catch(() => {});
          for (const [run, ms] of incidentList) {
            await scene.system.advance(ms);
            if (scene.network.clients.length > 0) run(scene);
            const qr = scene.network.clients.at(-1)?.shown.qr;
            if (qr !== undefined && ms === 60) scene.network.scan(qr, PHONE);
          }
          if (unlink) {
            const unlinking = scene.session.unlink();
            await scene.system.advance(10_000);
            await unlinking;
            expect(scene.host.storedRecords.size).toBe(0);
          }
          await expectCleanClose(scene);
          await linking;
        },
      ),
      { numRuns: 60 },
    );
  });
});

/** Closes the session, and expects no open connection or request. */
async function expectCleanClose(scene: SessionScene): Promise<void> {
  let isClosed = false;
  void scene.session.close().then(() => {
    isClosed = true;
  });
  await scene.system.advance(5_000);
  expect(isClosed).toBe(true);
  const reportCount = scene.reports.length;
  await scene.system.advance(40_000);
  expect(scene.reports).toHaveLength(reportCount);
  const log = scene.logLines.join("\n");
  expect(log).not.toMatch(/\d{6}/);
  for (const { payload } of scene.codes) expect(log).not.toContain(payload);
}
