import { describe, expect, test } from "vitest";
import { PHONE, SessionScene } from "../sessions.ts";

/**
 * A login may be refused before or after the client has reported its connection as open. If it is refused before,
 * `connect` rejects, and the close arrives first.
 */
describe.each([
  ["after the connection opened", false],
  ["at once", true],
])("a login that is refused %s", (_, refusesAtOnce) => {
  /** A linked number whose server restarts while WhatsApp refuses its logins. */
  async function restartRefused(refuses: number): Promise<SessionScene> {
    const scene = await new SessionScene().linkNumber();
    await scene.session.close();
    Object.assign(scene.network, { refuses, refusesAtOnce });
    scene.takeReports();
    scene.open();
    await scene.system.advance(1_000);
    return scene;
  }

  test.each([401, 403, 406])("with %i unlinks the number, once", async (refuses) => {
    const scene = await restartRefused(refuses);
    await scene.system.advance(10 * 60_000);
    expect(scene.takeReports().filter((type) => type === "unlinked")).toEqual(["unlinked"]);
    expect(scene.isOnline).toBe(false);
    expect(scene.host.storedRecords.size).toBe(0);
  });

  test("with 503 keeps the link, and connects once the server accepts it again", async () => {
    const scene = await restartRefused(503);
    await scene.system.advance(60_000);
    expect(scene.isOnline).toBe(false);
    scene.network.refuses = undefined;
    await scene.system.advance(10 * 60_000);
    expect(scene.isOnline).toBe(true);
    expect(scene.reports).not.toContain("unlinked");
  });

  test("with 405 keeps the link, and reports the client as outdated", async () => {
    const scene = await restartRefused(405);
    expect(scene.conditions).toContain("client_outdated");
    expect(scene.host.storedRecords.size).toBeGreaterThan(0);
    expect(scene.takeReports()).not.toContain("unlinked");
  });

  test("with 401 lets the number be linked again", async () => {
    const scene = await restartRefused(401);
    scene.network.refuses = undefined;
    scene.network.scan(await scene.code(), PHONE);
    await scene.system.advance(1_000);
    expect(scene.isOnline).toBe(true);
  });
});
