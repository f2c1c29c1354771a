import { TestLineHost } from "../telephony-host.ts";
import type { TelephonyTheme } from "./theme.ts";

/** Tests of linking codes, credentials and the states of a line. */
export function linkingContract({ test, expect, options }: TelephonyTheme): void {
  const { patienceMs } = options;
  const isOperatorLinked = options.linking === "operator";
  const brokenOption = options.broken === undefined ? { skip: "the network has no such fault" } : options.broken;
  const codeOption = isOperatorLinked ? { skip: "the operator links its numbers" } : undefined;

  test("the capabilities declare how numbers are linked", async (network) => {
    expect(network.subject.telephony.capabilities.linking ?? "code").toBe(options.linking ?? "code");
  });

  test(
    "a line that the operator links comes online without a code",
    async (network) => {
      const { line, host } = await network.open();
      await host.reports.next("online", patienceMs);
      expect((await line.probe()).state).toBe("online");
      await line.link();
      for (const type of ["code", "unlinked"]) expect(host.reports.types.includes(type)).toBe(false);
      expect(host.reports.types.lastIndexOf("linked")).toBeLessThanOrEqual(host.reports.types.indexOf("online"));
    },
    isOperatorLinked ? undefined : { skip: "the owner of a number links it with a code" },
  );

  test(
    "a line without credentials is offline and shows no code before link()",
    async (network) => {
      const { line, host } = await network.open();
      expect((await line.probe()).state).toBe("offline");
      expect(host.reports.types).toEqual([]);
    },
    codeOption,
  );

  test(
    "codes are numbered from 1 and are valid",
    async (network) => {
      const { line, host } = await network.open();
      await Promise.all([line.link(), line.link()]);
      const { code } = await host.reports.next("code", patienceMs);
      await line.link();
      expect(code.payload.length).toBeGreaterThanOrEqual(1);
      expect(code.expiresAt).toBeGreaterThanOrEqual(Date.now());
      const sequences = host.reports.all.flatMap((report) => (report.type === "code" ? [report.code.sequence] : []));
      expect(sequences).toEqual(sequences.map((_, index) => index + 1));
    },
    codeOption ?? options.codes,
  );

  test(
    "a line reports linked with credentials, then online",
    async (network) => {
      const { host } = await network.link();
      const reportTypes = host.reports.types.filter((type) => type !== "code");
      expect(reportTypes.slice(0, 2)).toEqual(["linked", "online"]);
      expect((host.stored?.length ?? 0) > 0).toBe(true);
    },
    codeOption,
  );

  test(
    "a link is stored before it is confirmed and the line is online",
    async (network) => {
      const { line, host } = await network.open();
      const order: string[] = [];
      const barrier = Promise.withResolvers<void>();
      host.linkedBarrier = barrier.promise.then(() => void order.push("stored"));
      await line.link();
      const { code } = await host.reports.next("code", patienceMs);
      const scan = network.subject.scan?.(code.payload).then(() => void order.push("scanned"));
      await network.sleep(200); // enough time for a line to come online
      order.push(...host.reports.types.filter((type) => type !== "code"));
      barrier.resolve();
      await scan;
      await host.reports.next("online", patienceMs);
      // If the network confirms the link, only the line waits.
      const steps = options.confirmation === undefined ? order : order.filter((step) => step !== "scanned");
      expect(steps).toEqual(options.confirmation === undefined ? ["stored", "scanned"] : ["stored"]);
    },
    codeOption,
  );

  test("a linked line reopens online without a code", async (network) => {
    const first = await network.link();
    await first.line.close();
    expect((await first.line.probe()).state).toBe("offline");
    const host = new TestLineHost(first.host.stored);
    for (const [key, record] of first.host.storedRecords) host.storedRecords.set(key, record);
    const second = await network.open(host);
    await second.host.reports.next("online", patienceMs);
    expect(second.host.reports.types.includes("code")).toBe(false);
    expect((await second.line.probe()).state).toBe("online");
  });

  test(
    "a permanent fault is reported with its reason, and probes return the same reason",
    async (network) => {
      const { line, host } = await network.open();
      await line.link();
      if (network.subject.scan !== undefined) {
        const { code } = await host.reports.next("code", patienceMs);
        await network.subject.scan(code.payload);
      }
      const report = await host.reports.next("offline", patienceMs);
      expect(report.lasting).toBe(true);
      expect(await line.probe()).toEqual({ state: "offline", reason: report.reason, lasting: true });
      expect(await network.refusal(line, options.numbers.answers)).toBe("DialError");
    },
    brokenOption,
    typeof options.broken === "function" ? options.broken : undefined,
  );

  test("linking a linked line changes nothing", async (network) => {
    const { line, host } = await network.link();
    await line.link();
    expect((await line.probe()).state).toBe("online");
    expect(host.reports.types.at(-1)).toBe("online");
  });

  test(
    "an unlinked line can be linked again",
    async (network) => {
      const { line, host } = await network.link();
      await Promise.all([line.unlink(), line.unlink()]);
      expect((await line.probe()).state).toBe("offline");
      await host.credentials.erase();
      await network.link({ line, host });
      expect((await line.probe()).state).toBe("online");
    },
    codeOption,
  );

  test("every method may be called twice, even on a closed line", async (network) => {
    const { line } = await network.link();
    await Promise.all([line.close(), line.close()]);
    await Promise.all([line.link(), line.unlink(), line.close(), line.unlink(), line.close()]);
    expect((await line.probe()).state).toBe("offline");
    await Promise.all([network.subject.telephony.close(), network.subject.telephony.close()]);
  });
}
